"""``fecontact completion``: completion of commands, options and keys in bash, zsh and fish.

The script of a shell asks ``fecontact completion words`` what may follow, so that it cannot fall
behind the command line; keys after --set and --vary come from the case named before them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

Commands = Mapping[str, argparse.ArgumentParser]

FILES = "<files>"
"""Stands for whatever files the shell finds."""

SCRIPTS = {
    "bash": r"""# bash: add to ~/.bashrc    eval "$(fecontact completion bash)"
_fecontact() {
    local line="${COMP_LINE:0:COMP_POINT}"
    local found=$(fecontact completion words "$line" 2>/dev/null)
    if [[ "$found" == "<files>" ]]; then
        COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
        compopt -o filenames 2>/dev/null
        return
    fi
    COMPREPLY=($found)
    [[ "${COMPREPLY[0]}" == *= ]] && compopt -o nospace 2>/dev/null
}
complete -F _fecontact fecontact
""",
    "zsh": r"""#compdef fecontact
# zsh: add to ~/.zshrc, after compinit    eval "$(fecontact completion zsh)"
_fecontact() {
    local -a found
    found=("${(@f)$(fecontact completion words "${(j: :)words[1,CURRENT]}" 2>/dev/null)}")
    if [[ "$found" == "<files>" ]]; then
        _files
    elif [[ "${found[1]}" == *= ]]; then
        compadd -S '' -- $found
    else
        compadd -- $found
    fi
}
compdef _fecontact fecontact
""",
    "fish": r"""# fish: fecontact completion fish > ~/.config/fish/completions/fecontact.fish
function __fecontact_words
    set -l line (commandline -opc) (commandline -ct)
    set -l found (fecontact completion words (string join ' ' -- $line) 2>/dev/null)
    if test "$found" = "<files>"
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $found
    end
end
complete -c fecontact -f -a '(__fecontact_words)'
""",
}


def add_parser(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "print a script that completes commands, options and keys in a shell"
    hints = [script.splitlines() for script in SCRIPTS.values()]
    listed = "\n".join(line.lstrip("# ") for lines in hints for line in lines[:2] if ": " in line)
    command = commands.add_parser(
        "completion",
        help=text,
        description=f"{text}.\n\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    shells = (*SCRIPTS, "words")
    command.add_argument("shell", metavar="SHELL", choices=shells, help=", ".join(SCRIPTS))
    command.add_argument("line", nargs="?", default="", help=argparse.SUPPRESS)
    command.set_defaults(action=partial(run, commands.choices))


def run(commands: Commands, given: argparse.Namespace) -> int:
    """Print the script of a shell, or the words that may follow others."""
    if given.shell == "words":
        print("\n".join(complete(commands, given.line)))
    else:
        print(SCRIPTS[given.shell], end="")
    return 0


def complete(commands: Commands, line: str) -> list[str]:
    """What may stand for the last word, which may be empty or begun.

    Parameters
    ----------
    commands
        Parsers of the commands by name.
    line
        What has been typed, from the name of the program on.

    Returns
    -------
    found
        Whole words that begin with the last one; ``["<files>"]`` where a file is expected.
    """
    words = line.split()[1:]
    if line[-1:].isspace() or not words:
        words.append("")
    *before, last = words
    chosen = next((word for word in before if word in commands), None)
    if chosen is None:
        return [w for w in (*commands, "--help", "--version") if w.startswith(last)]
    command = commands[chosen]
    options = {name: a for a in command._actions for name in a.option_strings}
    previous = before[-1] if before else ""
    if previous in options and options[previous].nargs != 0:
        if previous in ("--set", "--vary"):
            return [key for key in _keys(before) if key.startswith(last)]
        return _values(options[previous], last)
    if last.startswith("-"):
        return [name for name in options if name.startswith(last)]
    given = _positionals(before[before.index(chosen) + 1 :], options)
    expected = [a for a in command._actions if not a.option_strings]
    if len(given) < len(expected):
        return _values(expected[len(given)], last)
    return [name for name in options if name.startswith(last)]


def _values(action: argparse.Action, last: str) -> list[str]:
    if action.choices is not None:
        return [str(c) for c in action.choices if str(c).startswith(last) and c != "words"]
    if action.type in (int, float):
        return []
    return [FILES]


def _positionals(words: Sequence[str], options: dict[str, argparse.Action]) -> list[str]:
    found, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in options:
            skip = options[word].nargs != 0
        else:
            found.append(word)
    return found


def _keys(before: Sequence[str]) -> Iterator[str]:
    """Keys that a case has, each ending in ``=``, from the case file among the words."""
    from fecontact.case import read_case
    from fecontact.errors import FecontactError

    for word in before:
        if word.endswith(".toml") and Path(word).is_file():
            try:
                spec = read_case(word).spec
            except FecontactError as error:
                print(error, file=sys.stderr)
                return
            keys = list(_paths(spec))
            # a key of all tables of a kind is said without their names
            short = (_short(key) for key in keys)
            yield from (f"{key}=" for key in dict.fromkeys([*filter(None, short), *keys]))
            return


def _short(key: str) -> str:
    """A key of a named table without the name, empty for other keys."""
    from fecontact.case.schema import NAMED_TABLES

    table, *rest = key.split(".")
    return ".".join([table, *rest[1:]]) if table in NAMED_TABLES and len(rest) > 1 else ""


def _paths(table: Any, place: str = "") -> Iterator[str]:
    """Keys of a table of the case, or of a kind of table, and of those in it that are left out."""
    kind: Any = table if isinstance(table, type) else type(table)
    for key, field in kind.model_fields.items():
        value = None if table is kind else getattr(table, key)
        for name, entry in value.items() if isinstance(value, dict) else [("", value)]:
            where = ".".join(part for part in (place, key, name) if part)
            inner = _left_out(field.annotation) if entry is None else entry
            if hasattr(inner, "model_dump"):
                yield from _paths(inner, where)
            elif not isinstance(value, dict):
                yield where


def _left_out(annotation: Any) -> Any:
    """The only kind of table that an annotation allows, if it allows nothing else."""
    kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
    return kinds[0] if len(kinds) == 1 else None
