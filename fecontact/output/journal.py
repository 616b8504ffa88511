"""Files that grow by records, each whole or not there.

A process that dies while it adds to a file leaves half a record at its end. Every record has its
length and a checksum, so that half a one is told from a whole one and passed over.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

_HEAD = struct.Struct("<4sIQ")
_MARK = b"rec\n"


def add_record(path: Path, record: bytes) -> None:
    """Add a record to a file, which is as before where that fails."""
    left = memoryview(_HEAD.pack(_MARK, zlib.crc32(record), len(record)) + record)
    with path.open("ab", buffering=0) as file:
        start = file.seek(0, 2)
        try:
            while left:
                left = left[file.write(left) :]
        except BaseException:
            file.truncate(start)
            raise


def records(path: Path) -> Iterator[bytes]:
    """The records of a file, as far as they are whole; none where there is no file."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        size = path.stat().st_size
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            mark, checksum, length = _HEAD.unpack(head)
            # what claims to be longer than the file is not even read
            if mark != _MARK or length > size:
                return
            record = file.read(length)
            if len(record) < length or zlib.crc32(record) != checksum:
                return
            yield record
