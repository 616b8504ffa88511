"""Journals: every record whole or not there, whatever ends the writing."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fecontact.cli import main
from fecontact.errors import InputError
from fecontact.output import FolderWriter
from fecontact.output.contact_steps import (
    ContactStepsWriter,
    _record,
    _room,
    journal_of,
    read_contact_steps,
    saved_times,
)
from fecontact.output.journal import add_record, records
from fecontact.verification import verify
from tests.small_cases import CASES
from tests.test_report import block

GIVEN = [b"", b"one", bytes(range(256)), b"rec\n"]


def written(path: Path) -> bytes:
    for record in GIVEN:
        add_record(path, record)
    return path.read_bytes()


def test_records_come_back(tmp_path: Path) -> None:
    assert list(records(tmp_path / "nothing")) == []
    written(tmp_path / "journal")
    assert list(records(tmp_path / "journal")) == GIVEN


def test_half_a_record_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    whole = written(path)
    ends = [16 * (k + 1) + sum(map(len, GIVEN[: k + 1])) for k in range(len(GIVEN))]
    assert ends[-1] == len(whole)
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert list(records(path)) == GIVEN[: sum(end <= size for end in ends)]


def test_a_changed_byte_ends_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    whole = written(path)
    for place in range(16, len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 0x40
        path.write_bytes(changed)
        found = list(records(path))
        assert len(found) < len(GIVEN)
        assert found == GIVEN[: len(found)]


def test_a_full_disk_leaves_the_records_before(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / "journal"
    before = written(path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limits[1]))
    try:
        with pytest.raises(OSError, match="large"):
            add_record(path, b"x" * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert path.read_bytes() == before
    add_record(path, b"after")
    assert list(records(path)) == [*GIVEN, b"after"]


@pytest.mark.parametrize("size", [2, 40])
def test_the_file_takes_no_more_room_than_asked_for(tmp_path: Path, size: int) -> None:
    simulation = block(size)
    result = simulation.run(FolderWriter(tmp_path / "run", figures=False, report=False))
    path = tmp_path / "contacts.h5"
    writer = ContactStepsWriter(path, simulation.model)
    for step in result.steps:
        writer.step(step)
    journalled, asked = read_contact_steps(path), _room(journal_of(path))
    times = saved_times(path)
    assert writer.close()
    assert not journal_of(path).exists()
    assert 0.5 * asked < path.stat().st_size <= asked
    # the same numbers from the journal and from the file
    assert saved_times(path) == times
    for one, other in zip(journalled, read_contact_steps(path), strict=True):
        assert (one.number, one.time, one.reactions) == (other.number, other.time, other.reactions)
        for name, table in one.tables.items():
            np.testing.assert_array_equal(table, other.tables[name])
        for name, line in one.outlines.items():
            np.testing.assert_array_equal(line, other.outlines[name])


def test_steps_beyond_a_million_stay_in_order(tmp_path: Path) -> None:
    simulation = block(2)
    result = simulation.run()
    path = tmp_path / "contacts.h5"
    writer = ContactStepsWriter(path, simulation.model)
    numbers = [999_999, 1_000_000, 10_000_000]
    for number in numbers:
        writer.step(replace(result.final, number=number))
    assert writer.close()
    assert [saved.number for saved in read_contact_steps(path)] == numbers
    assert list(saved_times(path)) == numbers


def test_contacts_of_a_journal_are_verified(tmp_path: Path) -> None:
    # as a run leaves them that was cut off at its end
    case = str(CASES / "sliding_block.toml")
    assert main(["run", case, "--set", "output.figures=false", "--out", str(tmp_path)]) == 0
    path = tmp_path / "contacts.h5"
    (saved,) = read_contact_steps(path)
    path.unlink()
    add_record(journal_of(path), _record(saved))
    assert verify(tmp_path).verdict.passed
    saved.tables["base"]["RN"][8] *= 1.01
    journal_of(path).unlink()
    add_record(journal_of(path), _record(saved))
    assert not verify(tmp_path).verdict.passed
    for record in (b"[1, 2]\n", b"{}\n", b"nothing", _record(saved)[:-8]):
        journal_of(path).unlink()
        add_record(journal_of(path), record)
        with pytest.raises(InputError, match="cannot be read"):
            verify(tmp_path)


def test_a_run_that_was_cut_off_is_told(tmp_path: Path) -> None:
    journal_of(tmp_path / "contacts.h5").touch()
    with pytest.raises(InputError, match="fecontact resume"):
        verify(tmp_path)
