"""The command line as a user meets it: results, messages, exit codes."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from fecontact.case.variants import split_values
from fecontact.cli import main

CASES = Path(__file__).parent.parent / "cases"
BLOCK = str(CASES / "sliding_block.toml")
DATA = Path(__file__).parent / "data"


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def column(rows, name):
    return np.array([float(r[name]) for r in rows])


@pytest.mark.parametrize(
    ("case", "printed"),
    [("sliding_block", "jean1988_case1"), ("sliding_block_mu01", "jean1988_case2")],
)
@pytest.mark.parametrize("reactions", ["concentrated", "weighted"])
def test_run_gives_the_printed_tables(case, printed, reactions, tmp_path, capsys):
    code = main(
        [
            "run",
            str(CASES / f"{case}.toml"),
            "--set",
            f"contact.reactions={reactions}",
            "--out",
            str(tmp_path / "out"),
        ]
    )
    assert code == 0
    rows = table(tmp_path / "out" / "contact.csv")
    expected = table(DATA / f"{printed}_{reactions}.csv")
    suffix = "_weighted" if reactions == "weighted" else ""
    for name, other, tolerance in (
        ("ux", "ux", 2e-4),
        ("RN", "RN" + suffix, 5e-4 if reactions == "concentrated" else 3e-3),
        ("RT", "RT" + suffix, 5e-4 if reactions == "concentrated" else 3e-3),
    ):
        reference = column(expected, other)
        scale = max(np.abs(column(expected, "RN" + suffix)).max(), 0) if name != "ux" else 0
        scale = scale or np.abs(reference).max()
        assert np.abs(column(rows, name) - reference).max() <= tolerance * scale
    header = "node,x,y,ux,uy,gap,status,RN,RT,RN_equivalent,RT_equivalent"
    assert ",".join(rows[0]) == header
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["converged"] is True
    out = capsys.readouterr().out
    assert "contact.csv" in out
    assert "total RN" in out


def test_history_and_fields(tmp_path):
    assert main(["run", BLOCK, "--out", str(tmp_path), "--set", "time.steps=3"]) == 0
    history = table(tmp_path / "history.csv")
    assert len(history) == 3
    assert float(history[-1]["time"]) == 1.0
    assert (tmp_path / "fields.pvd").exists()
    # one body, a monotone load already at its value: three steps end where one does
    assert column(history, "RN_base")[-1] == pytest.approx(1.8583e6, rel=5e-5)


def test_check_reads_the_variants_too(tmp_path, capsys):
    case = tmp_path / "case.toml"
    text = Path(BLOCK).read_text() + "\n[variants.rough]\n"
    case.write_text(text + '"contact.friction" = 0.5\n')
    assert main(["check", str(case)]) == 0
    assert "Variants that compare runs: rough" in capsys.readouterr().out
    case.write_text(text + "contact.base.frction = 0.5\n")
    assert main(["check", str(case)]) == 2
    message = capsys.readouterr().err
    assert "variants.rough" in message
    assert "did you mean 'friction'" in message


def test_check_tells_and_writes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["check", BLOCK]) == 0
    out = capsys.readouterr().out
    assert "16 candidates" in out
    assert "306" in out
    assert list(tmp_path.iterdir()) == []


def test_compare_prints_the_comparison(tmp_path, capsys):
    code = main(
        [
            *("compare", BLOCK, "--vary", "contact.reactions=concentrated,weighted"),
            *("--out", str(tmp_path / "c")),
        ]
    )
    assert code == 0
    out = capsys.readouterr().out
    assert "inadmissible" in out
    assert (tmp_path / "c" / "concentrated" / "contact.csv").exists()
    assert (tmp_path / "c" / "weighted" / "contact.csv").exists()
    assert list((tmp_path / "c").glob("*.png"))


def test_compare_of_any_key_makes_a_grid(tmp_path):
    code = main(
        [
            *("compare", BLOCK, "--vary", "contact.base.friction=0.5,1.0"),
            *("--vary", "mesh.nx=8,16", "--set", "output.figures=false"),
            *("--out", str(tmp_path / "c")),
        ]
    )
    assert code == 0
    folders = sorted(p.name for p in (tmp_path / "c").iterdir() if p.is_dir())
    assert not list((tmp_path / "c").glob("*/*.png"))
    assert folders == [
        "friction=0.5,nx=16",
        "friction=0.5,nx=8",
        "friction=1.0,nx=16",
        "friction=1.0,nx=8",
    ]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["contact.reactons=weighted"], ["reactons", "did you mean 'reactions'"]),
        (["contact.reactions=weigthed"], ["contact.base.reactions", "weigthed", "weighted"]),
        (["materials.E=-1"], ["materials.block", "E = -1"]),
        (["loads.top.on=topp"], ["loads.top", "'topp'", "did you mean 'top'"]),
        (["contact.candidates=botom"], ["contact.base.candidates", "did you mean 'bottom'"]),
        (["prescribed.corner.on=corner"], ["prescribed.corner", "'corner'"]),
        (["loads.left.value=log(y - 1)"], ["loads.left", "nan", "y ="]),
        (["solver.tolerance=nan"], ["solver.tolerance", "nan"]),
        (["solver.name=magic"], ["solver.name", "magic", "nsgs"]),
        (["mesh.nx=0"], ["mesh.nx", "0"]),
        (["mesh.file=nowhere.msh"], ["mesh", "exactly one"]),
        (["meshh.nx=1"], ["meshh", "did you mean 'mesh'"]),
        (["nonsense"], ["nonsense", "key=value"]),
        (["loads.top.type=presure"], ["loads.top.type", "did you mean 'pressure'"]),
        (["contact.friction=-0.5"], ["contact.base.friction", "-0.5"]),
        # without the corner and the symmetry only contact would hold the block
        (["prescribed={}"], ["only contact would hold", "body", "springs"]),
        (["prescribed={s={on='right',ux=0.0}}"], ["translation along y"]),
    ],
)
def test_bad_input_is_one_message_and_nothing_written(
    settings, words, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    arguments = [part for s in settings for part in ("--set", s)]
    assert main(["run", BLOCK, *arguments]) == 2
    message = capsys.readouterr().err
    assert "Traceback" not in message
    for word in words:
        assert word in message
    assert list(tmp_path.iterdir()) == []


def test_inverted_element_in_a_file_is_refused_by_number(tmp_path, capsys):
    from fecontact.mesh import rectangle, write_mesh

    mesh = rectangle(1.0, 1.0, 2, 2, kind="quad")
    nodes = np.array(mesh.nodes)
    nodes[4] = (1.2, 1.2)  # the inner node pulled beyond the corner
    from dataclasses import replace

    write_mesh(replace(mesh, nodes=nodes), tmp_path / "bad.msh")
    case = tmp_path / "bad.toml"
    case.write_text(
        '[mesh]\nfile = "bad.msh"\n[materials.m]\nE = 1.0\nnu = 0.3\n'
        '[prescribed.p]\non = "bottom"\nux = 0.0\nuy = 0.0\n'
    )
    assert main(["run", str(case), "--out", str(tmp_path / "out")]) == 2
    message = capsys.readouterr().err
    assert "bad.msh" in message
    assert "element" in message
    assert not (tmp_path / "out").exists()


def test_forces_told_are_those_written_whatever_the_thickness(tmp_path, capsys):
    options = ["--set", "output.figures=false", "--set", "output.report=false"]
    told = []
    for thickness in (1.0, 2.5):
        out = ["--out", str(tmp_path / str(thickness))]
        assert main(["run", BLOCK, "--set", f"model.thickness={thickness}", *options, *out]) == 0
        told.append(re.findall(r"total RN = (\S+), RT = (\S+)", capsys.readouterr().out))
    assert told[0] == told[1] != []


NODES_AND_ELEMENTS = """
*NODE
1, 0.0, 0.0
2, 1.0, 0.0
3, 1.0, 1.0
4, 0.0, 1.0
5, 9.0, 9.0
*ELEMENT, TYPE=CPE4, ELSET=all
1, 1, 4, 3, 2
*NSET, NSET=base
1, 2
*NSET, NSET=top
3, 4
"""


def test_a_case_can_do_what_messages_about_mesh_files_advise(tmp_path, capsys):
    (tmp_path / "m.dat").write_text(NODES_AND_ELEMENTS)
    case = tmp_path / "case.toml"
    case.write_text(
        '[mesh]\nfile = "m.dat"\nfile_format = "abaqus"\nedges_from_nodes = ["base"]\n'
        "[materials.m]\nE = 1e9\nnu = 0.3\n"
        '[prescribed.p]\non = "top"\nux = 0.0\nuy = -0.001\n'
        '[contact.c]\ncandidates = "base"\nobstacle = { type = "half_plane" }\n'
    )
    assert main(["check", str(case)]) == 2
    message = capsys.readouterr().err
    assert "node 4 without any element" in message
    assert "drop_unused" in message
    dropped = ["check", str(case), "--set", "mesh.drop_unused=true"]
    assert main(dropped) == 0
    told = capsys.readouterr().out
    assert "quad 0 turned" in told or "element 0 turned" in told
    assert "2 candidates of 'base'" in told
    assert main([*dropped, "--set", "mesh.turn=false"]) == 2
    assert "inverted" in capsys.readouterr().err


def test_missing_file_and_bad_toml(tmp_path, capsys):
    assert main(["run", str(tmp_path / "no.toml")]) == 2
    assert "no such file" in capsys.readouterr().err
    (tmp_path / "bad.toml").write_text("[mesh\n")
    assert main(["check", str(tmp_path / "bad.toml")]) == 2
    assert "not valid TOML" in capsys.readouterr().err


def test_limit_too_low_keeps_what_it_had(tmp_path, capsys):
    code = main(
        [
            *("run", BLOCK, "--out", str(tmp_path / "o")),
            *("--set", "solver.max_iterations=2", "--set", "solver.name=nsgs"),
        ]
    )
    assert code == 3
    message = capsys.readouterr().err
    assert "step 1" in message
    assert "natural map 0." in message
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    assert summary["converged"] is False


def test_values_are_split_outside_brackets():
    assert split_values("a,[1,2],'x,y'") == ["a", "[1,2]", "'x,y'"]
