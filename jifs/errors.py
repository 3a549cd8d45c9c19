"""What the user is told when something cannot be done: one sentence, with what would work."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def _sentence(text: object) -> str:
    """The text with a full stop, unless it ends in punctuation of its own."""
    text = str(text).rstrip()
    return text if text.endswith((".", "!", "?", ")")) else text + "."


class InputError(ValueError):
    """Bad input: the message is one clear sentence that names the column or parameter and what would work."""

    def __init__(self, text: object) -> None:
        super().__init__(_sentence(text))


class MismatchError(TypeError):
    """A criterion and a strategy (or an information estimator, or a target) that do not meet."""

    def __init__(self, text: object) -> None:
        super().__init__(_sentence(text))


class JifsWarning(UserWarning):
    """Something the user should see, although the work goes on."""


def near(name: str, known: Iterable[str]) -> str:
    """`" Did you mean 'jmi'?"` or the empty string: the end of a message about an unknown name."""
    names = sorted(known)
    close = difflib.get_close_matches(str(name).lower(), names, n=3, cutoff=0.5)
    if not close:
        return ""
    return " Did you mean " + " or ".join(repr(c) for c in close) + "?"
