"""Chunks that the codec encodes are read by libhdf5 and its plugins, for every filter."""

import struct
import subprocess
import zlib
from pathlib import Path

import h5py
import hdf5plugin
import numpy as np
import pytest

NN, EC = h5py.h5z.SZIP_NN_OPTION_MASK, h5py.h5z.SZIP_EC_OPTION_MASK
OPTIONAL = h5py.h5z.FLAG_OPTIONAL


@pytest.fixture(scope="session")
def encoder(rust_example):
    """Encodes bytes with filters (identifier, optional, parameters): filter mask, stored bytes."""
    program = rust_example("encode")

    def encode(filters, chunk):
        request = struct.pack("<I", len(filters))
        for number, optional, parameters in filters:
            head = (number, optional, len(parameters))
            request += struct.pack(f"<III{len(parameters)}I", *head, *parameters)
        answer = subprocess.run([program], input=request + chunk, capture_output=True, check=True)
        return int.from_bytes(answer.stdout[:4], "little"), answer.stdout[4:]

    return encode


def check(encoder, path, shape, file_type, values, set_filters, chunk=None):
    """Encode each chunk of what libhdf5 stored, put ours in its place, and read it again."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk(chunk or shape)
    set_filters(properties)
    masks = []
    with h5py.File(path, "w") as file:
        space = h5py.h5s.create_simple(shape)
        data = h5py.h5d.create(file.id, b"v", file_type, space, properties)
        data.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(values))
    with h5py.File(path, "r+") as file:
        data = file["v"].id
        before = raw(data)
        properties = data.get_create_plist()
        filters = [properties.get_filter(i) for i in range(properties.get_nfilters())]
        filters = [(number, flags & OPTIONAL, wanted) for number, flags, wanted, _ in filters]
        for index in range(data.get_num_chunks()):
            offset = data.get_chunk_info(index).chunk_offset
            window = tuple(slice(o, o + n) for o, n in zip(offset, chunk or shape, strict=True))
            block = before[window]
            missing = [(0, n - m) for n, m in zip(chunk or shape, block.shape, strict=True)]
            block = np.pad(block, missing) if any(map(any, missing)) else block
            mask, stored = encoder(filters, block.tobytes())
            data.write_direct_chunk(offset, stored, mask)
            masks.append(mask)
    with h5py.File(path) as file:
        after = raw(file["v"].id)
    assert after.tobytes() == before.tobytes()
    return masks


def raw(data):
    """The elements as they lie in the file, as opaque bytes."""
    file_type = data.get_type()
    values = np.zeros(data.shape, np.dtype(("V", file_type.get_size())))
    data.read(h5py.h5s.ALL, h5py.h5s.ALL, values, mtype=file_type)
    return values


def field(shape, kind):
    """Smooth values with some noise, as weather is."""
    axes = np.meshgrid(*(np.linspace(0, 6, n) for n in shape), indexing="ij", sparse=True)
    noise = np.random.default_rng(1).normal(0, 0.5, shape)
    values = 60 + 50 * np.sin(sum(axes)) + noise
    return values.astype(kind)


def options(**given):
    """Sets filters as h5py's `create_dataset` does."""

    def set_filters(properties):
        shuffle, checksum = given.pop("shuffle", False), given.pop("fletcher32", False)
        if shuffle:
            properties.set_shuffle()
        number, wanted = given.get("compression"), given.get("compression_opts", ())
        if number == "gzip":
            properties.set_deflate(wanted)
        elif number == "lzf":
            properties.set_filter(h5py.h5z.FILTER_LZF, OPTIONAL)
        elif number is not None:
            properties.set_filter(number, OPTIONAL, wanted)
        if checksum:
            properties.set_fletcher32()

    return set_filters


