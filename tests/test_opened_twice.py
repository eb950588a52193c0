"""A file that this process writes, opened once more for writing: both datasets write one file."""

import gc
import threading

import isotach
import netCDF4
import numpy as np
import pytest

FORMATS = ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_64BIT_OFFSET"]


@pytest.fixture(params=FORMATS)
def path(request, tmp_path):
    path = tmp_path / "file.nc"
    with isotach.Dataset(path, "w", format=request.param) as dataset:
        dataset.createDimension("time", None)
        dataset.createDimension("x", 3)
        dataset.createVariable("v", "i2", ("time", "x"))[:] = np.arange(6).reshape(2, 3)
    return path


def test_netcdf4_python_opens_it_twice(path):
    with netCDF4.Dataset(path, "a"), netCDF4.Dataset(path, "a"):
        pass


@pytest.mark.parametrize("mode", ["a", "r+"])
def test_both_see_what_either_does(path, mode):
    with isotach.Dataset(path, "a") as one, isotach.Dataset(str(path), mode) as other:
        assert other["v"][:].tolist() == [[0, 1, 2], [3, 4, 5]]
        one.createVariable("new", "f4", ("x",))[:] = [1, 2, 3]
        assert other["new"][:].tolist() == [1, 2, 3]
        other["v"][2] = [6, 7, 8]
        assert one["v"].shape == (3, 3)
        assert len(one.dimensions["time"]) == 3
        other.createDimension("y", 2)
        assert len(one.dimensions["y"]) == 2
        other.renameVariable("new", "newer")
        assert list(one.variables) == ["v", "newer"]
        assert one["newer"][1] == 2
    with netCDF4.Dataset(path) as read:
        assert read["v"][:].tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
        assert read["newer"][:].tolist() == [1, 2, 3]
        assert len(read.dimensions["y"]) == 2


def test_attributes_that_one_sets_hold_for_reads_of_the_other(path):
    with isotach.Dataset(path, "a") as one, isotach.Dataset(path, "a") as other:
        assert other.ncattrs() == []
        assert other["v"][0].tolist() == [0, 1, 2]
        one.title = "both"
        one["v"].scale_factor = 2.0
        assert other.title == "both"
        assert other["v"][0].tolist() == [0, 2, 4]
        other["v"][0] = [2, 4, 6]
        one["v"].renameAttribute("scale_factor", "factor")
        assert other["v"][0].tolist() == [1, 2, 3]
        one.delncattr("title")
        assert other.ncattrs() == []


def test_groups(tmp_path):
    path = tmp_path / "file.nc"
    with isotach.Dataset(path, "w") as one, isotach.Dataset(path, "a") as other:
        deep = one.createGroup("a/b")
        deep.createDimension("x", 2)
        deep.createVariable("v", "i4", ("x",))[:] = 1
        assert other["a/b/v"].ncattrs() == []
        deep["v"].units = "m"
        assert other["a/b/v"].units == "m"
        other["a"].level = 1
        assert one["a"].level == 1


def test_closing_one_commits_and_leaves_the_other(path):
    one, other = isotach.Dataset(path, "a"), isotach.Dataset(path, "a")
    one["v"][0] = [7, 8, 9]
    one.close()
    with isotach.Dataset(path) as read:
        assert read["v"][0].tolist() == [7, 8, 9]
    with pytest.raises(RuntimeError, match="Not a valid ID"):
        one["v"][0] = 1
    other["v"][1] = [1, 2, 3]
    other.close()
    with netCDF4.Dataset(path) as read:
        assert read["v"][:].tolist() == [[7, 8, 9], [1, 2, 3]]
    # It is anybody's now.
    with netCDF4.Dataset(path, "a") as dataset:
        dataset["v"][0] = 0


def test_one_that_is_forgotten_is_closed(path):
    other = isotach.Dataset(path, "a")
    isotach.Dataset(path, "a")["v"][0] = [7, 8, 9]
    gc.collect()
    other.discard()
    with isotach.Dataset(path) as read:
        assert read["v"][0].tolist() == [7, 8, 9]


def test_discarding_would_drop_the_changes_of_the_other(path):
    with isotach.Dataset(path, "a") as one:
        one["v"][0] = [7, 8, 9]
        other = isotach.Dataset(path, "a")
        with pytest.raises(RuntimeError, match="more than once in this process"):
            other.discard()
        assert other["v"][0].tolist() == [7, 8, 9]
        other.close()
    with isotach.Dataset(path) as read:
        assert read["v"][0].tolist() == [7, 8, 9]


@pytest.mark.parametrize(
    "options",
    [
        {"commit_interval": None},
        {"durability": "power"},
        {"lock": False},
        {"missing_bytes": "zeros"},
        {"allow_external": True},
    ],
    ids=lambda options: next(iter(options)),
)
def test_other_options_are_told_by_name(path, options):
    with isotach.Dataset(path, "a"):
        (name,) = options
        with pytest.raises(ValueError, match=f"with another {name}"):
            isotach.Dataset(path, "a", **options)
    with isotach.Dataset(path, "a", **options), isotach.Dataset(path, "a", **options):
        pass


def test_exclusive(path):
    with isotach.Dataset(path, "a", exclusive=True), pytest.raises(OSError, match="close it there"):
        isotach.Dataset(path, "a")
    with isotach.Dataset(path, "a"), pytest.raises(OSError, match="close it there"):
        isotach.Dataset(path, "a", exclusive=True)
    with pytest.raises(ValueError, match="a mode that writes"):
        isotach.Dataset(path, exclusive=True)


def test_a_file_that_is_written_is_not_replaced(path):
    close = "close it there first"
    with isotach.Dataset(path, "a"), pytest.raises(PermissionError, match=close):
        isotach.Dataset(path, "w")
    with netCDF4.Dataset(path) as read:
        assert read["v"].shape == (2, 3)


def test_threads_that_open_and_close_it(path):
    """Each adds a variable, and reads those of others."""
    failed = []

    def work(number):
        try:
            for turn in range(5):
                with isotach.Dataset(path, "a") as dataset:
                    name = f"t{number}_{turn}"
                    dataset.createVariable(name, "i4", ("x",))[:] = number
                    assert dataset[name][:].tolist() == [number] * 3
        except BaseException as error:
            failed.append(error)

    with isotach.Dataset(path, "a"):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failed
    with netCDF4.Dataset(path) as read:
        assert len(read.variables) == 21
        assert read["t3_4"][:].tolist() == [3, 3, 3]
