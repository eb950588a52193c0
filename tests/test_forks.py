"""Processes that are forked while threads of their parent read: children open, list, read, end."""

import io
import os
import signal
import sys
import threading
import time
from pathlib import Path

import isotach
import numpy as np
import pytest
from isotach._locks import ProcessLock

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

# A child that needs longer than this hangs.
PATIENCE = 60.0
# How often a process with reading threads forks; ISOTACH_FORKS for more.
FORKS = int(os.environ.get("ISOTACH_FORKS", "40"))
ROWS = 400


def expected(number):
    return np.arange(ROWS * 100, dtype="i4").reshape(ROWS, 100) + number * 1_000_000


def make(path, file_format):
    with isotach.Dataset(path, "w", format=file_format) as ds:
        ds.createDimension("t", None)
        ds.createDimension("x", 100)
        is_hdf5 = file_format == "NETCDF4"
        for number in range(20):
            options = {"zlib": True, "chunksizes": (40, 100)} if is_hdf5 and number % 2 else {}
            variable = ds.createVariable(f"v{number}", "i4", ("t", "x"), **options)
            variable.setncatts({f"a{index}": f"text {index}" for index in range(12)})
            variable[:] = expected(number)
        if is_hdf5:
            ds.createGroup("g").createVariable("s", str, ("t",))[:] = np.array(["text"] * ROWS)


def look(ds):
    """Lists all of a file, and reads some of it in small and large pieces."""
    assert len(ds.variables) == 20
    for number, variable in enumerate(ds.variables.values()):
        assert variable.shape == (ROWS, 100)
        assert variable.a5 == "text 5"
        assert (variable[number, 3:7] == expected(number)[number, 3:7]).all()
    for number in (4, 7):
        assert (ds.variables[f"v{number}"][:] == expected(number)).all()
    if "g" in ds.groups:
        assert set(ds.groups["g"].variables["s"][:20]) == {"text"}


class Readers:
    """Threads that open files and read from them all the time."""

    def __init__(self, work, count=4):
        self._over = threading.Event()
        self._failed = []
        self.rounds = 0
        self._threads = [threading.Thread(target=self._run, args=(work,)) for _ in range(count)]

    def _run(self, work):
        try:
            while not self._over.is_set():
                work()
                self.rounds += 1
        except BaseException as error:
            self._failed.append(error)

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        for thread in self._threads:
            thread.join()
        assert not self._failed, self._failed
        assert self.rounds > 0


def forked(work):
    """Forks; what became of the child that does `work`: None, or what was wrong."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(code)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return None if code == 0 else f"ended with {code}"
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hung"


def fork_beside(path, forks, child_threads=False):
    inherited = isotach.Dataset(path)

    def work():
        with isotach.Dataset(path) as ds:
            look(ds)
        look(inherited)

    def in_child():
        look(inherited)
        work()
        if child_threads:
            with Readers(work, 2):
                assert forked(work) is None
                assert forked(lambda: look(inherited)) is None

    with Readers(work):
        outcomes = [forked(in_child) for _ in range(forks)]
    inherited.close()
    return [outcome for outcome in outcomes if outcome]


@pytest.mark.parametrize("file_format", ["NETCDF4", "NETCDF3_64BIT_OFFSET"])
def test_children_read_what_their_parent_is_reading(tmp_path, file_format):
    make(tmp_path / "file.nc", file_format)
    assert fork_beside(tmp_path / "file.nc", FORKS) == []


def test_children_of_children(tmp_path):
    make(tmp_path / "file.nc", "NETCDF4")
    assert fork_beside(tmp_path / "file.nc", FORKS // 8, child_threads=True) == []


def test_children_read_file_objects(tmp_path):
    """Locks of a file are held while Python reads for it."""
    make(tmp_path / "file.nc", "NETCDF4")
    content = (tmp_path / "file.nc").read_bytes()

    inherited = isotach.Dataset("file.nc", memory=content)
    shared = isotach.Dataset(io.BytesIO(content))

    def work():
        with isotach.Dataset(io.BytesIO(content)) as ds:
            look(ds)
        look(inherited)

    def in_child():
        look(inherited)
        look(shared)
        work()

    with Readers(work):
        outcomes = [forked(in_child) for _ in range(max(FORKS // 4, 4))]
    assert [outcome for outcome in outcomes if outcome] == []


def test_a_lock_that_another_thread_held_is_a_new_one():
    lock, is_held, may_end = ProcessLock(), threading.Event(), threading.Event()

    def hold():
        with lock:
            is_held.set()
            may_end.wait()

    def take_twice():
        with lock, lock:
            pass

    holder = threading.Thread(target=hold)
    holder.start()
    is_held.wait()
    try:
        assert forked(take_twice) is None
    finally:
        may_end.set()
        holder.join()
    # The thread that forks has it in the child, too.
    with lock:
        assert forked(take_twice) is None


if __name__ == "__main__":
    PATIENCE = 10.0
    folder = Path(sys.argv[1])
    for file_format in ("NETCDF4", "NETCDF3_64BIT_OFFSET"):
        make(folder / "file.nc", file_format)
        print(file_format, fork_beside(folder / "file.nc", FORKS))
