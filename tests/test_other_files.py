"""Where files that a file refers to are looked for, as libhdf5 finds them. The environment says so
too, and libhdf5 reads it once, so each case is a process of its own."""

import json
import os
import subprocess
import sys

import h5py
import isotach
import netCDF4
import numpy as np
import pytest
from isotach import _native

PROGRAM = """
import json, sys
kind, path = sys.argv[1:]
if kind == "isotach":
    import isotach
    with isotach.Dataset(path) as dataset:
        dataset.set_auto_maskandscale(False)
        values = dataset["v"][:]
else:
    import h5py
    with h5py.File(path) as file:
        values = file["v"][...]
print(json.dumps(values.tolist()))
"""
FILL = [-1, -1, -1]
VARIABLES = {
    "HDF5_VDS_PREFIX": "virtual",
    "HDF5_EXTFILE_PREFIX": "raw",
    "HDF5_EXT_PREFIX": "link",
}


def write_virtual(path, name, source_name="s"):
    layout = h5py.VirtualLayout(shape=(3,), dtype="<i4")
    layout[...] = h5py.VirtualSource(name, source_name, shape=(3,))
    with h5py.File(path, "a", libver="latest") as file:
        file.create_virtual_dataset("v", layout, fillvalue=-1)


def write_raw(path, name):
    with h5py.File(path, "w") as file:
        file.create_dataset("v", (3,), "<i4", external=[(name, 0, 12)], fillvalue=-1)


def write_link(path, name):
    with h5py.File(path, "w") as file:
        file["v"] = h5py.ExternalLink(name, "s")


def write_source(path, kind, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    values = np.full(3, value, "<i4")
    if kind == "raw":
        path.write_bytes(values.tobytes())
        return
    with h5py.File(path, "w") as file:
        file["s"] = values


WRITERS = {"virtual": write_virtual, "raw": write_raw, "link": write_link}


def read(kind, path, working_directory, **variables):
    inherited = {k: v for k, v in os.environ.items() if k not in VARIABLES}
    # Which of them may be opened is another question: tests/test_allow_external.py.
    inherited["ISOTACH_ALLOW_EXTERNAL"] = "anywhere"
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, kind, str(path)],
        cwd=working_directory,
        env=inherited | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def check(path, working_directory, value, **variables):
    found = read("isotach", path, working_directory, **variables)
    assert found == read("h5py", path, working_directory, **variables)
    assert found == ([value] * 3 if value is not None else FILL)


@pytest.fixture
def places(tmp_path):
    for name in ("data", "elsewhere", "prefix"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.mark.parametrize("kind", ["virtual", "link"])
def test_beside_the_file_before_the_working_directory(places, kind):
    path = places / "data" / "file.h5"
    WRITERS[kind](path, "source.h5")
    write_source(places / "elsewhere" / "source.h5", kind, 2)
    check(path, places / "elsewhere", 2)
    write_source(places / "data" / "source.h5", kind, 1)
    check(path, places / "elsewhere", 1)
    check("file.h5", places / "data", 1)


@pytest.mark.parametrize("kind", ["virtual", "link"])
def test_beside_the_file_that_a_symbolic_link_leads_to_last(places, kind):
    path = places / "data" / "file.h5"
    WRITERS[kind](path, "source.h5")
    write_source(places / "data" / "source.h5", kind, 1)
    link = places / "prefix" / "link.h5"
    link.symlink_to(path)
    check(link, places / "elsewhere", 1)
    write_source(places / "elsewhere" / "source.h5", kind, 2)
    check(link, places / "elsewhere", 2)


@pytest.mark.parametrize(("variable", "kind"), VARIABLES.items())
def test_behind_the_prefix_first(places, variable, kind):
    path = places / "data" / "file.h5"
    WRITERS[kind](path, "source.h5")
    write_source(places / "data" / "source.h5", kind, 1)
    write_source(places / "prefix" / "source.h5", kind, 3)
    check(path, places / "elsewhere", 3, **{variable: str(places / "prefix")})
    # The prefix of another kind of reference does not count.
    other = {"HDF5_VDS_PREFIX": "HDF5_EXT_PREFIX"}.get(variable, "HDF5_VDS_PREFIX")
    check(path, places / "data", 1, **{other: str(places / "prefix")})


@pytest.mark.parametrize("variable", ["HDF5_VDS_PREFIX", "HDF5_EXTFILE_PREFIX"])
@pytest.mark.parametrize("prefix", ["${ORIGIN}", "${ORIGIN}/below"])
def test_origin_is_the_directory_of_the_file(places, variable, prefix):
    kind = VARIABLES[variable]
    path = places / "data" / "file.h5"
    WRITERS[kind](path, "source.h5")
    write_source(places / "elsewhere" / "source.h5", kind, 2)
    target = prefix.replace("${ORIGIN}", str(places / "data"))
    write_source(places / target / "source.h5", kind, 4)
    check(path, places / "elsewhere", 4, **{variable: prefix})


@pytest.mark.parametrize("kind", WRITERS)
def test_an_absolute_name_wherever_the_file_is(places, kind):
    source = places / "elsewhere" / "source.h5"
    path = places / "data" / "file.h5"
    WRITERS[kind](path, str(source))
    write_source(source, kind, 5)
    check(path, places / "prefix", 5)


@pytest.mark.parametrize("kind", ["virtual", "link"])
def test_the_last_part_of_an_absolute_name_that_is_gone(places, kind):
    path = places / "data" / "file.h5"
    WRITERS[kind](path, "/there/is/no/such/place/source.h5")
    write_source(places / "data" / "source.h5", kind, 6)
    check(path, places / "elsewhere", 6)


def test_a_point_is_the_file_itself(places):
    path = places / "data" / "file.h5"
    write_source(path, "virtual", 7)
    write_virtual(path, ".")
    # A file of that name elsewhere is another file.
    write_source(places / "prefix" / "file.h5", "virtual", 8)
    check(path, places / "elsewhere", 7, HDF5_VDS_PREFIX=str(places / "prefix"))


def test_nowhere(places):
    path = places / "data" / "file.h5"
    write_virtual(path, "source.h5")
    check(path, places / "elsewhere", None)


def test_no_raw_file(places):
    """What is in it is not known, so there are no values."""
    path = places / "data" / "file.h5"
    write_raw(path, "source.h5")
    with h5py.File(path) as file, pytest.raises(OSError, match="external raw data file"):
        file["v"][...]
    with isotach.Dataset(path) as ours, netCDF4.Dataset(path) as theirs:
        for dataset in (ours, theirs):
            assert dataset["v"].shape == (3,)
            with pytest.raises(RuntimeError):
                dataset["v"][...]
        with pytest.raises(RuntimeError, match="refers to the file"):
            ours["v"][...]


@pytest.mark.parametrize("kind", WRITERS)
def test_not_allowed(places, kind):
    path = places / "data" / "file.h5"
    WRITERS[kind](path, "source.h5")
    write_source(places / "data" / "source.h5", kind, 1)
    file = _native.open(str(path), allow_external="none")
    refused = "allow_external allows none"
    if kind == "link":
        # Where nothing can be said about what it leads to, it is not there.
        assert [name for name, reason in file.root().left_out() if refused in reason] == ["/v"]
        return
    with pytest.raises(RuntimeError, match=refused):
        file.root().variable("v").read(...)