LOSSLESS = {
    **{f"deflate_{n}": {"compression": "gzip", "compression_opts": n} for n in range(10)},
    "checked": {
        "compression": "gzip",
        "compression_opts": 1,
        "shuffle": True,
        "fletcher32": True,
    },
    "shuffle": {"shuffle": True},
    "fletcher32": {"fletcher32": True},
    "lzf": {"compression": "lzf", "shuffle": True},
    "bzip2": hdf5plugin.BZip2(5),
    "zstd": hdf5plugin.Zstd(7),
    "lz4": hdf5plugin.LZ4(),
    "lz4_blocks": hdf5plugin.LZ4(nbytes=1000),
    **{
        f"bitshuffle_{name}_{count}": hdf5plugin.Bitshuffle(nelems=count, cname=name)
        for name in ("none", "lz4", "zstd")
        for count in (0, 64)
    },
    **{
        f"blosc_{name}_{shuffle}": hdf5plugin.Blosc(cname=name, clevel=6, shuffle=shuffle)
        for name in ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
        for shuffle in range(3)
    },
    "blosc_stored": hdf5plugin.Blosc(clevel=0),
    **{
        f"blosc2_{name}_{number}": hdf5plugin.Blosc2(cname=name, clevel=6, filters=number)
        for name in ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
        for number in range(4)
    },
    "blosc2_stored": hdf5plugin.Blosc2(clevel=0),
}


@pytest.mark.parametrize("kind", ["u1", ">i2", "f4", "f8"])
@pytest.mark.parametrize("name", LOSSLESS)
def test_lossless_filters(encoder, tmp_path, name, kind):
    shape, chunk = (60, 110), (41, 77)
    values = field(shape, kind)
    file_type = h5py.h5t.py_create(values.dtype)
    masks = check(
        encoder, tmp_path / "f.h5", shape, file_type, values, options(**LOSSLESS[name]), chunk
    )
    if name.partition("_")[0] not in ("blosc", "blosc2", "lzf"):
        assert masks == [0] * 4


@pytest.mark.parametrize("name", LOSSLESS)
def test_chunks_of_noise_and_of_one_value(encoder, tmp_path, name):
    values = np.random.default_rng(2).integers(0, 1 << 32, (2, 70_000), "u4")
    values[1] = 7
    check(
        encoder,
        tmp_path / "f.h5",
        values.shape,
        h5py.h5t.STD_U32LE,
        values,
        options(**LOSSLESS[name]),
        (1, 70_000),
    )


