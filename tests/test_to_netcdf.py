"""isotach.to_netcdf writes what xarray's own to_netcdf writes, and appends."""

import io
import pickle
import tempfile
import threading
import warnings
from pathlib import Path

import dask
import dask.array
import isotach
import netCDF4
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from isotach._file_lock import FileLock
from isotach._to_netcdf import _whole_chunks
from xarray.backends import BackendEntrypoint, locks

ENGINES = ("netcdf4", "h5netcdf", "isotach")
FORMATS = ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT"]
#: What xarray reports of how variables are stored. Chunks that nobody asked for may differ.
STORED = (
    "zlib",
    "complevel",
    "shuffle",
    "fletcher32",
    "dtype",
    "units",
    "calendar",
    "scale_factor",
    "add_offset",
    "_FillValue",
    "least_significant_digit",
)


def times(count, start="2000-01-01"):
    return pd.date_range(start, periods=count, freq="D")


def numbers(count=4):
    return np.arange(count * 6, dtype="f4").reshape(count, 2, 3)


def a_dataset(count=4, start="2000-01-01"):
    """A series of maps, with what most data sets have."""
    values = numbers(count)
    values[0, 0, 0] = np.nan
    dataset = xr.Dataset(
        {
            "air": (("time", "lat", "lon"), values, {"units": "K", "flags": [1, 2, 3]}),
            "count": (("time",), np.arange(count, dtype="i8")),
            "name": (("lon",), np.array(["a", "längs", ""], object)),
            "land": (("lat", "lon"), values[0] > 2),
            "crs": ((), np.int32(0), {"grid_mapping_name": "latitude_longitude"}),
        },
        coords={"time": times(count, start), "lat": [1.5, 2.5], "lon": [0.0, 120.0, 240.0]},
        attrs={"title": "Größe", "levels": np.array([1.0, 2.0])},
    )
    dataset["height"] = ((), 2.0)
    return dataset.set_coords("height")


def with_everything():
    cftimes = xr.date_range("2000-01-01", periods=3, calendar="noleap", use_cftime=True)
    return xr.Dataset(
        {
            "noleap": (("n",), cftimes),
            "missing": (("n",), np.array(["2000-01-01", "NaT", "2000-01-02"], "M8[ns]")),
            "characters": (("n",), np.array([b"one", b"two", b"four"])),
            "unicode": (("n",), np.array(["one", "zwei", "três"])),
            "holes": (("n",), np.array(["one", None, "three"], object)),
            "big": (("n",), np.array([1, 2, 3], ">i4")),
            "unsigned": (("n",), np.array([1, 2, 3], "u2")),
            "none": (("empty",), np.zeros(0)),
            "scalar": ((), 1.5),
            "text": ((), "text"),
        }
    )


def write_both(tmp_path, data, **options):
    ours, theirs = tmp_path / "isotach.nc", tmp_path / "netcdf4.nc"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        engine = {"engine": "netcdf4"}
        data.to_netcdf(theirs, **options, **engine)
        assert isotach.to_netcdf(data, ours, **options) is None
    return ours, theirs


def assert_same(ours, theirs, group=None, engines=ENGINES):
    """Both files read alike by every engine, decoded or not, and are stored alike."""
    for engine in engines:
        for decoded in (True, False):
            options = {"engine": engine, "decode_cf": decoded, "group": group}
            with (
                xr.open_dataset(ours, **options) as one,
                xr.open_dataset(theirs, **options) as other,
            ):
                xr.testing.assert_identical(one, other)
                assert one.encoding["unlimited_dims"] == other.encoding["unlimited_dims"]
                for name in other.variables:
                    same_storage(one[name].encoding, other[name].encoding)


def same_storage(one, other):
    for key in STORED:
        assert (key in one) == (key in other), key
        np.testing.assert_equal(one.get(key), other.get(key), err_msg=key)


