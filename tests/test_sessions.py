"""Files over time: what others find of one that is written, and what is left of one given up."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import isotach
import netCDF4
import numpy as np
import pytest

FORMATS = ["NETCDF4", "NETCDF3_CLASSIC"]


def write(path, count, **options):
    """A file with `count` values along an unlimited dimension, still open."""
    dataset = isotach.Dataset(path, "w", **options)
    dataset.createDimension("t", None)
    dataset.createVariable("v", "i4", ("t",))[:] = np.arange(count)
    return dataset


def count(path):
    with isotach.Dataset(path) as dataset:
        return len(dataset.dimensions["t"]) if "t" in dataset.dimensions else 0


def wait_for(path, expected):
    end = time.monotonic() + 60
    while count(path) != expected:
        assert time.monotonic() < end, f"{count(path)} of {expected}"
        time.sleep(0.005)


def run(program, *arguments, **options):
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, **options)


@pytest.mark.parametrize("format", FORMATS)
def test_an_idle_writer_commits_by_itself(tmp_path, format):
    path = tmp_path / "idle.nc"
    dataset = write(path, 3, format=format, commit_interval=0.02)
    wait_for(path, 3)
    dataset["v"][3:6] = 7
    wait_for(path, 6)
    dataset.close()


def test_without_an_interval_only_sync_commits(tmp_path):
    path = tmp_path / "quiet.nc"
    dataset = write(path, 3, commit_interval=None)
    time.sleep(0.1)
    assert count(path) == 0
    dataset.sync()
    assert count(path) == 3
    dataset.close()


def test_options_that_are_none(tmp_path):
    path = tmp_path / "no.nc"
    for options in [
        {"commit_interval": -1.0},
        {"durability": "luck"},
        {"atomic": True, "clobber": False},
    ]:
        with pytest.raises(ValueError, match=r"commit_interval|durability|atomic"):
            isotach.Dataset(path, "w", **options)
    assert not path.exists()
    write(path, 2, durability="power", lock=False).close()
    assert count(path) == 2


def test_an_exception_in_a_block_closes_and_keeps(tmp_path):
    """As netCDF4-python does."""
    path = tmp_path / "kept.nc"
    with pytest.raises(IndexError), write(path, 3) as dataset:
        dataset["nothing"]
    assert count(path) == 3


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_discarded_is_not_in_the_file(tmp_path, format):
    path = tmp_path / "discarded.nc"
    dataset = write(path, 3, format=format, commit_interval=None)
    dataset.sync()
    dataset["v"][3:9] = 0
    dataset.title = "never"
    dataset.discard()
    assert not dataset.isopen()
    with pytest.raises(RuntimeError):
        dataset.discard()
    with isotach.Dataset(path) as left:
        assert left.ncattrs() == []
        np.testing.assert_array_equal(left["v"][:], [0, 1, 2])
        with pytest.raises(RuntimeError):
            left.discard()
    write(path.with_name("new.nc"), 3, format=format, commit_interval=None).discard()
    assert not path.with_name("new.nc").exists()


def test_atomic_files_appear_when_they_are_whole(tmp_path):
    path = tmp_path / "atomic.nc"
    write(path, 5, atomic=True).close()
    dataset = write(path, 7, atomic=True)
    dataset.sync()
    assert count(path) == 5
    dataset.close()
    assert count(path) == 7
    with pytest.raises(IndexError), write(path, 9, atomic=True) as dataset:
        dataset["nothing"]
    del dataset
    write(path, 9, atomic=True).discard()
    forgotten = write(path, 9, atomic=True)
    del forgotten
    gc.collect()
    assert (count(path), os.listdir(tmp_path)) == (7, ["atomic.nc"])


ATOMIC = """
    import os, signal, sys, isotach
    dataset = isotach.Dataset(sys.argv[1], "w", atomic=sys.argv[2] == "atomic")
    dataset.createDimension("t", 9)
    dataset.sync()
    if sys.argv[3] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    raise SystemExit("something went wrong")
