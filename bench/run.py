#!/usr/bin/env python3
"""Every row of the performance table: ours and the rivals in the same run, warm cache.

    python bench/run.py [--only WORD] [--json FILE]

Times are medians; rivals that need seconds are asked fewer times.  The files are made once by
`bench/data.py` (about 5 GB under .build/bench) and read before anything is timed.  What is written
goes to the same folder, and is deleted again.
"""

import argparse
import json
import os
import platform
import subprocess
import time
from pathlib import Path

import hdf5plugin

# netCDF4-python finds its zstd by this.
os.environ.setdefault("HDF5_PLUGIN_PATH", hdf5plugin.PLUGIN_PATH)

import capi  # noqa: F401 (its rows)
import everyday  # noqa: F401 (its rows)
import h5netcdf
import h5py
import netCDF4
import reading  # noqa: F401 (its rows)
import rows
import writing  # noqa: F401 (its rows)


def seconds(value):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose function's name has this in it")
    parser.add_argument("--json", type=Path, help="also keep the figures here")
    options = parser.parse_args()
    subprocess.run(
        ["cargo", "build", "--release", "-p", "isotach-bench"], cwd=rows.ROOT, check=True
    )
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()},")
    print(
        f"netCDF4 {netCDF4.__version__}, h5py {h5py.__version__}, h5netcdf {h5netcdf.__version__},"
    )
    print(
        f"{time.strftime('%Y-%m-%d')}\n\n| work | to reach | isotach | rivals (time, times ours) |"
    )
    print("| --- | --- | --- | --- |")
    kept = []
    for function in rows.ROWS:
        if options.only not in function.__name__:
            continue
        for work, target, ours, rivals in function():
            beside = ", ".join(f"{k} {seconds(v)} ({v / ours:.3g}x)" for k, v in rivals.items())
            print(f"| {work} | {target} | {seconds(ours)} | {beside} |", flush=True)
            kept.append({"work": work, "target": target, "isotach": ours, "rivals": rivals})
    if options.json:
        options.json.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
