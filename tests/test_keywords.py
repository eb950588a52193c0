"""Keywords that nobody knows are told by the function that was called, and never forgotten."""

import isotach
import pytest
import xarray as xr


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
    ],
)
def test_unknown_keywords_are_errors_that_name_them(dataset, function, call):
    with pytest.raises(TypeError, match="colour") as raised:
        call(dataset)
    assert "VariableOptions" not in str(raised.value)
    assert function in str(raised.value) or function == "Variable"
    assert list(dataset.dimensions) == ["x"]
    assert not dataset.variables and not dataset.groups