"""


@pytest.mark.parametrize("how", ["killed", "raised"])
def test_a_run_that_fails_leaves_the_good_file(tmp_path, how):
    path = tmp_path / "good.nc"
    write(path, 4).close()
    ended = run(ATOMIC, path, "atomic", how)
    assert ended.returncode == (-signal.SIGKILL if how == "killed" else 1), ended.stderr
    assert count(path) == 4
    # One that is not asked to be atomic is emptied at once.
    run(ATOMIC, path, "", how)
    assert count(path) == 9


HOLD = """
    import sys, isotach
    dataset = isotach.Dataset(sys.argv[1], "a")
    print("open", flush=True)
    sys.stdin.read()
"""


def test_two_writers_at_once(tmp_path):
    path = tmp_path / "locked.nc"
    write(path, 4).close()
    command = [sys.executable, "-c", textwrap.dedent(HOLD), path]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as other:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(OSError, match=r"is being written by another process.*flock"):
            isotach.Dataset(path, "a")
        # Where other locks tell of the writer, doing without this one changes nothing.
        with pytest.raises(OSError, match="is being written by another process"):
            isotach.Dataset(path, "a", lock=False)
        other.kill()
    # The lock ends with the process.
    with isotach.Dataset(path, "a"):
        with pytest.raises(OSError, match="is being written by this process"):
            isotach.Dataset(path, "a", exclusive=True)
        with pytest.raises(OSError, match="is being written by this process"):
            isotach.Dataset(path, "w")
    isotach.Dataset(path, "a").close()


FORK = """
    import os, sys, isotach
    dataset = isotach.Dataset(sys.argv[1], "w", commit_interval=0.001)
    dataset.createDimension("t", None)
    dataset.createVariable("v", "i4", ("t",))[:] = range(3)
    child = os.fork()
    if child == 0:
        try:
            dataset["v"][0] = 7
        except RuntimeError as error:
            assert "the process that forked this one" in str(error), error
            other = isotach.Dataset(sys.argv[2], "w", commit_interval=0.001)
            other.createDimension("t", 5)
            other.close()
            # What the interpreter does at its end must not touch the other process's file.
            sys.exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    dataset["v"][3:5] = 9
    dataset.close()
