"""``fecontact sweep``: many variants of a case in parallel."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from fecontact.commands.options import add_case, add_overwrite, add_settings, add_trust


def add_parser(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "run many variants of a case in parallel and tabulate what they give"
    command = commands.add_parser(
        "sweep",
        help=text,
        description=f"{text}. A sweep that was broken off is continued by the same command.",
    )
    add_case(command)
    command.add_argument(
        "--vary",
        metavar="KEY=VALUES",
        action="append",
        default=[],
        help="values of a key: a,b,c or start:stop:n (start:stop:n:log for equal ratios); several "
        "--vary make a grid",
    )
    command.add_argument(
        "--list",
        metavar="FILE.csv",
        dest="listed",
        help="variants from a table: keys in the first row, a variant in each other",
    )
    add_settings(command, "set a key of the case for all variants")
    command.add_argument("--out", metavar="DIR", help="folder of the study (results/CASE_sweep)")
    add_trust(command)
    command.add_argument(
        "--outputs",
        metavar="PATH,...",
        help="numbers to tabulate and draw: of summary.json, such as contacts.base.RN, or "
        "last.COLUMN and peak.COLUMN of history.csv; * stands for anything",
    )
    command.add_argument(
        "--workers", metavar="N", type=int, help="processes (all cores; 0: none, one at a time)"
    )
    command.add_argument(
        "--scheduler", metavar="ADDRESS", help="a Dask scheduler that is running, tcp://HOST:PORT"
    )
    add_overwrite(command)
    command.set_defaults(action=run)


def run(given: argparse.Namespace) -> int:
    """Sweep; 0 where all variants converged, else the largest exit code among them."""
    from fecontact.case import read_case
    from fecontact.study import StudyProgress, sweep

    outputs = None
    if given.outputs is not None:
        outputs = [part.strip() for part in given.outputs.split(",") if part.strip()]
    try:
        study = sweep(
            read_case(given.case, trust=given.trust),
            given.vary,
            listed=given.listed,
            settings=given.settings,
            out=given.out,
            outputs=outputs,
            workers=given.workers,
            scheduler=given.scheduler,
            overwrite=given.overwrite,
            progress=StudyProgress(sys.stderr),
        )
    except KeyboardInterrupt:
        print("The same command goes on where this one stopped.", file=sys.stderr)
        raise
    print(study.listing())
    print(study.summary())
    for note in study.notes:
        print(f"Note: {note}")
    print("Results:")
    for kind, found in study.paths.items():
        for path in found if isinstance(found, list) else [found]:
            print(f"  {kind:<20} {path}")
    print(f"  {'variants':<20} {study.folder / 'variants'}")
    return study.exit_code
