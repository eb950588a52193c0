"""Writes the chunks in this folder: stored bytes as h5py and hdf5plugin make them.

Element i of every chunk is i * i // 7, little-endian, of the type that the chunk's name says.
"""

import pathlib
import sys

import h5py
import hdf5plugin
import numpy as np

FOLDER = pathlib.Path(__file__).parent

CHUNKS = {
    "deflate_u4": (500, {"compression": "gzip", "compression_opts": 4}),
    "shuffle_deflate_f8": (501, {"compression": "gzip", "shuffle": True}),
    "fletcher32_u2": (1003, {"fletcher32": True}),
    "fletcher32_u1": (301, {"fletcher32": True}),
    "shuffle_deflate_fletcher32_u4": (
        203,
        {"compression": "gzip", "shuffle": True, "fletcher32": True},
    ),
    "lzf_u4": (1003, {"compression": "lzf", "shuffle": True}),
    "lz4_blocks_u8": (1003, hdf5plugin.LZ4(nbytes=1024)),
    "lz4_u8": (203, hdf5plugin.LZ4()),
    "bzip2_u4": (203, hdf5plugin.BZip2()),
    "zstd_u4": (1003, hdf5plugin.Zstd()),
    "bitshuffle_u4": (203, hdf5plugin.Bitshuffle(cname="none")),
    "bitshuffle_blocks_u2": (203, hdf5plugin.Bitshuffle(nelems=64, cname="none")),
    "bitshuffle_lz4_u8": (1003, hdf5plugin.Bitshuffle(nelems=256, cname="lz4")),
    "bitshuffle_lz4_u1": (1003, hdf5plugin.Bitshuffle(cname="lz4")),
    "bitshuffle_zstd_f4": (4099, hdf5plugin.Bitshuffle(cname="zstd")),
}


def main():
    """Write the chunks, and print what the table in ../chunks.rs says of each."""
    table = []
    with h5py.File("chunks", "w", driver="core", backing_store=False) as file:
        for name, (count, options) in CHUNKS.items():
            kind = name.rsplit("_", 1)[1]
            values = np.arange(count, dtype="u8") ** 2 // 7
            values = values.astype("<" + kind)
            dataset = file.create_dataset(name, data=values, chunks=(count,), **options)
            mask, stored = dataset.id.read_direct_chunk((0,))
            (FOLDER / f"{name}.chunk").write_bytes(stored)
            properties = dataset.id.get_create_plist()
            filters = [properties.get_filter(i) for i in range(properties.get_nfilters())]
            filters = [(number, list(parameters)) for number, _, parameters, _ in filters]
            table.append((name, count, kind, mask, filters))
    for row in table:
        print(*row, file=sys.stdout)


main()
