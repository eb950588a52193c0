"""Readers beside writers: every value that is returned was committed at its place.

A writer in a process of its own appends, writes over, defines and deletes, in one session or in
many; readers of every kind check every value, and that no handle goes back in time.
`ISOTACH_SECONDS` says for how long; the long form does a million reads.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import dask
import isotach
import numpy as np
import pytest
import xarray as xr

SECONDS = float(os.environ.get("ISOTACH_SECONDS", "2"))
COLUMNS = 500
#: Variables that are appended to: the value of `appended{k}` in row i, column j is this.
COUNT = 4
FORMATS = {
    "deflated": {"format": "NETCDF4", "zlib": True, "chunksizes": (1, COLUMNS)},
    "plain": {"format": "NETCDF4", "chunksizes": (2, COLUMNS)},
    "latest": {"format": "latest", "zlib": True, "chunksizes": (3, COLUMNS)},
    "classic": {"format": "NETCDF3_64BIT_DATA"},
}


def row(variable, index):
    return variable * 1e9 + index * 1e3 + np.arange(COLUMNS) % 1000


def rows(variable, count):
    return np.stack([row(variable, index) for index in range(count)] or [np.empty(COLUMNS)])[:count]


# Writers


def create(path, layout):
    options = dict(FORMATS[layout])
    with isotach.Dataset(path, "w", format=options.pop("format"), commit_interval=None) as dataset:
        dataset.createDimension("time", None)
        dataset.createDimension("x", COLUMNS)
        for number in range(COUNT):
            name = f"appended{number}"
            variable = dataset.createVariable(name, "f8", ("time", "x"), **options)
            variable[:3] = rows(number, 3)
        if layout != "classic":
            options["chunksizes"] = (COLUMNS // 4,)
            for name in ("replaced", "other"):
                dataset.createVariable(name, "i4", ("x",), **options)[:] = 0
            dataset.createVariable("words", str, ("x",), chunksizes=(COLUMNS,))[:] = np.full(
                COLUMNS, "0", object
            )
        dataset.number = np.int32(0)


def change(dataset, number, is_hdf5):
    """Commit `number`: one row more of everything, and its number in all that is replaced."""
    length = len(dataset.dimensions["time"])
    for variable in range(COUNT):
        dataset[f"appended{variable}"][length] = row(variable, length)
    dataset.number = np.int32(number)
    if is_hdf5:
        dataset["replaced"][:] = number
        dataset["other"][:] = number
        dataset["words"][:] = np.full(COLUMNS, str(number), object)
        new = dataset.createVariable(f"new{number}", "i4", ("x",), zlib=True)
        new[:] = number
        new.number = np.int32(number)
        if f"new{number - 2}" in dataset.variables:
            dataset.deleteVariable(f"new{number - 2}")


def write(path, layout, how, most):
    """Commits until there is a file that says to stop, or so many were made."""
    is_hdf5 = layout != "classic"
    number, stop = 0, Path(f"{path}.stop")
    begun = time.monotonic()
    with isotach.Dataset(path) as dataset:
        number = int(dataset.number)
    dataset = None
    while not stop.exists() and number < most:
        assert time.monotonic() - begun < 1000, "nobody said that all is read"
        if dataset is None:
            dataset = isotach.Dataset(path, "a", commit_interval=None)
        number += 1
        change(dataset, number, is_hdf5)
        if how == "sync":
            dataset.sync()
        else:
            dataset.close()
            dataset = None
        time.sleep(0.002)
    if dataset is not None:
        dataset.close()
    print(json.dumps({"commits": number}), flush=True)


class Writing:
    """A process that writes while this block runs."""

    def __init__(self, path, layout, how, most=10**9):
        self.path, self.how = path, how
        self.arguments = ["write", path, layout, how, most]

    def __enter__(self):
        self.process = start(*self.arguments)
        return self

    def __exit__(self, *exception):
        Path(f"{self.path}.stop").touch()
        out, _ = self.process.communicate(timeout=120)
        if exception[0] is None:
            assert self.process.returncode == 0
            self.commits = json.loads(out)["commits"]
        Path(f"{self.path}.stop").unlink()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def start(*arguments):
    command = [sys.executable, __file__, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


# Readers


class Seen:
    """What a handle has shown so far; it never goes back."""

    def __init__(self):
        self.latest = Counter()
        self.reads = 0

    def note(self, what, number):
        assert number >= self.latest[what], (what, number, self.latest[what])
        self.latest[what] = number
        self.reads += 1

    def appended(self, number, values):
        values = np.asarray(values)
        np.testing.assert_array_equal(values, rows(number, len(values)))
        self.note(f"appended{number}", len(values))

    def equal(self, what, values):
        values = np.asarray(values)
        assert (values == values.flat[0]).all(), (what, {*values.tolist()})
        self.note(what, int(values.flat[0]))


def check(dataset, seen, is_hdf5, random):
    """One look at everything; each request is of one state."""
    for number in range(COUNT):
        variable = dataset[f"appended{number}"]
        length = variable.shape[0]
        assert length >= seen.latest[f"appended{number}"]
        seen.appended(number, variable[:])
        index = int(random.integers(length))
        np.testing.assert_array_equal(variable[index], row(number, index))
        seen.reads += 2
    assert len(dataset.dimensions["time"]) >= 3
    seen.note("number", int(dataset.number))
    if is_hdf5:
        for what in ("replaced", "other", "words"):
            seen.equal(what, dataset[what][:])
        seen.note("new", check_new(dataset))
        seen.reads += 2


def check_new(dataset):
    """The newest of the variables that come and go; one that is gone says so."""
    found = 0
    for name in list(dataset.variables):
        if not name.startswith("new"):
            continue
        number = int(name.removeprefix("new"))
        try:
            variable = dataset[name]
            values = variable[:]
            assert (values == number).all() and variable.number == number
        except (RuntimeError, KeyError, IndexError) as error:
            told = str(error)
            assert "not in the file any more" in told or name in told, told
        found = max(found, number)
    return found


def read(path, layout, kind, seconds, seed):
    """A reader of that kind; prints how many values it checked."""
    random, seen = np.random.default_rng(seed), Seen()
    is_hdf5, end = layout != "classic", time.monotonic() + seconds
    dataset = isotach.Dataset(path) if kind in ("held", "refreshing") else None
    # Others than a handle that is held see what is new, however slow the machine is.
    while time.monotonic() < end or (kind != "held" and seen.latest["number"] < 2):
        if kind == "fresh":
            with isotach.Dataset(path) as dataset:
                check(dataset, seen, is_hdf5, random)
        elif kind == "xarray":
            check_xarray(path, seen)
        elif kind == "dask":
            check_dask(path, seen, is_hdf5)
        else:
            if kind == "refreshing":
                dataset.refresh()
            check(dataset, seen, is_hdf5, random)
    print(json.dumps({"reads": seen.reads, "number": seen.latest["number"]}), flush=True)


def check_xarray(path, seen):
    with xr.open_dataset(path, engine="isotach", decode_times=False) as listed:
        length = listed.sizes["time"]
        seen.note("number", int(listed.attrs["number"]))
        # The file has grown by now; what was listed is what is read.
        time.sleep(0.01)
        for number in range(COUNT):
            values = listed[f"appended{number}"].values
            assert len(values) == length
            seen.appended(number, values)
        part = listed["appended1"].isel(time=slice(-2, None), x=[3, 7]).values
        np.testing.assert_array_equal(part, rows(1, length)[-2:, [3, 7]])
        seen.reads += 2


def check_dask(path, seen, is_hdf5):
    """Dask arrays that stay open for some commits: what was listed is what is computed."""
    with xr.open_dataset(path, engine="isotach", decode_times=False, chunks={}) as listed:
        seen.note("number", int(listed.attrs["number"]))
        for _ in range(3):
            time.sleep(0.01)
            check_lazy(listed, seen, is_hdf5)


def check_lazy(listed, seen, is_hdf5):
    length = listed.sizes["time"]
    for number in range(COUNT):
        values = listed[f"appended{number}"].values
        assert len(values) == length
        np.testing.assert_array_equal(values, rows(number, length))
        seen.reads += 1
    mean = float(listed["appended2"].isel(time=1).mean())
    np.testing.assert_allclose(mean, row(2, 1).mean())
    if is_hdf5:
        for what in ("replaced", "other", "words"):
            seen.equal(what, np.asarray(listed[what].values).astype(int))


READERS = ["fresh", "held", "refreshing", "xarray", "dask"]


@pytest.mark.parametrize("how", ["sync", "sessions"])
@pytest.mark.parametrize("layout", FORMATS)
def test_readers_beside_a_writer(tmp_path, layout, how, seconds=SECONDS):
    path = tmp_path / "file.nc"
    create(path, layout)
    with Writing(path, layout, how) as writing:
        readers = [
            start("read", path, layout, kind, seconds, seed) for seed, kind in enumerate(READERS)
        ]
        outs = [reader.communicate(timeout=1000)[0] for reader in readers]
        assert [reader.returncode for reader in readers] == [0] * len(readers)
    found = [json.loads(out) for out in outs]
    print(layout, how, writing.commits, found)
    assert writing.commits > 1
    assert all(one["reads"] > 5 for one in found)
    with isotach.Dataset(path) as dataset:
        for number in range(COUNT):
            np.testing.assert_array_equal(
                dataset[f"appended{number}"][:], rows(number, writing.commits + 3)
            )


@pytest.mark.parametrize("layout", FORMATS)
def test_threads_on_one_handle(tmp_path, layout):
    path = tmp_path / "file.nc"
    create(path, layout)
    failed = []

    def work(dataset, seed):
        random, seen = np.random.default_rng(seed), Seen()
        end = time.monotonic() + SECONDS
        try:
            while time.monotonic() < end:
                check(dataset, seen, layout != "classic", random)
        except BaseException as error:
            failed.append(error)
            raise

    with Writing(path, layout, "sync"), isotach.Dataset(path) as dataset:
        threads = [threading.Thread(target=work, args=(dataset, seed)) for seed in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failed


@pytest.mark.parametrize("layout", FORMATS)
@pytest.mark.parametrize("how", ["sync", "sessions"])
def test_a_snapshot_is_one_state(tmp_path, layout, how):
    """From opening to closing: the same lengths, values, names and attributes."""
    path = tmp_path / "file.nc"
    create(path, layout)
    looks = 0
    with Writing(path, layout, how):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end or looks < 3:
            with (
                isotach.Dataset(path, snapshot=True) as dataset,
                xr.open_dataset(path, engine="isotach", snapshot=True) as lazy,
            ):
                number, length = int(dataset.number), len(dataset.dimensions["time"])
                time.sleep(0.05)
                assert length == number + 3
                assert {variable.shape[0] for variable in dataset.variables.values()} <= {
                    length,
                    COLUMNS,
                }
                for variable in range(COUNT):
                    name = f"appended{variable}"
                    np.testing.assert_array_equal(dataset[name][:], rows(variable, length))
                    expected = rows(variable, lazy.attrs["number"] + 3)
                    np.testing.assert_array_equal(lazy[name].values, expected)
                if layout != "classic":
                    for what in ("replaced", "other"):
                        assert (dataset[what][:] == number).all()
                        assert (lazy[what].values == lazy.attrs["number"]).all()
                    assert {*dataset["words"][:]} == {str(number)}
                    assert (f"new{number}" in dataset.variables) == (number > 0)
            looks += 1


# The scenes that were reported


@pytest.mark.parametrize("layout", FORMATS)
@pytest.mark.parametrize("how", ["sync", "sessions"])
@pytest.mark.parametrize("chunks", [None, {"time": 1}])
def test_a_lazy_dataset_whose_file_grows(tmp_path, layout, how, chunks):
    """One value is read, another process appends for a while, then all is read."""
    path = tmp_path / "file.nc"
    create(path, layout)
    with xr.open_dataset(path, engine="isotach", chunks=chunks) as dataset:
        assert float(dataset.appended2[1, 5]) == row(2, 1)[5]
        with Writing(path, layout, how, most=40) as writing:
            assert writing.process.wait(60) == 0
        for number in range(COUNT):
            np.testing.assert_array_equal(dataset[f"appended{number}"].values, rows(number, 3))


@pytest.mark.parametrize("layout", FORMATS)
def test_dask_processes_beside_a_writer(tmp_path, layout):
    path = tmp_path / "file.nc"
    create(path, layout)
    with (
        Writing(path, layout, "sync"),
        dask.config.set(scheduler="processes", num_workers=2),
        xr.open_dataset(path, engine="isotach", chunks={"time": 1}) as dataset,
    ):
        length = dataset.sizes["time"]
        for number in range(COUNT):
            values = dataset[f"appended{number}"].values
            np.testing.assert_array_equal(values, rows(number, length))


@pytest.mark.parametrize("how", ["sync", "sessions"])
@pytest.mark.parametrize("layout", FORMATS)
def test_killed_writers_and_readers(tmp_path, layout, how):
    path = tmp_path / "file.nc"
    create(path, layout)
    random = np.random.default_rng(3)
    seen = Seen()
    with isotach.Dataset(path) as held:
        for _ in range(3):
            with Writing(path, layout, how) as writing:
                reader = start("read", path, layout, "held", 1000, 1)
                end = time.monotonic() + SECONDS / 4
                while time.monotonic() < end:
                    check(held, seen, layout != "classic", random)
                reader.kill()
                reader.wait()
                # Its locks are gone with it: nobody waits for a reader that is dead.
                writing.kill()
                writing.process.returncode = 0
                writing.process.communicate = lambda timeout: ('{"commits": 0}', None)
            check(held, seen, layout != "classic", random)
            with isotach.Dataset(path) as fresh:
                check(fresh, Seen(), layout != "classic", random)
                assert int(fresh.number) >= seen.latest["number"]
    assert seen.reads > 20


@pytest.mark.parametrize("layout", FORMATS)
def test_a_daily_job_under_an_open_dataset(tmp_path, layout):
    """A job appends with `a` and closes, or is killed; a lazy dataset stays open all the time."""
    path = tmp_path / "file.nc"
    create(path, layout)
    is_hdf5, random, days = layout != "classic", np.random.default_rng(7), 6
    # What stays open and what is opened anew are two handles, and each of them never goes back.
    seen, seen_anew = Seen(), Seen()
    with xr.open_dataset(path, engine="isotach", chunks={}) as held:
        for day in range(1, days + 1):
            with isotach.Dataset(path) as dataset:
                number = int(dataset.number)
            reader = start("read", path, layout, "dask", 1000, day)
            if day % 2:
                job = start("write", path, layout, "sessions", number + 1)
                assert job.wait(120) == 0
            else:
                job = start("write", path, layout, "sessions", 10**9)
                time.sleep(0.3 + random.random() / 2)
                job.kill()
                job.wait()
            reader.kill()
            reader.wait()
            check_lazy(held, seen, is_hdf5)
            with xr.open_dataset(path, engine="isotach", chunks={}) as fresh:
                assert fresh.attrs["number"] >= number + day % 2
                assert fresh.sizes["time"] == fresh.attrs["number"] + 3
                check_lazy(fresh, seen_anew, is_hdf5)
        with dask.config.set(scheduler="processes", num_workers=2):
            np.testing.assert_array_equal(held["appended1"].values, rows(1, held.sizes["time"]))
    assert held.sizes["time"] == 3


@pytest.mark.long
def test_a_million_reads(tmp_path):
    for layout in FORMATS:
        for how in ("sync", "sessions"):
            folder = tmp_path / f"{layout}-{how}"
            folder.mkdir()
            test_readers_beside_a_writer(folder, layout, how, seconds=SECONDS * 60)


if __name__ == "__main__":
    what, path, layout, *rest = sys.argv[1:]
    if what == "write":
        write(path, layout, rest[0], int(rest[1]))
    else:
        read(path, layout, rest[0], float(rest[1]), int(rest[2]))
