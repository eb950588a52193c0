"""Makes data/*.case: chunks as h5py and hdf5plugin store them, with what they decode to.

Needs h5py (with szip), hdf5plugin and numpy. A case is, all numbers little-endian and of 4 bytes:
count of filters; for each its identifier, count of parameters, parameters; length of the stored
chunk, the chunk; length of the decoded chunk, the chunk.
"""

import functools
import pathlib
import struct

import h5py
import hdf5plugin
import numpy as np

DATA = pathlib.Path(__file__).parent / "data"
MEMORY = h5py.File("fixtures", "w", driver="core", backing_store=False)

NN, EC = h5py.h5z.SZIP_NN_OPTION_MASK, h5py.h5z.SZIP_EC_OPTION_MASK


def write_case(name, dataset):
    """One chunk, which is the whole dataset, and its values as libhdf5 reads them."""
    assert dataset.chunks == dataset.shape
    property_list = dataset.id.get_create_plist()
    filters = [property_list.get_filter(i) for i in range(property_list.get_nfilters())]
    mask, stored = dataset.id.read_direct_chunk((0,) * dataset.ndim)
    if mask != 0:
        print(f"{name}: libhdf5 stored the chunk as it is, no case made")
        return
    file_type = dataset.id.get_type()
    decoded = np.zeros(dataset.shape, np.dtype(("V", file_type.get_size())))
    dataset.id.read(h5py.h5s.ALL, h5py.h5s.ALL, decoded, mtype=file_type)
    case = struct.pack("<I", len(filters))
    for number, _, parameters, _ in filters:
        case += struct.pack(f"<II{len(parameters)}I", number, len(parameters), *parameters)
    for part in (stored, decoded.tobytes()):
        case += struct.pack("<I", len(part)) + part
    (DATA / f"{name}.case").write_bytes(case)


def create(name, values, file_type, set_filter):
    """A dataset of one chunk of the low-level type `file_type`."""
    property_list = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    property_list.set_chunk(values.shape)
    set_filter(property_list)
    space = h5py.h5s.create_simple(values.shape)
    identifier = h5py.h5d.create(MEMORY.id, name.encode(), file_type, space, property_list)
    identifier.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(values))
    write_case(name, h5py.Dataset(identifier))


def set_szip(mask, pixels, property_list):
    """Szip with its own settings, which h5py's function takes."""
    property_list.set_szip(mask, pixels)


