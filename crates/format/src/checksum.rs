//! The checksums that HDF5 stores with its metadata.
