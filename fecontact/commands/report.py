"""``fecontact report``: the page of a run from its files."""

from __future__ import annotations

import argparse
from typing import Any


def add_parser(commands: Any) -> None:
    """Describe the command."""
    text = "make report.html from the files of a run"
    command = commands.add_parser("report", help=text, description=text)
    command.add_argument("folder", metavar="DIR", help="folder of the run")
    command.add_argument("--open", action="store_true", help="show the page in the browser")
    command.set_defaults(action=report)


def report(given: argparse.Namespace) -> int:
    """Make the page and tell where it is."""
    from pathlib import Path

    from fecontact.errors import InputError
    from fecontact.output.report import write_report

    if not Path(given.folder).is_dir():
        raise InputError(f"{given.folder}: there is no such folder")
    path = write_report(given.folder)
    print(path)
    if given.open:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())
    return 0
