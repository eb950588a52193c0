"""Files that take the place of others: nothing that is being read, and nothing whole, is ever lost.

The oracle is what was written: each test knows every value of the old file and of the new one.
"""

import hashlib
import os
import pickle
import signal
import stat
import subprocess
import sys
import textwrap
import time

import dask
import isotach
import netCDF4
import numpy as np
import pytest
import xarray as xr

ROWS, COLUMNS = 40, 3000
#: As they are stored: in one piece, in chunks, in a classic file.
LAYOUTS = {
    "contiguous": {"format": "NETCDF4", "chunksizes": None},
    "deflated": {"format": "NETCDF4", "chunksizes": (5, COLUMNS), "zlib": True},
    "classic": {"format": "NETCDF3_64BIT_OFFSET"},
}
#: Where a file of one name is written until it is whole.
UNFINISHED = ".{}.unfinished"


def values(first=0):
    return np.arange(ROWS * COLUMNS, dtype="f8").reshape(ROWS, COLUMNS) + first


def make(path, layout="deflated", first=0):
    options = dict(LAYOUTS[layout])
    with netCDF4.Dataset(path, "w", format=options.pop("format")) as dataset:
        dataset.createDimension("y", ROWS)
        dataset.createDimension("x", COLUMNS)
        for name in ("v", "w"):
            dataset.createVariable(name, "f8", ("y", "x"), **options)[:] = values(first)
    return path


def held(path, name="v"):
    """What a library that is not ours finds."""
    with netCDF4.Dataset(path) as dataset:
        dataset.set_auto_mask(False)
        return dataset[name][:]


def is_old(path, first=0):
    return all(np.array_equal(held(path, name), values(first)) for name in ("v", "w"))


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def run(program, *arguments, **options):
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    return ended


# to_netcdf onto what it reads


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("chunks", [None, {}, {"y": 7}])
@pytest.mark.parametrize("spelling", ["same", "link", "relative"])
def test_to_netcdf_onto_the_file_that_it_reads(tmp_path, monkeypatch, layout, chunks, spelling):
    path = make(tmp_path / "file.nc", layout)
    (tmp_path / "link.nc").symlink_to("file.nc")
    monkeypatch.chdir(tmp_path)
    to = {"same": path, "link": tmp_path / "link.nc", "relative": "./file.nc"}[spelling]
    with xr.open_dataset(path, engine="isotach", chunks=chunks) as dataset:
        # Each row of the new file comes from another place of the old one, and is later than that.
        turned = (dataset.isel(y=slice(None, None, -1)) + 1).assign(mixed=dataset.v.roll(y=3))
        isotach.to_netcdf(turned, to)
        # Who had it open goes on to read what it opened.
        np.testing.assert_array_equal(dataset.w.values, values())
    np.testing.assert_array_equal(held(path), values(1)[::-1])
    np.testing.assert_array_equal(held(path, "w"), values(1)[::-1])
    np.testing.assert_array_equal(held(path, "mixed"), np.roll(values(), 3, axis=0))
    assert names(tmp_path) == ["file.nc", "link.nc"] and (tmp_path / "link.nc").is_symlink()


def test_a_computation_that_fails_leaves_the_file(tmp_path):
    path = make(tmp_path / "file.nc")
    before = path.read_bytes()

    def fail(block):
        raise ArithmeticError("a broken block")

    with xr.open_dataset(path, engine="isotach", chunks={"y": 5}) as dataset:
        broken = dataset.assign(w=dataset.w.copy(data=dataset.w.data.map_blocks(fail, dtype="f8")))
        with pytest.raises(ArithmeticError, match="a broken block"):
            isotach.to_netcdf(broken, path)
    assert path.read_bytes() == before and names(tmp_path) == ["file.nc"]


