"""Whatever netCDF4 and h5py write, in whatever shape, and whatever is selected of it, reads equal.

Every example writes a file of its own with one of the two libraries, makes up a selection for it,
and reads it with ours: through the package, and through xarray. `ISOTACH_EXAMPLES` sets how many.
"""

import io
import os
import warnings

import h5py
import hdf5plugin
import isotach
import netCDF4
import numpy as np
import pytest
import xarray as xr
from conftest import OLDER_NETCDF4, differ, outcome
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as from_numpy
from test_indexing import orthogonal

EXAMPLES = int(os.environ.get("ISOTACH_EXAMPLES", "600"))
SETTINGS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="ISOTACH_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
)

NUMBERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
CLASSIC_NUMBERS = ["i1", "i2", "i4", "f4", "f8"]
MODELS = ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET"]
MODELS += ["NETCDF3_64BIT_DATA"]


@st.composite
def shapes(draw, least_rank=0):
    return draw(
        from_numpy.array_shapes(min_dims=least_rank, max_dims=4, min_side=1, max_side=9)
        if least_rank or draw(st.booleans())
        else st.just(())
    )


def chunk_shapes(shape):
    return st.tuples(*(st.integers(1, length) for length in shape))


@st.composite
def values(draw, shape, dtype):
    """Smooth or random data; compressible and not."""
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    count = int(np.prod(shape))
    if draw(st.booleans()):
        return np.arange(count).reshape(shape).astype(dtype)
    if np.dtype(dtype).kind == "f":
        return random.normal(0, 1e3, shape).astype(dtype)
    return random.integers(0, 100, shape).astype(dtype)


def bounds(length):
    return st.none() | st.integers(-length - 3, length + 3)


@st.composite
def indices(draw, length):
    """One index for an axis: an integer, a slice of any kind, or an array."""
    kind = draw(st.sampled_from(["integer", "slice", "slice", "slice", "array", "mask", "all"]))
    if kind == "integer":
        return draw(st.integers(-length, length - 1))
    if kind == "slice":
        step = draw(st.none() | st.integers(-4, 4).filter(bool))
        return slice(draw(bounds(length)), draw(bounds(length)), step)
    if kind == "array":
        return np.array(draw(st.lists(st.integers(-length, length - 1), max_size=6)), "i8")
    if kind == "mask":
        return np.array(draw(st.lists(st.booleans(), min_size=length, max_size=length)), bool)
    return slice(None)


@st.composite
def keys(draw, shape):
    items = [draw(indices(length)) for length in shape]
    cut = draw(st.integers(0, len(items)))
    if draw(st.booleans()):
        return tuple(items[:cut])
    end = draw(st.integers(cut, len(items)))
    return (*items[:cut], Ellipsis, *items[end:])


@st.composite
def cases(draw, least_rank=0, numbers=NUMBERS):
    shape = draw(shapes(least_rank))
    dtype = np.dtype(draw(st.sampled_from(numbers)))
    dtype = dtype.newbyteorder(draw(st.sampled_from("<>")))
    return draw(values(shape, dtype)), draw(st.lists(keys(shape), min_size=1, max_size=4))


def check(source, name, stored, wanted):
    """All selections, one after the other, of one open file, so that the cache comes into it."""
    with isotach.Dataset(source) as dataset:
        dataset.set_auto_maskandscale(False)
        variable = dataset[name]
        for key in wanted:
            read, expected = np.asarray(variable[key]), orthogonal(stored, key)
            found = differ(read, np.asarray(expected).astype(read.dtype), f"{name}[{key}]")
            assert found is None, found
            assert read.dtype.newbyteorder("=") == stored.dtype.newbyteorder("=")


def misread_by_xarray(key, shape):
    """Whether a slice goes backward from before the start: xarray starts it at the end."""
    least = -min(shape, default=0)
    slices = (item for item in key if isinstance(item, slice))
    return any((item.step or 1) < 0 and (item.start or 0) < least for item in slices)