@pytest.mark.parametrize("make", [a_dataset, with_everything, xr.Dataset])
@pytest.mark.parametrize("format", FORMATS)
def test_what_is_written_is_what_xarray_writes(tmp_path, make, format):
    dataset = make()
    if format != "NETCDF4":
        dataset = dataset.drop_vars(["unsigned", "missing"], errors="ignore")
    ours, theirs = write_both(tmp_path, dataset, format=format)
    assert_same(ours, theirs, engines=ENGINES if format.startswith("NETCDF4") else ENGINES[::2])
    with netCDF4.Dataset(ours) as one, netCDF4.Dataset(theirs) as other:
        assert one.data_model == other.data_model
        assert list(one.variables) == list(other.variables)


ENCODINGS = [
    {"zlib": True, "complevel": 6, "shuffle": False, "fletcher32": True},
    {"compression": "zlib", "chunksizes": (2, 2, 3)},
    {"compression": "szip", "szip_coding": "ec", "szip_pixels_per_block": 4},
    {"contiguous": True},
    {"dtype": "int16", "scale_factor": 0.5, "add_offset": 10.0, "_FillValue": -1},
    {"dtype": "f8", "_FillValue": None},
    {"zlib": True, "least_significant_digit": 1},
    {"zlib": True, "significant_digits": 3, "quantize_mode": "BitRound"},
    {"endian": "native"},
]


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda encoding: ",".join(encoding))
def test_encodings(tmp_path, encoding):
    encoding = {"air": encoding, "time": {"units": "hours since 1999-12-31", "dtype": "i4"}}
    # h5netcdf has no szip.
    engines = ENGINES[::2] if encoding["air"].get("compression") == "szip" else ENGINES
    ours, theirs = write_both(tmp_path, a_dataset(), encoding=encoding)
    assert_same(ours, theirs, engines=engines)
    if {"chunksizes", "contiguous"} & encoding["air"].keys():
        with netCDF4.Dataset(ours) as one, netCDF4.Dataset(theirs) as other:
            assert one["air"].chunking() == other["air"].chunking()


#: The filters that a `filters()` reports by more than a flag, or that need libhdf5's plugins.
FILTERS = [
    {"compression": "zstd", "complevel": 3},
    {"compression": "bzip2", "complevel": 2},
    {"compression": "blosc_lz4", "blosc_shuffle": 2},
    {"compression": "szip", "szip_coding": "ec", "szip_pixels_per_block": 4},
]


@pytest.mark.parametrize("encoding", FILTERS, ids=lambda encoding: encoding["compression"])
def test_filters_that_were_read_are_written_again(tmp_path, encoding):
    isotach.to_netcdf(a_dataset(), tmp_path / "first.nc", encoding={"air": encoding})
    with xr.open_dataset(tmp_path / "first.nc", engine="isotach") as first:
        isotach.to_netcdf(first, tmp_path / "second.nc")
    with (
        isotach.Dataset(tmp_path / "first.nc") as one,
        isotach.Dataset(tmp_path / "second.nc") as two,
    ):
        assert one["air"].filters() == two["air"].filters()
        assert one["air"].filters()[encoding["compression"].split("_")[0]]
        np.testing.assert_array_equal(one["air"][:], two["air"][:])


def test_byte_orders(tmp_path):
    encoding = {"air": {"endian": "big"}, "count": {"endian": "little"}}
    isotach.to_netcdf(a_dataset(), tmp_path / "file.nc", encoding=encoding)
    with netCDF4.Dataset(tmp_path / "file.nc") as file:
        assert [file["air"].endian(), file["count"].endian()] == ["big", "little"]
    with xr.open_dataset(tmp_path / "file.nc", engine="netcdf4") as read:
        xr.testing.assert_identical(read, a_dataset())


def test_durations(tmp_path):
    hours = np.array([1, 2, 3], "m8[h]").astype("m8[ns]")
    dataset = xr.Dataset({"wait": (("n",), hours)})
    ours, theirs = write_both(tmp_path, dataset, unlimited_dims=["n"])
    isotach.to_netcdf(dataset, ours, append_dim="n")
    raw = [
        xr.open_dataset(path, engine="netcdf4", decode_cf=False).load() for path in (ours, theirs)
    ]
    xr.testing.assert_identical(raw[0].isel(n=slice(3)), raw[1])
    xr.testing.assert_identical(raw[0].isel(n=slice(3, 6)), raw[1])


