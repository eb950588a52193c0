"""The rows on reading."""

import os
import statistics
import subprocess
import sys

import data
import h5netcdf
import h5py
import hidefix
import isotach
import netCDF4
import numpy as np
import xarray as xr
from rows import ROOT, median, once, race, row, rust, warm


def list_everything(dataset):
    for variable in dataset.variables.values():
        _ = variable.dimensions
        for name in variable.ncattrs():
            variable.getncattr(name)


def opened(module, path):
    with module.Dataset(path) as dataset:
        list_everything(dataset)


@row
def open_and_close():
    for count in (0, 1000, 4000, 10000):
        path = warm(data.many_variables(count))
        ours = rust("open", path)["open"][0]
        rival = median(lambda path=path: netCDF4.Dataset(path).close(), 3)
        yield f"open and close, {count:,} variables, Rust", "< 100 us", ours, {"netCDF4": rival}


@row
def list_variables():
    path = warm(data.many_variables(4000))
    ours = rust("list", path)["list"][0]
    times = race({m.__name__: lambda m=m: opened(m, path) for m in (isotach, netCDF4)})
    rival = {"netCDF4": times["netCDF4"]}
    yield "list 4,000 variables x 10 attributes, Rust", "1/25", ours, rival
    yield "list 4,000 variables x 10 attributes, Python", "1/6", times["isotach"], rival


@row
def list_attributes():
    def get_all(module):
        with module.Dataset(path) as dataset:
            for name in dataset.ncattrs():
                dataset.getncattr(name)

    path = warm(data.many_attributes())
    ours = rust("list", path)["list"][0]
    times = race({m.__name__: lambda m=m: get_all(m) for m in (isotach, netCDF4)})
    rival = {"netCDF4": times["netCDF4"]}
    yield "list 10,000 attributes of 100 doubles, Rust", "1/20", ours, rival
    yield "list 10,000 attributes of 100 doubles, Python", "1/6", times["isotach"], rival


@row
def xarray_open():
    path = warm(data.many_variables(2000))

    def opened_by(engine):
        return lambda: xr.open_dataset(path, engine=engine).close()

    engines = race({engine: opened_by(engine) for engine in ("isotach", "netcdf4")}, 5)
    engines["h5netcdf"] = once(opened_by("h5netcdf"))
    ours = engines.pop("isotach")
    yield "xr.open_dataset, 2,000 variables", "1/3 of netcdf4, 1/50 of h5netcdf", ours, engines


@row
def contiguous_slabs():
    path = warm(data.contiguous(512))
    for name, (ours, pread) in rust("contiguous", path).items():
        size = int(name.partition("_")[2])
        yield (
            f"contiguous float64 in slabs of {size >> 10:,} KiB",
            "0.95 of pread",
            ours,
            {"pread": pread},
        )


@row
def small_slabs():
    path = warm(data.maps("contiguous"))

    def read(variable):
        for i in range(10_000):
            variable[i % 1560, 10:12, 20:30]

    with isotach.Dataset(path) as ours, netCDF4.Dataset(path) as theirs:
        works = {"isotach": lambda: read(ours["v"]), "netCDF4": lambda: read(theirs["v"])}
        times = race(works)
    ours = times.pop("isotach")
    yield "10,000 reads of one small slab, Python", "1/8", ours, times


def whole_variable(path):
    """Seconds to read all of `v` into a new NumPy array, by reader."""

    def with_netcdf(module):
        with module.Dataset(path) as dataset:
            dataset.set_auto_maskandscale(False)
            return dataset["v"][:]

    def with_h5py():
        with h5py.File(path) as file:
            return file["v"][:]

    def with_h5netcdf():
        with h5netcdf.File(path) as file:
            return file.variables["v"][:]

    def with_hidefix():
        return hidefix.Index(path).dataset("v")[:, :]

    expected = with_h5py()
    for read in (lambda: with_netcdf(isotach), with_hidefix):
        if not np.array_equal(np.asarray(read()).reshape(expected.shape), expected):
            raise AssertionError(f"{path} reads differently")
    del expected
    works = {
        "isotach": lambda: with_netcdf(isotach),
        "netCDF4": lambda: with_netcdf(netCDF4),
        "hidefix": with_hidefix,
    }
    times = race(works, settle=3.0)
    inflated = [rust("inflate", path)["inflate"][0] for _ in range(3)]
    times["libdeflate x 2"] = statistics.median(inflated)
    times["h5py"] = once(with_h5py)
    times["h5netcdf"] = once(with_h5netcdf)
    return times


