"""Files that are either the old or the new one, never a half-written one."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` to write to, moved over it when the block ends well."""
    part = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def check_room(path: Path, size: int) -> None:
    """Raise where the disk has no room for a new file of so many bytes."""
    if shutil.disk_usage(path.parent).free < size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def left_over(folder: Path) -> list[Path]:
    """Temporary files that a killed process has left in a folder."""
    return [path for path in folder.glob(".*.part*") if path.is_file()]


def to_disk(path: Path) -> None:
    """Wait until a file, or the list of files of a folder, would survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        # not every file system can do it for folders
        if not path.is_dir():
            raise
    finally:
        with suppress(OSError):
            os.close(handle)


def remove_parts(folder: Path) -> None:
    """Remove a folder of numbered files, and what a killed process has left of one."""
    if not folder.is_dir():
        return
    for part in (*folder.glob("[0-9]*.h5"), *folder.glob(".[0-9]*.part.h5")):
        part.unlink(missing_ok=True)
    # what is not ours stays
    with suppress(OSError):
        folder.rmdir()
