"""Compiling and running kernels: the only importer of Numba, and the only owner of threads.

`kernel` compiles a serial function of arrays. `pkernel` compiles a function of a range, `f(lo, hi, ...)`, and calls it
as `f(count, ...)` over all threads: each item is computed by one thread, serially, and written to its own slot, so the
result is bitwise the same for any number of threads.

Why not Numba's own `parallel=True`: its OpenMP layer ends a forked child process and its work-queue layer ends the
process when two Python threads use it. Kernels release the interpreter lock, so plain threads do the same work, may be
nested in anybody's threads or processes, and compile in a third of the time.

Compiled code is kept in a folder named after a hash of the kernel sources, so an edited kernel is never run stale,
also when the edit is in another file than its caller.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import itertools
import os
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

__all__ = [
    "COMPILED",
    "array_pointer",
    "cache_folder",
    "intrinsic",
    "ir",
    "kernel",
    "llvm_function",
    "pkernel",
    "spread",
    "thread_count",
    "threads",
    "types",
]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_settings: Any = numba.config
COMPILED: bool = not _settings.DISABLE_JIT
"""False under NUMBA_DISABLE_JIT=1: kernels are then plain Python."""


# ---------------------------------------------------------------------------------------------- compiled code on disk


@functools.cache
def _house_stamp() -> str:
    """Hash of everything a kernel may be compiled from: this file and jifs/kernels."""
    here = Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    for path in [here / "jit.py", *sorted((here / "kernels").rglob("*.py"))]:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _own_stamp(py_func: Callable[..., Any]) -> str:
    """Hash of what a plug-in's kernel is compiled from: files of the functions it reaches, and the values they name."""
    digest, seen = hashlib.sha256(), set[Any]()

    def add(name: str, value: Any, attributes: set[str]) -> None:
        value = getattr(value, "py_func", value)
        if inspect.isfunction(value):
            walk(value)
        elif inspect.ismodule(value):
            if not _is_installed(getattr(value, "__file__", None)):
                for other in sorted(attributes & vars(value).keys()):
                    if not inspect.ismodule(vars(value)[other]):
                        add(f"{name}.{other}", vars(value)[other], attributes)
        elif isinstance(value, bool | int | float | complex | str | bytes | tuple):
            digest.update(f"{name}={value!r}".encode())
        elif hasattr(value, "tobytes"):
            digest.update(name.encode() + str(value.dtype).encode() + value.tobytes())

    def walk(function: Callable[..., Any]) -> None:
        if function in seen:
            return
        seen.add(function)
        file = Path(function.__code__.co_filename)
        if file.exists():
            digest.update(file.read_bytes())
        codes, names = [function.__code__], set[str]()
        while codes:
            code = codes.pop()
            names.update(code.co_names)
            codes.extend(const for const in code.co_consts if inspect.iscode(const))
        for name in sorted(names & function.__globals__.keys()):
            add(name, function.__globals__[name], names)

    walk(py_func)
    return digest.hexdigest()[:16]


def _is_installed(file: str | None) -> bool:
    """Whether a module is built in, or one of Python's own or of site-packages: those change with their version."""
    homes = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return file is None or any(Path(home) in Path(file).parents for home in homes)


def cache_folder() -> Path:
    """Where compiled kernels are kept: JIFS_CACHE_DIR, else NUMBA_CACHE_DIR/jifs, else the user's cache folder."""
    if os.environ.get("JIFS_CACHE_DIR"):
        return Path(os.environ["JIFS_CACHE_DIR"])
    if _settings.CACHE_DIR:
        return Path(_settings.CACHE_DIR) / "jifs"
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "jifs"


