"""Groups to which several links lead, and types of other groups, in files that h5py made."""

import subprocess
import sys

import h5py
import isotach
import netCDF4
import numpy as np
import pytest

COLOR = h5py.enum_dtype({"red": 0, "green": 1}, basetype="i1")
POINT = np.dtype([("x", "i4"), ("y", "f8")])


def members(group):
    """What a group shows, and all below it."""
    return {
        "dimensions": {name: len(found) for name, found in group.dimensions.items()},
        "types": [*group.cmptypes, *group.enumtypes, *group.vltypes],
        "variables": {
            name: (found.dimensions, found.shape) for name, found in group.variables.items()
        },
        "groups": {name: members(below) for name, below in group.groups.items()},
    }


@pytest.fixture
def linked(tmp_path):
    """A file with a group to which soft links and a second hard one lead."""
    path = tmp_path / "linked.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        target = dataset.createGroup("target")
        target.createDimension("x", 3)
        target.createVariable("v", "i4", ("x",))[:] = [1, 2, 3]
        target.createGroup("inner").createVariable("w", "i4", ("x",))
        dataset.createGroup("other")
    with h5py.File(path, "a") as file:
        file["soft"] = h5py.SoftLink("/target")
        file["other/soft"] = h5py.SoftLink("/target")
        file["hard"] = file["target"]
        # Around in a circle.
        file["target/inner/up"] = h5py.SoftLink("/target")
    return path


PATHS = ("target", "soft", "other/soft", "hard")


def test_members_are_seen_by_every_link(linked):
    """Also where they were listed before, and in dicts that were asked for then."""
    with isotach.Dataset(linked, "a") as dataset:
        target = dataset["target"]
        before = {path: members(dataset[path]) for path in PATHS}
        assert before["soft"] == before["other/soft"]
        dicts = {path: dataset[path].variables for path in PATHS}
        known = {path: dataset[path]["inner/w"] for path in PATHS}
        target.createDimension("time", None)
        target.createEnumType("i1", "color", {"red": 0})
        target.createVariable("new", "f4", ("time", "x"))[0:2] = 7
        target["inner"].createVariable("deep", "i4", ("x",))[:] = 5
        target.createGroup("added").createVariable("most", "i4", ("time",))
        target.renameVariable("v", "renamed")
        assert all({*names} == {"renamed", "new"} for names in dicts.values())
        assert all("v" not in names and len(names) == 2 for names in dicts.values())
        assert all(dataset[path]["inner/w"] is known[path] for path in PATHS)
        told = members(target)
        assert told["variables"]["new"] == (("time", "x"), (2, 3))
        assert [members(dataset[path]) for path in PATHS] == [told] * 4
        np.testing.assert_array_equal(dataset["soft/new"][:], np.full((2, 3), 7))
        np.testing.assert_array_equal(dataset["hard/inner/deep"][:], [5, 5, 5])
        assert dataset["soft/new"].group().path == "/soft"
        target["new"][2:4] = 8
        assert len(dataset["hard"].dimensions["time"]) == 4
        with pytest.raises(RuntimeError, match="stands in other files"):
            dataset["soft"].createDimension("y", 2)
        told = members(target)
    with isotach.Dataset(linked) as dataset:
        assert [members(dataset[path]) for path in PATHS] == [told] * 4
    with h5py.File(linked) as file:
        assert file["soft/new"].shape == (4, 3)
        assert isinstance(file.get("soft", getlink=True), h5py.SoftLink)


def said_by(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_types_of_other_groups_have_their_names(tmp_path):
    path = tmp_path / "types.nc"
    with h5py.File(path, "w", track_order=True) as file:
        one = file.create_group("one", track_order=True)
        other = file.create_group("other", track_order=True)
        other["color"], other["point"] = COLOR, POINT
        one.attrs.create("color", 1, dtype=COLOR)
        variable = one.create_dataset("v", data=np.arange(3))
        variable.attrs.create("color", [0, 1], dtype=COLOR)
        variable.attrs.create("point", np.array([(1, 2.0)], POINT))
        variable.attrs.create("committed", 1, dtype=other["color"])
    assert "_NCProperties" not in said_by("ncdump", "-s", path)
    ours = said_by(sys.executable, "-m", "isotach", "dump", path)
    assert ours == said_by("ncdump", path)
    assert "/other/point v:point" in ours and "/other/color :color" in ours
    # Booleans are committed nowhere.
    with h5py.File(path, "a") as file:
        file["one"].attrs["bool"] = True
    assert ":bool = TRUE" in said_by(sys.executable, "-m", "isotach", "dump", path)


def test_a_type_that_a_nearer_one_hides_has_its_path(tmp_path):
    path, cdl, again = (tmp_path / name for name in ("file.nc", "file.cdl", "again.nc"))
    with netCDF4.Dataset(path, "w") as dataset:
        far = dataset.createEnumType("i1", "kind", {"far": 1})
        dataset.createDimension("x", 2)
        group = dataset.createGroup("group")
        near = group.createEnumType("i1", "kind", {"near": 1})
        group.createVariable("far", far, ("x",))[:] = 1
        group.createVariable("near", near, ("x",))[:] = 1
    text = said_by(sys.executable, "-m", "isotach", "dump", path)
    assert "/kind far(x)" in text and "\tkind near(x)" in text
    cdl.write_text(text)
    for command in ([sys.executable, "-m", "isotach", "generate"], ["ncgen", "-4"]):
        said_by(*command, "-o", again, cdl)
        with netCDF4.Dataset(again) as dataset:
            found = dataset["group"].variables
            assert found["far"].datatype.enum_dict == {"far": 1}
            assert found["near"].datatype.enum_dict == {"near": 1}


def test_groups_whose_names_begin_with_digits(tmp_path):
    path, cdl, again = (tmp_path / name for name in ("file.nc", "file.cdl", "again.nc"))
    with isotach.Dataset(path, "w") as dataset:
        group = dataset.createGroup("1st")
        color = group.createEnumType("i1", "color", {"red": 0})
        dimension = group.createDimension("x", 2)
        dataset.createGroup("2nd").createVariable("v", color, (dimension,))[:] = 0
    text = said_by(sys.executable, "-m", "isotach", "dump", path)
    assert r"/\1st/color v(/\1st/x)" in text
    cdl.write_text(text)
    said_by(sys.executable, "-m", "isotach", "generate", "-o", again, cdl)
    assert (
        said_by(sys.executable, "-m", "isotach", "dump", again).splitlines()[1:]
        == (text.splitlines()[1:])
    )


def test_types_that_netcdf_lacks_are_shown_and_printed(tmp_path):
    """As their bytes: floats of sixteen bytes, references."""
    with h5py.File(tmp_path / "types.h5", "w") as file:
        file["long"] = np.array([1, -2], "longdouble")
        file["reference"] = np.array([file["long"].ref, None], h5py.ref_dtype)
    with isotach.Dataset(tmp_path / "types.h5") as file:
        assert {name: v.dtype.str for name, v in file.variables.items()} == {
            "long": "|V16",
            "reference": "|V8",
        }
        long = np.array([1, -2], "longdouble")
        assert file["long"][:].tobytes() == long.tobytes()
        assert "|V16 long(phony_dim_0)" in repr(file["long"])
        assert all(repr(variable) for variable in file.variables.values())
