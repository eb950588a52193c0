//! On-disk structures of HDF5 and classic netCDF: bytes to structures, structures to bytes.
//!
//! The first station of every byte that is read after storage delivered it. Nothing here does
//! I/O, starts a thread or uses `unsafe`: a decoder gets the bytes at a structure's address and
//! either returns the structure, says how many bytes it needs ([`ErrorKind::NeedMore`]), or says
//! what is wrong with them. There is one file for each structure.
#![forbid(unsafe_code)]

pub mod checksum;
pub mod classic;
pub mod cursor;
pub mod error;
pub mod hdf5;
pub mod limits;
pub mod output;
pub mod redo;

pub use cursor::Cursor;
pub use error::{Error, ErrorKind, Result};
pub use output::Output;