@row
def deflated():
    rows, columns = 16384, 8192
    for chunk in ((16, 32), (32, 64), (100, 128), (256, 512), (1024, 2048)):
        path = warm(data.deflated(rows, columns, *chunk))
        size = chunk[0] * chunk[1] * 8
        times = whole_variable(path)
        ours = times.pop("isotach")
        target = "1/4 of netCDF4"
        if size >= 100_000:
            target += ", < hidefix, libdeflate / 0.85"
        yield f"1 GB float64, shuffle + deflate, chunks of {size >> 10:,} KiB", target, ours, times


def series(variable, count, seed=1):
    rng = np.random.default_rng(seed)
    for y, x in zip(rng.integers(0, 128, count), rng.integers(0, 256, count), strict=True):
        variable[:, int(y), int(x)]


@row
def ar4_series():
    path = warm(data.ar4())
    with netCDF4.Dataset(path) as dataset:
        dataset.set_auto_maskandscale(False)
        rival = median(lambda: series(dataset["pr"], 20), 3) / 20
    for budget, target in (
        (None, "1/50"),
        (4 << 20, "1/3.5"),
        (64 << 20, "never slower with more"),
    ):
        code = (
            "import sys, time; sys.path.insert(0, 'bench'); import isotach, reading\n"
            f"ds = isotach.Dataset({path!r}); ds.set_auto_maskandscale(False)\n"
            "v = ds['pr']; start = time.perf_counter(); reading.series(v, 200)\n"
            "print((time.perf_counter() - start) / 200)"
        )
        environment = dict(os.environ)
        if budget:
            environment["ISOTACH_CACHE"] = str(budget)
        printed = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=environment, check=True, capture_output=True
        )
        label = "default budget" if budget is None else f"budget {budget >> 20} MiB"
        yield (
            f"AR-4, one time series of 200, {label}",
            target,
            float(printed.stdout),
            {"netCDF4": rival},
        )


@row
def xt_slices():
    def slices(variable, levels, rows):
        for z in levels:
            for y in rows:
                variable[:, z, y, :]

    path = warm(data.xt())

    def sliced(module, levels, rows):
        with module.Dataset(path) as dataset:
            dataset.set_auto_maskandscale(False)
            slices(dataset["u"], levels, rows)

    works = {
        "few": lambda: sliced(netCDF4, range(1), range(4)),
        "isotach": lambda: sliced(isotach, range(8), range(64)),
    }
    times = race(works)
    ours, few = times["isotach"], times["few"]
    work = "every x-t slice of u(240,8,64,1024), default chunks (netCDF4: 4 slices x 128)"
    yield work, "1/150", ours, {"netCDF4": few * 128}


@row
def map_series():
    def opened_for_series(module, path):
        # Opened anew each time: nothing of the file is in a cache.
        with module.Dataset(path) as dataset:
            dataset.set_auto_maskandscale(False)
            series(dataset["v"], 1000)

    for kind in ("classic", "contiguous"):
        path = warm(data.maps(kind))
        modules = (isotach, netCDF4)
        times = race(
            {m.__name__: lambda m=m, path=path: opened_for_series(m, path) for m in modules}
        )
        ours = times.pop("isotach")
        yield f"1,000 random time series across maps, {kind}", "1/5", ours, times


@row
def default_chunks():
    """Maps and series out of files whose chunks nobody chose, all read by netCDF4-python."""

    def read(path, pick):
        with netCDF4.Dataset(path) as dataset:
            dataset.set_auto_maskandscale(False)
            variable = dataset["v"]
            for turn in range(5):
                pick(variable, 97 * turn)

    def chunks_of(path):
        with netCDF4.Dataset(path) as dataset:
            return " x ".join(map(str, dataset["v"].chunking()))

    for is_unlimited in (True, False):
        paths = {
            name: warm(data.default_chunks(module, is_unlimited))
            for name, module in (("isotach", isotach), ("libnetcdf", netCDF4))
        }
        for what, pick in (
            ("map", lambda v, n: v[n]),
            ("series", lambda v, n: v[:, n % 361, n]),
        ):
            times = race({name: lambda p=p, g=pick: read(p, g) for name, p in paths.items()})
            shape = "v(time, 361, 720)" if is_unlimited else "v(720, 361, 720)"
            work = (
                f"one {what} of {shape} by netCDF4-python, default chunks"
                f" {chunks_of(paths['isotach'])} (libnetcdf's {chunks_of(paths['libnetcdf'])})"
            )
            yield work, "", times["isotach"] / 5, {"libnetcdf's chunks": times["libnetcdf"] / 5}
