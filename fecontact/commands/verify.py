"""``fecontact verify``: whether the results of a run obey the laws, from its files alone."""

from __future__ import annotations

import argparse
from typing import Any

FAILED = 3
"""Exit code where a figure is above its limit."""
NOT_COVERED = 2
"""Exit code where the scheme cannot be computed again, as where the files cannot be read."""


def add_parser(commands: Any) -> None:
    """Describe the command."""
    text = (
        "compute equilibrium, contact laws and energy balance of saved steps again from the files "
        "of a run, and tell whether they hold"
    )
    command = commands.add_parser("verify", help=text, description=text)
    command.add_argument("folder", metavar="DIR", help="folder of the run")
    command.add_argument("--json", action="store_true", help="print the figures as JSON")
    command.set_defaults(action=verify)


def verify(given: argparse.Namespace) -> int:
    """Verify a run and print the figures; 0 where they hold, 3 where not, 2 where none can be."""
    import json

    from fecontact.output.summary import certificate_summary
    from fecontact.verification import verify as verify_folder

    found = verify_folder(given.folder)
    verdict = found.verdict
    code = {"pass": 0, "fail": FAILED}.get(verdict.word, NOT_COVERED)
    if given.json:
        print(json.dumps(certificate_summary(verdict), indent=2))
        return code
    print(f"{given.folder}: {found.title}, scheme {found.scheme}, {verdict.steps} saved step(s)")
    if found.claimed != "converged":
        print(f"  the run did not reach its end: {found.claimed}")
    for line in verdict.lines():
        print(line)
    print(f"FAIL: {', '.join(verdict.failures)}" if verdict.failures else verdict.word)
    return code
