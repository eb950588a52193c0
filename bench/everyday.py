"""What programs do all day, from Python: no task here may take longer than with netCDF4-python.

One function writes a file, others read the one that netCDF4-python wrote. They are small, so that
much of the time is Python's. Speed is measured by the rows of `writing` and `reading`; these find
slow corners.
"""

import data
import isotach
import netCDF4
import numpy as np
from rows import race, row

TASKS = []
FOLDER = data.FOLDER / "everyday"
FIELD = data.smooth((100, 200, 300)).astype("f4")
WORDS = np.array([f"station {number}" for number in range(100_000)], dtype=object)
FORMATS = ("NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA")


def task(work, **fixed):
    """Registers `function(module, path, **fixed)`: `path` is for what writes, and what reads it."""

    def register(function):
        TASKS.append((work, function, fixed))
        return function

    return register


def path_of(module, function):
    """Writers have a file each for either module; readers read that of netCDF4-python."""
    kind, _, name = function.__name__.partition("_")
    writer = module.__name__ if kind == "write" else "netCDF4"
    return FOLDER / f"{name}.{writer}.nc"


@row
def everyday():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for work, function, fixed in TASKS:
        if function.__name__.startswith("read_"):
            writer = globals()[function.__name__.replace("read_", "write_")]
            writer(netCDF4, path_of(netCDF4, function), **fixed)

        def of(module, function=function, fixed=fixed):
            return lambda: function(module, path_of(module, function), **fixed)

        times = race({"isotach": of(isotach), "netCDF4": of(netCDF4)})
        yield f"from Python: {work}", "faster", times.pop("isotach"), times


def create(module, path, dimensions, **options):
    dataset = module.Dataset(path, "w", **options)
    for name, length in dimensions.items():
        dataset.createDimension(name, length)
    return dataset


def field(module, path, datatype="f4", **options):
    """A new file with the variable `v(t, y, x)`; both come back."""
    dataset = create(module, path, dict(zip("tyx", FIELD.shape, strict=True)))
    return dataset, dataset.createVariable("v", datatype, ("t", "y", "x"), **options)


def reading(work, name, look=lambda variable: variable[:], **fixed):
    """Registers a look at `v` of the file that `write_name` writes."""

    def read(module, path, **_):
        with module.Dataset(path) as dataset:
            return look(dataset["v"])

    read.__name__ = f"read_{name}"
    task(work, **fixed)(read)


@task("write 100,000 strings")
def write_strings(module, path):
    with create(module, path, {"x": None}) as dataset:
        dataset.createVariable("v", str, ("x",))[:] = WORDS


reading("read them", "strings")


@task("write 2,000 strings one by one")
def write_single_strings(module, path):
    with create(module, path, {"x": None}) as dataset:
        variable = dataset.createVariable("v", str, ("x",))
        for number in range(2000):
            variable[number] = WORDS[number]


@task("write 100,000 texts as characters")
def write_characters(module, path):
    characters = module.stringtochar(WORDS.astype("S20"))
    with create(module, path, {"x": len(WORDS), "n": 20}) as dataset:
        dataset.createVariable("v", "S1", ("x", "n"))[:] = characters


@task("read them as strings")
def read_characters(module, path):
    with module.Dataset(path) as dataset:
        return module.chartostring(dataset["v"][:])


@task("write 20,000 sequences")
def write_sequences(module, path):
    values = np.empty(20_000, object)
    for number in range(len(values)):
        values[number] = np.arange(number % 20, dtype="i4")
    with create(module, path, {"x": len(values)}) as dataset:
        sequence = dataset.createVLType(np.int32, "sequence")
        dataset.createVariable("v", sequence, ("x",))[:] = values


reading("read them", "sequences")


@task("write 200,000 compounds")
def write_compounds(module, path):
    dtype = np.dtype([("a", "f8"), ("b", "i4"), ("c", "f4", (3,))], align=True)
    with create(module, path, {"x": None}) as dataset:
        compound = dataset.createCompoundType(dtype, "compound")
        dataset.createVariable("v", compound, ("x",))[:] = np.ones(200_000, dtype)


reading("read them", "compounds")


@task("write a million values of an enumeration")
def write_enumeration(module, path):
    with create(module, path, {"x": 1_000_000}) as dataset:
        kind = dataset.createEnumType(np.uint8, "kind", {"land": 0, "sea": 1})
        variable = dataset.createVariable("v", kind, ("x",), fill_value=0)
        variable[:] = np.ones(1_000_000, "u1")


@task("write 6 million masked numbers, packed and deflated")
def write_packed(module, path):
    dataset, variable = field(module, path, "i2", zlib=True, fill_value=-32768)
    with dataset:
        variable.scale_factor, variable.add_offset = 0.01, 280.0
        variable[:] = np.ma.masked_less(FIELD, 270)


reading("read them", "packed")


@task("write 6 million numbers with a valid range")
def write_ranged(module, path):
    dataset, variable = field(module, path, fill_value=-9999.0)
    with dataset:
        variable.valid_range = np.array([250, 290], "f4")
        variable[:] = FIELD


reading("read them", "ranged")


