"""Write reference/commands.md from the parser of the command line: python docs/make_commands.py."""

from __future__ import annotations

import argparse
from pathlib import Path

from fecontact.cli import parser

PAGE = Path(__file__).parent / "reference" / "commands.md"

HEAD = """# Commands

<!-- Written by docs/make_commands.py from the parser of the command line; do not edit. -->

| command | what it does |
|---|---|
{overview}

| exit code | meaning |
|---|---|
| 0 | done and converged |
| 1 | a variant of a sweep failed for a reason outside its case, such as lack of memory |
| 2 | the case, the mesh or the command line is wrong: a message says where |
| 3 | a step did not converge: the message gives the best residual reached |
| 130 | interrupted with Ctrl-C; what was computed is kept |
"""


def subcommands() -> dict[str, tuple[str, argparse.ArgumentParser]]:
    """Return help and parser of each command by name."""
    for action in parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            words = {choice.dest: choice.help or "" for choice in action._choices_actions}
            return {name: (words[name], found) for name, found in action.choices.items()}
    raise AssertionError("the command line has no commands")


def shape(action: argparse.Action) -> str:
    """Show how an argument is written."""
    name = ", ".join(action.option_strings)
    if action.nargs == 0:
        return name
    value = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    return f"{name} {value}".strip()


def cell(text: str) -> str:
    """Keep a text from breaking the table."""
    return " ".join(text.split()).replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def render() -> str:
    """Render the whole page."""
    found = subcommands()
    overview = "\n".join(
        f"| [`fecontact {name}`](#fecontact-{name}) | {cell(words)} |"
        for name, (words, _) in found.items()
    )
    lines = [HEAD.format(overview=overview)]
    for name, (words, command) in found.items():
        arguments = [
            a for a in command._actions if a.help != argparse.SUPPRESS and a.dest != "help"
        ]
        required = [shape(a) for a in arguments if not a.option_strings]
        usage = " ".join(
            ["fecontact", name, *required, *["[options]"] * (len(required) < len(arguments))]
        )
        lines += [f"## fecontact {name}", "", words[0].upper() + words[1:] + ".", ""]
        lines += ["```text", usage, "```", "", "| argument | meaning |", "|---|---|"]
        lines += [f"| `{shape(a)}` | {cell(a.help or '')} |" for a in arguments]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    print(PAGE)