class _StampedLocator:
    """Tells Numba where a kernel's compiled form is kept: a folder per state of the sources."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        stamp = _house_stamp()
        if (Path(__file__).parent / "kernels") not in Path(py_file).parents:
            stamp += "-" + _own_stamp(py_func)
        self._path = cache_folder() / stamp
        self._stamp = stamp
        self._line = py_func.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return str(self._path)

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return str(self._line)

    def ensure_cache_path(self) -> None:
        self._path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=self._path).close()

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _StampedLocator | None:
        if not os.path.exists(py_file):
            return None  # typed into a notebook cell or a prompt
        locator = cls(py_func, py_file)
        try:
            locator.ensure_cache_path()
        except OSError:
            return None
        return locator


def _keep_on_disk(dispatcher: Any) -> None:
    """Give a compiled function its place on disk; without one (a notebook cell, a read-only home) it has none."""
    from numba.core.caching import CompileResultCacheImpl, FunctionCache

    class Impl(CompileResultCacheImpl):
        _locator_classes = [_StampedLocator]  # noqa: RUF012

    class StampedCache(FunctionCache):
        _impl_class = Impl

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
            except Exception:  # a damaged file is the same as none: compile again
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            for attempt in (1, 2):
                try:
                    super().save_overload(sig, data)  # type: ignore[no-untyped-call]
                    return
                except OSError:
                    return  # a full disk or a locked folder: the kernel stays in memory
                except Exception:  # a damaged index: begin a new one, once
                    if attempt == 1:
                        self.flush()  # type: ignore[no-untyped-call]

    try:
        dispatcher._cache = StampedCache(dispatcher.py_func)  # type: ignore[no-untyped-call]
    except (RuntimeError, OSError):
        return


def kernel(function: F) -> F:
    """Compile a serial kernel: arrays in, arrays out, IEEE arithmetic, the interpreter lock released."""
    if not COMPILED:
        return function
    dispatcher: Any = njit(nogil=True, error_model="numpy")(function)
    _keep_on_disk(dispatcher)
    return dispatcher  # type: ignore[no-any-return]


def array_pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any, pointee: Any) -> Any:
    """Inside an intrinsic: the address of array.flat[index], seen as a pointer to `pointee`."""
    from numba.core import cgutils

    struct = cgutils.create_struct_proxy(array_type)(context, builder, array)  # type: ignore[no-untyped-call]
    return builder.bitcast(builder.gep(struct.data, [index]), pointee.as_pointer())


def llvm_function(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    """Inside an intrinsic: LLVM's function of that name, declared once in the module."""
    from numba.core import cgutils

    signature = ir.FunctionType(result, arguments)
    return cgutils.get_or_insert_function(builder.module, signature, name)  # type: ignore[no-untyped-call]


# ------------------------------------------------------------------------------------------------------------ threads

_asked: ContextVar[int | None] = ContextVar("jifs_threads", default=None)
_inside: ContextVar[bool] = ContextVar("jifs_inside_a_task", default=False)
MOST_THREADS = 256
_team: ThreadPoolExecutor | None = None
_team_lock = threading.Lock()


def _forget_team() -> None:
    """A forked child has none of its parent's threads."""
    global _team, _team_lock
    _team, _team_lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_team)


@functools.cache
def _available() -> int:
    """Cores this process may use, or what the usual variables grant it (joblib sets them in its workers)."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for name in ("JIFS_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
        granted = os.environ.get(name, "")
        if granted.isdigit() and int(granted) > 0:
            return int(granted)
    return cores


def thread_count() -> int:
    """Threads the next kernel will use."""
    return min(_asked.get() or _available(), MOST_THREADS)


@contextmanager
def threads(count: int | None) -> Iterator[int]:
    """Use this many threads inside the block: None or -1 for all that are available."""
    token = _asked.set(count if count is not None and count > 0 else None)
    try:
        yield thread_count()
    finally:
        _asked.reset(token)


def _workers() -> ThreadPoolExecutor:
    """The team of all calls: it grows by itself as more threads are wanted at a time."""
    global _team
    with _team_lock:
        if _team is None:
            _team = ThreadPoolExecutor(MOST_THREADS, "jifs")
        return _team


def spread(
    count: int, task: Callable[[int, int], T], grain: int = 1, most: int | None = None
) -> tuple[float, list[T]]:
    """Call task(lo, hi) over consecutive pieces of range(count), on all threads; seconds and what the tasks returned.

    `grain` is the least piece worth a thread's while, `most` the largest that is good for memory.
    """
    start = time.perf_counter()
    answers: list[T] = []
    team = 1 if _inside.get() else min(thread_count(), -(-count // grain))
    pieces = max(
        min(team, 1) if team <= 1 else min(-(-count // grain), 4 * team), -(-count // (most or max(count, 1)))
    )
    if team <= 1:
        answers = [task(count * piece // pieces, count * (piece + 1) // pieces) for piece in range(pieces)]
        return time.perf_counter() - start, answers
    ticket = itertools.count()
    failed = threading.Event()

    def work() -> None:
        try:
            while (piece := next(ticket)) < pieces and not failed.is_set():
                answers.append(task(count * piece // pieces, count * (piece + 1) // pieces))
        except BaseException:  # also an interrupt: the others finish their piece and take no more
            failed.set()
            raise

    def helper() -> None:
        _inside.set(True)  # a task that spreads again stays in its thread, so the team can't wait for itself
        work()

    others = [_workers().submit(helper) for _ in range(team - 1)]
    token = _inside.set(True)
    try:
        work()
    finally:
        _inside.reset(token)
        wait(others)
    for other in others:
        other.result()
    return time.perf_counter() - start, answers


def pkernel(function: Callable[..., None]) -> Callable[..., None]:
    """Compile `f(lo, hi, ...)`; it is called as `f(count, ..., grain=1)`, which spreads range(count) over threads."""
    serial = kernel(function)

    @functools.wraps(function)
    def caller(count: int, *arrays: Any, grain: int = 1) -> None:
        spread(int(count), lambda lo, hi: serial(lo, hi, *arrays), grain)

    caller.serial = serial  # type: ignore[attr-defined]
    caller.__signature__ = inspect.Signature()  # type: ignore[attr-defined]
    return caller
