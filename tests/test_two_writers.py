"""Two writers of one file: the second is refused, whichever faces of the library they are.

One process holds the file as one of the faces does, another (or the same) tries to write it as each
of the others does. What the holder writes is whole afterwards.
"""

import itertools
import os
import signal
import subprocess
import sys
import textwrap

import isotach
import netCDF4
import numpy as np
import pytest

FORMATS = ["NETCDF4", "NETCDF3_64BIT_OFFSET"]
COUNT = 1_500_000

#: A process that holds a file, or tries to: `python FACE PATH FORMAT LIBRARY`.
FACES = """
    import ctypes, os, sys
    face, path, format, library = sys.argv[1:]
    is_hdf5 = format == "NETCDF4"

    def by_c():
        netcdf = ctypes.CDLL(library)
        number = ctypes.c_int()
        if face == "C open":
            status = netcdf.nc_open(path.encode(), 0x1, ctypes.byref(number))
        else:
            flags = 0x1000 if is_hdf5 else 0x200
            status = netcdf.nc_create(path.encode(), flags, ctypes.byref(number))
        if status:
            raise OSError(f"status {status}")
        if face == "C create":
            dimension, variable = ctypes.c_int(), ctypes.c_int()
            assert not netcdf.nc_def_dim(number, b"n", ctypes.c_size_t(3), ctypes.byref(dimension))
            shape = ctypes.byref(dimension)
            assert not netcdf.nc_def_var(number, b"v", 4, 1, shape, ctypes.byref(variable))
            assert not netcdf.nc_enddef(number)
            assert not netcdf.nc_put_var_int(number, variable, (ctypes.c_int * 3)(1, 2, 3))
        return lambda: netcdf.nc_close(number) == 0 or sys.exit("nc_close failed")

    def by_python():
        import isotach
        mode, options = {
            "a": ("a", {}), "w": ("w", {}), "x": ("x", {}), "atomic": ("w", {"atomic": True})
        }[face]
        dataset = isotach.Dataset(path, mode, format=format, **options)
        if face != "a":
            dataset.createDimension("n", 3)
            dataset.createVariable("v", "i4", ("n",))[:] = [1, 2, 3]
        return dataset.close

    try:
        end = by_c() if face.startswith("C") else by_python()
    except OSError as error:
        print("refused", error, flush=True)
        sys.exit(0)
    print("held", flush=True)
    sys.stdin.readline()
    end()
    print("closed", flush=True)
"""
HOLDERS = ["a", "w", "x", "atomic", "C open", "C create", "copy"]
TRIES = ["a", "w", "x", "atomic", "C open", "C create", "copy", "generate"]
NEED_A_FILE = {"a", "C open"}