"""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_leaves_the_file_alone(tmp_path):
    for number in range(5):
        path, other = tmp_path / f"{number}.nc", tmp_path / f"other{number}.nc"
        ended = run(FORK, path, other, timeout=60)
        assert ended.returncode == 0, ended.stderr
        assert (count(path), count(other)) == (5, 5)


def test_an_interpreter_that_ends_does_not_wait(tmp_path):
    program = """
        import sys, isotach
        dataset = isotach.Dataset(sys.argv[1], "w", commit_interval=3600)
        dataset.createDimension("t", 3)
    """
    path = tmp_path / "ended.nc"
    assert run(program, path, timeout=60).returncode == 0
    assert count(path) == 3


def test_what_a_discard_takes_back(tmp_path):
    path = tmp_path / "discarded.nc"
    lengths = {"small": 1000, "large": 100_000, "chunked": 100_000}
    with isotach.Dataset(path, "w", commit_interval=None) as dataset:
        for name, length in lengths.items():
            dataset.createDimension(name, length)
            chunks = {"chunksizes": (1000,)} if name == "chunked" else {}
            dataset.createVariable(name, "i4", (name,), **chunks)[:] = 1
    dataset = isotach.Dataset(path, "a", commit_interval=None)
    for name in lengths:
        dataset[name][:] = 2
    dataset.discard()
    with isotach.Dataset(path) as dataset:
        found = {name: set(dataset[name][:].tolist()) for name in lengths}
    assert found == {"small": {1}, "large": {1}, "chunked": {1}}


@pytest.mark.parametrize("format", FORMATS)
def test_refresh(tmp_path, format):
    path = tmp_path / "refreshed.nc"
    writer = write(path, 3, format=format, commit_interval=None)
    writer.createVariable("gone", "i4", ("t",))
    writer.sync()
    reader = isotach.Dataset(path)
    variable, dimension, gone = reader["v"], reader.dimensions["t"], reader["gone"]
    assert (variable.shape, len(dimension), reader.ncattrs()) == ((3,), 3, [])

    writer["v"][1:5] = [10, 11, 12, 13]
    writer["v"].units = "m"
    writer.title = "more"
    writer.renameVariable("gone", "here")
    assert len(variable) == 3
    writer.sync()
    assert reader.refresh()
    assert reader["v"] is variable
    assert reader.dimensions["t"] is dimension
    assert (variable.shape, len(dimension), reader.title, variable.units) == ((5,), 5, "more", "m")
    np.testing.assert_array_equal(variable[:], [0, 10, 11, 12, 13])
    assert set(reader.variables) == {"v", "here"}
    with pytest.raises(RuntimeError):
        gone[:]

    writer.close()
    end = time.monotonic() + 60
    while reader.refresh():
        # Only as soon as the file's times could tell a change from none.
        assert time.monotonic() < end
    assert not reader.refresh()
    reader.close()
    with pytest.raises(RuntimeError):
        reader.refresh()


def test_refresh_that_fails_half_way_shows_what_was_there_before(tmp_path, monkeypatch):
    path = tmp_path / "half.nc"
    writer = write(path, 3, commit_interval=None)
    writer.createGroup("late").createDimension("n", None)
    writer.createVariable("late/v", "i4", ("n",))[:2] = 1
    writer.sync()
    with isotach.Dataset(path) as reader:
        dimension, variable, late = reader.dimensions["t"], reader["v"], reader["late/v"]
        late_dimension = reader["late"].dimensions["n"]

        def lengths():
            return len(dimension), len(variable), len(late_dimension), len(late)

        assert lengths() == (3, 3, 2, 2)
        writer["v"][3:5] = 7
        writer["late/v"][2:4] = 7
        writer.createVariable("new", "i4", ())
        writer.sync()
        # From then on the file's times tell that it did not change again.
        time.sleep(0.3)
        present = isotach.Group._present_dimensions

        def fails(self, native):
            if self.path == "/late":
                raise OSError("half a change")
            return present(self, native)

        with monkeypatch.context() as half, pytest.raises(OSError, match="half a change"):
            half.setattr(isotach.Dataset, "_present_dimensions", fails)
            reader.refresh()
        # What is known by now; what is not has the handle move on.
        assert lengths() == (3, 3, 2, 2)
        assert reader.refresh()
        assert lengths() == (5, 5, 4, 4)
        assert reader.dimensions["t"] is dimension
        assert "new" in reader.variables
    writer.close()


def test_refresh_of_groups_objects_and_writers(tmp_path):
    path = tmp_path / "groups.nc"
    with isotach.Dataset(path, "w") as writer:
        writer.createGroup("a/b").createDimension("x", None)
        writer.createGroup("gone")
        assert not writer.refresh()
    reader = isotach.Dataset(path)
    inner, gone = reader["a/b"], reader["gone"]
    with open(path, "rb") as file, isotach.Dataset(file) as other:
        with isotach.Dataset(path, "a") as writer:
            writer["a/b"].createVariable("v", "f8", ("x",))[:] = [1, 2]
            writer.renameGroup("gone", "here")
        assert inner.refresh()
        assert inner["v"].shape == (2,)
        assert list(reader.groups) == ["a", "here"]
        with pytest.raises(RuntimeError):
            gone.name  # noqa: B018
        assert other.refresh()
        assert other["a/b/v"].shape == (2,)
    with isotach.Dataset("memory", memory=path.read_bytes()) as in_memory:
        assert not in_memory.refresh()
    reader.close()


def test_refresh_follows_a_file_that_takes_the_place(tmp_path):
    path = tmp_path / "replaced.nc"
    write(path, 3).close()
    with isotach.Dataset(path) as reader:
        write(path, 8, atomic=True, format="NETCDF3_CLASSIC").close()
        assert reader.refresh()
        assert (reader.data_model, reader["v"].shape) == ("NETCDF3_CLASSIC", (8,))


def test_refresh_of_many_files(tmp_path):
    paths = [tmp_path / f"{number}.nc" for number in range(3)]
    for number, path in enumerate(paths):
        with isotach.Dataset(path, "w", format="NETCDF4_CLASSIC") as dataset:
            dataset.createDimension("time", None)
            time_ = dataset.createVariable("time", "f8", ("time",))
            time_.setncatts({"units": f"days since 2000-01-0{number + 1}", "calendar": "standard"})
            time_[:] = [0, 1]
            dataset.createVariable("v", "i4", ("time",))[:] = [number, number]
            dataset.old = "here"
    with isotach.MFDataset(sorted(map(str, paths))) as reader:
        variable, times = reader["v"], isotach.MFTime(reader["time"])
        assert not hasattr(variable, "units")
        with isotach.Dataset(paths[1], "a") as dataset:
            dataset["v"][2:5] = [7, 8, 9]
        with isotach.Dataset(paths[0], "a") as dataset:
            dataset["v"].units = "m"
            dataset.title = "more"
            del dataset.old
        assert variable[:].tolist() == [0, 0, 1, 1, 2, 2]
        assert reader.refresh()
        assert reader["v"] is variable
        assert variable[:].tolist() == [0, 0, 1, 1, 7, 8, 9, 2, 2]
        assert (variable.shape, len(reader.dimensions["time"])) == ((9,), 9)
        assert (variable.units, reader.title, reader.ncattrs()) == ("m", "more", ["title"])
        assert times[:].tolist()[-2:] == [2, 3]
        with isotach.Dataset(paths[0], "a") as dataset:
            del dataset["v"].units
        assert reader.refresh()
        assert not hasattr(variable, "units")


FOLLOWED = """
    import sys, isotach
    with isotach.Dataset(sys.argv[1], "a", commit_interval=None) as dataset:
        for number in range(int(sys.argv[2])):
            for name in "abc":
                dataset[name][number] = [number] * 50
            dataset.setncattr("count", number + 1)
            dataset.sync()
