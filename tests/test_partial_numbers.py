"""Numbers that do not use all bits of their bytes: read, and written over, as libhdf5 has them."""

import h5py
import isotach
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t

#: The least number of the float below with all bits of its mantissa.
LEAST_NORMAL = 2.0**-30


def integer(base, precision, offset):
    made = base.copy()
    made.set_precision(precision)
    made.set_offset(offset)
    return made


def small_float(base):
    """20 bits of 32: one of sign, 6 of exponent, 13 of mantissa."""
    made = base.copy()
    made.set_fields(26, 20, 6, 7, 13)
    made.set_offset(7)
    made.set_precision(20)
    made.set_size(4)
    made.set_ebias(31)
    return made


def whole_numbers(low, high, dtype):
    random = np.random.default_rng(5)
    within = random.integers(low, high, 200)
    return np.concatenate([within, [low, high, 2 * low - 1, 2 * high + 1]]).astype(dtype)


def fractions():
    random = np.random.default_rng(6)
    some = random.standard_normal(1000) * 10.0 ** random.integers(-8, 12, 1000)
    # Below it libhdf5 does not round to the nearest.
    some = some[np.abs(some) >= LEAST_NORMAL]
    ends = [0, -0.0, np.inf, -np.inf, np.nan, 1 + 2.0**-14, 2.0**32 - 2.0**18, 2.0**32 - 1, 1e38]
    return np.concatenate([some, ends, [LEAST_NORMAL]]).astype("f4")


KINDS = {
    "int": (integer(h5t.STD_I32LE, 17, 5), whole_numbers(-(2**16), 2**16 - 1, "i4")),
    "int-big": (integer(h5t.STD_I16BE, 9, 3), whole_numbers(-(2**8), 2**8 - 1, "i2")),
    "unsigned": (integer(h5t.STD_U64LE, 33, 20), whole_numbers(0, 2**33 - 1, "u8")),
    "float": (small_float(h5t.IEEE_F32LE), fractions()),
    "float-big": (small_float(h5t.IEEE_F32BE), fractions()),
}


def make(path, stored, values, chunked):
    """A file in which libhdf5 has written the values; what it reads."""
    with h5py.File(path, "w", track_order=True) as file:
        properties = h5p.create(h5p.DATASET_CREATE)
        if chunked:
            properties.set_chunk((len(values) // 3,))
        space = h5s.create_simple(values.shape)
        dataset = h5d.create(file.id, b"v", stored, space, dcpl=properties)
        dataset.write(h5s.ALL, h5s.ALL, values)


def read(path, dtype):
    with h5py.File(path) as file:
        values = np.empty(file["v"].shape, dtype)
        file["v"].id.read(h5s.ALL, h5s.ALL, values)
        return values


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_partial_numbers(tmp_path, kind, chunked):
    stored, values = KINDS[kind]
    theirs, ours = tmp_path / "theirs.h5", tmp_path / "ours.h5"
    make(theirs, stored, values, chunked)
    make(ours, stored, np.zeros_like(values), chunked)
    expected = read(theirs, values.dtype)
    assert not np.array_equal(expected, values, equal_nan=True)
    with isotach.Dataset(theirs) as dataset:
        dataset.set_auto_mask(False)
        assert dataset["v"].dtype.newbyteorder("=") == values.dtype
        np.testing.assert_array_equal(dataset["v"][:], expected)
    with isotach.Dataset(ours, "a") as dataset:
        dataset["v"][:] = values
        dataset.set_auto_mask(False)
        np.testing.assert_array_equal(dataset["v"][:], expected)
    np.testing.assert_array_equal(read(ours, values.dtype), expected)
