"""`lawful completion`: scripts by which shells complete `lawful`, from the tables of the parser."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .command_table import CommandRow, Word, command_rows
from .commands.exit_codes import ExitCode
from .commands.options import CompletionOptions
from .commands.output import Output

SAID = "# Made by `lawful completion {}`; make it again after an update of lawful."


def completion(options: CompletionOptions, output: Output) -> int:
    """Print the script of a shell."""
    text = script(options.shell)
    output.write(text.rstrip("\n"), {"version": 1, "command": "completion", "script": text})
    return ExitCode.AS_EXPECTED


def script(shell: str) -> str:
    """The script for `bash`, `zsh` or `fish`. KeyError for another shell."""
    lines = [*SCRIPTS[shell](command_rows()), SAID.format(shell)]
    return "\n".join(lines) + "\n"


def _bash(rows: Sequence[CommandRow]) -> Iterator[str]:
    """Where nothing is proposed, bash itself completes the names of files."""
    names = " ".join(row.name for row in rows)
    yield from (
        "_lawful() {",
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=",
        "    COMPREPLY=()",
        "    # bash takes the sign of `--option=value` for a word.",
        "    if [[ $word == = ]]; then word=",
        "    elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi",
        "    if ((COMP_CWORD == 1)); then",
        f"        words={_sh(names + ' --help --version')}",
        "    else",
        '        case "${COMP_WORDS[1]} $before" in',
    )
    for row in rows:
        for word in row.options:
            for name in word.names if word.value else ():
                choices = _sh(" ".join(word.choices))
                yield f"            {_sh(f'{row.name} {name}')}) words={choices} ;;"
    yield from ("            *)", '                case "${COMP_WORDS[1]}" in')
    for row in rows:
        options = " ".join(name for word in row.options for name in word.names)
        others = " ".join(choice for word in row.others for choice in word.choices)
        yield f"                    {row.name})"
        yield f"                        if [[ $word == -* ]]; then words={_sh(options)}"
        yield f"                        else words={_sh(others)}; fi ;;"
    yield from (
        "                esac ;;",
        "        esac",
        "    fi",
        '    if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$word")); fi',
        "}",
        "complete -o default -F _lawful lawful",
    )


def _zsh(rows: Sequence[CommandRow]) -> Iterator[str]:
    yield from ("#compdef lawful", "_lawful() {", "    local -a commands", "    commands=(")
    for row in rows:
        yield f"        {_sh(f'{row.name}:{row.help}')}"
    yield from (
        "    )",
        "    if (( CURRENT == 2 )); then",
        "        _describe command commands",
        "        return",
        "    fi",
        "    shift words",
        "    (( CURRENT-- ))",
        "    case $words[1] in",
    )
    for row in rows:
        yield f"        {row.name})"
        yield "            _arguments \\"
        for word in row.options:
            for name in word.names:
                yield f"                {_sh(_zsh_option(name, word))} \\"
        for word in row.others:
            many = "*" if word.several else ""
            yield f"                {_sh(f'{many}:{_zsh_text(word.value)}:{_zsh_kind(word)}')} \\"
        yield "                && return ;;"
    yield from (
        "    esac",
        "}",
        'if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then _lawful "$@"',
        "else compdef _lawful lawful; fi",
    )


def _zsh_option(name: str, word: Word) -> str:
    value = f":{_zsh_text(word.value)}:{_zsh_kind(word)}" if word.value else ""
    return f"{'*' if word.several else ''}{name}[{_zsh_text(word.help)}]{value}"


def _zsh_kind(word: Word) -> str:
    if word.choices:
        return f"({' '.join(word.choices)})"
    return {"file": "_files", "folder": "_files -/", "": " "}[word.kind]


def _zsh_text(text: str) -> str:
    for char in "\\:[]":
        text = text.replace(char, f"\\{char}")
    return text


def _fish(rows: Sequence[CommandRow]) -> Iterator[str]:
    yield "complete -c lawful -f"
    for row in rows:
        about = _fish_text(row.help)
        yield f"complete -c lawful -n __fish_use_subcommand -a {row.name} -d {about}"
    for row in rows:
        here = f"complete -c lawful -n '__fish_seen_subcommand_from {row.name}'"
        for word in row.options:
            names = " ".join(_fish_name(name) for name in word.names)
            yield f"{here} {names}{_fish_value(word)} -d {_fish_text(word.help)}"
        for word in row.others:
            yield f"{here}{_fish_value(word).replace(' -r', '').replace(' -x', '')}"


def _fish_name(name: str) -> str:
    return f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"


def _fish_value(word: Word) -> str:
    if not word.value:
        return ""
    if word.choices:
        return f" -x -a {_fish_text(' '.join(word.choices))}"
    return {"file": " -r -F", "folder": " -r -a '(__fish_complete_directories)'", "": " -r"}[
        word.kind
    ]


def _fish_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _sh(text: str) -> str:
    """The text in single quotes, for bash and zsh."""
    inside = text.replace("'", "'\\''")
    return f"'{inside}'"


SCRIPTS: dict[str, Callable[[Sequence[CommandRow]], Iterator[str]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
