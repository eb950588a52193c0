"""The rows on the C interface: one program in C, on Debian's libnetcdf and on ours."""

import functools
import os
import shutil
import statistics
import subprocess
from pathlib import Path

import data
import h5py
import hdf5plugin
import numpy as np
from rows import ROOT, compiled, once, row, warm
from writing import climate

FOLDER = data.FOLDER / "capi"
#: The libraries take turns so often.
TURNS = 3
LAYOUTS = ("classic", "contiguous", "chunked", "deflated")


def in_folder(name):
    FOLDER.mkdir(parents=True, exist_ok=True)
    return FOLDER / name


def program():
    """The works, as `capi/work.c` has them."""
    return compiled("capi/work.c", in_folder("work"))


@functools.cache
def ours():
    """The environment in which programs find our library under the names that they ask for."""
    subprocess.run(["cargo", "build", "--release", "-p", "isotach-libnetcdf"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    for soname in ("libnetcdf.so.19", "libnetcdf.so.22"):
        link = in_folder(soname)
        link.unlink(missing_ok=True)
        link.symlink_to(target.absolute() / "release/libnetcdf.so")
    return os.environ | {"LD_LIBRARY_PATH": str(FOLDER)}


def seconds_of(environment, *command):
    command = [str(argument) for argument in (program(), *command)]
    printed = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    ).stdout
    return float(printed.split()[1])


def turns(measure):
    """Median of what `measure` gives in our environment and in the usual one, in turns."""
    environments = {"isotach": ours(), "libnetcdf": dict(os.environ)}
    found = {name: [] for name in environments}
    for _ in range(TURNS):
        for name, environment in environments.items():
            found[name].append(measure(environment))
    ours_, theirs = (statistics.median(times) for times in found.values())
    return ours_, {"libnetcdf": theirs}


def compared(*command):
    return turns(lambda environment: seconds_of(environment, *command))


def square(numbers, layout):
    """`v(5000, 5000)` of `doubles` or `floats`, by the original library."""

    def write(path):
        seconds_of(dict(os.environ), f"create-{numbers}", path, layout)

    return warm(data.made(f"capi_{numbers}_{layout}.nc", write))


@row
def capi_opening():
    path = warm(data.many_variables(4000))
    work = "4,000 variables with 10 attributes through C"
    yield f"open and close {work}", "1/1000", *compared("open-and-close", path)
    yield f"inquire and read all of {work}", "1/20", *compared("inquire-everything", path)
    path = warm(data.many_attributes())
    work = "open 10,000 attributes of 100 doubles through C, nc_inq_natts"
    yield work, "1/100", *compared("count-attributes", path)


@row
def capi_creating():
    for name, shown in (
        ("wrf-chemistry", "WRF chemistry, 360 variables"),
        ("wrf-boundary", "WRF boundary"),
        ("many-attributes", "10,000 attributes of 100 doubles"),
    ):
        times = compared(f"create-{name}", in_folder("created.nc"))
        yield f"create and close through C: {shown}", "1/3", *times


@row
def capi_single_values():
    for layout in LAYOUTS:
        times = compared("get-single-values", square("doubles", layout))
        yield f"1 million nc_get_var1_double, {layout}", "1/5", *times


@row
def capi_rows():
    for layout, shown in (("contiguous", "contiguous"), ("chunked", "one chunk")):
        path = in_folder("rows.nc")
        for work, name in (("write", "put-rows"), ("read", "get-rows")):
            times = compared(name, path, layout)
            yield f"{work} 3162 hyperslabs of 1 x 3162 through C, {shown}", "1/2", *times


@row
def capi_every_second():
    for layout in ("contiguous", "chunked"):
        times = compared("get-every-second", square("floats", layout))
        yield f"nc_get_vars with stride 2 over 100 MB, {layout}", "1/5", *times


@row
def capi_whole():
    path = warm(data.deflated(16384, 8192, 256, 512))
    yield "1 GB deflated in one nc_get_var", "1/4", *compared("get-whole", path)


def create_with_h5py(field, chunks):
    with h5py.File(in_folder("zstd.h5"), "w") as file:
        options = hdf5plugin.Zstd(clevel=3)
        file.create_dataset("v", data=field, chunks=chunks, shuffle=True, **options)


@row
def capi_zstd():
    """By h5py: with Debian's libhdf5 its filters refuse, and chunks are stored plain."""
    numbers, path = in_folder("climate"), in_folder("zstd.nc")
    if not numbers.exists():
        climate().tofile(numbers)
    field = np.fromfile(numbers, "f4").reshape(1024, 512, 512)
    for chunks in ((8, 64, 64), (16, 256, 256)):
        ours_, theirs = [], []
        for _ in range(TURNS):
            ours_.append(seconds_of(ours(), "put-zstd", path, numbers, *chunks))
            theirs.append(once(lambda chunks=chunks: create_with_h5py(field, chunks)))
        sizes = [in_folder(name).stat().st_size for name in ("zstd.nc", "zstd.h5")]
        shown = f"{int(np.prod(chunks)) * 4 >> 10:,} KiB (file {sizes[0] / sizes[1]:.3f} of h5py's)"
        times = statistics.median(ours_), {"h5py": statistics.median(theirs)}
        yield f"write 1 GiB of float32, shuffle + zstd 3, chunks of {shown}", "1/3 of h5py", *times


@row
def capi_tools():
    path = warm(data.deflated(16384, 8192, 256, 512))
    copy = in_folder("copy.nc")
    for shown, command in (
        ("nccopy", ["nccopy", path, copy]),
        ("nccopy -d 1 -s", ["nccopy", "-d", "1", "-s", path, copy]),
        ("ncks", ["ncks", "-O", path, copy]),
        ("ncks -L 1", ["ncks", "-O", "-L", "1", path, copy]),
        ("cdo copy", ["cdo", "-s", "-O", "copy", path, copy]),
        ("cdo fldmean", ["cdo", "-s", "-O", "fldmean", path, copy]),
    ):
        if not shutil.which(command[0]):
            continue

        def run(environment, command=command):
            copy.unlink(missing_ok=True)
            return once(
                lambda: subprocess.run(command, env=environment, check=True, capture_output=True)
            )

        yield f"{shown} over 1 GB deflated", "faster", *turns(run)
    copy.unlink(missing_ok=True)