def test_enums(tmp_path):
    kinds = np.dtype("u1", metadata={"enum": {"clear": 0, "cloudy": 1}, "enum_name": "cloud_t"})
    dataset = xr.Dataset({"cloud": (("x",), np.array([0, 1, 1], "u1"))})
    dataset["cloud"].encoding["dtype"] = kinds
    ours, theirs = write_both(tmp_path, dataset)
    assert_same(ours, theirs, engines=["netcdf4", "isotach"])
    with netCDF4.Dataset(ours) as file:
        assert file.enumtypes["cloud_t"].enum_dict == {"clear": 0, "cloudy": 1}


def test_groups_and_adding_to_a_file(tmp_path):
    ours, theirs = tmp_path / "isotach.nc", tmp_path / "netcdf4.nc"
    more = xr.Dataset({"sst": (("x",), [1.0, 2.0])}, attrs={"depth": 3})
    for group, mode, dataset in [
        (None, "w", a_dataset()),
        ("sea/surface", "a", more),
        (None, "a", more),
        (None, "a", more + 1),
    ]:
        dataset.to_netcdf(theirs, mode=mode, group=group, engine="netcdf4")
        isotach.to_netcdf(dataset, ours, mode, group=group)
    assert_same(ours, theirs)
    assert_same(ours, theirs, group="sea/surface")


@pytest.mark.parametrize("name", [None, "air", "lat"])
def test_arrays(tmp_path, name):
    array = a_dataset()["air"].rename(name)
    assert_same(*write_both(tmp_path, array))
    with xr.open_dataarray(tmp_path / "isotach.nc", engine="netcdf4") as read:
        xr.testing.assert_identical(read, array)


def test_trees(tmp_path):
    below = xr.Dataset({"sea": (("time",), np.arange(4.0))}, attrs={"level": 1})
    tree = xr.DataTree.from_dict({"/": a_dataset(), "/ocean": below, "/ocean/deep": xr.Dataset()})
    encoding = {"/ocean": {"sea": {"zlib": True}}}
    ours, theirs = write_both(
        tmp_path, tree, encoding=encoding, unlimited_dims={"/": ["time"]}, format="NETCDF4"
    )
    for group in ("/", "/ocean", "/ocean/deep"):
        assert_same(ours, theirs, group)
    with xr.open_datatree(ours, engine="isotach") as one:
        xr.testing.assert_identical(one, tree)
    isotach.to_netcdf(tree["ocean"], ours, group="elsewhere")
    with isotach.Dataset(ours) as file:
        assert "sea" in file.groups["elsewhere"].variables
        assert list(file.groups["elsewhere"].groups) == ["deep"]
    with pytest.raises(ValueError, match=r"unexpected .* group name"):
        isotach.to_netcdf(tree, ours, encoding={"/nowhere": {}})
    with pytest.raises(ValueError, match="NETCDF4 only"):
        isotach.to_netcdf(tree, ours, format="NETCDF3_CLASSIC")


def test_bytes():
    written = isotach.to_netcdf(a_dataset())
    with xr.open_dataset(io.BytesIO(written), engine="h5netcdf") as read:
        xr.testing.assert_identical(read, a_dataset())


# Dask


@pytest.mark.parametrize("scheduler", ["threads", "sync"])
@pytest.mark.parametrize("file_chunks", [(3, 5, 7), (1, 20, 30), None])
def test_dask_arrays(tmp_path, scheduler, file_chunks):
    values = dask.array.random.random((24, 20, 30), chunks=(5, 8, 11))
    values = dask.array.from_array(values.compute(), chunks=(5, 8, 11))
    dataset = xr.Dataset({"x": (("time", "lat", "lon"), values)}, coords={"time": times(24)})
    encoding = {"x": {"chunksizes": file_chunks, "zlib": True}} if file_chunks else None
    with dask.config.set(scheduler=scheduler):
        isotach.to_netcdf(dataset, tmp_path / "file.nc", encoding=encoding)
    with xr.open_dataset(tmp_path / "file.nc", engine="netcdf4") as read:
        xr.testing.assert_identical(read, dataset.compute())


