"""Writes the same files into a folder; test_same_bytes.py runs it in several processes."""

import sys

import isotach
import numpy as np

FORMATS = (
    "NETCDF4",
    "NETCDF4_CLASSIC",
    "NETCDF3_CLASSIC",
    "NETCDF3_64BIT_OFFSET",
    "NETCDF3_64BIT_DATA",
)
NOISE = np.random.default_rng(4).standard_normal((16, 200, 300)).astype("f4").round(2)


def define(dataset, is_hdf5):
    dataset.title = "a title"
    dataset.createDimension("t", None)
    dataset.createDimension("y", 200)
    dataset.createDimension("x", 300)
    tiles = {"zlib": True, "complevel": 1, "chunksizes": (1, 100, 100)} if is_hdf5 else {}
    whole = {"zlib": True, "complevel": 1} if is_hdf5 else {}
    plain = {"chunksizes": (2, 200, 300)} if is_hdf5 else {}
    for name, options in {"tiles": tiles, "whole": whole, "plain": plain}.items():
        dataset.createVariable(name, "f4", ("t", "y", "x"), **options)
    dataset.createVariable("fixed", "f8", ("y", "x"))


def fill(dataset):
    tiles, whole, plain = (dataset[name] for name in ("tiles", "whole", "plain"))
    tiles[:6] = NOISE[:6]
    for record in range(6, 16):
        tiles[record] = NOISE[record]
        plain[record - 6] = NOISE[record]
    whole[:] = NOISE
    dataset["fixed"][:] = NOISE[0]
    dataset.sync()
    # Into what was committed, and once more into what was not.
    for _ in range(2):
        tiles[3:9, 50:150, :] = 1.5
        tiles[3:9, 20:170, :] = NOISE[5:11, 20:170]
    dataset["fixed"][:100] = 7
    for number in range(30):
        tiles.setncattr(f"attribute{number}", number)
        dataset.createVariable(f"v{number}", "i4", ("x",))[:] = np.arange(300) + number


def fill_enhanced(dataset):
    for number in range(20):
        group = dataset.createGroup(f"group{number}")
        group.note = "n" * number
        texts = group.createVariable("texts", str, ("y",))
        texts[:] = np.array([f"text {number * index}" for index in range(200)], object)
    lists = dataset.createVariable("lists", dataset.createVLType("i4", "list_t"), ("y",))
    for index in range(100):
        lists[index] = np.arange(index, dtype="i4")
    pair = dataset.createCompoundType(np.dtype([("a", "i4"), ("b", "f8")]), "pair_t")
    dataset.createVariable("pairs", pair, ("x",), zlib=True)[:] = np.zeros(300, pair.dtype)


def change(dataset, is_enhanced):
    dataset["tiles"][16:20] = NOISE[:4]
    dataset["whole"][10:12] = 0
    dataset.renameVariable("v3", "renamed")
    dataset.history = "x" * 5000
    if is_enhanced:
        dataset["lists"][5] = np.arange(1000, dtype="i4")
        dataset["group3"]["texts"][7] = "longer " * 100


def main(folder):
    for format in FORMATS:
        path, is_hdf5 = f"{folder}/{format}.nc", format.startswith("NETCDF4")
        # How long the script takes must not matter.
        with isotach.Dataset(path, "w", format=format, commit_interval=None) as dataset:
            define(dataset, is_hdf5)
            fill(dataset)
            if format == "NETCDF4":
                fill_enhanced(dataset)
        with isotach.Dataset(path, "a", commit_interval=None) as dataset:
            change(dataset, format == "NETCDF4")


if __name__ == "__main__":
    main(sys.argv[1])
