"""The rows on writing."""

import statistics
import subprocess
import time

import data
import h5netcdf
import isotach
import netCDF4
import numpy as np
from rows import compiled, once, race, row, rust

FOLDER = data.FOLDER / "written"
#: Files are written in turns so often.
TURNS = 3
LARGE = {
    1: (10_000_000,),
    2: (3162, 3162),
    3: (215, 215, 215),
    4: (56, 56, 56, 56),
    5: (25, 25, 25, 25, 25),
    6: (15, 15, 15, 15, 15, 15),
}


def written(name):
    FOLDER.mkdir(parents=True, exist_ok=True)
    return FOLDER / name


def libnetcdf():
    """The program that does the work of `src/writing.rs` with C libnetcdf."""
    return compiled("rivals/netcdf.c", written("netcdf"))


def seconds_of(layout, chunk, shape, by_rows=False):
    """Median seconds, by writer, of int32 numbers in an array of `shape`.

    The files of ours and of libnetcdf are left in `FOLDER`.
    """
    given = [layout, chunk, *shape]
    work = "rows" if by_rows else "whole"

    def with_libnetcdf(version):
        command = [libnetcdf(), work, written(f"netcdf{version}.nc"), version, *given]
        printed = subprocess.run(
            list(map(str, command)), check=True, capture_output=True, text=True
        ).stdout
        return float(printed.split()[1])

    def with_ours(name):
        return rust(name, written(f"{name}.nc"), *given)["seconds"][0]

    writers = {
        "isotach": lambda: with_ours("write-rows" if by_rows else "write"),
        "write(2)": lambda: with_ours("write-plain"),
        "netCDF-4": lambda: with_libnetcdf(4),
        "netCDF-3": lambda: with_libnetcdf(3),
    }
    found = {name: [] for name in writers}
    for _ in range(TURNS):
        for name, writer in writers.items():
            found[name].append(writer())
    return {name: statistics.median(times) for name, times in found.items()}


@row
def large_arrays():
    for layout in ("contiguous", "chunked"):
        for rank, shape in LARGE.items():
            times = seconds_of(layout, max(shape), shape)
            ours = times.pop("isotach")
            shown = "contiguous" if layout == "contiguous" else "one chunk"
            work = f"write 38 MB of int32 in {rank} dimensions, {shown}"
            yield work, "the fastest", ours, times


@row
def squares():
    for chunk in (8, 16, 32, 64, 128, 256, 512, 791, 1581, 3162):
        times = seconds_of("chunked", chunk, (3162, 3162))
        ours = times.pop("isotach")
        sizes = [written(name).stat().st_size for name in ("write.nc", "netcdf4.nc")]
        if sizes[0] > sizes[1]:
            raise AssertionError(f"{sizes[0]} bytes are more than netCDF-4's {sizes[1]}")
        target = "1/8" if chunk <= 16 else "1/3" if chunk <= 128 else "1/1.3"
        work = f"write 3162 x 3162 int32 in chunks of {chunk} x {chunk}"
        yield work, f"{target} of netCDF-4", ours, {"netCDF-4": times["netCDF-4"]}


@row
def rows_into_one_chunk():
    whole = seconds_of("chunked", 3162, (3162, 3162))["isotach"]
    for layout, shown in (("chunked", "one chunk"), ("contiguous", "a contiguous array")):
        times = seconds_of(layout, 3162, (3162, 3162), by_rows=True)
        ours = times.pop("isotach")
        rivals = {"our single write": whole, "netCDF-4": times["netCDF-4"]}
        target = "1.3 of the single write" if layout == "chunked" else ""
        yield f"write 3162 rows one by one into {shown}", target, ours, rivals


def climate():
    """float32, 1 GiB: 1,024 maps of 512 x 512."""
    field = np.empty((1024, 512, 512), "f4")
    for step in range(0, 1024, 64):
        field[step : step + 64] = data.smooth((64, 512, 512), step)
    return field


def create_compressed(module, path, field, chunks, options):
    with module.Dataset(path, "w") as dataset:
        for name, length in zip("tyx", field.shape, strict=True):
            dataset.createDimension(name, length)
        dataset.createVariable("v", "f4", tuple("tyx"), chunksizes=chunks, **options)[:] = field


