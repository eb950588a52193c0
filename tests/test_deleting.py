"""Variables and groups are taken out of files; netCDF4-python, which cannot, reads the rest."""

import os

import h5py
import isotach
import netCDF4
import numpy as np
import pytest

FORMATS = ("NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA")


@pytest.mark.parametrize("writer", (netCDF4, isotach), ids=lambda writer: writer.__name__)
@pytest.mark.parametrize("format", FORMATS)
def test_variables(tmp_path, format, writer):
    path = tmp_path / "file.nc"
    with writer.Dataset(path, "w", format=format) as dataset:
        dataset.createDimension("t", None)
        dataset.createDimension("x", 4)
        for number, name in enumerate("abc"):
            variable = dataset.createVariable(name, "f4", ("t", "x"))
            variable[:] = np.arange(12).reshape(3, 4) + 100 * number
        dataset.createVariable("x", "f4", ("x",))[:] = np.arange(4)
        dataset.createVariable("long", "i4", ("t",))[:5] = np.arange(5)
    with isotach.Dataset(path, "a") as dataset:
        gone, variables = dataset["b"], dataset.variables
        for name in ("b", "x", "long"):
            dataset.deleteVariable(name)
            assert name not in variables
        with pytest.raises(RuntimeError, match="Not a valid ID"):
            gone[:]
        with pytest.raises(KeyError):
            dataset.deleteVariable("b")
        assert list(dataset.variables) == ["a", "c"]
        assert len(dataset.dimensions["t"]) == (3 if format.startswith("NETCDF4") else 5)
        dataset.createVariable("b", "i2", ("x",))[:] = 7
    for reader in (netCDF4, isotach):
        with reader.Dataset(path) as dataset:
            assert list(dataset.variables) == ["a", "c", "b"]
            assert (dataset["a"][:3] == np.arange(12).reshape(3, 4)).all()
            assert (dataset["c"][:3] == np.arange(12).reshape(3, 4) + 200).all()
            assert dataset["b"].dtype == "i2" and (dataset["b"][:] == 7).all()
            assert set(dataset.dimensions) == {"t", "x"}


def test_groups(tmp_path):
    path = tmp_path / "file.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        group = dataset.createGroup("g")
        group.createDimension("y", 3)
        group.createVariable("v", "f4", ("y",))[:] = 1
        group.createGroup("below").createVariable("w", "f4", ("y",))[:] = 2
        answer = group.createEnumType("u1", "answer", {"no": 0, "yes": 1})
        dataset.createVariable("said", answer, ())[...] = 1
        dataset.createGroup("stays").createVariable("q", "f4", ())[...] = 3
    with isotach.Dataset(path, "a") as dataset:
        group, below = dataset["g"], dataset["g/below/w"]
        dataset.deleteGroup("g")
        for use in (lambda: below[:], lambda: group["v"][:], lambda: group.createGroup("new")):
            with pytest.raises(RuntimeError, match="Not a valid ID"):
                use()
        with pytest.raises(KeyError):
            dataset.deleteGroup("g")
        assert list(dataset.groups) == ["stays"]
    for reader in (netCDF4, isotach):
        with reader.Dataset(path) as dataset:
            assert list(dataset.groups) == ["stays"]
            assert dataset["stays/q"][...] == 3
            assert dataset["said"][...] == 1
            assert dataset["said"].datatype.enum_dict == {"no": 0, "yes": 1}
    with h5py.File(path) as file:
        assert set(file) == {"said", "stays"}


def test_what_others_need_stays(tmp_path):
    path = tmp_path / "file.nc"
    with isotach.Dataset(path, "w") as dataset:
        length = dataset.createGroup("g").createDimension("y", 3)
        dataset.createVariable("elsewhere", "f4", (length,))[:] = 1
        with pytest.raises(RuntimeError, match="variables of other groups"):
            dataset.deleteGroup("g")
        assert list(dataset.groups) == ["g"]
    with isotach.Dataset(path) as dataset:
        assert (dataset["elsewhere"][:] == 1).all()
        for delete in (
            lambda: dataset.deleteGroup("g"),
            lambda: dataset.deleteVariable("elsewhere"),
        ):
            with pytest.raises(RuntimeError):
                delete()


def test_their_space_is_used_again(tmp_path):
    path = tmp_path / "file.nc"
    with isotach.Dataset(path, "w") as dataset:
        dataset.createDimension("x", 100_000)
        dataset.createVariable("v0", "f8", ("x",))[:] = 0
    size = os.path.getsize(path)
    for turn in range(10):
        with isotach.Dataset(path, "a") as dataset:
            dataset.deleteVariable(f"v{turn}")
            dataset.sync()
            dataset.createVariable(f"v{turn + 1}", "f8", ("x",))[:] = turn
    assert os.path.getsize(path) < 2.5 * size
    with netCDF4.Dataset(path) as dataset:
        assert list(dataset.variables) == ["v10"] and (dataset["v10"][:] == 9).all()