def start(face, path, format, library):
    command = [sys.executable, "-c", textwrap.dedent(FACES), face, path, format, library]
    return subprocess.Popen(
        list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """What takes long enough to copy."""
    path = tmp_path_factory.mktemp("large") / "large.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.createDimension("n", COUNT)
        dataset.createVariable("v", "f8", ("n",))[:] = np.random.default_rng(1).random(COUNT)
    return path


class Holder:
    """Holds the file as one of the faces does, until it is told to come to its end."""

    def __init__(self, face, path, format, library, large):
        self.is_copy = face == "copy"
        if self.is_copy:
            command = [sys.executable, "-m", "isotach", "copy", "-d9", "-k", "netCDF-4"]
            self.process = subprocess.Popen(list(map(str, [*command, large, path])))
            beside = path.with_name(f".{path.name}.unfinished")
            while not beside.exists():
                assert self.process.poll() is None, "it ended before it was stopped"
            self.process.send_signal(signal.SIGSTOP)
            assert beside.exists(), "it ended before it was stopped"
        else:
            self.process = start(face, path, format, library)
            said = self.process.stdout.readline()
            assert said == "held\n", said

    def end(self):
        if self.is_copy:
            self.process.send_signal(signal.SIGCONT)
            assert self.process.wait(60) == 0
        else:
            assert self.process.communicate("\n", timeout=60)[0] == "closed\n"

    def kill(self):
        self.process.kill()
        self.process.wait()


def start_try(face, path, format, library, folder):
    """A process that tries to write the file as that face does."""
    if face not in ("copy", "generate"):
        return start(face, path, format, library)
    command = [sys.executable, "-m", "isotach", face]
    files = (
        ["-o", path, folder / "source.cdl"] if face == "generate" else [folder / "other.nc", path]
    )
    return subprocess.Popen(
        list(map(str, [*command, *files])),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def is_refused(process):
    said, told = process.communicate("\n", timeout=120)
    if told is None:
        assert process.returncode == 0
        return said.startswith("refused")
    assert process.returncode == 0 or "being written" in told, told
    return process.returncode != 0


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """What the commands try to write."""
    folder = tmp_path_factory.mktemp("others")
    text = "netcdf source { variables: int n; data: n = 7; }"
    (folder / "source.cdl").write_text(text, encoding="utf-8")
    isotach.Dataset.fromcdl(folder / "source.cdl", folder / "other.nc").close()
    return folder


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("is_there", [True, False])
def test_the_second_writer_is_refused(tmp_path, others, libraries, large, holder, format, is_there):
    if is_there == (holder == "x") or (not is_there and holder in NEED_A_FILE):
        pytest.skip("there is no such case")
    path = tmp_path / "file.nc"
    library = libraries.folder / "libnetcdf.so"
    if is_there:
        with netCDF4.Dataset(path, "w", format=format) as dataset:
            dataset.createDimension("n", 3)
            dataset.createVariable("v", "i4", ("n",))[:] = [1, 2, 3]
    held = Holder(holder, path, format, library, large)
    try:
        faces = [face for face in TRIES if path.exists() or face not in NEED_A_FILE]
        started = {face: start_try(face, path, format, library, others) for face in faces}
        taken = [face for face, process in started.items() if not is_refused(process)]
        assert not taken
        held.end()
    finally:
        held.kill()
    with netCDF4.Dataset(path) as dataset:
        assert len(dataset["v"][:]) == (COUNT if holder == "copy" else 3)
    assert os.listdir(tmp_path) == ["file.nc"]
    # Afterwards it is anybody's.
    isotach.Dataset(path, "a").close()


WAYS = {
    "a": ("a", {}),
    "w": ("w", {}),
    "x": ("x", {}),
    "atomic": ("w", {"atomic": True}),
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("is_there", [True, False])
def test_the_second_writer_of_one_process_is_refused(tmp_path, format, is_there):
    """With and without locks, and by whichever of a file's names; but for mode "a", which joins one
    with the same options that is there under the file's own name.
    """
    number = 0
    for first, second in itertools.product(WAYS, WAYS):
        for locks in itertools.product([True, False], repeat=2):
            if is_there == (first == "x") or (not is_there and first in NEED_A_FILE):
                continue
            number += 1
            folder = tmp_path / str(number)
            folder.mkdir()
            path, link = folder / "file.nc", folder / "link.nc"
            link.symlink_to("file.nc")
            if is_there:
                isotach.Dataset(path, "w", format=format).close()
            mode, options = WAYS[first]
            with isotach.Dataset(path, mode, format=format, lock=locks[0], **options) as writer:
                mode, options = WAYS[second]
                joins = second == "a" and first != "atomic"
                if joins and locks[0] == locks[1]:
                    isotach.Dataset(link, mode, format=format, lock=locks[1], **options).close()
                else:
                    refused = ValueError if joins else OSError
                    with pytest.raises(refused, match=r"written by this process|File exists"):
                        isotach.Dataset(link, mode, format=format, lock=locks[1], **options)
                writer.createDimension("n", 3)
            with isotach.Dataset(path) as dataset:
                assert len(dataset.dimensions["n"]) == 3
            assert sorted(os.listdir(folder)) == ["file.nc", "link.nc"]
