"""Folders of results: which run or study they hold, and that no two are ever mixed."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fecontact import __version__
from fecontact.case import Case
from fecontact.case.identity import differences, resolved
from fecontact.case.reading import check
from fecontact.errors import CaseError, InputError
from fecontact.output.atomic import replacing
from fecontact.output.earlier import remove_earlier

MANIFEST = "study.json"
"""What a folder of several runs holds."""

_SUMMARY = "summary.json"
_REMEDY = "give --overwrite to replace it, or another folder with --out"


def check_place(folder: Path) -> None:
    """Refuse a folder that cannot be made or written, before anything is computed."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"output folder {str(folder)!r} is a file; give a folder")
    parent = folder
    while not parent.exists() and parent != parent.parent:
        parent = parent.parent
    if not parent.is_dir():
        raise InputError(f"output folder {str(folder)!r}: {str(parent)!r} is a file")
    try:
        # permissions alone do not tell of read-only disks and the like
        os.rmdir(tempfile.mkdtemp(prefix=".fecontact-", dir=parent))
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"output folder {str(folder)!r}: {str(parent)!r} is not writable ({reason})"
        ) from None


def check_run_folder(folder: Path, case: Case, overwrite: bool = False) -> None:
    """Refuse a folder that holds a study or the run of another case; the same case is fine."""
    check_place(folder)
    if overwrite:
        return
    _refuse_study(folder)
    if (folder / _SUMMARY).exists():
        earlier = _case_of_run(folder, case.path)
        if earlier is None:
            raise InputError(f"output folder {str(folder)!r} holds another run; {_REMEDY}")
        _refuse_other(folder, "the run of another case", earlier, resolved(case.spec))
    elif _unfinished(folder):
        raise InputError(
            f"output folder {str(folder)!r} holds a run that was broken off; continue it with "
            f"'fecontact resume {folder}', or {_REMEDY}"
        )


def check_study_folder(
    folder: Path, identity: Mapping[str, Any], overwrite: bool = False
) -> dict[str, Any] | None:
    """Refuse a folder that holds a run or another study; returns the manifest of the same one.

    Parameters
    ----------
    folder
        Where the study is to be.
    identity
        What must be the same for it to be the same study, with its ``kind`` among it.
    overwrite
        Refuse nothing; what is there will be replaced.
    """
    check_place(folder)
    found = _load(folder / MANIFEST)
    same = found is not None and not list(differences(found.get("identity"), identity))
    if same:
        return found
    if overwrite:
        return None
    if (folder / MANIFEST).exists():
        there = (found or {}).get("identity") or {}
        kind = there.get("kind", "study")
        if kind != identity.get("kind"):
            raise InputError(f"output folder {str(folder)!r} holds a {kind}; {_REMEDY}")
        _refuse_other(folder, f"another {kind}", there, identity)
    if (folder / _SUMMARY).exists() or _unfinished(folder):
        raise InputError(f"output folder {str(folder)!r} holds a single run; {_REMEDY}")
    return None


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> Path:
    """Write what a study holds."""
    path = folder / MANIFEST
    with replacing(path) as part:
        part.write_text(json.dumps(manifest, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    return path


def clear_study(folder: Path) -> None:
    """Remove the runs and tables of a study, by its own list; other files are left alone."""
    manifest = _load(folder / MANIFEST)
    if manifest is None:
        return
    for name in (*manifest.get("folders", ()), *manifest.get("files", ())):
        path = folder / str(name)
        if path.parent != folder or path.is_symlink():
            continue
        if path.is_dir():
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()
    (folder / MANIFEST).unlink()


def clear_run(folder: Path) -> None:
    """Remove the files of a run, where there is one; other files are left alone."""
    if (folder / _SUMMARY).exists() or _unfinished(folder):
        remove_earlier(folder)
        (folder / "history.csv").unlink(missing_ok=True)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The folder of a comparison: the variants' folders beside the tables."""

    folder: Path
    base: Case
    vary: Sequence[str]
    labels: Sequence[str]

    @property
    def identity(self) -> dict[str, Any]:
        vary = ["".join(text.split()) for text in self.vary]
        return {"kind": "comparison", "vary": vary, "case": resolved(self.base.spec)}

    def check(self, overwrite: bool = False) -> None:
        """Refuse a folder that holds anything but the same comparison."""
        check_study_folder(self.folder, self.identity, overwrite)

    def claim(self) -> None:
        """Remove what was there and say what will be."""
        clear_study(self.folder)
        clear_run(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        files = [
            "comparison.csv",
            "comparison_nodes.csv",
            "comparison.png",
            "comparison_history.png",
        ]
        manifest = {
            "fecontact": __version__,
            "case": str(self.base.path.resolve()),
            "identity": self.identity,
            "folders": list(self.labels),
            "files": files,
        }
        write_manifest(self.folder, manifest)


def _refuse_study(folder: Path) -> None:
    if (folder / MANIFEST).exists():
        kind = ((_load(folder / MANIFEST) or {}).get("identity") or {}).get("kind", "study")
        raise InputError(f"output folder {str(folder)!r} holds a {kind}; {_REMEDY}")


def _refuse_other(folder: Path, what: str, there: Any, here: Any) -> None:
    found = list(differences(there, here))
    if not found:
        return
    told = [f"{place} is {_short(one)} there, {_short(other)} here" for place, one, other in found]
    more = f" and {len(told) - 3} more" if len(told) > 3 else ""
    raise InputError(
        f"output folder {str(folder)!r} holds {what} ({'; '.join(told[:3])}{more}); {_REMEDY}"
    )


def _short(value: Any) -> str:
    text = "absent" if value is None else json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _case_of_run(folder: Path, path: Path) -> dict[str, Any] | None:
    summary = _load(folder / _SUMMARY)
    data = None if summary is None else summary.get("case")
    if not isinstance(data, dict):
        return None
    try:
        return resolved(check(data, path))
    except CaseError:
        return None


def _unfinished(folder: Path) -> bool:
    return (folder / "history.csv").exists() or any(folder.glob("fields_[0-9]*.vtu"))


def _load(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
