//! Classic netCDF: the header as groups, dimensions and variables.
