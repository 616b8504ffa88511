"""HDF5 files made in memory: a disk that fills up leaves the library in no state to go on."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fecontact.output.atomic import replacing


@contextmanager
def hdf5_image(**options: Any) -> Iterator[tuple[Any, io.BytesIO]]:
    """An empty HDF5 file to fill, and the bytes that it has become when the block has ended."""
    import h5py

    image = io.BytesIO()
    with h5py.File(image, "w", libver=("v110", "v110"), **options) as file:
        yield file, image


@contextmanager
def new_hdf5(path: Path, **options: Any) -> Iterator[Any]:
    """An empty HDF5 file to fill, which is written to `path` whole when the block has ended."""
    with hdf5_image(**options) as (file, image):
        yield file
    with replacing(path) as part:
        part.write_bytes(image.getbuffer())
