//! HDF5's own objects: groups, links, data sets, attributes, as the file has them.

/// The objects of an open HDF5 file.
pub struct Objects {}