def test_chunks_end_where_those_of_the_file_end():
    assert _whole_chunks((5, 5, 5), 4, 0) == (8, 4, 3)
    assert _whole_chunks((5, 5, 5), 4, 3) == (5, 8, 2)
    assert _whole_chunks((1, 1, 1), 100, 0) == (3,)
    assert _whole_chunks((0,), 4, 0) == (0,)


def test_later(tmp_path):
    dataset = a_dataset().drop_vars("name").chunk({"time": 1})
    path = tmp_path / "file.nc"
    later = isotach.to_netcdf(dataset, path, compute=False)
    with isotach.Dataset(path) as file:
        assert file["air"].shape == (4, 2, 3)
        assert np.ma.getmaskarray(file["air"][1:]).all()
    later.compute()
    with xr.open_dataset(path, engine="netcdf4") as read:
        xr.testing.assert_identical(read, dataset.compute())


def test_workers_of_a_cluster_open_the_file_by_turns(tmp_path, monkeypatch):
    scheduler = "get_dask_scheduler" if hasattr(locks, "get_dask_scheduler") else "_get_scheduler"
    monkeypatch.setattr(locks, scheduler, lambda: "distributed")
    monkeypatch.setattr(locks, "get_write_lock", lambda path: dask.utils.SerializableLock(path))
    dataset = a_dataset(6).drop_vars("name").chunk({"time": 2})
    path = tmp_path / "file.nc"
    isotach.to_netcdf(dataset.isel(time=slice(4)), path, append_dim="time")
    later = isotach.to_netcdf(
        dataset.isel(time=slice(4, 6)), path, append_dim="time", compute=False
    )
    pickle.loads(pickle.dumps(later)).compute(scheduler="threads")
    with xr.open_dataset(path, engine="netcdf4") as read:
        xr.testing.assert_identical(read, dataset.compute())


def test_processes_write_by_turns(tmp_path):
    dataset = a_dataset(6).drop_vars("name").chunk({"time": 1})
    path, before = tmp_path / "file.nc", set(Path(tempfile.gettempdir()).glob("isotach-*.lock"))
    with dask.config.set(scheduler="processes", num_workers=2):
        isotach.to_netcdf(dataset.isel(time=slice(4)), path, append_dim="time")
        isotach.to_netcdf(dataset.isel(time=slice(4, 6)), path, append_dim="time")
        with pytest.raises(NotImplementedError, match="under its own name only"):
            isotach.to_netcdf(dataset, path, atomic=True)
    with xr.open_dataset(path, engine="netcdf4") as read:
        xr.testing.assert_identical(read, dataset.compute())
    assert set(Path(tempfile.gettempdir()).glob("isotach-*.lock")) <= before


def test_locks_of_files(tmp_path):
    lock = FileLock(str(tmp_path / "file.nc"))
    other = pickle.loads(pickle.dumps(lock))
    with lock:
        assert lock.locked() and not other.locked()
        assert not other.acquire(blocking=False)
    assert other.acquire(blocking=False)
    other.release()
    with pytest.raises(RuntimeError, match="nobody has taken"):
        other.release()
    count, total = 0, []

    def work():
        nonlocal count
        for _ in range(200):
            with FileLock(str(tmp_path / "file.nc")):
                seen = count
                total.append(seen)
                count = seen + 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total == list(range(800))


