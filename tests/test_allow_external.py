"""Which other files a file may have opened: the same rule, and the same switch, from every face."""

import os
import pickle
import subprocess
import sys
import threading
import warnings

import h5py
import isotach
import numpy as np
import pytest
import xarray as xr
from isotach import _native

VALUES = [11, 12, 13]
SWITCH = "allow_external"
#: Ways out of the file's folder, by what a file in it can name.
OUTSIDE = {
    "absolute": "{root}/outside/{source}",
    "above": "../outside/{source}",
    "down and up": "below/../../outside/{source}",
    "symbolic link": "link-to-{source}",
    "folder that is a symbolic link": "link-to-outside/{source}",
    "link to a link": "second-link-to-{source}",
    "folder whose name begins alike": "../own-too/{source}",
}
#: Ways that stay in it.
INSIDE = {
    "beside": "{source}",
    "below": "below/{source}",
    "absolute": "{root}/own/below/{source}",
    "down and up": "below/../{source}",
    "out and in": "../own/{source}",
    "symbolic link within": "inner-link-to-{source}",
}
KINDS = {"virtual": "source.h5", "raw": "source.raw", "link": "source.h5"}


def write_file(path, kind, name):
    if kind == "virtual":
        layout = h5py.VirtualLayout(shape=(3,), dtype="<i4")
        layout[...] = h5py.VirtualSource(name, "v", shape=(3,))
        with h5py.File(path, "w", libver="latest") as file:
            file.create_virtual_dataset("v", layout, fillvalue=-1)
        return
    with h5py.File(path, "w") as file:
        if kind == "raw":
            file.create_dataset("v", (3,), "<i4", external=[(name, 0, 12)])
        else:
            file["v"] = h5py.ExternalLink(name, "v")


