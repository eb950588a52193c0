#!/usr/bin/env python3
"""The main job on real files: look into them, read maps and time series, beside the usual readers.

The files are the Met Office's and NEMO's sample data that the package `iris-sample-data` ships,
and copies of them in the classic format. Every value is compared before a time is believed.
"""

import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path

import h5netcdf
import iris_sample_data
import isotach
import netCDF4
import numpy as np
import xarray as xr

SAMPLES = Path(iris_sample_data.path)
COPIES = Path(__file__).resolve().parent.parent / ".build/demo"

# File, variable, whether to show the classic copy instead.
PLACES = [
    ("A1B_north_america.nc", "air_temperature", False),
    ("ostia_monthly.nc", "surface_temperature", False),
    ("A1B_north_america.nc", "air_temperature", True),
    ("space_weather.nc", None, False),
]


def command(name, path, *arguments):
    """Runs the `isotach` command in the file's folder as a user would."""
    program = Path(sys.executable).with_name("isotach")
    arguments = [name, path.name, *arguments]
    print(f"$ isotach {shlex.join(arguments)}", flush=True)
    subprocess.run([program, *arguments], check=True, cwd=path.parent)
    print(flush=True)


def classic_copy(path):
    """The same data as a classic file, written by the netCDF library."""
    COPIES.mkdir(parents=True, exist_ok=True)
    copy = COPIES / f"{path.stem}_classic.nc"
    if not copy.exists():
        with xr.open_dataset(path, engine="netcdf4", decode_cf=False) as dataset:
            dataset.to_netcdf(copy, engine="netcdf4", format="NETCDF3_CLASSIC")
    return copy


def spent(work, runs=15):
    """The result of `work`, and the median seconds it takes."""
    result, seconds = work(), []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return result, statistics.median(seconds)


def with_netcdf_interface(module, path, name, key):
    with module.Dataset(path) as dataset:
        dataset.set_auto_maskandscale(False)
        return dataset[name][key]


def with_h5netcdf(path, name, key):
    with h5netcdf.File(path) as file:
        return file.variables[name][key]


def compare(path, name):
    """Reads a map and a time series with every reader and prints how long each took."""
    with netCDF4.Dataset(path) as dataset:
        shape = dataset[name].shape
    middle = tuple(extent // 2 for extent in shape)
    requests = {
        "map": (middle[0], *(slice(None),) * (len(shape) - 1)),
        "time series": (slice(None), *middle[1:]),
        "everything": (slice(None),) * len(shape),
    }
    print(f"{path.name}: {name}{shape}; open, read, close, in milliseconds")
    print(f"{'':14}{'isotach':>10}{'netCDF4':>10}{'h5netcdf':>10}{'netCDF4/isotach':>18}")
    for label, key in requests.items():
        ours, our_time = spent(lambda key=key: with_netcdf_interface(isotach, path, name, key))
        theirs, their_time = spent(lambda key=key: with_netcdf_interface(netCDF4, path, name, key))
        if not np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f"):
            raise SystemExit(f"{path}: {name}: {label} differs from netCDF4")
        other = f"{'-':>10}"
        if path.read_bytes()[:3] != b"CDF":
            _, other_time = spent(lambda key=key: with_h5netcdf(path, name, key))
            other = f"{other_time * 1e3:10.3f}"
        ratio = their_time / our_time
        print(f"{label:14}{our_time * 1e3:10.3f}{their_time * 1e3:10.3f}{other}{ratio:17.1f}x")
    print(flush=True)


def main():
    for file, variable, as_classic in PLACES:
        path = SAMPLES / file
        if as_classic:
            path = classic_copy(path)
        command("info", path)
        if variable:
            compare(path, variable)
    command("explain", SAMPLES / "A1B_north_america.nc", "air_temperature[:,18,24]", "--run")
    command("check", SAMPLES / "ostia_monthly.nc")


if __name__ == "__main__":
    main()
