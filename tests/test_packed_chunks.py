"""Chunks that are packed by scale-offset and N-bit, as h5py asks for: read, and written on."""

import h5py
import isotach
import numpy as np
import pytest

WIDER = ["i2", "u2", "i4", "u4", "i8", "u8"]
NUMBERS = ["i1", "u1", *(order + kind for kind in WIDER for order in "<>")]
FLOATS = ["<f4", ">f4", "<f8", ">f8"]
BEHIND = [{}, {"compression": "gzip", "shuffle": True}, {"compression": "lzf"}]
SHAPE, CHUNK = (20, 7), (5, 7)


def numbers(kind, is_wide):
    """Noise, that of `is_wide` in all bits: it takes more space packed than it does plain."""
    random, dtype = np.random.default_rng(3), np.dtype(kind)
    if dtype.kind == "f":
        return np.round(random.normal(0, 50, SHAPE), 2).astype(dtype)
    limits = np.iinfo(dtype)
    low, high = (limits.min, limits.max) if is_wide else (max(limits.min, -90), 100)
    return random.integers(low, high, SHAPE, dtype.newbyteorder("=")).astype(dtype)


def check(path, kind, is_wide, create, lost=0):
    """What h5py stores in `theirs` is read, and what we store in `ours` h5py reads as that.

    Up to half of `lost` is rounded off. Where a number is nearer to the fill value than `lost`,
    libhdf5 has it become the fill value, and we do not.
    """
    values = numbers(kind, is_wide)
    with h5py.File(path, "w") as file:
        create(file, "ours")
        create(file, "theirs")[:] = values
    with isotach.Dataset(path, "a") as file:
        file.set_auto_mask(False)
        file["ours"][:] = values
        seen = file["theirs"][:]
    with h5py.File(path) as file:
        ours, theirs = file["ours"], file["theirs"]
        np.testing.assert_array_equal(seen, theirs[:])
        np.testing.assert_allclose(ours[:], theirs[:], rtol=1e-6 * (lost > 0), atol=1.5 * lost)
        assert (ours.scaleoffset, ours.compression) == (theirs.scaleoffset, theirs.compression)
        chunks = [ours.id.get_chunk_info(index) for index in range(ours.id.get_num_chunks())]
        assert len(chunks) == 4
        # LZF is left out where it gains nothing.
        assert all(chunk.filter_mask & 1 == 0 for chunk in chunks)
    return values


@pytest.mark.parametrize("behind", BEHIND, ids=str)
@pytest.mark.parametrize("fill", [None, 7])
@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("kind", NUMBERS)
def test_integers_with_scale_offset(tmp_path, kind, is_wide, fill, behind):
    def create(file, name):
        options = {"chunks": CHUNK, "scaleoffset": 0, "fillvalue": fill, **behind}
        return file.create_dataset(name, SHAPE, kind, **options)

    path = tmp_path / "file.h5"
    values = check(path, kind, is_wide, create)
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["ours"], values)


@pytest.mark.parametrize("behind", BEHIND, ids=str)
@pytest.mark.parametrize("fill", [None, 7])
@pytest.mark.parametrize("digits", [0, 2, 4])
@pytest.mark.parametrize("kind", FLOATS)
def test_floats_with_scale_offset(tmp_path, kind, digits, fill, behind):
    def create(file, name):
        options = {"chunks": CHUNK, "scaleoffset": digits, "fillvalue": fill, **behind}
        return file.create_dataset(name, SHAPE, kind, **options)

    path = tmp_path / "file.h5"
    values = check(path, kind, False, create, 10.0**-digits)
    with h5py.File(path) as file:
        np.testing.assert_allclose(file["ours"], values, rtol=1e-6, atol=10.0**-digits)


@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("kind", NUMBERS + FLOATS)
@pytest.mark.parametrize("behind", [(), ("shuffle", "deflate"), ("fletcher32",)], ids=str)
def test_nbit(tmp_path, kind, is_wide, behind):
    def create(file, name):
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_chunk(CHUNK)
        properties.set_filter(h5py.h5z.FILTER_NBIT, h5py.h5z.FLAG_OPTIONAL, ())
        for filter_name in behind:
            level = (4,) if filter_name == "deflate" else ()
            getattr(properties, f"set_{filter_name}")(*level)
        file_type = h5py.h5t.py_create(np.dtype(kind)).copy()
        size = np.dtype(kind).itemsize
        if np.dtype(kind).kind != "f" and not is_wide:
            file_type.set_precision(max(8, 4 * size + 1))
        space = h5py.h5s.create_simple(SHAPE)
        h5py.h5d.create(file.id, name.encode(), file_type, space, properties)
        return file[name]

    check(tmp_path / "file.h5", kind, is_wide, create)