def test_values_along_the_dimension_that_are_there_already(tmp_path):
    path = tmp_path / "file.nc"
    isotach.to_netcdf(a_dataset(4), path, append_dim="time")
    again = a_dataset(4, "2000-01-03")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"2 values of 'time' .*: 2, 3 \(days since 2000-01-01"):
        isotach.to_netcdf(again, path, append_dim="time", duplicates="error")
    assert path.read_bytes() == before
    with pytest.warns(UserWarning, match="2 values of 'time' are in the file already") as told:
        isotach.to_netcdf(again, path, append_dim="time")
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        isotach.to_netcdf(again, path, append_dim="time", duplicates="allow")
        isotach.to_netcdf(a_dataset(2, "2001-01-01"), path, append_dim="time", duplicates="error")
    with isotach.Dataset(path) as file:
        assert file["time"][:].tolist() == [0, 1, 2, 3, 2, 3, 4, 5, 2, 3, 4, 5, 366, 367]


def test_encodings_that_no_variable_has(tmp_path):
    encoding = {"air": {}, "wind": {"zlib": True}}
    for write in (isotach.to_netcdf, xr.Dataset.to_netcdf):
        with pytest.raises(KeyError, match="wind"):
            write(a_dataset(), tmp_path / "file.nc", encoding=encoding)
    with pytest.raises(KeyError, match=r"encoding is given for .'wind'."):
        isotach.to_netcdf(a_dataset(), tmp_path / "new.nc", encoding=encoding)
    tree = xr.DataTree.from_dict({"/": a_dataset(), "/a": a_dataset()})
    with pytest.raises(KeyError, match=r"encoding is given for .'wind'."):
        isotach.to_netcdf(tree, tmp_path / "new.nc", encoding={"/a": encoding})
    assert not (tmp_path / "new.nc").exists()


@pytest.mark.parametrize("format", ["NETCDF3_CLASSIC", "NETCDF3_64BIT"])
def test_byte_orders_of_classic_files(tmp_path, format):
    for write in (isotach.to_netcdf, xr.Dataset.to_netcdf):
        encoding = {"height": {"endian": "big"}}
        with pytest.raises(NotImplementedError):
            write(a_dataset(), tmp_path / "file.nc", format=format, encoding=encoding)
    native = {"height": {"endian": "native"}}
    isotach.to_netcdf(a_dataset(), tmp_path / "file.nc", format=format, encoding=native)


def test_engine(tmp_path):
    isotach.to_netcdf(a_dataset(), tmp_path / "file.nc", engine="isotach")
    with pytest.raises(ValueError, match=r"unrecognized engine for isotach.to_netcdf: 'netcdf4'"):
        isotach.to_netcdf(a_dataset(), tmp_path / "file.nc", engine="netcdf4")


@pytest.mark.parametrize("compute", [True, False])
def test_many_files(tmp_path, compute):
    paths = [tmp_path / f"{part}.nc" for part in range(3)]
    parts = [a_dataset(2, start).drop_vars("name").chunk() for start in times(3)]
    done = isotach.save_mfdataset(parts, paths, groups=["a", None, "b/c"], compute=compute)
    assert (done is None) == compute
    if not compute:
        done.compute()
    for part, path, group in zip(parts, paths, ["a", None, "b/c"], strict=True):
        with xr.open_dataset(path, engine="netcdf4", group=group) as read:
            xr.testing.assert_identical(read, part.compute())
    for save in (isotach.save_mfdataset, xr.save_mfdataset):
        with pytest.raises(ValueError, match="same path"):
            save(parts, [paths[0]] * 3)
        with pytest.raises(ValueError, match="lists of the same length"):
            save(parts, paths[:2])
        with pytest.raises(TypeError, match="only supports writing Dataset"):
            save([parts[0]["air"]], paths[:1])


def test_a_file_that_this_process_writes_is_refused(tmp_path):
    """Its changes would be dropped where writing fails."""
    path = tmp_path / "file.nc"
    isotach.to_netcdf(a_dataset(), path)
    with isotach.Dataset(path, "a") as file:
        with pytest.raises(OSError, match="close it there first"):
            isotach.to_netcdf(a_dataset().rename(air="more"), path, "a")
        file.title = "kept"
    with netCDF4.Dataset(path) as file:
        assert file.title == "kept"


