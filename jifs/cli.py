"""The command line: demo, list, show, select, gap. One line on stderr says what went wrong; heavy imports wait."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .cli_gap import gap
from .cli_input import outputs_of, pairs_of, stop_of, strategy_of, table_of, value_of
from .console import TRACE, Door

if TYPE_CHECKING:
    from .registry import Entry
    from .result import Result

app = typer.Typer(
    cls=Door,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _remember(ctx: typer.Context, value: bool) -> bool:
    ctx.meta[TRACE] = value
    return value


_trace = typer.Option(
    "--traceback", envvar="JIFS_TRACEBACK", callback=_remember, help="Show where it failed."
)
_plugin = typer.Option(metavar="FILE.py", help="Load criteria from this file first; repeatable.")
_Traceback = Annotated[bool, _trace]
_Plugins = Annotated[list[Path] | None, _plugin]
_Name = Annotated[str, typer.Argument(metavar="NAME", help="As jifs list has it.")]
_Names = list[str] | None
_data = partial(typer.Option, rich_help_panel="Data")
_method = partial(typer.Option, rich_help_panel="Method")
_output = partial(typer.Option, rich_help_panel="Output")
_STOP = "Below this score; or exhausted, permutation, or with settings: permutation,level=0.01."


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Jointly informative feature selection: the few columns that together tell most about a target."""
    if version:
        from . import __version__

        print("jifs", __version__)
    elif ctx.invoked_subcommand is None:
        print(ctx.get_help())


@app.command()
def demo(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path("jifs_demo.html"),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No table on the screen.")] = False,
    traceback: _Traceback = False,
) -> None:
    """Select ten of 64 pixels of handwritten digits, show the steps and write a page about them."""
    import jifs

    from . import datasets
    from .files import check_writable, save_texts
    from .report import html_page

    check_writable(out)
    result = jifs.select(datasets.load("digits"), k=10, criterion="jmi", progress=not quiet)
    picture = datasets.pixels({step.feature: step.step for step in result.steps()})
    caption = "Where the chosen pixels lie, by order of choice"
    save_texts({out: html_page(result, "Ten pixels that tell digits apart", picture, caption)})
    if quiet:
        return
    print(f"Which pixels tell handwritten digits apart? {datasets.about('digits').cite}.\n\n{result}")
    print(f"\n{caption}:\n\n{picture}\n\nA page with the same is in {out}. What to try next:\n")
    print("  jifs list                                what else there is")
    print("  jifs show cmim                           one criterion: formula, parameters, source")
    print("  jifs select wine -k 5 --criterion mrmr   another data set, another criterion")
    print("  jifs select yours.csv --target COLUMN    your own data")


@app.command("list")
def list_(
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
    plugin: _Plugins = None,
    traceback: _Traceback = False,
) -> None:
    """What is registered: criteria, strategies, information estimators; and the bundled data sets."""
    import jifs

    from . import datasets
    from .report import print_table

    _load(plugin)
    found = {"criteria": jifs.criteria(), "strategies": jifs.strategies(), "infos": jifs.infos()}
    sets = [datasets.about(name) for name in datasets.names()]
    if as_json:
        from dataclasses import asdict
        from json import dumps

        keys = ("name", "summary", "faces", "tasks", "cite", "default", "params", "module")
        tables = {kind: [{key: getattr(e, key) for key in keys} for e in found[kind]] for kind in found}
        print(dumps(tables | {"datasets": [asdict(about) for about in sets]}, indent=1, default=repr))
        return
    for kind, entries in found.items():
        cells = [(e.name, e.summary, ", ".join(e.faces), ", ".join(e.tasks), e.cite) for e in entries]
        print_table(kind, ("name", "what it is", "faces", "tasks", "cite"), cells)
    shapes = [(s.name, s.summary, f"{s.rows} x {s.features}", s.task, s.cite) for s in sets]
    print_table("bundled data sets", ("name", "what it is", "size", "task", "cite"), shapes)


@app.command()
def show(name: _Name, plugin: _Plugins = None, traceback: _Traceback = False) -> None:
    """One criterion, strategy or information estimator: formula, parameters, reference, an example."""
    from textwrap import indent

    from . import registry

    _load(plugin)
    kind, entry, text = registry.describe(name)
    print(f"{entry.name} ({kind})\n\n{indent(text.strip(), '  ')}\n")
    facts = {
        "parameters": ", ".join(f"{key} = {value!r}" for key, value in entry.params.items() if key != "info"),
        "faces": ", ".join(entry.faces),
        "tasks": ", ".join(entry.tasks),
        "default": entry.default,
        "works with": ", ".join(_partners(entry)),
        "reference": entry.cite,
        "from": entry.module,
    }
    for head, body in facts.items():
        if body:
            print(f"{head:<12}{body}")
    print(f"\ntry: {_example(entry)}{''.join(f' --plugin {file}' for file in plugin or ())}")


