"""Commands of the command line that are more than a few lines.

Each module has `add_parser`, which describes the command and names the function that carries it
out. They import what they need when they run, so that ``fecontact --help`` is quick.
"""

from __future__ import annotations

from typing import Any


def add_parsers(commands: Any) -> None:
    """Add the commands of this package to the subparsers of the command line."""
    from fecontact.commands import completion, mesh, new, report, resume, schema, sweep, verify

    for module in (completion, mesh, new, report, resume, schema, sweep, verify):
        module.add_parser(commands)