@pytest.fixture
def root(tmp_path):
    """`own` is the file's folder; `outside` and `own-too` are beside it."""
    for folder in ("own/below", "outside", "own-too", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
    for folder in ("own", "own/below", "outside", "own-too"):
        with h5py.File(tmp_path / folder / "source.h5", "w") as file:
            file["v"] = np.array(VALUES, "<i4")
        (tmp_path / folder / "source.raw").write_bytes(np.array(VALUES, "<i4").tobytes())
    (tmp_path / "own/link-to-outside").symlink_to(tmp_path / "outside")
    for source in ("source.h5", "source.raw"):
        (tmp_path / f"own/link-to-{source}").symlink_to(f"../outside/{source}")
        (tmp_path / f"own/second-link-to-{source}").symlink_to(f"link-to-{source}")
        (tmp_path / f"own/inner-link-to-{source}").symlink_to(f"below/{source}")
    return tmp_path


def make(root, kind, name, file="file.h5"):
    path = root / "own" / file
    write_file(path, kind, name.format(root=root, source=KINDS[kind]))
    return path


def values(path, **options):
    with isotach.Dataset(path, **options) as dataset:
        return dataset["v"][...].tolist()


def refused(path, names, **options):
    """The message with which reading is refused; it names the switch, and all of `names`."""
    with pytest.raises((RuntimeError, IndexError)) as caught:
        values(path, **options)
    assert SWITCH in str(caught.value)
    for name in names:
        assert str(name) in str(caught.value)


@pytest.mark.parametrize("name", INSIDE)
@pytest.mark.parametrize("kind", KINDS)
def test_the_folder_of_the_file_and_below(root, kind, name, monkeypatch):
    path = make(root, kind, INSIDE[name])
    monkeypatch.chdir(root / "elsewhere")
    assert values(path) == VALUES
    assert values(path, allow_external="folder") == VALUES
    # By another way to the same folder, too.
    (root / "elsewhere/own").symlink_to(root / "own")
    assert values(root / "elsewhere/own/file.h5") == VALUES
    monkeypatch.chdir(root / "own")
    assert values("file.h5") == VALUES
    with pytest.raises((RuntimeError, IndexError), match=SWITCH):
        values("file.h5", allow_external=False)


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("kind", KINDS)
def test_outside_it_is_an_error(root, kind, name, monkeypatch):
    path = make(root, kind, OUTSIDE[name])
    monkeypatch.chdir(root / "elsewhere")
    folder = "own-too" if "alike" in name else "outside"
    refused(
        path, [root / folder / KINDS[kind], OUTSIDE[name].format(root=root, source=KINDS[kind])]
    )
    assert values(path, allow_external=True) == VALUES
    assert values(path, allow_external=[root / folder]) == VALUES
    assert values(path, allow_external=(root / "elsewhere", str(root / folder))) == VALUES
    assert values(path, allow_external=f"{root}/elsewhere:{root}/{folder}") == VALUES
    refused(path, [], allow_external=[root / "elsewhere"])
    refused(path, [], allow_external=False)


@pytest.mark.parametrize("kind", KINDS)
def test_a_symbolic_link_to_the_file_changes_nothing(root, kind, monkeypatch):
    """The folder is that in which the file lies, not that in which a link to it does."""
    path = make(root, kind, "source.h5" if kind != "raw" else "source.raw")
    (root / "own" / KINDS[kind]).unlink()
    link = root / "outside/link.h5"
    link.symlink_to(path)
    monkeypatch.chdir(root / "elsewhere")
    refused(link, [root / "outside" / KINDS[kind]])
    assert values(link, allow_external=True) == VALUES


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_working_directory_has_is_outside(root, kind, monkeypatch):
    path = make(root, kind, "only-there")
    (root / "outside" / KINDS[kind]).rename(root / "outside/only-there")
    monkeypatch.chdir(root / "outside")
    refused(path, [root / "outside/only-there"])
    assert values(path, allow_external=True) == VALUES


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_judged_by_its_folder_when_the_working_directory_is_another(
    root, kind, monkeypatch
):
    path = make(root, kind, "{source}")
    monkeypatch.chdir(path.parent)
    with isotach.Dataset("file.h5") as dataset:
        monkeypatch.chdir(root / "elsewhere")
        assert dataset["v"][...].tolist() == VALUES


def test_prefixes_of_the_environment_are_allowed(root, monkeypatch):
    monkeypatch.chdir(root / "elsewhere")
    variables = {
        "virtual": "HDF5_VDS_PREFIX",
        "raw": "HDF5_EXTFILE_PREFIX",
        "link": "HDF5_EXT_PREFIX",
    }
    for kind, variable in variables.items():
        path = make(root, kind, "{source}", f"{kind}.h5")
        escape = make(root, kind, "../outside/{source}", f"{kind}-escape.h5")
        monkeypatch.setenv(variable, str(root / "own-too"))
        assert values(path) == VALUES
        refused(escape, [root / "outside"])
        with pytest.raises((RuntimeError, IndexError), match=SWITCH):
            values(path, allow_external=False)


def test_files_reached_through_others_are_judged_by_the_first(root):
    """A file below may refer to one above it, and none of them leads out."""
    below = root / "own/below"
    write_file(below / "up.h5", "virtual", "../source.h5")
    write_file(below / "out.h5", "virtual", "../../outside/source.h5")
    write_file(below / "raw-out.h5", "raw", "../../outside/source.raw")
    for name in ("up", "out", "raw-out"):
        write_file(root / f"own/{name}.h5", "link", f"below/{name}.h5")
    assert values(root / "own/up.h5") == VALUES
    refused(root / "own/out.h5", [root / "outside/source.h5"])
    refused(root / "own/raw-out.h5", [root / "outside/source.raw"])
    # Opened themselves, they have a folder of their own.
    refused(below / "up.h5", [root / "own/source.h5"])
    # What another folder's file refers to is not allowed by that folder.
    write_file(root / "own/into.h5", "link", "../outside/further.h5")
    write_file(root / "outside/further.h5", "raw", str(root / "own-too/source.raw"))
    refused(root / "own/into.h5", [root / "own-too"], allow_external=[root / "outside"])
    assert values(root / "own/into.h5", allow_external=True) == VALUES


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_and_file_objects_have_no_folder(root, kind, monkeypatch):
    path = make(root, kind, "{source}")
    monkeypatch.chdir(path.parent)
    refused(path.read_bytes(), [])
    with open(path, "rb") as file:
        refused(file, [path.parent / KINDS[kind]])
        assert values(file, allow_external=True) == VALUES
        assert values(file, allow_external=[path.parent]) == VALUES
    with pytest.raises((RuntimeError, IndexError), match=SWITCH):
        values("file.h5", memory=path.read_bytes())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["pipe", "device", "folder", "terminal"])
