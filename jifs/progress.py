"""What long work tells while it runs: silence, a bar, or the user's own function."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from .errors import InputError


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
