"""Isotach in the place of the module netCDF4, in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

import isotach
import isotach.utils
import netCDF4
import numpy as np
import pytest
from isotach._stand_in import INTERFACE

REPLACE = "import isotach; isotach.replace_netcdf4()\n"
WHO = "import netCDF4; print(netCDF4.Dataset.__module__, netCDF4.__version__)\n"
OURS = f"isotach {INTERFACE}"


def python(*arguments, **options):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, **options
    )
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def run(code):
    status, out, complaint = python("-c", REPLACE + code)
    assert status == 0, complaint
    return out


def test_it_is_what_is_imported():
    assert run(WHO) == OURS
    assert run("import netCDF4._netCDF4 as m; print(m.Variable is isotach.Variable)") == "True"
    assert run("import netCDF4.utils; print(netCDF4.utils._safecast(1, 1))") == "True"
    assert run("from netCDF4 import *; print(Dataset.__module__, date2num(0, 'days since 0001'))")
    assert run("from netCDF4._netCDF4 import _quantize; print(_quantize(1.26, 1))") == "1.25"
    assert run("isotach.replace_netcdf4(); isotach.replace_netcdf4()\n" + WHO) == OURS


def test_packages_that_ask_whether_it_is_there_find_it():
    find = "import importlib.util as u; print(u.find_spec('netCDF4').name)"
    assert run(find) == "netCDF4"
    version = "from importlib.metadata import version; print(version('{}'))"
    assert run(version.format("netCDF4")) == run(version.format("netcdf4")) == INTERFACE
    assert run(version.format("isotach")) == isotach.__version__


@pytest.mark.parametrize("module", ["netCDF4", "netCDF4._netCDF4", "netCDF4.utils"])
def test_missing_names_are_told(module):
    status, _, complaint = python("-c", f"{REPLACE}from {module} import colour")
    assert status == 1
    assert complaint.splitlines()[-1].startswith("ImportError: cannot import name 'colour' from")
    status, _, complaint = python("-c", f"{REPLACE}import {module} as m\nm.colour")
    assert complaint.splitlines()[-1] == (
        f"AttributeError: isotach, which stands in for {module}, has no 'colour'"
    )
    code = f"{REPLACE}import netCDF4.colour"
    assert "No module named 'netCDF4.colour'" in python("-c", code)[2]


def test_it_has_all_that_netcdf4_makes_public():
    """And nothing that only Isotach has."""
    names = "import netCDF4; print(*(n for n in {} if hasattr(netCDF4, n)))"
    public = [*netCDF4.__all__, *(n for n in vars(netCDF4) if n.startswith("__has_"))]
    assert run(names.format(public)).split() == public
    assert run(names.format(["to_netcdf", "cache_statistics"])) == ""


@pytest.mark.parametrize(
    "table",
    ["_nptonctype", "_nctonptype", "_intnptonctype", "_format_dict", "_reverse_format_dict"],
)
def test_tables_are_netcdf4s(table):
    theirs = getattr(netCDF4._netCDF4, table)
    assert eval(run(f"import netCDF4._netCDF4 as m; print(m.{table})")) == theirs


def test_netcdf4_that_is_there_already_is_an_error():
    status, _, complaint = python("-c", f"import netCDF4\n{REPLACE}")
    assert status == 1
    assert f"RuntimeError: netCDF4 is imported already, from {netCDF4.__file__}" in complaint


def test_run_a_script(tmp_path):
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "beside.py").write_text("here = 3")
    script = folder / "script.py"
    script.write_text(
        f"import sys, beside\n{WHO}print(sys.argv[1:], beside.here, __name__)\nexit(7)"
    )
    found = python("-m", "isotach.run", script, "-x", "y", cwd=tmp_path)
    assert found == (7, f"{OURS}\n['-x', 'y'] 3 __main__", "")


def test_run_a_module(tmp_path):
    (tmp_path / "program.py").write_text(f"import sys\n{WHO}print(sys.argv[1:], __name__)")
    found = python("-m", "isotach.run", "-m", "program", "-x", cwd=tmp_path)
    assert found == (0, f"{OURS}\n['-x'] __main__", "")


def test_wrong_calls_are_told():
    for arguments in [[], ["-m"], ["-z", "script.py"]]:
        status, out, complaint = python("-m", "isotach.run", *arguments)
        assert (status, out) == (2, "")
        assert complaint.startswith("usage: ")
    assert python("-m", "isotach.run", "--help")[1].startswith("usage: ")


def test_processes_that_a_program_starts_have_it_too(tmp_path):
    script = tmp_path / "script.py"
    child = f"[sys.executable, '-c', {WHO!r}]"
    script.write_text(f"import subprocess, sys\nprint(subprocess.check_output({child}, text=True))")
    assert python(script)[1] != OURS
    assert python("-m", "isotach.run", script)[1] == OURS


def test_workers_of_multiprocessing_have_it_too(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import multiprocessing\n"
        "def work(number):\n"
        "    import netCDF4\n"
        "    return netCDF4.Dataset.__module__\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map(work, [1]))\n"
    )
    assert python(script)[1] == "['netCDF4._netCDF4']"
    assert python("-m", "isotach.run", script)[1] == "['isotach']"


def test_a_folder_on_the_path_does_the_same():
    status, folder, _ = python("-m", "isotach.run", "--path")
    assert status == 0 and Path(folder).is_dir()
    env = os.environ | {"PYTHONPATH": folder}
    assert python("-c", WHO, env=env) == (0, OURS, "")
    assert python("-c", "import netCDF4.utils as u; print(u._is_int(3))", env=env)[1] == "True"
    assert python("-c", REPLACE + WHO, env=env)[1] == OURS


def test_functions_of_utils_are_netcdf4s(tmp_path):
    import isotach.utils as ours
    import netCDF4.utils as theirs

    arrays = [np.array(1), np.array([1.0, np.nan]), np.array([1.0, 2.0]), np.array(["a", "b"])]
    for left in arrays:
        for right in arrays:
            assert bool(ours._safecast(left, right)) == bool(theirs._safecast(left, right))
    for value in [1, 1.0, 1.5, "1", "a", None, np.int8(3), np.array([1, 2])]:
        assert ours._is_int(value) == theirs._is_int(value)
        assert ours._tostr(value) == theirs._tostr(value)
    numbers = np.array([3.14159, -2.71828, 1234.5678])
    for digit in range(-2, 5):
        np.testing.assert_array_equal(
            ours._quantize(numbers, digit), theirs._quantize(numbers, digit)
        )
    assert ours._sortbylist([1, 2, 3], [3, 1, 2]) == theirs._sortbylist([1, 2, 3], [3, 1, 2])
    for count in [np.ones((1, 3, 2), int), np.full((4, 1, 2), 5), np.zeros((0, 2), int)]:
        assert ours._out_array_shape(count) == theirs._out_array_shape(count)
    with isotach.Dataset(tmp_path / "a.nc", "w") as dataset:
        dataset.createDimension("x", 3)
        deep = dataset.createGroup("a/b")
        dataset.createGroup("c")
        assert ours._find_dim(deep, "x") is theirs._find_dim(deep, "x")
        assert ours._getgrp(dataset, "/a/b") is theirs._getgrp(dataset, "/a/b") is deep
        walked = [[g.path for g in found] for found in ours._walk_grps(dataset)]
        assert walked == [[g.path for g in found] for found in theirs._walk_grps(dataset)]
        for utils in (ours, theirs):
            with pytest.raises(ValueError, match="cannot find dimension y in this group"):
                utils._find_dim(deep, "y")


@pytest.mark.parametrize(
    ("selection", "shape"),
    [
        ((slice(None), slice(1, 4, 2)), (5, 6)),
        ((2, slice(None, None, -1)), (5, 6)),
        (([0, 2, 3], [True, False, True, True, True, False]), (5, 6)),
        (([0, 2, 4], 1), (5, 6)),
        ((np.array([3, -4, 1]), Ellipsis, -1), (5, 6, 7)),
        (([3],), (5, 6)),
        (np.array([False] * 5), (5,)),
        (slice(3, 3), (5,)),
        (Ellipsis, ()),
        ((), (3, 4)),
        ((slice(None), 2), (0, 6)),
    ],
)
def test_blocks_of_selections_are_netcdf4s(selection, shape):
    theirs, ours = (
        [part.tolist() for part in module.utils._StartCountStride(selection, shape)]
        for module in (netCDF4, isotach)
    )
    assert ours == theirs


def test_selections_without_blocks_are_refused():
    for selection, error in [
        (1.5, IndexError),
        ([[1, 2], [3, 4]], IndexError),
        ((0, 0), ValueError),
    ]:
        for module in (netCDF4, isotach):
            with pytest.raises(error):
                module.utils._StartCountStride(selection, (5,))
    with pytest.raises(NotImplementedError, match="put"):
        isotach.utils._StartCountStride(0, (5,), put=True)