"""


@pytest.mark.parametrize("format", FORMATS)
def test_a_reader_follows_another_process(tmp_path, format):
    path, records = tmp_path / "followed.nc", 300
    with isotach.Dataset(path, "w", format=format) as dataset:
        dataset.createDimension("t", None)
        dataset.createDimension("x", 50)
        dataset.setncattr("count", 0)
        for name in "abc":
            dataset.createVariable(name, "i4", ("t", "x"))
    command = [sys.executable, "-c", textwrap.dedent(FOLLOWED), path, str(records)]
    seen = 0
    with subprocess.Popen(command) as writer, isotach.Dataset(path) as reader:
        while seen < records:
            ended = writer.poll() is not None
            try:
                reader.refresh()
                count = int(reader.getncattr("count"))
                found = [len(reader[name]) for name in "abc"]
            except (OSError, RuntimeError, AttributeError):
                # Half a change: whole the next time.
                assert not ended
                continue
            assert count >= seen
            assert min(found) >= count
            seen = count
            assert not ended or seen == records
        for name in "abc":
            expected = np.arange(records)[:, None].repeat(50, axis=1)
            np.testing.assert_array_equal(reader[name][:], expected)
    assert writer.returncode == 0


@contextlib.contextmanager
def bound_by_permissions():
    """As a user to whom the permissions of files apply: root may do everything."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
@pytest.mark.parametrize("format", FORMATS)
def test_what_may_not_be_written_is_refused_and_left_as_it_is(format):
    # Not below the folder of the test, where nobody else may look.
    with tempfile.TemporaryDirectory() as folder:
        path, absent = Path(folder) / "good.nc", Path(folder) / "absent.nc"
        with isotach.Dataset(path, "w", format=format) as dataset:
            dataset.title = "good"
        content = path.read_bytes()
        path.chmod(0o444)
        os.chmod(folder, 0o555)
        with bound_by_permissions():
            for file, mode in [(path, "a"), (path, "r+"), (path, "w"), (absent, "w")]:
                # netCDF4-python has a plain OSError for some of them.
                with pytest.raises(OSError, match=file.name):
                    netCDF4.Dataset(file, mode, format=format)
                with pytest.raises(PermissionError, match=file.name):
                    isotach.Dataset(file, mode, format=format)
            for file in (path, absent):
                with pytest.raises(PermissionError, match=file.name):
                    isotach.Dataset(file, "w", format=format, atomic=True)
            with isotach.Dataset(path) as dataset:
                assert dataset.title == "good"
        os.chmod(folder, 0o755)
        assert path.read_bytes() == content
        assert os.listdir(folder) == [path.name]
