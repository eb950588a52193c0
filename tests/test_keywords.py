"""Keywords that nobody knows are told by the function that was called, and never forgotten."""

import inspect

import isotach
import pytest
import xarray as xr
from isotach.xarray_backend import IsotachDataStore


@pytest.fixture
def dataset(tmp_path):
    with isotach.Dataset(tmp_path / "new.nc", "w") as dataset:
        dataset.createDimension("x", 3)
        yield dataset


@pytest.mark.parametrize(
    ("function", "call"),
    [
        ("createVariable", lambda ds: ds.createVariable("v", "f4", ("x",), colour=3)),
        ("createDimension", lambda ds: ds.createDimension("y", 3, colour=3)),
        ("createGroup", lambda ds: ds.createGroup("g", colour=3)),
        ("Variable", lambda ds: isotach.Variable(ds, "v", "f4", ("x",), colour=3)),
        ("Dimension", lambda ds: isotach.Dimension(ds, "y", 3, colour=3)),
        ("Group", lambda ds: isotach.Group(ds, "g", colour=3)),
        ("CompoundType", lambda ds: isotach.CompoundType(ds, [("a", "i4")], "t", colour=3)),
        ("VLType", lambda ds: isotach.VLType(ds, "i4", "t", colour=3)),
        ("EnumType", lambda ds: isotach.EnumType(ds, "i4", "t", {"a": 1}, colour=3)),
        ("Dataset", lambda ds: isotach.Dataset("there.nc", "w", colour=3)),
        ("MFDataset", lambda ds: isotach.MFDataset(["there.nc"], colour=3)),
        ("open_dataset", lambda ds: xr.open_dataset("there.nc", engine="isotach", colour=3)),
        ("open_datatree", lambda ds: xr.open_datatree("there.nc", engine="isotach", colour=3)),
        ("open_groups", lambda ds: xr.open_groups("there.nc", engine="isotach", colour=3)),
        ("IsotachDataStore.open", lambda ds: IsotachDataStore.open("there.nc", colour=3)),
        ("to_netcdf", lambda ds: isotach.to_netcdf(xr.Dataset(), colour=3)),
        ("to_netcdf", lambda ds: isotach.save_mfdataset([xr.Dataset()], ["a.nc"], colour=3)),
        ("renameVariable", lambda ds: ds.renameVariable("a", "b", colour=3)),
        ("deleteGroup", lambda ds: ds.deleteGroup("a", colour=3)),
        ("setncattr", lambda ds: ds.setncattr("a", "b", colour=3)),
        ("getncattr", lambda ds: ds.getncattr("a", colour=3)),
        ("tocdl", lambda ds: ds.tocdl(colour=3)),
        ("fromcdl", lambda ds: isotach.Dataset.fromcdl("a.cdl", colour=3)),
        ("set_auto_mask", lambda ds: ds.set_auto_mask(True, colour=3)),
        ("chartostring", lambda ds: isotach.chartostring(b"", colour=3)),
        ("rc_set", lambda ds: isotach.rc_set("a", "b", colour=3)),
    ],
)
def test_unknown_keywords_are_errors_that_name_them(dataset, function, call):
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'") as raised:
        call(dataset)
    for inner in ("VariableOptions", "GroupMembers", "Attributes", "Store", "_native"):
        assert inner not in str(raised.value).replace("IsotachDataStore.open", "")
    assert function in str(raised.value)
    assert list(dataset.dimensions) == ["x"]
    assert not dataset.variables and not dataset.groups


def test_too_many_arguments_are_told_by_the_function(dataset):
    with pytest.raises(TypeError, match=r"^Variable\(\) too many positional arguments"):
        isotach.Variable(dataset, "v", "f4", (), *range(30))
    with pytest.raises(TypeError, match=r"^Dataset.createVariable\(\) takes from"):
        dataset.createVariable("v", "f4", (), *range(30))
    assert not dataset.variables


def test_signatures_tell_the_options():
    ours = inspect.signature(isotach.Dataset.createVariable).parameters
    assert ours["complevel"].default == 4
    assert not any(kind.kind in (kind.VAR_KEYWORD, kind.VAR_POSITIONAL) for kind in ours.values())
