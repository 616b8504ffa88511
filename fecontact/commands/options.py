"""Options that several commands have."""

from __future__ import annotations

import argparse


def add_case(command: argparse.ArgumentParser) -> None:
    """The case file of a command."""
    command.add_argument("case", metavar="CASE.toml", help="case file")


def add_settings(command: argparse.ArgumentParser, told: str) -> None:
    """``--set``, which changes keys."""
    command.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], dest="settings", help=told
    )


def add_trust(command: argparse.ArgumentParser, case: str = "the case") -> None:
    """``--trust``, which lets a case reach beyond its folder."""
    command.add_argument(
        "--trust",
        action="store_true",
        help=f"let {case} name files in any folder, and Gmsh scripts that run commands",
    )


def add_overwrite(command: argparse.ArgumentParser) -> None:
    """``--overwrite``, without which a folder that holds something else is refused."""
    command.add_argument(
        "--overwrite", action="store_true", help="replace another run or study in the folder"
    )
