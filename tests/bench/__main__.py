"""Print the benchmark tables: all of them, or `--only` some; `--quick` for small sizes that show it works."""

from __future__ import annotations

import argparse
import time

from . import counting, encoding, gaussian, growth, matrices, peers, selections, startup
from .timing import machine, quiet_or_not

PARTS = {
    "counting": counting.run,
    "selections": selections.run,
    "peers": peers.run,
    "matrices": matrices.run,
    "encoding": encoding.run,
    "growth": growth.run,
    "gaussian": gaussian.run,
    "startup": startup.run,
}


def main(arguments: list[str] | None = None) -> None:
    """Run the parts asked for and print their tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, under twenty seconds; times mean little"
    )
    parser.add_argument(
        "--only", action="append", choices=PARTS, metavar="NAME", help=f"one of {', '.join(PARTS)}"
    )
    options = parser.parse_args(arguments)
    print(machine())
    print(quiet_or_not())
    for name in options.only or PARTS:
        start = time.perf_counter()
        PARTS[name](options.quick)
        print(f"\n({name}: {time.perf_counter() - start:.0f} s. After it: {quiet_or_not()})")


if __name__ == "__main__":
    main()
