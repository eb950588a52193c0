"""Files for tests, written by netCDF4: python make_data.py KIND PATH

KIND is one of the functions below, with dashes for underscores.
"""

import sys

import netCDF4
import numpy as np


def many_variables(path, count=10_000):
    """Variables along shared dimensions, three attributes each, nothing written to them."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 8)
        file.title = "many variables"
        for number in range(count):
            variable = file.createVariable(f"v{number:05}", "f4", ("time", "x"))
            variable.units = "m s-1"
            variable.scale_factor = np.float64(number)
            variable.long_name = f"variable number {number}"


def some_variables(path):
    """A file as programs write them: everything in one go, 200 variables with data."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 16)
        for number in range(200):
            variable = file.createVariable(f"v{number:03}", "f4", ("x",))
            variable.setncatts({"units": "K", "valid_range": np.array([0, 400], "f4")})
        for number in range(200):
            file.variables[f"v{number:03}"][:] = number


def many_attributes(path):
    """2,000 variables with so many attributes that each has an index and a heap for them."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 16)
        for number in range(2000):
            variable = file.createVariable(f"v{number:04}", "f4", ("x",))
            variable.setncatts({f"a{at}": f"value {at} of {number}" for at in range(10)})


def islands(path):
    """Structures far apart: each variable is defined after the one before it got its 4 MB."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 1_000_000)
        for number in range(12):
            variable = file.createVariable(f"v{number:02}", "f4", ("x",))
            variable[:] = number
            variable.units = "K"
            file.sync()


def _classic(path, format, change):
    with netCDF4.Dataset(path, "w", format=format) as file:
        file.title = "classic"
        file.createDimension("t", None)
        file.createDimension("x", 5)
        file.createDimension("y", 3)
        fixed = file.createVariable("fixed", "i2", ("x",))
        fixed.units = "K"
        records = file.createVariable("records", "i1", ("t", "y"))
        if change != "second":
            file.createVariable("times", "i4", ("t",))[2] = 7
            file.createVariable("scalar", "f8", ())
        fixed[1:3] = [1, 2]
        records[1] = [4, 5, 6]
    if change == "none":
        return
    with netCDF4.Dataset(path, "a") as file:
        file.history = "a header that grows so that all values move behind it"
        file.createVariable("later", "f4", ("t", "x"), fill_value=-1)[0] = range(5)
        file.createVariable("other", "i2", ("y",))


def classic_expected(folder):
    """What libnetcdf writes for the scripts of crates/engine/src/write/classic/tests.rs."""
    formats = {1: "NETCDF3_CLASSIC", 2: "NETCDF3_64BIT_OFFSET", 5: "NETCDF3_64BIT_DATA"}
    for number, format in formats.items():
        for change in ("none", "more", "second"):
            _classic(f"{folder}/{change}_cdf{number}.nc", format, change)


if __name__ == "__main__":
    globals()[sys.argv[1].replace("-", "_")](sys.argv[2])