def test_only_regular_files_are_opened(root, kind, what):
    target = {"device": "/dev/zero", "terminal": "/dev/tty"}.get(what, "thing")
    path = make(root, kind, target)
    if what == "pipe":
        os.mkfifo(root / "own/thing")
    elif what == "folder":
        (root / "own/thing").mkdir()
    outcome = []

    def read():
        with pytest.raises((RuntimeError, IndexError)) as caught:
            values(path, allow_external=True)
        outcome.append(str(caught.value))

    # A pipe that is opened is waited for.
    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(60)
    assert outcome
    assert "regular" in outcome[0] or "directory" in outcome[0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_changed_is_read_by_the_same_rule(root, kind):
    path = make(root, kind, "../outside/{source}")
    with isotach.Dataset(path, "a") as dataset:
        dataset.note = "added"
        with pytest.raises((RuntimeError, IndexError), match=SWITCH):
            dataset["v"][...]
    with isotach.Dataset(path, "a", allow_external=True) as dataset:
        assert dataset["v"][...].tolist() == VALUES
        # Values in other files are not written, whatever may be read.
        with pytest.raises(RuntimeError):
            dataset["v"][0] = 1
    assert values(path, allow_external=True) == VALUES
    inside = make(root, kind, "{source}", "inside.h5")
    with isotach.Dataset(inside, "a") as dataset:
        assert dataset["v"][...].tolist() == VALUES


def test_refresh_and_pickle_keep_what_was_said(root):
    path = make(root, "virtual", "../outside/{source}")
    for allowed in (True, [root / "outside"], False):
        with isotach.Dataset(path, allow_external=allowed) as dataset:
            again = pickle.loads(pickle.dumps(dataset))
            os.utime(path, (1, 1))
            for one in (dataset, again):
                one.refresh()
                if allowed:
                    assert one["v"][...].tolist() == VALUES
                    continue
                with pytest.raises(RuntimeError, match=SWITCH):
                    one["v"][...]
            again.close()


def test_many_files_as_one(root):
    for number in range(2):
        with isotach.Dataset(root / f"own/{number}.nc", "w", format="NETCDF4_CLASSIC") as file:
            file.createDimension("t", None)
            file.createVariable("v", "i4", ("t",))[:] = [number]
    with isotach.MFDataset(str(root / "own/*.nc"), allow_external=False) as dataset:
        assert dataset["v"][:].tolist() == [0, 1]
    with pytest.raises(ValueError, match=SWITCH):
        isotach.MFDataset(str(root / "own/*.nc"), allow_external="nowhere")


@pytest.mark.parametrize("kind", ["virtual", "raw"])
def test_xarray(root, kind):
    path = make(root, kind, "../outside/{source}")
    dataset = xr.open_dataset(path, engine="isotach")
    with dataset, pytest.raises(RuntimeError, match=SWITCH):
        dataset["v"].values  # noqa: B018
    for allowed in (True, [root / "outside"], str(root / "outside")):
        with xr.open_dataset(path, engine="isotach", allow_external=allowed) as dataset:
            assert dataset["v"].values.tolist() == VALUES
        with xr.open_datatree(path, engine="isotach", allow_external=allowed) as tree:
            assert tree["v"].values.tolist() == VALUES


def test_xarray_tells_what_it_does_not_show(root):
    path = make(root, "link", "../outside/{source}")
    with pytest.warns(UserWarning, match="/v is not shown: .*outside.*allow_external"):
        dataset = xr.open_dataset(path, engine="isotach")
    assert not dataset.variables
    dataset.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with xr.open_dataset(path, engine="isotach", allow_external=True) as dataset:
            assert dataset["v"].values.tolist() == VALUES


def test_words_that_are_none(root, monkeypatch):
    path = make(root, "virtual", "{source}")
    for word in ("everywhere", "outside", "yes", "/a:b"):
        with pytest.raises(ValueError, match="anywhere"):
            isotach.Dataset(path, allow_external=word)
        monkeypatch.setenv("ISOTACH_ALLOW_EXTERNAL", word)
        with pytest.raises(RuntimeError, match="ISOTACH_ALLOW_EXTERNAL"):
            values(path)
        monkeypatch.delenv("ISOTACH_ALLOW_EXTERNAL")
    with pytest.raises(TypeError):
        isotach.Dataset(path, allow_external=5)


def test_the_environment_counts_where_nothing_is_said(root, monkeypatch):
    path = make(root, "virtual", "../outside/{source}")
    for word in ("anywhere", f"{root}/elsewhere:{root}/outside"):
        monkeypatch.setenv("ISOTACH_ALLOW_EXTERNAL", word)
        assert values(path) == VALUES
        refused(path, [], allow_external=False)
        refused(path, [], allow_external="folder")
    for word in ("none", "folder", "", f"{root}/elsewhere"):
        monkeypatch.setenv("ISOTACH_ALLOW_EXTERNAL", word)
        refused(path, [])
        assert values(path, allow_external=True) == VALUES


def run(arguments, **variables):
    inherited = {k: v for k, v in os.environ.items() if k != "ISOTACH_ALLOW_EXTERNAL"}
    command = [sys.executable, "-m", "isotach", *map(str, arguments)]
    return subprocess.run(
        command, env=inherited | variables, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_command(root, kind):
    path = make(root, kind, "../outside/{source}")
    copies = iter(range(100))
    commands = {
        "dump": lambda: ["dump", path],
        "check": lambda: ["check", path],
        "explain": lambda: ["explain", "--run", path, "v"],
        "copy": lambda: ["copy", path, root / f"elsewhere/copy{next(copies)}.nc"],
    }
    for name, arguments in commands.items():
        first, *rest = arguments()
        told = run([first, *rest])
        assert told.returncode == 1, (name, told)
        assert SWITCH in told.stderr + told.stdout, (name, told)
        ways = (["--allow-external"], {}), ([f"--allow-external={root}/outside"], {})
        ways += (([], {"ISOTACH_ALLOW_EXTERNAL": "anywhere"}),)
        for options, variables in ways:
            first, *rest = arguments()
            told = run([first, *options, *rest], **variables)
            assert told.returncode == 0, (name, told)
        told = run([first, "--allow-external=elsewhere", *rest])
        assert told.returncode == 2 and "anywhere" in told.stderr
    told = run(["dump", "--allow-external", path])
    assert "v = 11, 12, 13 ;" in told.stdout
    info = run(["info", "--allow-external=none", path])
    assert info.returncode == 0, info
    for made in (root / "elsewhere").glob("copy*"):
        with isotach.Dataset(made) as dataset:
            assert dataset["v"][:].tolist() == VALUES


C_PROGRAM = """
import ctypes, sys
library = ctypes.CDLL("libnetcdf.so.19")
file, variable, values = ctypes.c_int(), ctypes.c_int(), (ctypes.c_int * 3)()
print(library.nc_open(sys.argv[1].encode(), 0, ctypes.byref(file)))
print(library.nc_inq_varid(file, b"v", ctypes.byref(variable)))
print(library.nc_get_var_int(file, variable, values), list(values))
"""


def test_the_c_library(root, libraries):
    """`EACCES` from the call that reads; a link that may not be followed leads nowhere."""

    def told(path, **variables):
        command = [sys.executable, "-c", C_PROGRAM, path]
        ran = libraries.run(command, True, root / "elsewhere", env=variables)
        assert ran.returncode == 0, ran
        return ran.stdout.decode().split("\n")[:3]

    there = ["0", "0", f"0 {VALUES}"]
    for kind in KINDS:
        inside = make(root, kind, "{source}", "inside.h5")
        assert told(inside) == there
        path = make(root, kind, "../outside/{source}")
        missing = ["0", "-49", "-49 [0, 0, 0]"]
        refusal = missing if kind == "link" else ["0", "0", "13 [0, 0, 0]"]
        assert told(path) == refusal
        assert told(inside, ISOTACH_ALLOW_EXTERNAL="none") == refusal
        for allowed in ("anywhere", f"{root}/outside"):
            assert told(path, ISOTACH_ALLOW_EXTERNAL=allowed) == there


def test_no_name_that_changes_meanwhile_leads_out(root):
    """Somebody swaps a file inside for a link that leads out while it is opened."""
    path = make(root, "raw", "swapped")
    secret = np.array([66, 66, 66], "<i4").tobytes()
    (root / "outside/source.raw").write_bytes(secret)
    (root / "own/plain").write_bytes(np.array(VALUES, "<i4").tobytes())
    swapped, other = root / "own/swapped", root / "own/other"
    swapped.symlink_to("plain")
    done = threading.Event()

    def swap():
        while not done.is_set():
            for target in ("../outside/source.raw", "plain"):
                other.symlink_to(target)
                other.replace(swapped)

    thread = threading.Thread(target=swap)
    thread.start()
    outcomes = {"values": 0, "refused": 0}
    try:
        for _ in range(int(os.environ.get("ISOTACH_SWAPS", "2000"))):
            try:
                found = values(path)
            except RuntimeError:
                outcomes["refused"] += 1
            else:
                assert found == VALUES
                outcomes["values"] += 1
    finally:
        done.set()
        thread.join()
    assert all(outcomes.values()), outcomes


def test_a_shape_that_other_files_tell_is_not_guessed(root):
    """Of a virtual data set without end, the sources tell how long it is."""
    with h5py.File(root / "outside/long.h5", "w") as file:
        file.create_dataset("v", data=np.arange(5, dtype="<i4"), maxshape=(None,))
    path = root / "own/file.h5"
    layout = h5py.VirtualLayout(shape=(2,), maxshape=(None,), dtype="<i4")
    source = h5py.VirtualSource("../outside/long.h5", "v", shape=(5,), maxshape=(None,))
    layout[: h5py.h5s.UNLIMITED] = source[: h5py.h5s.UNLIMITED]
    with h5py.File(path, "w", libver="latest") as file:
        file.create_virtual_dataset("v", layout, fillvalue=-1)
    assert values(path, allow_external=True) == [0, 1, 2, 3, 4]
    refused(path, [root / "outside/long.h5"])
    with isotach.Dataset(path) as dataset:
        assert [name for name, reason in dataset.left_out() if SWITCH in reason] == ["/v"]


def test_the_native_part_takes_the_same_words(root):
    path = make(root, "virtual", "../outside/{source}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for words, allowed in (
            ("anywhere", True),
            ((str(root / "outside"),), True),
            ("none", False),
        ):
            variable = _native.open(str(path), allow_external=words).root().variable("v")
            if allowed:
                assert variable.read(...).tolist() == VALUES
                continue
            with pytest.raises(RuntimeError, match=SWITCH):
                variable.read(...)