# Appending


def grown(path, **options):
    with xr.open_dataset(path, engine="netcdf4", **options) as read:
        return read.load()


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_64BIT"])
@pytest.mark.parametrize("chunks", [None, {"time": 1, "lat": 1}])
def test_appending_twenty_times(tmp_path, format, chunks):
    path = tmp_path / "file.nc"
    parts = []
    for index in range(20):
        start = times(60)[3 * index]
        part = a_dataset(3, start).drop_vars("name")
        parts.append(part)
        part = part if chunks is None else part.chunk(chunks)
        isotach.to_netcdf(part, path, append_dim="time", format=format if not index else None)
    whole = xr.concat(parts, "time", data_vars="minimal", coords="minimal", compat="override")
    if format == "NETCDF4":
        xr.testing.assert_identical(grown(path), whole)
    xr.testing.assert_equal(grown(path), whole)
    with isotach.Dataset(path) as file:
        assert file.dimensions["time"].isunlimited() and len(file.dimensions["time"]) == 60


def test_appending_in_the_encoding_of_a_file_by_another_library(tmp_path):
    path = tmp_path / "file.nc"
    first = a_dataset(2)
    first["label"] = (("time",), np.array([b"first", b"two"]))
    encoding = {
        "air": {"dtype": "i2", "scale_factor": 0.5, "add_offset": 100.0, "_FillValue": -1},
        "time": {"units": "minutes since 1990-01-01 00:00", "calendar": "gregorian", "dtype": "i4"},
    }
    first.to_netcdf(path, engine="netcdf4", encoding=encoding, unlimited_dims=["time"])
    more = a_dataset(5, "2000-01-03").drop_vars(["lat", "lon", "land", "name", "crs", "height"])
    more["label"] = (("time",), np.array([b"a", b"bc", b"", b"d", b"e"]))
    more.attrs["title"] = "another"
    more["air"] = more["air"].transpose("lat", "time", "lon")
    isotach.to_netcdf(more, path, append_dim="time")
    read = grown(path)
    assert read.attrs["title"] == "Größe"
    np.testing.assert_array_equal(read["time"], times(7))
    np.testing.assert_array_equal(read["label"], [b"first", b"two", b"a", b"bc", b"", b"d", b"e"])
    np.testing.assert_allclose(read["air"][2:], more["air"].transpose("time", "lat", "lon"))
    with netCDF4.Dataset(path) as file:
        assert file["time"].units == "minutes since 1990-01-01"
        file.set_auto_maskandscale(False)
        assert file["air"][2:].dtype == np.dtype("i2") and file["air"][2, 0, 0] == -1


def test_appending_undecoded(tmp_path):
    path = tmp_path / "file.nc"
    isotach.to_netcdf(a_dataset(2), path, append_dim="time")
    raw = grown(path, decode_cf=False)
    isotach.to_netcdf(raw, path, append_dim="time")
    assert grown(path)["time"].values.tolist() == 2 * grown(path)["time"].values[:2].tolist()
    raw["time"].attrs["units"] = "days since 1999-01-01"
    with pytest.raises(ValueError, match="units"):
        isotach.to_netcdf(raw, path, append_dim="time")


def test_appending_to_a_tree(tmp_path):
    path = tmp_path / "file.nc"
    for start in ("2000-01-01", "2000-01-04"):
        tree = xr.DataTree.from_dict({"/a": a_dataset(3, start), "/b/c": a_dataset(3, start)})
        isotach.to_netcdf(tree, path, append_dim="time")
    for group in ("a", "b/c"):
        np.testing.assert_array_equal(grown(path, group=group)["time"], times(6))