def create_with_h5netcdf(path, field, chunks, options):
    names = {"complevel": "compression_opts", "compression": "compression", "shuffle": "shuffle"}
    given = {names[key]: value for key, value in options.items()}
    zstandard = {"compression": 32015, "compression_opts": (given["compression_opts"],)}
    given.update(zstandard if given["compression"] == "zstd" else {"compression": "gzip"})
    with h5netcdf.File(path, "w") as file:
        file.dimensions = dict(zip("tyx", field.shape, strict=True))
        file.create_variable("v", tuple("tyx"), "f4", chunks=chunks, **given)[:] = field


def compressed_by(field, chunks, options):
    """Median seconds of ours, in turns with one try of each rival; and the sizes of the files."""

    def timed(create, name, *module):
        path = written(f"{name}.nc")
        path.unlink(missing_ok=True)
        return once(lambda: create(*module, path, field, chunks, options))

    ours = [timed(create_compressed, "isotach", isotach)]
    times = {"netCDF4": timed(create_compressed, "netCDF4", netCDF4)}
    ours.append(timed(create_compressed, "isotach", isotach))
    times["h5netcdf"] = timed(create_with_h5netcdf, "h5netcdf")
    ours.append(timed(create_compressed, "isotach", isotach))
    return statistics.median(ours), times


@row
def compressed():
    field = climate()
    for compression, level, target in (("zlib", 1, "1/8"), ("zlib", 4, "1/3"), ("zstd", 3, "1/3")):
        for chunks in ((8, 64, 64), (16, 256, 256)):
            options = {"compression": compression, "complevel": level, "shuffle": True}
            ours, rivals = compressed_by(field, chunks, options)
            sizes = [written(f"{name}.nc").stat().st_size for name in ("isotach", "netCDF4")]
            if sizes[0] > 1.05 * sizes[1]:
                raise AssertionError(f"{sizes[0]} bytes are too many beside netCDF4's {sizes[1]}")
            work = (
                f"write 1 GiB of float32, shuffle + {compression} {level}, chunks of"
                f" {int(np.prod(chunks)) * 4 >> 10:,} KiB"
                f" (file {sizes[0] / sizes[1]:.3f} of netCDF4's)"
            )
            yield work, f"{target} of netCDF4", ours, rivals


def create_many(module, path, count=10_000):
    """`count` variables along some of four dimensions, with 10 attributes each."""
    with module.Dataset(path, "w") as dataset:
        for name, length in (("time", None), ("lev", 4), ("lat", 8), ("lon", 16)):
            dataset.createDimension(name, length)
        for number in range(count):
            variable = dataset.createVariable(f"v{number}", "f4", ("time", "lev", "lat", "lon"))
            for attribute in range(5):
                variable.setncattr(f"text_{attribute}", f"value {attribute} of {number}")
                variable.setncattr(f"number_{attribute}", float(number))


@row
def many_variables():
    ours = race({"isotach": lambda: create_many(isotach, written("isotach.nc"))})["isotach"]
    theirs = once(lambda: create_many(netCDF4, written("netCDF4.nc")))
    work = "create 10,000 variables along 4 dimensions, 10 attributes each"
    yield work, "1/10", ours, {"netCDF4": theirs}


def append_records(module, path, count):
    """Seconds of each thousand of `count` records of 50 variables, `sync` after each."""
    seconds = []
    values = np.arange(10, dtype="f4")
    with module.Dataset(path, "w") as dataset:
        dataset.createDimension("time", None)
        dataset.createDimension("x", 10)
        variables = [
            dataset.createVariable(f"v{number}", "f4", ("time", "x"), chunksizes=(1, 10))
            for number in range(50)
        ]
        for first in range(0, count, 1000):
            start = time.perf_counter()
            for record in range(first, first + 1000):
                for variable in variables:
                    variable[record] = values
                dataset.sync()
            seconds.append(time.perf_counter() - start)
    return seconds


@row
def records():
    theirs = append_records(netCDF4, written("netCDF4.nc"), 1_000)[0]
    ours = append_records(isotach, written("isotach.nc"), 10_000)
    work = "append a record to 50 variables and sync"
    yield f"{work}, the first 1,000 of 10,000", "1/3", ours[0], {"netCDF4": theirs}
    rivals = {"netCDF4's first": theirs, "our first": ours[0]}
    yield f"{work}, the last 1,000 of 10,000", "1/3, our first", ours[-1], rivals
