"""state_0012.npz: a saved step in full, with its certificate, so that it can be verified.

Forces are those of the computation, for the thickness of the model. The files hold arrays of
numbers and words only; reading them runs nothing.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fecontact.certificate import Certificate, Certifier, SavedStep, Verdict, limits, saved_step
from fecontact.errors import InputError
from fecontact.output.atomic import replacing
from fecontact.schemes import Place, StepResult
from fecontact.simulation import Simulation

PATTERN = "state_[0-9]*.npz"
VECTORS = ("q", "v", "a", "q_before", "v_before", "a_before", "supports", "contact")
OPTIONAL = ("a", "a_before")
_POINTS = ("F", "mean", "deviators")


class StateWriter:
    """Writes the state of each saved step and its certificate."""

    def __init__(self, folder: Path, simulation: Simulation) -> None:
        self.folder = folder
        self._certifier = Certifier(simulation.model, simulation.scheme)
        self._limits = limits(simulation.options.tolerance)

    def step(self, result: StepResult) -> list[Path]:
        """Write a step; no file where it does not know what it started from."""
        saved = saved_step(result)
        if saved is None:
            return []
        path = state_path(self.folder, result.number)
        with replacing(path) as part, part.open("wb") as file:
            np.savez(file, **_arrays(saved, self._certifier(saved)))
        return [path]

    @property
    def files(self) -> list[Path]:
        """What is there, in order."""
        return state_files(self.folder)

    def verdict(self) -> Verdict:
        """The certificates of all saved steps taken together."""
        return Verdict.of(_certificates(self.files), self._limits)


def state_path(folder: Path, number: int) -> Path:
    """The file of a saved step."""
    return folder / f"state_{number:04d}.npz"


def state_files(folder: Path) -> list[Path]:
    """The states in a folder, by the numbers of their steps."""
    return sorted(folder.glob(PATTERN), key=lambda path: int(path.stem.partition("_")[2]))


def _arrays(saved: SavedStep, certificate: Certificate) -> dict[str, Any]:
    names = list(saved.reactions)
    arrays: dict[str, Any] = {
        "step": np.array([saved.number, saved.non_unique]),
        "time": np.array([saved.t, saved.h]),
        "contacts": np.array(names, dtype=str),
        "figures": np.array(list(certificate.figures), dtype=str),
        "figure_values": np.array(list(certificate.figures.values()), dtype=float),
        "figure_places": np.array(
            [certificate.places.get(name, "") for name in certificate.figures], dtype=str
        ),
        "depth": np.array(certificate.depth),
        "uncovered": np.array(certificate.uncovered, dtype=str),
    }
    arrays |= {k: getattr(saved, k) for k in VECTORS if getattr(saved, k) is not None}
    if saved.points is not None:
        arrays |= {f"points_{k}": saved.points[k] for k in _POINTS}
    if saved.place is not None:
        place = saved.place
        arrays |= {"place_q": place.q, "place_w": place.w}
        arrays["place_times"] = np.array([place.t, place.h, place.step])
    for number, name in enumerate(names):
        arrays[f"reactions_{number}"] = saved.reactions[name]
        arrays[f"friction_{number}"] = saved.friction[name]
    return arrays


def read_state(path: Path) -> SavedStep:
    """The saved step in a file."""
    with _open(path) as data:
        number, non_unique = (int(n) for n in data["step"])
        t, h = (float(x) for x in data["time"])
        names = [str(name) for name in data["contacts"]]
        vectors: dict[str, Any] = {k: _numbers(data, k) if k in data else None for k in OPTIONAL}
        vectors |= {k: _numbers(data, k) for k in VECTORS if k not in OPTIONAL}
        return SavedStep(
            number=number,
            t=t,
            h=h,
            reactions={name: _numbers(data, f"reactions_{i}") for i, name in enumerate(names)},
            friction={name: _numbers(data, f"friction_{i}") for i, name in enumerate(names)},
            non_unique=non_unique,
            place=_place(data) if "place_q" in data else None,
            points=(
                {k: _numbers(data, f"points_{k}") for k in _POINTS} if "points_F" in data else None
            ),
            **vectors,
        )


def _place(data: Any) -> Place:
    t, h, step = (float(x) for x in _numbers(data, "place_times"))
    return Place(_numbers(data, "place_q"), _numbers(data, "place_w"), t, h, step)


def _certificates(files: list[Path]) -> Iterator[Certificate]:
    for path in files:
        with _open(path) as data:
            names = [str(name) for name in data["figures"]]
            yield Certificate(
                number=int(data["step"][0]),
                time=float(data["time"][0]),
                figures=dict(zip(names, map(float, data["figure_values"]), strict=True)),
                places=dict(zip(names, map(str, data["figure_places"]), strict=True)),
                depth=float(data["depth"]),
                non_unique=int(data["step"][1]),
                uncovered=tuple(map(str, data["uncovered"])),
            )


def _numbers(data: Any, key: str) -> Any:
    array = data[key]
    if array.dtype != np.float64:
        raise ValueError(f"{key} holds {array.dtype}, expected float64")
    return array


class _open:
    """A file of arrays whose faults become one message."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Any:
        self._file = self.path.open("rb")
        try:
            data = np.load(self._file, allow_pickle=False)
            if not isinstance(data, np.lib.npyio.NpzFile):
                raise ValueError("a single array")
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            self._file.close()
            raise InputError(f"{self.path}: this is no saved step: {error}") from None
        return data

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: Any) -> None:
        self._file.close()
        if kind is not None and issubclass(
            kind, KeyError | ValueError | TypeError | OSError | EOFError | zipfile.BadZipFile
        ):
            raise InputError(f"{self.path}: this is no saved step: {error}") from None
