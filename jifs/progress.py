"""What is said while work goes on: progress (silence, a bar, the user's function), warnings, what went wrong."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

from .errors import InputError, JifsWarning, MismatchError


class Progress:
    """What long work tells while it runs: `start(total, what)`, then `advance(n, note)`, then `close()`.

    This base says nothing. A subclass overrides what it wants to hear; `with` closes it, whatever happens.
    """

    def start(self, total: int, what: str = "") -> None:
        """`total` steps of `what` begin."""

    def advance(self, n: int = 1, note: str = "") -> None:
        """`n` more steps are done."""

    def close(self) -> None:
        """The work is over, well or badly."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


silent = Progress()


class Told(Progress):
    """Calls `tell(done, total, note)` at the start (done = 0) and after each advance."""

    def __init__(self, tell: Callable[[int, int, str], object]) -> None:
        self.tell = tell
        self.done = 0
        self.total = 0

    def start(self, total: int, what: str = "") -> None:
        self.done, self.total = 0, total
        self.tell(0, total, what)

    def advance(self, n: int = 1, note: str = "") -> None:
        self.done += n
        self.tell(self.done, self.total, note)


class Borrowed(Progress):
    """Passes everything on to an object of the user's that has start, advance and close, but no `with`."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def start(self, total: int, what: str = "") -> None:
        self.owner.start(total, what)

    def advance(self, n: int = 1, note: str = "") -> None:
        self.owner.advance(n, note)

    def close(self) -> None:
        self.owner.close()


class Bar(Progress):
    """A bar that rich draws on stderr and wipes when the work is over; made by `bar()`."""

    def __init__(self) -> None:
        self._drawn: Any = None
        self._task: Any = None

    def start(self, total: int, what: str = "") -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self.close()
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", markup=False),
        )
        self._drawn = RichProgress(*columns, console=Console(file=sys.stderr), transient=True)
        self._task = self._drawn.add_task(what, total=total, note="")
        self._drawn.start()

    def advance(self, n: int = 1, note: str = "") -> None:
        if self._drawn is not None:
            self._drawn.update(self._task, advance=n, note=note)

    def close(self) -> None:
        if self._drawn is not None:
            self._drawn.stop()
            self._drawn = None


def bar() -> Progress:
    """A progress bar on stderr where stderr is a terminal, and silence elsewhere (pipes, logs, no rich)."""
    try:
        import rich.progress  # noqa: F401
    except ImportError:
        return silent
    return Bar() if sys.stderr is not None and sys.stderr.isatty() else silent


def as_progress(progress: object) -> Progress:
    """The Progress meant by True (a bar), False or None (silence), a function, or an object of that shape."""
    if progress is None or progress is False:
        return silent
    if progress is True:
        return bar()
    if isinstance(progress, Progress):
        return progress
    if all(callable(getattr(progress, verb, None)) for verb in ("start", "advance", "close")):
        return Borrowed(progress)
    if callable(progress):
        return Told(progress)
    raise InputError(
        f"progress must be True, False, a function of (done, total, note) or a jifs.progress.Progress,"
        f" not {type(progress).__name__}"
    )


def say(text: str) -> None:
    """One line on stderr, signed."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(text.split()))
    print("jifs:", line, file=sys.stderr)


def explain(problem: BaseException, trace: bool = False) -> int:
    """Say in one line what went wrong; the exit status: 2 bad input, 130 interrupted, 1 anything else."""
    if isinstance(problem, KeyboardInterrupt):
        say("interrupted")
        return 130
    if trace:
        import traceback

        traceback.print_exception(problem)
    if isinstance(problem, InputError | MismatchError):
        say(str(problem))
        return 2
    hint = "" if trace else " (--traceback shows where)"
    say(f"{type(problem).__name__}: {problem}{hint}")
    return 1


@contextlib.contextmanager
def plain_warnings() -> Iterator[None]:
    """Within, warnings are single lines on stderr, each said once."""
    said: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
        text = str(message) if issubclass(category, JifsWarning) else f"{category.__name__}: {message}"
        if text not in said:
            said.add(text)
            say(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", JifsWarning)
        warnings.showwarning = show
        yield