def check_xarray(path, name, stored, wanted):
    with xr.open_dataset(path, engine="isotach", decode_cf=False) as dataset:
        assert dataset[name].shape == stored.shape
        for key in wanted:
            if misread_by_xarray(key, stored.shape):
                continue
            read = dataset[name][key].values
            assert np.array_equal(read, orthogonal(stored, key), equal_nan=True), key


@st.composite
def netcdf_options(draw, model, shape):
    """Arguments of `createVariable`."""
    if not model.startswith("NETCDF4") or not shape:
        return {}
    layout = draw(st.sampled_from(["contiguous", "chunked", "filtered", "filtered"]))
    if layout == "contiguous":
        return {"contiguous": True}
    options = {"chunksizes": draw(chunk_shapes(shape))}
    if layout == "filtered":
        options["compression"] = draw(st.sampled_from([None, "zlib"]))
        options["complevel"] = draw(st.integers(1, 9))
        options["shuffle"] = draw(st.booleans())
        options["fletcher32"] = draw(st.booleans())
    return options


@SETTINGS
@given(st.data())
def test_written_by_netcdf4(tmp_path_factory, data):
    model = data.draw(st.sampled_from(MODELS))
    full = model in ("NETCDF4", "NETCDF3_64BIT_DATA")
    stored, wanted = data.draw(cases(numbers=NUMBERS if full else CLASSIC_NUMBERS))
    options = data.draw(netcdf_options(model, stored.shape))
    unlimited = stored.ndim > 0 and "contiguous" not in options and data.draw(st.booleans())
    path = tmp_path_factory.getbasetemp() / "netcdf4.nc"
    with netCDF4.Dataset(path, "w", format=model) as dataset:
        for axis, length in enumerate(stored.shape):
            dataset.createDimension(f"d{axis}", None if unlimited and axis == 0 else length)
        names = [f"d{axis}" for axis in range(stored.ndim)]
        if "NETCDF4" in model:
            options["endian"] = "big" if stored.dtype.str[0] == ">" else "little"
        kind = stored.dtype if "endian" in options else stored.dtype.str[1:]
        # A neighbour, so that records are interleaved.
        for name in ("before", "v"):
            variable = dataset.createVariable(name, kind, names, **options)
            variable.set_auto_maskandscale(False)
            variable[...] = stored
    check(path, "v", stored, wanted)
    check_xarray(path, "v", stored, wanted)


@st.composite
def hdf5_options(draw, shape):
    """Arguments of `create_dataset`, and the versions of structures to be used."""
    versions = draw(
        st.sampled_from([("earliest", "latest"), ("latest", "latest"), ("v108", "v110")])
    )
    if not shape or draw(st.integers(0, 3)) == 0:
        return versions, {}
    options = {"chunks": draw(chunk_shapes(shape))}
    growing = draw(st.tuples(*(st.booleans() for _ in shape)))
    options["maxshape"] = tuple(
        None if grows else length for grows, length in zip(growing, shape, strict=True)
    )
    filters = [
        {},
        {"compression": "gzip", "compression_opts": draw(st.integers(0, 9))},
        {"compression": "lzf"},
        dict(hdf5plugin.Bitshuffle()),
        dict(hdf5plugin.Blosc(cname=draw(st.sampled_from(["lz4", "zlib", "zstd", "blosclz"])))),
        dict(hdf5plugin.Blosc2(cname=draw(st.sampled_from(["lz4", "zlib", "zstd", "blosclz"])))),
        dict(hdf5plugin.BZip2()),
        dict(hdf5plugin.LZ4()),
        dict(hdf5plugin.Zstd()),
    ]
    options.update(draw(st.sampled_from(filters)))
    options["shuffle"] = draw(st.booleans())
    options["fletcher32"] = draw(st.booleans())
    return versions, options


