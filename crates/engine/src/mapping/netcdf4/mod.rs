//! NetCDF-4: dimensions, types, variables and groups over HDF5 objects.