def _partners(entry: Entry) -> list[str]:
    """The strategies that can search by a criterion, or the criteria that a strategy can search by."""
    import jifs

    from .faces import reachable

    if entry.kind == "criterion":
        return [s.name for s in jifs.strategies() if set(s.faces) & set(reachable(entry.faces))]
    return [c.name for c in jifs.criteria() if set(entry.faces) & set(reachable(c.faces))]


def _example(entry: Entry) -> str:
    data = "wine" if "class" in entry.tasks else "diabetes"
    if entry.kind != "criterion":
        partner = next(iter(_partners(entry)), "jmi")
        return f"jifs select {data} -k 5 --criterion {partner} --{entry.kind} {entry.name}"
    simple = (
        f" --param {key}={value}" for key, value in entry.params.items() if value_of(str(value)) == value
    )
    return f"jifs select {data} -k 5 --criterion {entry.name}{next(simple, '')}"


@app.command()
def select(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A data file, or the name of a bundled set.")],
    target: Annotated[str | None, _data("--target", "-t", metavar="COLUMN", help="What to predict.")] = None,
    weights: Annotated[str | None, _data(metavar="COLUMN", help="The weights of the rows.")] = None,
    task: Annotated[str | None, _data(metavar="class|real", help="Inferred if left out.")] = None,
    discrete: Annotated[_Names, _data(metavar="COLUMN", help="Holds discrete values; repeatable.")] = None,
    bins: Annotated[str, _data(metavar="RULE", help="5, width:10, frequency:10, mdl or none.")] = "5",
    drop_constant: Annotated[bool, _data("--drop-constant", help="Leave constant columns out.")] = False,
    k: Annotated[str, _method("-k", metavar="COUNT", help="How many features.")] = "10",
    criterion: Annotated[str, _method("--criterion", "-c", metavar="NAME", help="See jifs list.")] = "jmi",
    strategy: Annotated[str | None, _method(metavar="NAME", help="The criterion's own if left out.")] = None,
    info: Annotated[str, _method(metavar="NAME", help="How information is estimated.")] = "plugin",
    param: Annotated[_Names, _method(metavar="NAME=VALUE", help="Of the criterion; repeatable.")] = None,
    include: Annotated[_Names, _method(metavar="COLUMN", help="Taken first; repeatable.")] = None,
    exclude: Annotated[_Names, _method(metavar="COLUMN", help="Never taken; repeatable.")] = None,
    stop: Annotated[str | None, _method(metavar="RULE", help=_STOP)] = None,
    seed: Annotated[int, _method(metavar="NUMBER", help="For what is random.")] = 0,
    threads: Annotated[int | None, _method(metavar="COUNT", help="All there are if left out.")] = None,
    plugin: _Plugins = None,
    json: Annotated[str | None, _output(metavar="FILE", help="The result; - prints JSON alone.")] = None,
    csv: Annotated[Path | None, _output(metavar="FILE", help="The steps as a table.")] = None,
    report: Annotated[Path | None, _output(metavar="FILE.html", help="A page to read.")] = None,
    quiet: Annotated[bool, _output("--quiet", "-q", help="No table, no progress.")] = False,
    traceback: _Traceback = False,
) -> None:
    """Select features of a data file (CSV, TSV, Parquet, Arrow, ARFF, LIBSVM, NPZ) or a bundled data set."""
    outputs = outputs_of(data, {"--json": None if json == "-" else json, "--csv": csv, "--report": report})
    settings: dict[str, Any] = {
        "criterion": criterion,
        "strategy": None if strategy is None else strategy_of(strategy),
        "info": info,
        "bins": bins if bins == "none" else value_of(bins),
        "include": include or (),
        "exclude": exclude or (),
        "stop": None if stop is None else stop_of(stop),
        "params": pairs_of(param or [], "--param") or None,
        "random_state": seed,
        "n_jobs": threads,
        "progress": not quiet and json != "-",
        "drop_constant": drop_constant,
    }
    import jifs

    _load(plugin)
    table = table_of(data, target, weights, task, discrete)
    count: Any = value_of(k) or k  # 0 stays text, which is refused: it would select nothing
    result = jifs.select(table, k=count, **settings)
    whole = not str(result.facts.get("stopped")).startswith("interrupted")
    if whole:
        _deliver(result, outputs, data)
    if json == "-":
        print(result.to_json(), end="")
    elif not quiet:
        print(result)
    if not whole:
        raise KeyboardInterrupt  # what was found by then is shown, but not written as if it were all


app.command()(gap)


def _load(plugins: list[Path] | None) -> None:
    import jifs

    for file in plugins or ():
        jifs.load_plugin(file)


def _deliver(result: Result, outputs: dict[str, Path], data: str) -> None:
    from .files import save_texts
    from .report import csv_text, html_page

    title = f"{result.criterion} on {Path(data).name}"
    texts = {"--json": result.to_json(), "--csv": csv_text(result), "--report": html_page(result, title)}
    save_texts({path: texts[option] for option, path in outputs.items()})


def main() -> None:
    """The console script."""
    app(prog_name="jifs")


if __name__ == "__main__":
    main()
