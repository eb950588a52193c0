"""Shapes of chunks that nobody said: settled by what is written, with a bound on their waste."""

from pathlib import Path
from typing import Any

import h5py
import isotach
import netCDF4
import numpy as np
import pytest


def written(
    path: Path, dtype: Any, shape: tuple[int | None, ...], values: Any, **options: Any
) -> Any:
    """A file of these values, as others find it: `(chunks, bytes that they take)`."""
    with isotach.Dataset(path, "w") as file:
        for axis, length in enumerate(shape):
            file.createDimension(f"d{axis}", length)
        names = [f"d{axis}" for axis in range(len(shape))]
        variable = file.createVariable("v", dtype, names, **options)
        variable[tuple(slice(0, length) for length in np.shape(values))] = values
    with netCDF4.Dataset(path) as file:
        np.testing.assert_array_equal(file["v"][...], values)
    with h5py.File(path) as file:
        return file["v"].chunks, file["v"].id.get_storage_size()


def test_few_records_take_what_they_have(tmp_path: Path) -> None:
    values = np.arange(120, dtype="i4").reshape(4, 5, 6)
    chunks, size = written(tmp_path / "few.nc", "i4", (None, 5, 6), values)
    assert chunks == (34, 5, 6)
    assert size == 4080


@pytest.mark.parametrize("length", [1, 3, 17, 100, 1025])
def test_records_of_any_number_take_hardly_more(tmp_path: Path, length: int) -> None:
    values = np.arange(length * 40 * 50, dtype="f4").reshape(length, 40, 50)
    _, size = written(tmp_path / "some.nc", "f4", (None, 40, 50), values)
    assert size <= 1.2 * values.nbytes


@pytest.mark.parametrize("shape", [(None, None), (7, None), (None, None, None)])
def test_axes_without_a_limit_are_as_long_as_they_are(
    tmp_path: Path, shape: tuple[int | None, ...]
) -> None:
    values = np.ones((7, 3, 2)[: len(shape)], "f8")
    _, size = written(tmp_path / "unlimited.nc", "f8", shape, values)
    assert size <= 4096


def test_texts_take_what_they_have(tmp_path: Path) -> None:
    values = np.array(["one", "two", "three"], object)
    with isotach.Dataset(tmp_path / "texts.nc", "w") as file:
        file.createDimension("t", None)
        file.createVariable("v", str, ("t",), fill_value="none")[:] = values
    with netCDF4.Dataset(tmp_path / "texts.nc") as file:
        assert list(file["v"][:]) == list(values)
        assert file["v"].chunking() == [256]


@pytest.mark.parametrize("when", ["empty", "written"])
@pytest.mark.parametrize("options", [{}, {"zlib": True}])
def test_who_asks_is_told_what_will_be(tmp_path: Path, when: str, options: dict[str, Any]) -> None:
    path = tmp_path / "asked.nc"
    with isotach.Dataset(path, "w") as file:
        file.createDimension("t", None)
        file.createDimension("x", 1000)
        variable = file.createVariable("v", "f8", ("t", "x"), **options)
        if when == "written":
            variable[0:20] = 1.0
        told = variable.chunking()
        assert told == variable.chunking() == ([4, 1000] if when == "empty" else [20, 1000])
        variable[0:300] = 2.0
        assert variable.chunking() == told
        file.sync()
        assert variable.chunking() == told
    with netCDF4.Dataset(path) as file:
        assert file["v"].chunking() == told
        assert (file["v"][...] == 2.0).all() and file["v"].shape == (300, 1000)


def test_a_shape_that_is_said_after_asking_counts(tmp_path: Path) -> None:
    path = tmp_path / "said.nc"
    with isotach.Dataset(path, "w") as file:
        file.createDimension("t", None)
        file.createVariable("told", "f8", ("t",)).chunking()
        said = file.createVariable("said", "f8", ("t",), chunksizes=(50,))
        assert said.chunking() == [50]
        said[:] = np.arange(120.0)
        file["told"][:] = np.arange(120.0)
    with netCDF4.Dataset(path) as file:
        assert file["said"].chunking() == [50]
        assert file["told"].chunking() == [1024]


def test_records_after_each_commit_go_on_in_the_chunks_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "synced.nc"
    with isotach.Dataset(path, "w") as file:
        file.createDimension("t", None)
        variable = file.createVariable("v", "i4", ("t",))
        for record in range(3000):
            variable[record] = record
            if record in (0, 1, 1500):
                file.sync()
    with netCDF4.Dataset(path) as file:
        assert file["v"].chunking() == [1024]
        np.testing.assert_array_equal(file["v"][:], np.arange(3000))