@SETTINGS
@given(st.data())
def test_written_by_h5py(tmp_path_factory, data):
    stored, wanted = data.draw(cases())
    versions, options = data.draw(hdf5_options(stored.shape))
    path = tmp_path_factory.getbasetemp() / "h5py.h5"
    grown = bool(options) and data.draw(st.booleans())
    with h5py.File(path, "w", libver=versions) as file:
        if grown:
            # Only some of its chunks are ever written, the others are fill.
            dataset = file.create_dataset(
                "v", stored.shape, stored.dtype, fillvalue=stored.flat[0], **options
            )
            written = tuple(slice(0, data.draw(st.integers(0, n))) for n in stored.shape)
            dataset[written] = stored[written]
            filled = np.full_like(stored, stored.flat[0])
            filled[written] = stored[written]
            stored = filled
        else:
            file.create_dataset("v", data=stored, **options)
    check(path, "v", stored, wanted)
    check(io.BytesIO(path.read_bytes()), "v", stored, wanted)


@SETTINGS
@given(st.data())
def test_masked_and_scaled(tmp_path_factory, data):
    """Masks and unpacking, held against netCDF4-python itself."""
    code = data.draw(st.sampled_from(NUMBERS))
    stored, wanted = data.draw(cases(least_rank=1, numbers=[code]))
    small = st.integers(0, 60).map(lambda number: np.array(number, code)[()])
    attributes = data.draw(
        st.fixed_dictionaries(
            {},
            optional={
                "missing_value": small,
                "valid_min": small,
                "valid_max": small,
                "valid_range": st.tuples(small, small).map(lambda pair: np.array(pair, code)),
                "scale_factor": st.sampled_from([np.float64(0.5), np.float32(2), np.float64(1)]),
                "add_offset": st.sampled_from([np.float64(0), np.float32(-3), np.int32(2)]),
                "_Unsigned": st.sampled_from(["true", "false"]),
            },
        )
    )
    fill = data.draw(st.none() | small)
    path = tmp_path_factory.getbasetemp() / "masked.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        for axis, length in enumerate(stored.shape):
            dataset.createDimension(f"d{axis}", length)
        names = [f"d{axis}" for axis in range(stored.ndim)]
        variable = dataset.createVariable("v", code, names, fill_value=fill)
        variable.setncatts(attributes)
        variable.set_auto_maskandscale(False)
        variable[...] = stored
    choices = data.draw(st.tuples(st.booleans(), st.booleans(), st.booleans()))
    with isotach.Dataset(path) as ours, netCDF4.Dataset(path) as theirs:
        for dataset in (ours, theirs):
            dataset.set_auto_mask(choices[0])
            dataset.set_auto_scale(choices[1])
            dataset.set_always_mask(choices[2])
        for key in wanted:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                here, (there, _) = ours["v"][key], outcome(lambda: theirs["v"][key])  # noqa: B023
            if there is TypeError:
                continue  # netCDF4-python has -127 for the fill value of unsigned bytes.
            if OLDER_NETCDF4 and not np.size(here):
                continue  # It gives nothing another shape.
            found = differ(here, there, f"v[{key}] {attributes}")
            assert found is None, found


@pytest.mark.parametrize("engine", ["netcdf4", "h5netcdf"])
def test_written_by_xarray(tmp_path, engine):
    path = tmp_path / "file.nc"
    written = xr.Dataset(
        {
            "a": (("t", "x"), np.arange(12.0).reshape(3, 4)),
            "words": ("x", np.array(["one", "two", "three", ""])),
        },
        {"t": xr.date_range("2001-01-01", periods=3), "x": [1, 2, 3, 4]},
        {"title": "by xarray"},
    )
    written.to_netcdf(path, engine=engine)
    with xr.open_dataset(path, engine="isotach") as read:
        xr.testing.assert_identical(read.load(), xr.load_dataset(path, engine=engine))
