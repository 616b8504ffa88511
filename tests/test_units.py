"""Numbers with units: conversion, dimensions, and their way through a case file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fecontact.case import build, read_case
from fecontact.case.schema.contacts import DiskSpec
from fecontact.cli import main
from fecontact.errors import CaseError, InputError
from fecontact.units import convert, looks_like_quantity, parse, quantities

CASE = """
title = "10 km of nothing"
[mesh]
generator = "rectangle"
width = "2 km"
height = "50000 cm"
nx = 4
ny = 2
[materials.rock]
E = "10 GPa"
nu = 0.25
density = "2.7 t/m^3"
[prescribed.base]
on = "bottom"
ux = 0.0
uy = 0.0
[loads.top]
type = "pressure"
on = "top"
value = { times = [0.0, "1 year"], values = [0.0, "5 MPa"] }
[time]
end = "1 year"
steps = 1
[output]
figures = false
fields = false
"""


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("10 km", 1e4, "m"),
        ("1e6 year", 1e6 * 365.25 * 86400.0, "s"),
        ("3.3e-11 m/s", 3.3e-11, "m s^-1"),
        ("1e23 Pa s", 1e23, "Pa s"),
        ("1e23 Pa*s", 1e23, "Pa s"),
        ("30 GPa", 3e10, "Pa"),
        ("3 kg/m/s^2", 3.0, "Pa"),
        ("9.81 m/s^2", 9.81, "m s^-2"),
        ("2700 kg/m3", 2700.0, "kg m^-3"),
        ("-60deg", -60.0, "deg"),
        ("2 Myr", 2e6 * 365.25 * 86400.0, "s"),
        ("5 mm", 5e-3, "m"),
        ("7 %", 0.07, "-"),
    ],
)
def test_quantities_are_converted(text: str, value: float, unit: str) -> None:
    found = parse(text)
    assert found.value == pytest.approx(value, rel=1e-12)
    assert found.unit == unit


@pytest.mark.parametrize("text", ["1e8 + 2e7 * y", "2 * x", "3", "1e5", "2/t", "-x", "11/x", "x"])
def test_expressions_and_numbers_are_no_quantities(text: str) -> None:
    assert not looks_like_quantity(text)
    assert convert(text, "m") == text


def test_numbers_are_in_the_unit_expected() -> None:
    # an obstacle spins in radians per second, although angles are in degrees
    assert convert("180 deg/s", "rad/s") == pytest.approx(np.pi, rel=1e-15)
    assert convert("2 rad/min", "rad/s") == pytest.approx(2.0 / 60.0, rel=1e-15)
    assert DiskSpec(type="disk", center=[0, 0], radius=1, spin="90 deg/s").spin == pytest.approx(
        np.pi / 2, rel=1e-15
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10 kms", "unit 'kms' is not known; did you mean 'km'"),
        ("10 km +", "cannot be read"),
        ("3 Pa s", r"'3 Pa s' has the dimension of 'Pa s'; expected a unit such as 'm'"),
    ],
)
def test_wrong_units_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        convert(text, "m")


def written(folder: Path, text: str = CASE) -> Path:
    path = folder / "case.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_case_in_units_is_the_case_in_numbers(tmp_path: Path) -> None:
    simulation = build(read_case(written(tmp_path)))
    mesh, solid = simulation.model.mesh, simulation.model.solid
    assert mesh.nodes.max(axis=0) == pytest.approx([2000.0, 500.0])
    material = solid.materials["all"]
    assert (material.E, material.density) == pytest.approx((1e10, 2700.0))  # type: ignore[attr-defined]
    year = 365.25 * 86400.0
    assert simulation.times.end == pytest.approx(year)
    force = simulation.model.external(0.5 * year).reshape(-1, 2).sum(axis=0)
    assert force == pytest.approx([0.0, -2.5e6 * 2000.0])


@pytest.mark.parametrize(
    "table",
    ['{ times = [0.0, "0.5 year"], values = [0.0, 1.0] }', '[[0.0, 0.0], ["0.5 year", 1.0]]'],
)
def test_tables_over_time_may_have_units(tmp_path: Path, table: str) -> None:
    day = 86400.0
    factors = f"[loads.weight]\ntype = 'pressure'\non = 'top'\nvalue = 2e6\namplitude = {table}\n"
    path = written(tmp_path, CASE + factors)
    external = build(read_case(path)).model.external
    rest = build(read_case(written(tmp_path))).model.external
    for part, days in ((0.25, 365.25 / 8), (1.0, 365.25 / 2), (1.0, 300.0)):
        added = (external(days * day) - rest(days * day)).reshape(-1, 2).sum(axis=0)
        assert added == pytest.approx([0.0, -2e6 * part * 2000.0])
    for bad, message in (("0.5 km", "'0.5 km' has the dimension of 'm'"), ("1 kg", "'1 kg' has")):
        wrong = table.replace("0.5 year", bad) if "km" in bad else table.replace("1.0", f'"{bad}"')
        with pytest.raises(CaseError, match=rf"loads\.weight\.amplitude: {message}"):
            read_case(written(tmp_path, CASE + factors.replace(table, wrong)))


def test_settings_may_have_units(tmp_path: Path) -> None:
    case = read_case(written(tmp_path), ["mesh.width=3 km"])
    assert build(case).model.mesh.nodes[:, 0].max() == pytest.approx(3000.0)


@pytest.mark.parametrize(
    ("key", "given", "message"),
    [
        ('"2 km"', '"2 year"', "mesh.*width: '2 year' has the dimension of 's'"),
        ('"2 km"', '"2 kms"', "mesh.*width: unit 'kms' is not known; did you mean 'km'"),
        ('"5 MPa"', '"5 MN"', "loads.*value: '5 MN' has the dimension of 'N'"),
    ],
)
def test_a_wrong_unit_in_a_case_is_named(
    tmp_path: Path, key: str, given: str, message: str
) -> None:
    with pytest.raises(CaseError, match=message) as error:
        read_case(written(tmp_path, CASE.replace(key, given)))
    assert len(str(error.value).splitlines()) == 1


def test_quantities_of_a_case_leave_words_alone() -> None:
    data = {"title": "10 km", "mesh": {"width": "2 km", "points": [[0.0, "1 m"]]}}
    assert {k: q.value for k, q in quantities(data).items()} == {
        "mesh.width": 2000.0,
        "mesh.points[0][1]": 1.0,
    }


def test_check_and_summary_tell_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path)
    assert main(["check", str(path)]) == 0
    assert "mesh.width: 2 km = 2000 m" in capsys.readouterr().out
    assert main(["run", str(path), "--out", str(tmp_path / "out")]) == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["quantities"]["materials.rock.E"] == {
        "given": "10 GPa",
        "value": 1e10,
        "unit": "Pa",
    }
    assert summary["case"]["materials"]["rock"]["E"] == "10 GPa"