def broken(dataset):
    """The dataset in chunks, the last of which cannot be computed."""

    def block(values, block_info=None):
        if block_info[None]["chunk-location"][0] == 2:
            raise ArithmeticError("a broken block")
        return values

    chunked = dataset.drop_vars("name").chunk(time=2)
    data = chunked["air"].data.map_blocks(block, dtype="f4")
    return chunked.assign(air=chunked["air"].copy(data=data))


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_appending_that_fails_leaves_the_file_as_it_was(tmp_path, format):
    path = tmp_path / "file.nc"
    first = a_dataset(4)
    if format != "NETCDF4":
        first = first.drop_vars(["count"])
    isotach.to_netcdf(first, path, format=format, unlimited_dims="time")
    more = broken(first.assign_coords(time=times(4, "2001")).isel(time=[0, 1, 2, 3, 3, 3]))
    with xr.open_dataset(path, engine="netcdf4") as before:
        before.load()
    with pytest.raises(ArithmeticError, match="a broken block"):
        isotach.to_netcdf(more, path, append_dim="time")
    with xr.open_dataset(path, engine="netcdf4") as after:
        xr.testing.assert_identical(after, before)
    # It goes on where it was.
    isotach.to_netcdf(more.isel(time=slice(0, 4)), path, append_dim="time")
    with xr.open_dataset(path, engine="netcdf4") as after:
        assert after.sizes["time"] == 8


def test_writing_that_fails(tmp_path):
    path = tmp_path / "file.nc"
    with pytest.raises(ArithmeticError, match="a broken block"):
        isotach.to_netcdf(broken(a_dataset(6)), path)
    assert not path.exists()
    good = a_dataset(4)
    isotach.to_netcdf(good, path, atomic=True)
    with pytest.raises(ArithmeticError, match="a broken block"):
        isotach.to_netcdf(broken(a_dataset(6)), path, atomic=True)
    with xr.open_dataset(path, engine="netcdf4") as left:
        assert left.sizes["time"] == 4
    assert [entry.name for entry in tmp_path.iterdir()] == ["file.nc"]
    isotach.to_netcdf(a_dataset(6), path, atomic=True)
    with xr.open_dataset(path, engine="netcdf4") as left:
        assert left.sizes["time"] == 6
    for options in [{"path": None}, {"path": path, "mode": "a"}]:
        with pytest.raises(ValueError, match="atomic"):
            isotach.to_netcdf(good, atomic=True, **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda more: more.assign(new=more["count"]), "not in the file"),
        (lambda more: more.assign(new=((), 1)), "not in the file"),
        (lambda more: more.drop_vars("count"), "missing"),
        (lambda more: more.drop_vars("time"), "missing"),
        (lambda more: more.assign_coords(lat=[1.5, 3.5]), "'lat'.* differs from the file"),
        (lambda more: more.isel(lat=[0]).drop_vars(["lat", "land"]), "has 1 along 'lat'"),
        (lambda more: more.assign(count=more["air"]), "is on"),
        (lambda more: more.assign(name=more["lon"] * 1), "name"),
        (lambda more: more.assign_coords(time=np.arange(4)), "neither times nor units"),
        (
            lambda more: more.assign_coords(time=more["time"] + np.timedelta64(90, "m")),
            "would be stored with units",
        ),
        (lambda more: more.isel(time=0, drop=True), "is not a dimension of what"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(tmp_path, change, message):
    path = tmp_path / "file.nc"
    isotach.to_netcdf(a_dataset(), path, append_dim="time")
    before = path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=message):
            isotach.to_netcdf(change(a_dataset(4, "2000-01-05")), path, append_dim="time")
    assert path.read_bytes() == before


