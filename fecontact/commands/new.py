"""``fecontact new``: a commented case to start from."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

TEMPLATES = {
    "block": "a block pressed on a floor, then pushed until it slides",
    "two-bodies": "two elastic bodies, one sliding on the other",
    "fault": "a fault with friction across a compressed block, sheared",
    "impact": "an elastic body thrown against a wall, with its energies",
}
SCHEMA = "case.schema.json"


def add_parser(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "write a commented case that runs at once"
    listed = "\n".join(f"  {name:<12} {what}" for name, what in TEMPLATES.items())
    command = commands.add_parser(
        "new",
        help=text,
        description=f"{text}:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("kind", metavar="KIND", choices=TEMPLATES, help=", ".join(TEMPLATES))
    command.add_argument("name", metavar="NAME", help="folder to make, and name of the case in it")
    command.set_defaults(action=run)


def run(given: argparse.Namespace) -> int:
    """Write the files of a template to a new folder and tell what to do next."""
    folder = write_template(given.kind, Path(given.name))
    case = folder / f"{folder.name}.toml"
    for path in sorted(folder.iterdir()):
        print(f"Written: {path}")
    print("Next:")
    print(f"  fecontact check {case}")
    print(f"  fecontact run {case}")
    return 0


def write_template(kind: str, folder: Path) -> Path:
    """Write a template to a folder that does not exist yet or is empty; returns the folder."""
    from importlib.resources import files

    from fecontact.case.jsonschema import json_schema
    from fecontact.errors import InputError, choices
    from fecontact.study.folders import check_place

    if kind not in TEMPLATES:
        raise InputError(f"new {kind!r}: no such kind of case; {choices(kind, TEMPLATES)}")
    name = folder.resolve().name
    if not name or not all(c.isalnum() or c in "-_." for c in name) or name.startswith((".", "-")):
        raise InputError(
            f"new: {str(folder)!r} is no name for a case; expected letters, digits, - and _"
        )
    check_place(folder)
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"new: {str(folder)!r} exists and is not empty; choose another name")
    folder = folder.parent / name
    folder.mkdir(parents=True, exist_ok=True)
    for source in files("fecontact").joinpath("templates", kind).iterdir():
        if source.name.startswith(("_", ".")):
            continue
        # a script is stored under another ending, for it is no module of the package
        target = source.name.removesuffix(".template")
        target = f"{name}.toml" if target == "case.toml" else target
        text = source.read_text(encoding="utf-8").replace("@NAME@", name)
        (folder / target).write_text(text, encoding="utf-8")
    text = json.dumps(json_schema(), indent=1, ensure_ascii=False)
    (folder / SCHEMA).write_text(text + "\n", encoding="utf-8")
    return folder
