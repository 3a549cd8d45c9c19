"""What the command line says when things go wrong: one line on stderr and an exit status, whatever happened."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperGroup

from .errors import InputError, JifsWarning, MismatchError

_USAGE: type[Any] = typer.BadParameter.__mro__[2]  # the root of typer's complaints, wherever it lives
TRACE = "jifs.traceback"


class Door(TyperGroup):
    """The way out of every command: one line on stderr and an exit status for whatever went wrong."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # so that no name can break a narrow encoding
        try:
            status = super().main(*args, **extra, standalone_mode=False)  # type: ignore[misc]
        except _USAGE as problem:
            say(problem.format_message())
            status = 2
        if standalone_mode:
            sys.exit(status)
        return status

    def invoke(self, ctx: Any) -> Any:
        try:
            with plain_warnings():
                super().invoke(ctx)
                sys.stdout.flush()
        except (_USAGE, typer.Exit, typer.Abort):
            raise
        except BrokenPipeError:
            # The reader has gone; what is still buffered must not be tried once more at exit.
            with contextlib.suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None
        except (Exception, KeyboardInterrupt) as problem:
            raise typer.Exit(explain(problem, bool(ctx.meta.get(TRACE)))) from None


def say(text: str) -> None:
    """One line on stderr, signed."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(text.split()))
    print("jifs:", line, file=sys.stderr)


def _as_options(text: str) -> str:
    """A sentence about the arguments of `jifs.select`, in the words of the command line."""
    text = re.sub(r"\btask='(class|real)'", r"--task \1", text)
    text = re.sub(r"\b(bins|criterion|strategy|info|stop|discrete)=('?)([\w:.]+)\2", r"--\1 \3", text)
    for argument, option in (
        ("random_state", "--seed"),
        ("n_jobs", "--threads"),
        ("sample_weight", "--weights"),
    ):
        text = re.sub(rf"\b{argument}\b", option, text)
    return text


def explain(problem: BaseException, trace: bool = False) -> int:
    """Say in one line what went wrong; the exit status: 2 bad input, 130 interrupted, 1 anything else."""
    if isinstance(problem, KeyboardInterrupt):
        say("interrupted")
        return 130
    if trace:
        import traceback

        traceback.print_exception(problem)
    if isinstance(problem, InputError | MismatchError):
        say(_as_options(str(problem)))
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
