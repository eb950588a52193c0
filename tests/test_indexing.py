"""What stands between the brackets: NumPy's own indexing is the oracle, axis by axis."""

import itertools

import isotach
import netCDF4
import numpy as np
import pytest
from conftest import OLDER_NETCDF4, differ, outcome

SHAPE = (5, 4, 6)
VALUES = np.arange(np.prod(SHAPE), dtype="i4").reshape(SHAPE)


def orthogonal(values, key):
    """`key` applied to each axis by itself, as netCDF4-python and xarray's outer indexing do."""
    items = list(key) if isinstance(key, tuple) else [key]
    at = next((n for n, item in enumerate(items) if item is Ellipsis), len(items))
    rest = items[at + 1 :]
    items = items[:at] + [slice(None)] * (values.ndim - at - len(rest)) + rest
    # From the last axis, so that integers do not move the axes still to come.
    for axis in reversed(range(values.ndim)):
        values = values[(slice(None),) * axis + (items[axis],)]
    return values


@pytest.fixture(scope="module", params=["contiguous", "chunked", "classic", "record"])
def path(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("indexing") / "file.nc"
    kind = request.param
    model = "NETCDF3_CLASSIC" if kind in ("classic", "record") else "NETCDF4"
    with netCDF4.Dataset(path, "w", format=model) as dataset:
        for name, length in zip("tyx", SHAPE, strict=True):
            dataset.createDimension(name, None if kind == "record" and name == "t" else length)
        options = {"zlib": True, "chunksizes": (2, 3, 4)} if kind == "chunked" else {}
        dataset.createVariable("v", "i4", tuple("tyx"), **options)[:] = VALUES
        dataset.createVariable("scalar", "i4", ())[...] = 7
        if kind != "record":
            dataset.createDimension("none", 0)
            dataset.createVariable("empty", "i4", ("none", "x"))
    return path


@pytest.fixture
def variable(path):
    with isotach.Dataset(path) as dataset:
        dataset.set_auto_maskandscale(False)
        yield dataset["v"]


SLICES = [
    slice(start, stop, step)
    for start, stop, step in itertools.product(
        (None, 0, 2, -1, -3, 100, -100), (None, 0, 3, -1, 100, -100), (None, 1, 2, 7, -1, -2, -7)
    )
]


def test_every_slice(variable):
    for key in SLICES:
        assert differ(variable[key], VALUES[key], str(key)) is None
        assert differ(variable[0, ..., key], VALUES[0, ..., key], f"0, ..., {key}") is None


KEYS = [
    0,
    -5,
    np.int8(2),
    np.uint64(3),
    np.array(1),
    True,
    (),
    ...,
    (0, 1, 2),
    (-1, -1, -1),
    (..., 0),
    (0, ...),
    (slice(None), 2),
    (..., slice(4, None, -2), 1),
    (slice(1, 1), 0),
    [0, 3],
    [3, 0],
    [1, 1, 4, 1],
    [-1, 0],
    np.array([4, 2, 0], "u1"),
    np.array([], "i8"),
    ([0, 2], [1, 3], [5, 0]),
    ([0, 2], slice(None, None, -1), 3),
    (0, [1, 1], slice(-2, None)),
    (..., [True, False, True, False, False, True]),
    np.array([False, True, False, True, True]),
    np.zeros(5, bool),
    ([True] * 5, 0, np.arange(6) % 2 == 0),
    (slice(np.int64(1), np.int16(4)), 0),
    range(1, 4),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_like_numpy(variable, key):
    as_numpy = (
        1 if key is True else list(key) if isinstance(key, range) else key
    )  # One index, not a mask.
    assert differ(variable[key], orthogonal(VALUES, as_numpy), str(key)) is None


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("masked", [True, False])
def test_like_netcdf4(path, key, masked):
    with isotach.Dataset(path) as ours, netCDF4.Dataset(path) as theirs:
        for dataset in (ours, theirs):
            dataset.set_auto_mask(masked)
        (here, _), (there, _) = outcome(lambda: ours["v"][key]), outcome(lambda: theirs["v"][key])
        if str(key) == "[4 2 0]" and differ(here, there):
            # netCDF4-python subtracts unsigned indices from each other; ours is held to NumPy's.
            pytest.skip("netCDF4-python orders falling unsigned indices otherwise")
        if OLDER_NETCDF4 and isinstance(key, np.ndarray) and not key.any() and not here.size:
            pytest.skip("this netCDF4-python gives nothing another shape")
        assert differ(here, there, str(key)) is None


@pytest.mark.parametrize("key", [..., (), 0, slice(None), -1, [0], (...,)], ids=str)
def test_scalars(path, key):
    with isotach.Dataset(path) as ours, netCDF4.Dataset(path) as theirs:
        (here, _), (there, _) = (
            outcome(lambda: ours["scalar"][key]),
            outcome(lambda: theirs["scalar"][key]),
        )
        assert differ(here, there, str(key)) is None


@pytest.mark.parametrize("key", [..., slice(None), (slice(None), 2), (slice(0, 5), [1, 2])])
def test_nothing(path, key):
    with isotach.Dataset(path) as ours:
        if "empty" not in ours.variables:
            return
        ours.set_auto_mask(False)
        expected = orthogonal(np.empty((0, 6), "i4"), key)
        assert differ(ours["empty"][key], expected, str(key)) is None


@pytest.mark.parametrize(
    "key",
    [
        5,
        -6,
        (0, 4),
        (0, 0, 0, 0),
        [0, 5],
        [0, -6],
        "x",
        0.5,
        None,
        (..., ...),
        {},
        np.zeros((1, 2), int),
    ],
    ids=str,
)
def test_what_is_no_index(variable, key):
    with pytest.raises((IndexError, ValueError, TypeError)):
        variable[key]
