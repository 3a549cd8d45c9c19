"""Files written whole or not at all: into a temporary one beside the place, then moved there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from .errors import InputError


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse, before the long work, a path that could not be written after it."""
    target = Path(path)
    try:
        place = target if target.exists() and not target.is_file() else target.parent
        if target.is_dir():
            reason = "it is a folder"
        elif not target.parent.is_dir():
            reason = f"there is no folder {str(target.parent)!r}"
        else:
            reason = "" if os.access(place, os.W_OK) else f"{str(place)!r} is not writable"
    except (OSError, ValueError) as problem:
        reason = str(getattr(problem, "strerror", problem))
    if reason:
        raise InputError(f"cannot write {str(path)[:200]!r}: {reason}.")


def save_texts(texts: Mapping[str | os.PathLike[str], str]) -> None:
    """Write each text to its path: all of them whole, or none (a device or a pipe is written as it is)."""
    drafts: list[tuple[Path, Path]] = []
    for path in texts:
        check_writable(path)
    target = Path()
    try:
        for path, text in texts.items():
            target = Path(os.path.realpath(path))
            if target.exists() and not target.is_file():
                _write(target, text, "w")
                continue
            drafts.append((target.with_name(f".jifs-{secrets.token_hex(6)}.tmp"), target))
            _write(drafts[-1][0], text, "x")
        for draft, target in drafts:
            os.replace(draft, target)
    except OSError as problem:
        raise InputError(f"cannot write {str(target)!r}: {problem.strerror or problem}.") from None
    finally:
        for draft, _ in drafts:
            draft.unlink(missing_ok=True)


def _write(path: Path, text: str, mode: str) -> None:
    with open(path, mode, encoding="utf-8", errors="backslashreplace", newline="") as file:
        file.write(text)