def szip():
    """Sample sizes, byte orders, and every way to code a block."""
    rows = np.arange(240).reshape(12, 20)
    wavy = (np.sin(rows / 9) * 90 + 100).round()
    sparse = np.where(rows % 47 == 0, 5, 0)
    noise = np.random.default_rng(4).integers(0, 250, rows.shape) * (rows > 120)
    for name, values, kind, mask, pixels in [
        ("u1_nn", wavy, "u1", NN, 8),
        ("u1_ec", wavy // 16, "u1", EC, 8),
        ("u2_be", wavy * 50, ">u2", NN, 4),
        ("u2_le", wavy * 5, "<u2", EC, 16),
        ("i4", wavy - 90, "<i4", NN, 10),
        ("f4_be", wavy // 7, ">f4", NN, 16),
        ("f8", wavy // 7, "<f8", EC, 32),
        ("zeros", rows * 0, "u2", NN, 2),
        ("pairs", sparse, "u2", NN, 4),
        ("pairs_ec", rows % 3 // 2, "u1", EC, 6),
        ("noise", noise, "u1", NN, 8),
    ]:
        values = values.astype(kind)
        create(
            f"szip_{name}",
            values,
            h5py.h5t.py_create(values.dtype),
            functools.partial(set_szip, mask, pixels),
        )


def narrow(base, order, precision, offset):
    """A number of which only some bits are significant."""
    file_type = base.copy()
    file_type.set_order(order)
    file_type.set_precision(precision)
    file_type.set_offset(offset)
    return file_type


def set_nbit(property_list):
    """Nbit, for which h5py has no function of its own."""
    property_list.set_filter(h5py.h5z.FILTER_NBIT, h5py.h5z.FLAG_OPTIONAL, ())


def nbit():
    """Numbers, arrays and compounds of few significant bits."""
    little, big = h5py.h5t.ORDER_LE, h5py.h5t.ORDER_BE
    signed, short = h5py.h5t.STD_I32LE, h5py.h5t.STD_U16LE
    real = h5py.h5t.IEEE_F32LE.copy()
    real.set_fields(26, 20, 6, 7, 13)
    real.set_offset(7)
    real.set_precision(20)
    real.set_ebias(31)
    wide = h5py.h5t.create(h5py.h5t.COMPOUND, 16)
    wide.insert(b"a", 0, narrow(signed, little, 17, 4))
    wide.insert(b"s", 4, h5py.h5t.C_S1)
    wide.insert(b"v", 6, h5py.h5t.array_create(narrow(short, big, 9, 2), (3,)))
    wide.insert(b"f", 12, h5py.h5t.IEEE_F32LE)
    memory = np.zeros(40, [("a", "i4"), ("s", "S1"), ("v", "u2", 3), ("f", "f4")])
    memory["a"] = np.arange(40) * 1001 - 20000
    memory["s"] = [b"xyz"[i % 3 : i % 3 + 1] for i in range(40)]
    memory["v"] = np.arange(120).reshape(40, 3) * 4
    memory["f"] = np.arange(40) / 3
    values = np.arange(80, dtype="i4") * 701 - 28000
    for name, data, file_type in [
        ("i4", values, narrow(signed, little, 17, 4)),
        ("i4_be", values, narrow(signed, big, 19, 7)),
        ("u2_be", (values & 1023).astype("u2"), narrow(short, big, 10, 3)),
        ("f4", values.astype("f4") / 7, real),
        ("array", memory["v"].copy(), None),
        ("compound", memory, wide),
        ("whole", values, signed),
    ]:
        if file_type is None:
            file_type = narrow(short, little, 9, 1)
        create(f"nbit_{name}", data, file_type, set_nbit)


def scale_offset():
    """Whole and decimal numbers, with and without fill value."""
    values = (np.arange(300).reshape(15, 20) * 37) % 501 - 250
    for name, kind, factor, fill in [
        ("i1", "i1", 0, None),
        ("u2_be", ">u2", 0, 77),
        ("i4", "<i4", 0, -100),
        ("i4_10_bits", "<i4", 10, None),
        ("i4_all_bits", "<i4", 32, None),
        ("i8_be", ">i8", 0, -3),
        ("f4", "<f4", 2, None),
        ("f4_fill", ">f4", 1, -5.5),
        ("f8", "<f8", 3, 12.25),
        ("f8_be", ">f8", 1, None),
    ]:
        data = (values / 8 if "f" in kind else values).astype(kind)
        dataset = MEMORY.create_dataset(
            f"so_{name}", data=data, chunks=data.shape, scaleoffset=factor, fillvalue=fill
        )
        write_case(f"scale_offset_{name}", dataset)
    one = np.full((30,), 9, "u4")
    dataset = MEMORY.create_dataset("so_one", data=one, chunks=one.shape, scaleoffset=0)
    write_case("scale_offset_one_value", dataset)


def blosc():
    """Every codec and shuffle of Blosc 1."""
    count = 1200
    smooth = (np.sin(np.arange(count) / 40) * 500) // 40
    for codec in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]:
        for shuffle, kind in [(0, "u1"), (1, "i2"), (2, "f4")]:
            options = hdf5plugin.Blosc(cname=codec, clevel=5, shuffle=shuffle)
            data = smooth.astype(kind)[: 900 // np.dtype(kind).itemsize + 3]
            name = f"blosc_{codec}_{kind}"
            dataset = MEMORY.create_dataset(name, data=data, chunks=data.shape, **options)
            write_case(name, dataset)
    data = np.random.default_rng(2).integers(0, 1 << 30, 100)
    options = hdf5plugin.Blosc(cname="lz4", clevel=5)
    dataset = MEMORY.create_dataset("blosc_stored", data=data, chunks=data.shape, **options)
    write_case("blosc_stored", dataset)


def blosc2():
    """Every codec and filter of Blosc 2, ranks, and chunks of one value."""
    smooth = (np.sin(np.arange(1300) / 40) * 500).round()
    shapes = [(250,), (17, 15), (5, 7, 6), (3, 4, 5, 4)]
    number = 0
    for codec in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]:
        for filter_code, kind in [(0, "u1"), (1, "i2"), (2, "f4"), (3, "i4")]:
            shape = shapes[number % len(shapes)]
            number += 1
            data = smooth[: np.prod(shape)].reshape(shape).astype(kind)
            options = hdf5plugin.Blosc2(cname=codec, clevel=5, filters=filter_code)
            name = f"blosc2_{codec}_{filter_code}_{kind}"
            dataset = MEMORY.create_dataset(name, data=data, chunks=shape, **options)
            write_case(name, dataset)
    shape = (17, 15)
    for name, data in [
        ("zeros", np.zeros(shape, "f4")),
        ("zeros_1d", np.zeros(300, "i2")),
        ("nan", np.full(shape, np.nan, "f8")),
        ("same", np.full(shape, 7.5, "f4")),
        ("stored", np.random.default_rng(3).integers(0, 1 << 30, (7, 9))),
    ]:
        options = hdf5plugin.Blosc2(cname="zstd", clevel=5)
        dataset = MEMORY.create_dataset("b2" + name, data=data, chunks=data.shape, **options)
        write_case(f"blosc2_{name}", dataset)


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    szip()
    nbit()
    scale_offset()
    blosc()
    blosc2()
