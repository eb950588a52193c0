//! Reads netCDF-4, classic netCDF and HDF5 files.
