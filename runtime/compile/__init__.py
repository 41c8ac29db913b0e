"""The compiler: IR -> Python functions under the declaration's own file and lines."""
