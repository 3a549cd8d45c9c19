"""The command `jifs gap`: how far from the best possible set each method is, with proof."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .errors import InputError


def sizes(text: str) -> list[int]:
    """[5] of "5", [1, 2, 3] of "1:3" or "1,2,3"."""
    found: list[int] = []
    for part in text.split(","):
        first, colon, last = (piece.strip() for piece in part.partition(":"))
        if not first.isdigit() or (colon and not last.isdigit()):
            raise InputError(f"-k takes a number, a list as 2,5,9 or a range as 1:10, not {text!r}")
        found += range(int(first), int(last) + 1) if colon else [int(first)]
    if not found:
        raise InputError(f"-k {text!r} names no size; a range goes from the smaller to the larger, as 1:10")
    return list(dict.fromkeys(found))


def gap(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A data file, or the name of a bundled set.")],
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="What to predict.")
    ] = None,
    k: Annotated[str, typer.Option("-k", metavar="SIZES", help="5, or 2,5,9, or 1:10.")] = "10",
    criterion: Annotated[
        str, typer.Option("--criterion", "-c", metavar="NAME", help="One with a form.")
    ] = "spec_cmi",
    bins: Annotated[str, typer.Option(metavar="RULE", help="5, width:10, frequency:10, mdl or none.")] = "5",
    seconds: Annotated[float, typer.Option(metavar="SECONDS", help="For each size.")] = 20.0,
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Of what is random.")] = 0,
    json: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write everything; - for the screen.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw values and bounds.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No table on the screen.")] = False,
) -> None:
    """Values, upper bounds and certified gaps of the best set of k features, method by method."""
    import jifs

    from .cli_input import outputs_of, table_of, value_of
    from .files import save_texts

    many = sizes(k)
    outputs = outputs_of(data, {"--json": None if json == "-" else json, "--plot": plot})
    table: Any = table_of(data, target, None, None, None)
    study = jifs.gap(
        table, k=many, criterion=criterion, bins=bins if bins == "none" else value_of(bins), seconds=seconds,
        random_state=seed, progress=not quiet and json != "-",
    )  # fmt: skip
    if "--json" in outputs:
        save_texts({outputs["--json"]: study.to_json() + "\n"})
    if plot is not None:
        study.plot().savefig(plot, dpi=150)
    if json == "-":
        print(study.to_json())
    elif not quiet:
        print(study)
    if study.stopped:
        raise KeyboardInterrupt
