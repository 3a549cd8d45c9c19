"""LIBSVM / SVMlight text, `label index:value index:value ...`: columns x0, x1, ... and a target apart."""

from __future__ import annotations

import zlib
from pathlib import Path

from ..errors import InputError
from ..table import Numbered
from .raw import Raw


def read(file: Path) -> Raw:
    """A sparse X (made dense by the Table, if there is memory) and the labels."""
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(str(file), zero_based="auto")
    except (ValueError, OverflowError, EOFError, zlib.error) as error:
        reason = str(error).split("\n")[0].rstrip(".")
        raise InputError(
            f"this is not in LIBSVM form, 'label index:value ...' in each line ({reason})."
        ) from None
    if not len(y):
        raise InputError("the file is empty.")
    if not X.nnz:
        raise InputError("there is not one index:value pair in the file, only labels.")
    return Raw(X, Numbered(X.shape[1]), y=y)
