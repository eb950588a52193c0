"""engine="isotach" gives what engine="netcdf4" gives."""

import io
import pickle
import warnings

import fsspec
import netCDF4
import numpy as np
import pytest
import xarray as xr
from conftest import CORPUS, KNOWN, corpus_parameters, differ, outcome
from isotach import Dataset
from isotach.xarray_backend import IsotachBackendEntrypoint, IsotachDataStore
from xarray.backends.locks import SerializableLock


def open_both(source, opener=xr.open_dataset, **options):
    """The file through both engines; the class of the exception for what cannot be opened."""
    opened = []
    for engine in ("isotach", "netcdf4"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                opened.append(opener(source, engine=engine, **options))
            except Exception as error:
                opened.append(error)
    return opened


def same_encoding(ours, theirs):
    """Equal, but that netCDF4-python does not tell of filters whose plugins it has not found."""
    plugins = {"zstd", "bzip2", "blosc", "blosc2", "complevel"}
    if any(ours.get(name) for name in plugins - {"complevel"}):
        ours = {key: value for key, value in ours.items() if key not in plugins}
        theirs = {key: value for key, value in theirs.items() if key not in plugins}
    assert list(ours) == list(theirs)
    for key, value in theirs.items():
        assert type(ours[key]) is type(value), key
        np.testing.assert_equal(ours[key], value, err_msg=key)


def without_more(ours, theirs):
    """Ours without variables of types that netCDF4-python has no way to show."""
    more = [name for name in ours.variables if name not in theirs.variables]
    assert all(np.dtype(ours[name].dtype).kind in "OV" for name in more)
    return ours.drop_vars(more)


def nested(dataset):
    """Names of variables whose elements are arrays, which xarray cannot compare."""
    return [
        name
        for name, variable in dataset.variables.items()
        if variable.dtype.kind in "OV"
        and any(isinstance(element, (np.ndarray, np.void)) for element in variable.values.flat)
    ]


def assert_same(ours, theirs):
    ours = without_more(ours, theirs)
    assert ours.sizes == theirs.sizes
    assert ours.encoding == theirs.encoding
    assert list(ours.variables) == list(theirs.variables)
    apart = nested(theirs)
    for name in apart:
        assert ours[name].dims == theirs[name].dims
        assert differ(dict(ours[name].attrs), dict(theirs[name].attrs), name) is None
        assert differ(ours[name].values, theirs[name].values, name) is None
    xr.testing.assert_identical(ours.drop_vars(apart), theirs.drop_vars(apart))
    for name, variable in theirs.variables.items():
        assert ours[name].dtype == variable.dtype
        assert ours[name].dtype.metadata == variable.dtype.metadata
        same_encoding(ours[name].encoding, variable.encoding)


#: xarray has no scalars that are sequences. netCDF4-python does not show that they are there.
REFUSED = {"tds/test_vlen11.nc": ValueError}


@pytest.mark.parametrize("decode", [True, False])
@pytest.mark.parametrize("file", corpus_parameters("classic", "netcdf4"))
@pytest.mark.filterwarnings("ignore")
def test_real_files_are_the_same(file, decode):
    ours, theirs = open_both(file, decode_cf=decode)
    if isinstance(theirs, Exception):
        # What xarray itself refuses, it refuses for both.
        assert not isinstance(ours, Exception) or type(ours) is type(theirs)
        return
    if str(file.relative_to(CORPUS)) in REFUSED:
        assert isinstance(ours, REFUSED[str(file.relative_to(CORPUS))])
        return
    with ours, theirs:
        loaded, _ = outcome(theirs.load)
        if isinstance(loaded, type) and loaded is not RuntimeError:
            assert outcome(ours.load)[0] is loaded
        elif isinstance(loaded, type) or str(file.relative_to(CORPUS)) in KNOWN:
            # Ours reads what libnetcdf cannot.
            ours.load()
        else:
            assert_same(ours, theirs)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.title = "a title"
        dataset.createDimension("time", None)
        dataset.createDimension("x", 6)
        dataset.createDimension("letters", 3)
        time = dataset.createVariable("time", "f8", ("time",))
        time.units = "days since 2000-01-01"
        time[:] = range(4)
        packed = dataset.createVariable(
            "packed", "i2", ("time", "x"), zlib=True, chunksizes=(2, 3), fill_value=-1
        )
        packed.setncatts({"scale_factor": 0.5, "add_offset": 1.0, "least_significant_digit": 2})
        packed[:] = np.arange(24).reshape(4, 6)
        dataset.createVariable("names", str, ("x",))[:] = np.array(list("abcdef"), dtype=object)
        text = dataset.createVariable("text", "S1", ("x", "letters"))
        text[:] = netCDF4.stringtochar(np.array(["abc", "d", "", "e", "fg", "h"], "S3"))
        enum = dataset.createEnumType("u1", "sky_t", {"clear": 0, "cloudy": 1})
        dataset.createVariable("sky", enum, ("x",), fill_value=0)[:] = [0, 1, 1, 0, 1, 0]
        group = dataset.createGroup("outer/inner")
        group.createVariable("v", "f4", ("x",))[:] = range(6)
        group.note = "inside"
    return path


def test_a_file_of_everything(path):
    ours, theirs = open_both(path)
    assert_same(ours, theirs)
    ours, theirs = open_both(path, group="outer/inner")
    assert_same(ours, theirs)
    ours, theirs = open_both(path, drop_variables=["packed"], mask_and_scale=False)
    assert_same(ours, theirs)


def test_groups_and_trees(path):
    ours, theirs = open_both(path, xr.open_datatree)
    assert ours.identical(theirs)
    ours, theirs = open_both(path, xr.open_datatree, group="outer")
    assert ours.identical(theirs)
    ours, theirs = open_both(path, xr.open_groups)
    assert list(ours) == list(theirs)
    for name in theirs:
        assert_same(ours[name], theirs[name])
    ours, theirs = open_both(path, group="nothing")
    assert type(ours) is type(theirs) is OSError


INDEXERS = [
    {"time": 1},
    {"time": slice(None, None, -1), "x": [0, 2, 5]},
    {"time": [3, 0], "x": [5, 5, 1]},
    {"time": np.array([True, False, True, True])},
    {"time": xr.DataArray([0, 1], dims="point"), "x": xr.DataArray([2, 3], dims="point")},
    {"x": slice(4, 100), "time": -1},
]


@pytest.mark.parametrize("indexers", INDEXERS, ids=str)
def test_lazy_indexing(path, indexers):
    with xr.open_dataset(path, engine="isotach") as ours:
        assert not ours["packed"].variable._in_memory
        with xr.open_dataset(path, engine="netcdf4") as theirs:
            expected = theirs.load().isel(indexers)
            xr.testing.assert_identical(ours.isel(indexers).load(), expected)


def test_dask(path):
    pytest.importorskip("dask")
    with xr.open_dataset(path, engine="isotach", chunks={}) as ours:
        assert ours["packed"].chunks == ((2, 2), (3, 3))
        sent = pickle.loads(pickle.dumps(ours))
        with xr.open_dataset(path, engine="netcdf4") as theirs:
            xr.testing.assert_identical(sent.compute(scheduler="threads"), theirs.load())
            total = ours["packed"].sum().compute(scheduler="processes")
            assert total == theirs["packed"].sum()


def test_many_files(path, tmp_path):
    pytest.importorskip("dask")
    for number in range(3):
        with xr.open_dataset(path, engine="netcdf4", drop_variables=["sky"]) as dataset:
            shifted = dataset.assign_coords(time=dataset["time"] + np.timedelta64(number * 4, "D"))
            shifted.to_netcdf(tmp_path / f"part{number}.nc")
    files = sorted(tmp_path.glob("part*.nc"))
    ours = xr.open_mfdataset(files, engine="isotach", parallel=True, data_vars="minimal")
    # netCDF4-python dies of two threads.
    theirs = xr.open_mfdataset(files, engine="netcdf4", data_vars="minimal")
    xr.testing.assert_identical(ours.load(), theirs.load())
    assert ours.sizes["time"] == 12


def test_bytes_and_file_objects(path):
    content = path.read_bytes()
    with xr.open_dataset(path, engine="netcdf4") as theirs:
        theirs.load()
        memory = fsspec.filesystem("memory")
        memory.pipe("/file.nc", content)
        with open(path, "rb") as local, memory.open("/file.nc", "rb") as remote:
            for source in (io.BytesIO(content), content, local, remote):
                with xr.open_dataset(source, engine="isotach") as ours:
                    xr.testing.assert_identical(ours.load(), theirs)


def test_bytes_pickle(path):
    ours = xr.open_dataset(path.read_bytes(), engine="isotach")
    sent = pickle.loads(pickle.dumps(ours))
    xr.testing.assert_identical(sent.load(), ours.load())


def test_an_open_dataset_is_a_store(path):
    with Dataset(path) as dataset, xr.open_dataset(path, group="outer/inner") as theirs:
        xr.testing.assert_identical(
            xr.open_dataset(IsotachDataStore(dataset["outer/inner"]), engine="isotach").load(),
            theirs,
        )


def test_guesses_only_its_own_files(path, tmp_path):
    assert "isotach" in xr.backends.list_engines()
    guess = IsotachBackendEntrypoint().guess_can_open
    assert guess(path) and guess(str(path)) and guess(path.read_bytes())
    with open(path, "rb") as file:
        file.seek(3)
        assert guess(file)
        assert file.tell() == 3
    other = tmp_path / "other.nc"
    other.write_bytes(b"GRIB and so on")
    assert not guess(other)
    assert not guess(tmp_path / "nothing.nc")
    assert not guess("https://example.org/file.nc")
    assert not guess(b"")
    assert not guess({"a": 1})


def test_a_closed_file_opens_again(path):
    ours = xr.open_dataset(path, engine="isotach")
    ours.close()
    assert float(ours["packed"][0, 0]) == 0.0
    ours.close()


OPTIONS = [
    {"lock": False},
    {"lock": SerializableLock()},
    {"format": "NETCDF4"},
    {"format": "NETCDF3_CLASSIC", "clobber": False},
    {"diskless": True, "persist": True, "autoclose": True, "mode": "r"},
]


@pytest.mark.parametrize("options", OPTIONS, ids="-".join)
def test_options_of_the_other_engine(path, options):
    with (
        xr.open_dataset(path, engine="netcdf4", **options) as theirs,
        xr.open_dataset(path, engine="isotach", **options) as ours,
    ):
        assert ours.identical(theirs)
    options = {name: value for name, value in options.items() if name != "mode"}
    with (
        xr.open_datatree(path, engine="netcdf4", **options) as theirs,
        xr.open_datatree(path, engine="isotach", **options) as ours,
    ):
        assert ours.identical(theirs)


def test_options_that_there_are_not(path):
    for engine in ("netcdf4", "isotach"):
        with pytest.raises(TypeError, match="unexpected keyword argument 'locks'"):
            xr.open_dataset(path, engine=engine, locks=False)
    with pytest.raises(ValueError, match="only reads"):
        xr.open_dataset(path, engine="isotach", mode="a")