def test_other_errors(tmp_path):
    path = tmp_path / "file.nc"
    isotach.to_netcdf(a_dataset(), path)
    with pytest.raises(ValueError, match="not unlimited"):
        isotach.to_netcdf(a_dataset(), path, append_dim="time")
    with pytest.raises(ValueError, match="takes no encoding"):
        isotach.to_netcdf(a_dataset(), path, append_dim="time", encoding={"air": {}})
    with pytest.raises(ValueError, match="mode"):
        isotach.to_netcdf(a_dataset(), path, "w", append_dim="time")
    with pytest.raises(ValueError, match="mode must be"):
        isotach.to_netcdf(a_dataset(), path, "z")
    with pytest.raises(NotImplementedError, match="without a path, in isotach"):
        isotach.to_netcdf(a_dataset(), compute=False)
    with pytest.raises(ValueError, match="without a path"):
        isotach.to_netcdf(a_dataset(), mode="a")
    with pytest.raises(ValueError, match="invalid_netcdf"):
        isotach.to_netcdf(a_dataset(), path, invalid_netcdf=True)
    with pytest.raises(ValueError, match="unlimited_dims"):
        isotach.to_netcdf(a_dataset(), path, unlimited_dims=["nowhere"])
    with pytest.raises(ValueError, match="unexpected encoding"):
        isotach.to_netcdf(a_dataset(), path, encoding={"air": {"nonsense": 1}})
    with pytest.raises(TypeError, match="attr"):
        isotach.to_netcdf(a_dataset().assign_attrs(bad={}), path)
    with pytest.raises(TypeError, match="Invalid name"):
        isotach.to_netcdf(a_dataset().rename(air=1), path)


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_complex_numbers(tmp_path, format):
    numbers = np.array([[1 + 2j, 3j], [4, 0]])
    dataset = xr.Dataset({"z": (("x", "y"), numbers), "one": ((), np.complex64(2j))})
    path = tmp_path / "file.nc"
    with pytest.raises(ValueError, match="auto_complex"):
        isotach.to_netcdf(dataset, path, format=format)
    isotach.to_netcdf(dataset, path, format=format, auto_complex=True)
    for engine in ("isotach", "netcdf4"):
        with xr.open_dataset(path, engine=engine, auto_complex=True) as read:
            xr.testing.assert_identical(read.load(), dataset)
            assert read["one"].dtype == np.complex64
    if format == "NETCDF4":
        encoding = {"z": {"chunksizes": (1, 2)}}
        isotach.to_netcdf(dataset, path, auto_complex=True, encoding=encoding)
        with xr.open_dataset(path, engine="isotach", auto_complex=True, chunks={}) as read:
            assert read["z"].chunks == ((1, 1), (2,))
            xr.testing.assert_identical(read.compute(), dataset)


def test_file_objects():
    dataset = a_dataset()
    file = io.BytesIO()
    assert isotach.to_netcdf(dataset, file) is None
    assert not file.closed
    assert file.getvalue() == bytes(isotach.to_netcdf(dataset))
    with xr.open_dataset(file, engine="isotach") as read:
        xr.testing.assert_equal(read.load(), dataset)


def test_unlimited_dimensions_that_are_gone(tmp_path):
    dataset = a_dataset()
    dataset.encoding["unlimited_dims"] = "time"
    isotach.to_netcdf(dataset, tmp_path / "file.nc")
    with isotach.Dataset(tmp_path / "file.nc") as file:
        assert file.dimensions["time"].isunlimited()
    with pytest.warns(UserWarning, match=r"declared in 'dataset.encoding'"):
        isotach.to_netcdf(dataset.isel(time=0), tmp_path / "file.nc")


def test_a_file_that_must_be_new(tmp_path):
    ours, _ = write_both(tmp_path, a_dataset(), mode="x")
    before = ours.read_bytes()
    with pytest.raises(OSError):
        a_dataset().to_netcdf(ours, mode="x", engine="netcdf4")
    with pytest.raises(OSError):
        isotach.to_netcdf(a_dataset(), ours, mode="x")
    assert ours.read_bytes() == before


def test_xarray_still_lets_no_engine_write(tmp_path):
    """When this fails, xarray has what this package waits for, and its writer can be registered."""
    for data in (a_dataset(), xr.DataTree(a_dataset())):
        with pytest.raises(ValueError, match="engine"):
            data.to_netcdf(tmp_path / "file.nc", engine="isotach")
    words = ("write", "writable", "writeable", "store", "save", "to_netcdf", "dump")
    hooks = [name for name in dir(BackendEntrypoint) if any(word in name for word in words)]
    assert not hooks, f"xarray {xr.__version__} lets engines write through {hooks}: use it"