def test_delayed_writing_onto_the_file_that_it_reads(tmp_path):
    path = make(tmp_path / "file.nc")
    with xr.open_dataset(path, engine="isotach", chunks={"y": 5}) as dataset:
        delayed = isotach.to_netcdf(dataset + 1, path, compute=False)
        assert is_old(path)
        delayed.compute()
    assert is_old(path, 1) and names(tmp_path) == ["file.nc"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_variables_are_not_written_over_while_they_are_read(tmp_path, layout):
    path = make(tmp_path / "file.nc", layout)
    with xr.open_dataset(path, engine="isotach", chunks={"y": 9}) as dataset:
        turned = dataset[["v"]].isel(y=slice(None, None, -1))
        with pytest.raises(OSError, match="changes what this process reads"):
            isotach.to_netcdf(turned, path, mode="a")
        assert is_old(path)
        # What is new is in nobody's way, nor is what is in memory.
        if layout == "classic":
            # There the header grows into the values.
            with pytest.raises(OSError, match="changes what this process reads"):
                isotach.to_netcdf((turned + 1).rename(v="new"), path, mode="a")
            assert is_old(path)
            return
        isotach.to_netcdf((turned + 1).rename(v="new"), path, mode="a")
        isotach.to_netcdf(turned.load(), path, mode="a")
    np.testing.assert_array_equal(held(path, "new"), values(1)[::-1])
    np.testing.assert_array_equal(held(path), values()[::-1])
    np.testing.assert_array_equal(held(path, "w"), values())


@pytest.mark.parametrize("how", ["copy", "generate", "fromcdl"])
def test_commands_onto_the_file_that_they_read(tmp_path, how):
    path = make(tmp_path / "file.nc")
    with isotach.Dataset(path) as reader:
        if how == "copy":
            command(["copy", "-k", "classic", path, path])
            assert is_old(path) and path.read_bytes().startswith(b"CDF")
        else:
            text = tmp_path / "text.cdl"
            text.write_text("netcdf file { variables: int n; data: n = 7; }", encoding="utf-8")
            command(["generate", "-o", path, text])
            assert held(path, "n") == 7
            text.unlink()
        np.testing.assert_array_equal(reader["v"][:], values())
    assert names(tmp_path) == ["file.nc"]


def command(arguments):
    subprocess.run([sys.executable, "-m", "isotach", *map(str, arguments)], check=True)


# What a killed writer leaves

KILLED = """
    import os, signal, sys, isotach, numpy as np, xarray as xr
    path, how = sys.argv[1:]
    def killed(block):
        if block[0, 0] > 60000:
            os.kill(os.getpid(), signal.SIGKILL)
        return block
    if how == "to_netcdf":
        dataset = xr.open_dataset(path, engine="isotach", chunks={"y": 5})
        v = dataset.v.copy(data=dataset.v.data.map_blocks(killed, dtype="f8"))
        isotach.to_netcdf(dataset.assign(v=v), path)
    else:
        dataset = isotach.Dataset(path, "w", atomic=True)
        dataset.createDimension("x", 1000000)
        dataset.createVariable("v", "f8", ("x",))[:] = 1
        dataset.sync()
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("how", ["to_netcdf", "atomic"])
@pytest.mark.parametrize("again", ["to_netcdf", "atomic", "w", "a", "copy", "generate"])
def test_what_a_killed_writer_leaves_is_taken_away(tmp_path, how, again):
    path = make(tmp_path / "file.nc")
    before = path.read_bytes()
    assert run(KILLED, path, how).returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    # What is not taken away would take room, and make the next one believe that somebody writes.
    assert names(tmp_path) == [UNFINISHED.format("file.nc"), "file.nc"]
    other = make(tmp_path.parent / f"{tmp_path.name}-other.nc", first=5)
    if again == "to_netcdf":
        isotach.to_netcdf(xr.open_dataset(other, engine="isotach"), path)
    elif again in ("copy", "generate"):
        text = tmp_path.parent / f"{tmp_path.name}.cdl"
        text.write_text("netcdf file { variables: int n; data: n = 7; }", encoding="utf-8")
        command([again, *([other, path] if again == "copy" else ["-o", path, text])])
    else:
        isotach.Dataset(path, "w" if again == "w" else "a").close()
        isotach.Dataset(path, "w", atomic=True).close()
    assert names(tmp_path) == ["file.nc"]


def test_copies_that_are_killed_at_any_time(tmp_path):
    """The name has the old file or the new one."""
    source = make(tmp_path / "source.nc", "contiguous", first=9)
    path = make(tmp_path / "file.nc")
    interrupted = 0
    for number in range(6):
        arguments = [sys.executable, "-m", "isotach", "copy", "-d9", source, path]
        with subprocess.Popen(arguments) as copying:
            while copying.poll() is None and not unfinished(path).exists():
                pass
            time.sleep(number / 200)
            copying.kill()
        interrupted += unfinished(path).exists()
        assert is_old(path) or is_old(path, 9)
    command(["copy", source, path])
    assert is_old(path, 9) and names(tmp_path) == ["file.nc", "source.nc"]
    assert interrupted, "no copy was killed in its midst"


def unfinished(path):
    return path.with_name(UNFINISHED.format(path.name))


# Mode "w" and readers

READ = """
    import sys, hashlib, importlib
    library, path = sys.argv[1:]
    dataset = importlib.import_module(library).Dataset(path)
    dataset.set_auto_mask(False)
    first = dataset["v"][0].tobytes()
    print("open", flush=True)
    sys.stdin.readline()
    whole = b"".join(dataset[name][:].tobytes() for name in ("v", "w"))
    print(hashlib.sha256(whole).hexdigest(), flush=True)
"""


class Reading:
    """Another process that has a file open, has read little of it, and reads all of it later."""

    def __init__(self, library, path):
        command = [sys.executable, "-c", textwrap.dedent(READ), library, str(path)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self):
        assert self.process.stdout.readline() == "open\n"
        return self

    def __exit__(self, *exception):
        self.process.communicate()

    def check(self):
        found, _ = self.process.communicate("\n", timeout=60)
        assert found.strip() == hashlib.sha256(values().tobytes() * 2).hexdigest()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("library", ["isotach", "netCDF4"])
@pytest.mark.parametrize("way", ["w", "atomic", "persist", "to_netcdf at once"])
def test_who_reads_elsewhere_goes_on_to_read(tmp_path, layout, library, way):
    path = make(tmp_path / "file.nc", layout)
    with Reading(library, path) as reading:
        options = {"w": {}, "atomic": {"atomic": True}, "persist": {"diskless": True}}.get(way)
        if options is None:
            isotach.to_netcdf(xr.Dataset({"v": ("n", [1.0, 2.0])}), path, atomic=False)
        else:
            with isotach.Dataset(path, "w", persist=way == "persist", **options) as dataset:
                dataset.createDimension("n", 2)
                dataset.createVariable("v", "f8", ("n",))[:] = [1, 2]
        reading.check()
    assert held(path).tolist() == [1, 2] and names(tmp_path) == ["file.nc"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_this_process_reads_is_not_emptied(tmp_path, layout):
    path = make(tmp_path / "file.nc", layout)
    before = path.read_bytes()
    (tmp_path / "link.nc").symlink_to("file.nc")
    reader = isotach.Dataset(path)
    for name in ("file.nc", "link.nc"):
        with pytest.raises(OSError, match="open for reading in this process"):
            isotach.Dataset(tmp_path / name, "w")
    with pytest.raises(OSError, match="open for reading in this process"):
        isotach.to_netcdf(xr.Dataset(), path, atomic=False)
    assert path.read_bytes() == before
    np.testing.assert_array_equal(reader["v"][:], values())
    reader.close()
    isotach.Dataset(tmp_path / "link.nc", "w").close()
    with isotach.Dataset(path) as empty:
        assert not empty.variables
    assert names(tmp_path) == ["file.nc", "link.nc"]


# What a name leads to


def test_links_permissions_and_other_names_stay(tmp_path):
    path = make(tmp_path / "file.nc")
    path.chmod(0o640)
    other, link = tmp_path / "other.nc", tmp_path / "link.nc"
    other.hardlink_to(path)
    link.symlink_to("file.nc")
    isotach.Dataset(link, "w").close()
    assert link.is_symlink() and stat.S_IMODE(path.stat().st_mode) == 0o640
    # A second name is often somebody's backup: it keeps what it has.
    assert is_old(other) and not isotach.Dataset(path).variables


def test_an_empty_file_is_filled_where_it_is(tmp_path):
    path = tmp_path / "empty.nc"
    path.touch()
    number = path.stat().st_ino
    isotach.Dataset(path, "w").close()
    assert path.stat().st_ino == number
    dangling = tmp_path / "dangling.nc"
    dangling.symlink_to("new.nc")
    isotach.Dataset(dangling, "w").close()
    assert names(tmp_path) == ["dangling.nc", "empty.nc", "new.nc"] and dangling.is_symlink()


def test_what_is_no_file_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for special in (pipe, tmp_path):
        for options in ({}, {"atomic": True}):
            with pytest.raises((OSError, RuntimeError)):
                isotach.Dataset(special, "w", **options)
    assert stat.S_ISFIFO(pipe.stat().st_mode) and names(tmp_path) == ["pipe"]
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


NO_PLACE = """
    import os, sys, isotach
    path = sys.argv[1]
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    reader = isotach.Dataset(path)
    try:
        isotach.Dataset(path, "w")
    except OSError as error:
        assert "open for reading in this process" in str(error), error
    else:
        raise AssertionError("it was emptied")
    reader.close()
    try:
        isotach.Dataset(path, "w", atomic=True)
    except PermissionError:
        pass
    with isotach.Dataset(path, "w") as dataset:
        dataset.createDimension("n", 3)
"""


def test_a_folder_that_may_not_be_written(tmp_path):
    """A file there is emptied where it is, if nobody reads it: no other can take its place."""
    folder = tmp_path / "folder"
    folder.mkdir()
    path = make(folder / "file.nc")
    path.chmod(0o666)
    folder.chmod(0o555)
    for above in [tmp_path, *tmp_path.parents]:
        if not above.stat().st_mode & 0o001 and os.geteuid() == 0:
            above.chmod(above.stat().st_mode | 0o011)
    try:
        number = path.stat().st_ino
        run(NO_PLACE, path)
        assert path.stat().st_ino == number and names(folder) == ["file.nc"]
        with isotach.Dataset(path) as dataset:
            assert len(dataset.dimensions["n"]) == 3
    finally:
        folder.chmod(0o755)


# Handles that are opened again by their path


UNPICKLE = """
    import pickle, sys, pathlib
    for path in sys.argv[1:]:
        try:
            handle = pickle.loads(pathlib.Path(path).read_bytes())
            print((handle if "variable" in path else handle["v"])[0, :2].__array__().tolist())
        except OSError as error:
            print(error.errno == 116, error)
"""


def test_handles_do_not_lead_to_another_file(tmp_path):
    path, folder = make(tmp_path / "file.nc"), tmp_path / "sent"
    folder.mkdir()
    with isotach.Dataset(path) as dataset, xr.open_dataset(path, engine="isotach") as lazy:
        sent = {"dataset": dataset, "variable": dataset["v"], "lazy": lazy}
        for name, handle in sent.items():
            (folder / name).write_bytes(pickle.dumps(handle))
        files = [folder / name for name in sent]
        assert run(UNPICKLE, *files).stdout == "[0.0, 1.0]\n" * 3
        isotach.to_netcdf(lazy + 1, path)
        refused = run(UNPICKLE, *files).stdout.splitlines()
        assert len(refused) == 3
        for told in refused:
            assert told.startswith("True") and "another file has taken the place" in told
        # In this process the old file is open.
        np.testing.assert_array_equal(pickle.loads((folder / "lazy").read_bytes()).v, values())


def test_a_file_that_grew_is_the_same_file(tmp_path):
    path = make(tmp_path / "file.nc")
    with isotach.Dataset(path) as dataset, xr.open_dataset(path, engine="isotach") as lazy:
        sent = [pickle.dumps(what) for what in (dataset, lazy)]
        with isotach.Dataset(path, "a") as writer:
            writer.createVariable("new", "f8", ("y", "x"))[:] = values(7)
        np.testing.assert_array_equal(pickle.loads(sent[0])["v"][:], values())
        np.testing.assert_array_equal(pickle.loads(sent[1]).v, values())


@pytest.mark.parametrize("is_replaced", [False, True])
def test_dask_processes_read_the_old_file_or_none(tmp_path, is_replaced):
    path = make(tmp_path / "file.nc")
    with (
        xr.open_dataset(path, engine="isotach", chunks={"y": 5}) as lazy,
        dask.config.set(scheduler="processes", num_workers=2),
    ):
        np.testing.assert_array_equal(lazy.v.isel(y=slice(0, 10)).values, values()[:10])
        if is_replaced:
            with dask.config.set(scheduler="threads"):
                isotach.to_netcdf(lazy + 1, path)
            with pytest.raises(OSError, match="another file has taken the place"):
                lazy.w.values  # noqa: B018
        else:
            np.testing.assert_array_equal(lazy.w.values, values())


def test_types_that_are_kept_do_not_keep_the_file_open(tmp_path):
    path = tmp_path / "file.nc"
    with isotach.Dataset(path, "w") as dataset:
        of = dataset.createGroup("a").createEnumType("i1", "word", {"no": 0})
        dataset["a"].createVariable("v", of, ())
    with isotach.Dataset(path) as dataset:
        kept = [dataset["a"].enumtypes["word"], dataset["a/v"].datatype]
    with isotach.Dataset(path, "w") as dataset:
        dataset.title = "new"
    with netCDF4.Dataset(path) as dataset:
        assert dataset.title == "new"
    assert [user.enum_dict for user in kept] == [{"no": 0}] * 2