@task("write 6 million numbers with szip", compression="szip", chunksizes=(10, 100, 100))
@task("write 6 million numbers with fletcher32", fletcher32=True, chunksizes=(10, 100, 100))
@task("write 6 million numbers, big-endian", endian="big")
@task("write 6 million numbers, rounded and deflated", zlib=True, significant_digits=3)
def write_field(module, path, **options):
    dataset, variable = field(module, path, **options)
    with dataset:
        variable[:] = FIELD


reading("read 6 million numbers with szip", "field", compression="szip", chunksizes=(10, 100, 100))
reading(
    "read 6 million numbers with fletcher32", "field", fletcher32=True, chunksizes=(10, 100, 100)
)
reading("read 6 million numbers, big-endian", "field", endian="big")


def records(name):
    """The pair of tasks on records, and those that read them otherwise, for a format."""

    @task(f"write 300 records of 10 variables, {name}", format=name)
    def write_records(module, path, format):
        values = np.arange(500, dtype="f4")
        with create(module, path, {"t": None, "x": 500}, format=format) as dataset:
            variables = [dataset.createVariable(f"v{n}", "f4", ("t", "x")) for n in range(10)]
            for record in range(300):
                for variable in variables:
                    variable[record] = values

    def read(look):
        def read_records(module, path, format):
            with module.Dataset(path) as dataset:
                for number in range(10):
                    look(dataset[f"v{number}"])

        return read_records

    task(f"read them whole, {name}", format=name)(read(lambda v: v[:]))
    task(f"read them one by one, {name}", format=name)(read(lambda v: [v[t] for t in range(300)]))
    task(f"read columns of them, {name}", format=name)(read(lambda v: [v[:, x] for x in range(10)]))
    globals()["write_records"] = write_records


for _name in FORMATS:
    records(_name)


@task("write every second map, then the others, deflated")
def write_strided(module, path):
    dataset, variable = field(module, path, zlib=True, complevel=1, chunksizes=(10, 50, 50))
    with dataset:
        variable[::2] = FIELD[::2]
        variable[1::2] = FIELD[1::2]


_PLACES = list(range(3, 300, 5))
_MASK = np.arange(200) % 7 == 0
reading("read by a list", "strided", lambda v: v[:, :, _PLACES])
reading("read by a stride, a mask and a list", "strided", lambda v: v[3:50:3, _MASK, _PLACES])
reading("read backwards", "strided", lambda v: v[::-1, ::-2, ::-3])
reading("read every second of each axis", "strided", lambda v: v[::2, ::2, ::2])
reading(
    "read 1,000 points", "strided", lambda v: [v[i % 100, i % 200, i % 300] for i in range(1000)]
)


@task("write columns to a contiguous array")
def write_columns(module, path):
    dataset, variable = field(module, path)
    with dataset:
        for y in range(0, 200, 2):
            variable[:, y] = FIELD[:, y]


@task("create 300 groups in groups")
def write_groups(module, path):
    with create(module, path, {}) as dataset:
        for number in range(300):
            group = dataset.createGroup(f"g{number}/h{number}")
            group.createDimension("x", 3)
            variable = group.createVariable("v", "f4", ("x",))
            variable.units = "m"
            variable[:] = 1


@task("read them")
def read_groups(module, path):
    with module.Dataset(path) as dataset:
        return [dataset[f"g{number}/h{number}/v"][:] for number in range(300)]


@task("set 3,000 attributes")
def write_attributes(module, path):
    with create(module, path, {}) as dataset:
        for number in range(3000):
            dataset.setncattr(f"a{number}", f"text {number}")


@task("read them")
def read_attributes(module, path):
    with module.Dataset(path) as dataset:
        return {name: dataset.getncattr(name) for name in dataset.ncattrs()}


@task("define 2,000 dimensions")
def write_dimensions(module, path):
    create(module, path, {f"d{number}": number + 1 for number in range(2000)}).close()


@task("read their lengths")
def read_dimensions(module, path):
    with module.Dataset(path) as dataset:
        return [len(dimension) for dimension in dataset.dimensions.values()]


@task("append 20,000 numbers one by one")
def write_numbers(module, path):
    with create(module, path, {"t": None}) as dataset:
        variable = dataset.createVariable("v", "f8", ("t",))
        for number in range(20_000):
            variable[number] = number


@task("append 500 numbers and sync after each")
def write_synced(module, path):
    with create(module, path, {"t": None}) as dataset:
        variable = dataset.createVariable("v", "f8", ("t",))
        for number in range(500):
            variable[number] = number
            dataset.sync()


@task("write 8 MB in memory and read them")
def write_in_memory(module, path):
    dataset = create(module, path, {"x": 1_000_000}, memory=1024)
    dataset.createVariable("v", "f8", ("x",))[:] = np.arange(1e6)
    with module.Dataset("read", memory=bytes(dataset.close())) as again:
        return again["v"][:]


_HOURS = np.arange(20_000.0)
_DATES = netCDF4.num2date(_HOURS, "hours since 1900-01-01")


@task("20,000 numbers to dates, and back")
def write_dates(module, path):
    module.num2date(_HOURS, "hours since 1900-01-01")
    module.date2num(_DATES, "hours since 1900-01-01")
