"""Compilation of a machine's steps, and of the search over them, to machine code by LLVM.

The object file is kept on disk under a name made of the text, the compiler, its speed level and the
processor. If it cannot be read or written, the text is compiled again.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import hashlib
import inspect
import threading
import time
from collections.abc import Callable, Generator, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
from llvmlite import binding

from ...cache_folder import cache_folder
from ..assembly import intrinsics, llvm_lines, llvm_text, steps_syntax
from ..codegen import prelude
from ..expansion.successors import Text
from ..native import kernel_rows, search_kernel, state_table, team_kernel, window_kernel
from . import folding, kept_files
from .folding import shape
from .typed_memory import address

SEEN = (
    *("expand", "search", "work", "follow", "find", "insert"),
    *("enter", "crowded", "full_before", "split", "enter_pieces", "fill", "unfold", "unfold_all"),
    *("scout", "reached", "collect", "unfold_from"),
)
NUMBERS = {name: value for name, value in vars(kernel_rows).items() if isinstance(value, int)}
KERNELS = (kernel_rows, state_table, search_kernel, team_kernel, window_kernel)
SPEED = 2  # As `-O2`.
QUICK = 0  # As `-O0`: a tenth of the time to compile, several times that to run.


llvm: Any = binding  # Published without type information.


class Last(threading.local):
    """Several arrays that this thread gave last, and where they stand: mostly they come again."""

    given: Any = None
    stand: Any = None


class Native:
    """The functions of `SEEN`, which are given memory as integers of fixed width, and numbers."""

    def __init__(self, code: bytes, seconds: float = 0.0) -> None:
        self.seconds = seconds  # That making the code took; 0 where it was kept from before.
        empty = llvm.parse_assembly("")
        self._engine = llvm.create_mcjit_compiler(empty, _target(SPEED))
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        self._functions: dict[str, Callable[..., int]] = {}
        self._last = Last()

    def __call__(self, name: str, *given: Any) -> int:
        """Call the function of that name. Several arrays at once are given as one tuple."""
        if name not in self._functions:
            kinds = (ctypes.c_int64 if isinstance(x, int) else ctypes.c_void_p for x in given)
            address = self._engine.get_function_address(name)
            self._functions[name] = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(address)
        return self._functions[name](*map(self._passed, given))

    def _passed(self, x: Any) -> Any:
        """A number as it is, of memory its place, of several where those places stand."""
        if isinstance(x, int):
            return x
        if hasattr(x, "tolist"):
            return place_of_array(x)
        if x is not self._last.given:
            places: list[int] = [place_of_array(each) for each in x]
            self._last.given, self._last.stand = x, (ctypes.c_void_p * len(places))(*places)
        return self._last.stand


def place_of_array(x: Any) -> int:
    # A NumPy array may be one that is only read.
    return x.ctypes.data if hasattr(x, "ctypes") else address(x)


def compiled(text: Text) -> Native:
    """The optimised steps of this text, from where they are kept if they are."""
    return _native(text, SPEED)


def quick(text: Text) -> Native:
    """The steps of this text as machine code that is not optimised; it is kept, too."""
    return _native(text, QUICK)


def unoptimised(text: Text) -> bytes:
    """What `quick` makes, made anew and kept nowhere."""
    return _code(text, QUICK)


def _native(text: Text, speed: int) -> Native:
    return native(kept(text, speed), lambda: _code(text, speed))


def native(file: Path | None, made: Callable[[], bytes]) -> Native:
    """The machine code of this file, made and kept there if it is not."""
    held = kept_files.read(file)
    if held is not None:
        return Native(held)
    began = time.perf_counter()
    code = made()
    kept_files.write(file, code)
    return Native(code, time.perf_counter() - began)


def make(text: Text, file: Path | None, speed: int) -> None:
    """Make machine code, and keep it in this file if one is given."""
    kept_files.write(file, _code(text, speed))


def kept(text: Text, speed: int) -> Path | None:
    """The file of this text's machine code; None where there can be none."""
    sources = map(_source, (folding, prelude, *KERNELS))
    return file_of((*map(str, text), *sources), speed)


def file_of(texts: Iterable[str], speed: int) -> Path | None:
    """The file for the machine code of these texts."""
    parts = [*texts, llvmlite.__version__, str(speed), *_processor()]
    parts += map(_source, (llvm_text, llvm_lines, steps_syntax, intrinsics))
    name = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]
    folder = cache_folder("steps")
    return None if folder is None else folder / f"{name}.o"


def _code(text: Text, speed: int) -> bytes:
    own = {name.upper(): int(size) for name, size in text._asdict().items() if name != "steps"}
    folded = {name.upper(): size for name, size in shape(text.words)._asdict().items()}
    numbers = {**NUMBERS, **own, **folded}
    sources = (_source(prelude), text.steps, "\n".join(map(_source, KERNELS)))
    # Several words of a state at once; where there are one or two, it makes the search slower.
    several = speed > 0 and bool(shape(text.words).folded)
    with _uncollected():
        assembly = llvm_text.assembly(sources, numbers, SEEN)
    return emitted(assembly, speed, several)


def emitted(assembly: str, speed: int, several: bool) -> bytes:
    """The machine code of a text in LLVM's assembly language; `several` words at once."""
    target = _target(speed)
    module = llvm.parse_assembly(assembly)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=speed)
    options.slp_vectorization = several
    passes = llvm.create_pass_builder(target, options)
    passes.getModulePassManager().run(module, passes)
    made: bytes = target.emit_object(module)
    return made


@contextlib.contextmanager
def _uncollected() -> Generator[None]:
    """Nothing inside is garbage in cycles: looking for it takes as long as all the rest."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _target(speed: int) -> Any:
    _begin()
    name, features = _processor()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=name, features=features, opt=speed, jit=True)


@cache
def _begin() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@cache
def _processor() -> tuple[str, str]:
    """The name and the features of this processor."""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _source(module: Any) -> str:
    # Not of the module's loader: pytest loads what ships a plugin with one that keeps no source.
    return inspect.getsource(module)
