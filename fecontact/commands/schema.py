"""``fecontact schema``: the JSON Schema of case files."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any


def add_parser(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "print the JSON Schema of case files, for editors that complete and check them"
    command = commands.add_parser("schema", help=text, description=text)
    command.add_argument("--out", metavar="FILE.json", help="write it to a file instead")
    command.set_defaults(action=run)


def run(given: argparse.Namespace) -> int:
    """Print or write the schema."""
    from fecontact.case.jsonschema import json_schema
    from fecontact.output.atomic import replacing

    text = json.dumps(json_schema(), indent=1, ensure_ascii=False)
    if given.out is None:
        print(text)
        return 0
    with replacing(Path(given.out)) as part:
        part.write_text(text + "\n", encoding="utf-8")
    print(f"Written: {given.out}")
    return 0
