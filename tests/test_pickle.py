"""What is sent to other processes reads there what it reads here."""

import copy
import io
import os
import pickle
import subprocess
import sys

import fsspec
import isotach
import netCDF4
import numpy as np
import pytest
import xarray as xr

PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.createDimension("x", 4)
        packed = dataset.createVariable("packed", "i2", ("x",), fill_value=-1)
        packed.scale_factor = 0.5
        packed.set_auto_maskandscale(False)
        packed[:] = [1, 2, 3, 4]
        group = dataset.createGroup("outer").createGroup("inner")
        group.createVariable("v", "f4", ("x",))[:] = range(4)
        pair = np.dtype([("a", "i4"), ("b", "f8")])
        dataset.createCompoundType(pair, "pair")
        dataset.createVLType("i4", "row")
        dataset.createEnumType("u1", "sky", {"clear": 0})
    return path


def again(value, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(value, protocol))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_datasets_groups_variables(path, protocol):
    with isotach.Dataset(path) as dataset:
        assert again(dataset, protocol)["packed"][:].tolist() == [0.5, 1.0, 1.5, 2.0]
        assert again(dataset["outer/inner"], protocol).path == "/outer/inner"
        sent = again(dataset["outer/inner/v"], protocol)
        assert sent[1:3].tolist() == [1.0, 2.0]
        assert sent.group().path == "/outer/inner"
        assert len(again(dataset.dimensions["x"], protocol)) == 4
        assert list(again(dataset.variables)) == ["packed"]


def test_settings_go_with_them(path):
    with isotach.Dataset(path) as dataset:
        dataset["packed"].set_auto_maskandscale(False)
        sent = again(dataset["packed"])
        assert not sent.mask and not sent.scale
        assert sent[:].tolist() == [1, 2, 3, 4]
        dataset.set_auto_mask(False)
        assert type(again(dataset)["packed"][:]) is np.ndarray


def test_types(path):
    with isotach.Dataset(path) as dataset:
        for kind in (dataset.cmptypes, dataset.vltypes, dataset.enumtypes):
            for user in kind.values():
                sent = again(user)
                assert repr(sent) == repr(user)
                assert sent.dtype == user.dtype


def test_wherever_the_receiver_is(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    with isotach.Dataset(path.name) as dataset:
        sent = pickle.dumps(dataset["packed"])
    reader = "import pickle, sys; print(pickle.load(sys.stdin.buffer)[:].tolist())"
    done = subprocess.run(
        [sys.executable, "-c", reader], input=sent, cwd=os.sep, capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == "[0.5, 1.0, 1.5, 2.0]"


def test_bytes_and_objects(path):
    content = path.read_bytes()
    local = fsspec.filesystem("file").open(path, "rb")
    for source in (content, bytearray(content), io.BytesIO(content), local):
        with isotach.Dataset(source) as dataset:
            assert again(dataset)["packed"][:].tolist() == [0.5, 1.0, 1.5, 2.0]
    with isotach.Dataset("a name", memory=content) as dataset:
        assert again(dataset).filepath() == "a name"


def test_what_cannot_be_sent(path):
    with isotach.Dataset(path) as dataset:
        variable = dataset["packed"]
    for closed in (dataset, variable):
        with pytest.raises(RuntimeError, match="Not a valid ID"):
            pickle.dumps(closed)
    with open(path, "rb") as file, isotach.Dataset(file) as dataset, pytest.raises(TypeError):
        pickle.dumps(dataset)
    with isotach.Dataset(path) as dataset:
        path.unlink()
        with pytest.raises(FileNotFoundError):
            again(dataset)


def test_copies(path):
    with isotach.Dataset(path) as dataset:
        for copied in (copy.copy(dataset["packed"]), copy.deepcopy(dataset["packed"])):
            assert copied[:].tolist() == [0.5, 1.0, 1.5, 2.0]


@pytest.fixture
def parts(tmp_path):
    """Four files along time, two deflated chunks each."""
    paths = []
    for number in range(4):
        path = tmp_path / f"part{number}.nc"
        values = np.arange(number * 60, number * 60 + 60, dtype="f4").reshape(6, 10)
        time = np.arange(number * 6, number * 6 + 6)
        part = xr.Dataset({"v": (("time", "x"), values)}, {"time": time, "x": np.arange(10)})
        part.to_netcdf(path, encoding={"v": {"zlib": True, "chunksizes": (3, 10)}})
        paths.append(path)
    return paths


@pytest.mark.parametrize("scheduler", ["threads", "processes", "synchronous"])
def test_dask(parts, scheduler):
    dask = pytest.importorskip("dask")
    with (
        dask.config.set(scheduler=scheduler, num_workers=2),
        xr.open_mfdataset(parts, engine="isotach", chunks={}) as ours,
    ):
        assert ours["v"].chunks == ((3,) * 8, (10,))
        values = np.arange(240, dtype="f4").reshape(24, 10)
        np.testing.assert_array_equal(ours["v"].compute(), values)
        np.testing.assert_array_equal(ours["v"][::-5, [7, 2]].compute(), values[::-5][:, [7, 2]])
        assert ours["v"].mean().compute() == values.mean()
        # All of it is sent, and opened again where it arrives.
        np.testing.assert_array_equal(again(ours)["v"].compute(), values)
