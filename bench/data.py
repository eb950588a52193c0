"""The files that the benchmarks read, written by netCDF4-python; each is made once and kept."""

import os
from pathlib import Path

import netCDF4
import numpy as np

FOLDER = Path(
    os.environ.get("ISOTACH_BENCH_DATA", Path(__file__).resolve().parent.parent / ".build/bench")
)


def made(name, write):
    """The path of the file `name`; `write(path)` makes it where it is not there yet."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / name
    if not path.exists():
        part = path.with_suffix(".part")
        write(part)
        part.rename(path)
    return str(path)


def many_variables(count, attributes=10):
    """`count` small variables, each with `attributes` text attributes."""

    def write(path):
        with netCDF4.Dataset(path, "w") as ds:
            ds.createDimension("x", 10)
            for v in range(count):
                variable = ds.createVariable(f"variable_{v:05d}", "f4", ("x",))
                variable.setncatts(
                    {f"attribute_{a}": f"value {a} of {v}" for a in range(attributes)}
                )

    return made(f"variables_{count}x{attributes}.nc", write)


def many_attributes(count=10_000, doubles=100):
    """`count` global attributes of `doubles` numbers each."""

    def write(path):
        with netCDF4.Dataset(path, "w") as ds:
            for a in range(count):
                ds.setncattr(f"attribute_{a:05d}", np.arange(doubles) + a / count)

    return made(f"attributes_{count}.nc", write)


def smooth(shape, seed=0):
    """Something like a weather field: a travelling wave with noise in the low bits."""
    rng = np.random.default_rng(seed)
    axes = np.meshgrid(*(np.linspace(0, 6, n) for n in shape), indexing="ij", sparse=True)
    field = 280 + 15 * np.sin(sum(a * (i + 1) for i, a in enumerate(axes)))
    return np.round(field + rng.normal(0, 0.05, shape), 2)


def deflated(rows, columns, chunk_rows, chunk_columns):
    """float64 `v(rows, columns)`, shuffled and deflated in chunks of the given shape."""

    def write(path):
        with netCDF4.Dataset(path, "w") as ds:
            ds.createDimension("y", rows)
            ds.createDimension("x", columns)
            chunks = (chunk_rows, chunk_columns)
            variable = ds.createVariable(
                "v", "f8", ("y", "x"), zlib=True, complevel=1, shuffle=True, chunksizes=chunks
            )
            step = max(chunk_rows, 2048 // chunk_rows * chunk_rows)
            for start in range(0, rows, step):
                stop = min(rows, start + step)
                variable[start:stop] = smooth((stop - start, columns), start)

    return made(f"deflated_{rows}x{columns}_{chunk_rows}x{chunk_columns}.nc", write)


def ar4():
    """float32 `pr(1560, 128, 256)`, chunks 256x128x128, deflated (Rew's AR-4 example)."""

    def write(path):
        with netCDF4.Dataset(path, "w") as ds:
            for name, size in (("time", 1560), ("lat", 128), ("lon", 256)):
                ds.createDimension(name, size)
            pr = ds.createVariable(
                "pr",
                "f4",
                ("time", "lat", "lon"),
                zlib=True,
                complevel=1,
                chunksizes=(256, 128, 128),
            )
            for t in range(0, 1560, 256):
                stop = min(1560, t + 256)
                pr[t:stop] = smooth((stop - t, 128, 256), t)

    return made("ar4_pr.nc", write)


def xt():
    """float64 `u(240, 8, 64, 1024)` in netCDF's default chunks, deflated."""

    def write(path):
        with netCDF4.Dataset(path, "w") as ds:
            for name, size in (("t", 240), ("z", 8), ("y", 64), ("x", 1024)):
                ds.createDimension(name, size)
            u = ds.createVariable("u", "f8", ("t", "z", "y", "x"), zlib=True, complevel=1)
            for t in range(0, 240, 80):
                u[t : t + 80] = smooth((80, 8, 64, 1024), t)

    return made("xt_u.nc", write)


def maps(kind):
    """float32 `v(1560, 128, 256)` without compression: `classic` or `contiguous` netCDF-4."""

    def write(path):
        form = "NETCDF3_64BIT_OFFSET" if kind == "classic" else "NETCDF4"
        with netCDF4.Dataset(path, "w", format=form) as ds:
            for name, size in (("time", 1560), ("lat", 128), ("lon", 256)):
                ds.createDimension(name, size)
            options = {} if kind == "classic" else {"contiguous": True}
            v = ds.createVariable("v", "f4", ("time", "lat", "lon"), **options)
            v[:] = smooth((1560, 128, 256))

    return made(f"maps_{kind}.nc", write)


def contiguous(megabytes):
    """float64 `v(n, 8192)`, contiguous; a row is 64 KiB."""

    def write(path):
        rows = megabytes * 16
        with netCDF4.Dataset(path, "w") as ds:
            ds.createDimension("y", rows)
            ds.createDimension("x", 8192)
            v = ds.createVariable("v", "f8", ("y", "x"), contiguous=True)
            for start in range(0, rows, 1024):
                stop = min(rows, start + 1024)
                v[start:stop] = np.random.default_rng(start).normal(size=(stop - start, 8192))

    return made(f"contiguous_{megabytes}.nc", write)


def default_chunks(module, is_unlimited):
    """float32 `v(720, 361, 720)`, deflated, in the chunks that `module` chooses by itself."""

    def write(path):
        with module.Dataset(path, "w") as ds:
            ds.createDimension("time", None if is_unlimited else 720)
            ds.createDimension("lat", 361)
            ds.createDimension("lon", 720)
            v = ds.createVariable("v", "f4", ("time", "lat", "lon"), zlib=True, complevel=1)
            for t in range(0, 720, 80):
                v[t : t + 80] = smooth((80, 361, 720), t)

    kind = "unlimited" if is_unlimited else "fixed"
    return made(f"default_chunks_{module.__name__}_{kind}.nc", write)