@pytest.mark.parametrize("mask", [NN, EC])
@pytest.mark.parametrize("pixels", [2, 8, 10, 32])
@pytest.mark.parametrize("kind", ["u1", "<i2", ">u2", "<i4", ">f4", "<f8"])
@pytest.mark.parametrize("shape", [(12, 20), (3, 333), (5000,), (2, 3, 4, 600)])
def test_szip(encoder, tmp_path, shape, kind, pixels, mask):
    for number, values in enumerate([field(shape, kind), np.zeros(shape, kind)]):
        if number:
            values.flat[:: values.size // 3] = 3
        file_type = h5py.h5t.py_create(values.dtype)
        masks = check(
            encoder,
            tmp_path / f"{number}.h5",
            shape,
            file_type,
            values,
            lambda properties: properties.set_szip(mask, pixels),
        )
        # Smooth as they are, some gain nothing.
        assert masks == [0] or not number


def narrow(base, order, precision, offset):
    """A number of which only some bits are significant."""
    file_type = base.copy()
    file_type.set_order(order)
    file_type.set_precision(precision)
    file_type.set_offset(offset)
    return file_type


@pytest.mark.parametrize("order", [h5py.h5t.ORDER_LE, h5py.h5t.ORDER_BE])
@pytest.mark.parametrize(
    ("base", "precision", "offset"),
    [
        (h5py.h5t.STD_I32LE, 17, 4),
        (h5py.h5t.STD_I32LE, 32, 0),
        (h5py.h5t.STD_U16LE, 10, 3),
        (h5py.h5t.STD_U16LE, 8, 8),
        (h5py.h5t.STD_I64LE, 33, 31),
        (h5py.h5t.STD_U8LE, 1, 7),
    ],
)
def test_nbit(encoder, tmp_path, base, precision, offset, order):
    values = np.arange(221) * 37 % (1 << min(precision - 1, 12) or 1)
    file_type = narrow(base, order, precision, offset)
    values = values.astype(base.dtype)
    masks = check(encoder, tmp_path / "f.h5", (221,), file_type, values, set_nbit)
    assert masks == [0]


def test_nbit_of_compounds(encoder, tmp_path):
    file_type = h5py.h5t.create(h5py.h5t.COMPOUND, 16)
    file_type.insert(b"a", 0, narrow(h5py.h5t.STD_I32LE, h5py.h5t.ORDER_BE, 17, 4))
    file_type.insert(b"s", 4, h5py.h5t.C_S1)
    short = narrow(h5py.h5t.STD_U16LE, h5py.h5t.ORDER_LE, 9, 2)
    file_type.insert(b"v", 6, h5py.h5t.array_create(short, (3,)))
    file_type.insert(b"f", 12, h5py.h5t.IEEE_F32LE)
    values = np.zeros(40, [("a", "i4"), ("s", "S1"), ("v", "u2", 3), ("f", "f4")])
    values["a"] = np.arange(40) * 1001 - 20000
    values["s"] = [b"xyz"[i % 3 : i % 3 + 1] for i in range(40)]
    values["v"] = np.arange(120).reshape(40, 3) * 4
    values["f"] = np.arange(40) / 3
    masks = check(encoder, tmp_path / "f.h5", (40,), file_type, values, set_nbit)
    assert masks == [0]


def set_nbit(properties):
    properties.set_filter(h5py.h5z.FILTER_NBIT, OPTIONAL, ())


@pytest.mark.parametrize("fill", [None, 77])
@pytest.mark.parametrize(
    ("kind", "factor"),
    [(kind, 0) for kind in ("i1", "u1", "<i2", ">u2", "<i4", ">u4", "<i8", ">u8")]
    + [("<i4", 10), ("<i4", 32), ("<f4", 2), (">f4", 0), ("<f8", 3), (">f8", 1), ("<f4", 30)],
)
def test_scale_offset(encoder, tmp_path, kind, factor, fill):
    """What libhdf5 has read once, rounded as it may be, stays as it is."""
    values = field((31, 50), kind)
    if fill is not None:
        values[::3] = fill
    data_class = h5py.h5z.SO_FLOAT_DSCALE if "f" in kind else h5py.h5z.SO_INT

    def set_filters(properties):
        if fill is not None:
            properties.set_fill_value(np.array(fill, kind))
        properties.set_scaleoffset(data_class, factor)

    file_type = h5py.h5t.py_create(values.dtype)
    masks = check(encoder, tmp_path / "f.h5", values.shape, file_type, values, set_filters)
    assert masks == [0]


@pytest.mark.parametrize("level", range(1, 10))
@pytest.mark.parametrize("kind", ["u1", "i2", "f4", "f8", "rounded", "text", "packed"])
def test_deflate_is_at_most_a_twentieth_larger_than_zlibs(encoder, kind, level):
    if kind == "text":
        chunk, size = b"".join(path.read_bytes() for path in Path(__file__).parent.glob("*.py")), 1
    else:
        values = field((300, 500), "f8")
        if kind == "rounded":
            values = np.round(values, 1).astype("f4")
        elif kind == "packed":
            values = (values * 100).astype("i2")
        else:
            values = values.astype(kind)
        chunk, size = values.tobytes(), values.dtype.itemsize
    rest = len(chunk) % size
    shuffled = np.frombuffer(chunk[: len(chunk) - rest], "u1").reshape(-1, size).T.tobytes()
    mask, stored = encoder([(2, 0, [size]), (1, 0, [level])], chunk)
    assert mask == 0
    assert zlib.decompress(stored) == shuffled
    assert len(stored) <= 1.05 * len(zlib.compress(shuffled, level))
