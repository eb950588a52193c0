//! Files, dimensions and variables.

use std::ffi::{c_char, c_int, c_long};

use super::advise::advise;
use super::version_2;
use crate::boundary::put;
use crate::dimension::{nc_def_dim, nc_inq_dim, nc_inq_dimid, nc_rename_dim};
use crate::file::closing::{nc_abort, nc_close, nc_sync};
use crate::file::creating::nc_create;
use crate::file::definitions::{nc_enddef, nc_redef, nc_set_fill};
use crate::file::inquiry::nc_inq;
use crate::file::opening::nc_open;
use crate::status::Status;
use crate::variable::{nc_def_var, nc_inq_var, nc_inq_varid, nc_rename_var};

version_2! {
    /// Creates a file and gives its id.
    fn nccreate(path: *const c_char, mode: c_int) says(c"filename \"%s\"", path) {
        let mut id = -1;
        nc_create(path, mode, &mut id) => id
    }
    /// Opens a file and gives its id.
    fn ncopen(path: *const c_char, mode: c_int) says(c"filename \"%s\"", path) {
        let mut id = -1;
        nc_open(path, mode, &mut id) => id
    }
    /// Goes to define mode.
    fn ncredef(id: c_int) { nc_redef(id) => 0 }
    /// Goes to data mode.
    fn ncendef(id: c_int) { nc_enddef(id) => 0 }
    /// Stores what was changed.
    fn ncsync(id: c_int) { nc_sync(id) => 0 }
    /// Closes a file and gives up what was defined.
    fn ncabort(id: c_int) { nc_abort(id) => 0 }
    /// Closes a file.
    fn ncclose(id: c_int) { nc_close(id) => 0 }
    /// Sets whether new space is filled, and gives what held before.
    fn ncsetfill(id: c_int, fill: c_int) {
        let mut old = -1;
        nc_set_fill(id, fill, &mut old) => old
    }
    /// Counts what is in a file, and gives its id.
    fn ncinquire(
        id: c_int,
        dimensions: *mut c_int,
        variables: *mut c_int,
        attributes: *mut c_int,
        record: *mut c_int
    ) {
        nc_inq(id, dimensions, variables, attributes, record) => id
    }

    /// Defines a dimension and gives its id.
    fn ncdimdef(id: c_int, name: *const c_char, len: c_long) {
        let mut dimension = -1;
        match usize::try_from(len) {
            Ok(len) => nc_def_dim(id, name, len, &mut dimension),
            Err(_) => Status::EDIMSIZE.0,
        } => dimension
    }
    /// Finds a dimension by its name.
    fn ncdimid(id: c_int, name: *const c_char) {
        let mut dimension = -1;
        nc_inq_dimid(id, name, &mut dimension) => dimension
    }
    /// Gives a dimension's name and length, and its id again.
    fn ncdiminq(id: c_int, dimension: c_int, name: *mut c_char, len: *mut c_long) {
        let mut found = 0;
        nc_inq_dim(id, dimension, name, &mut found) => {
            // The length of what is in memory or in a file fits.
            // SAFETY: the caller's place for a length.
            unsafe { put(len, found as c_long) };
            dimension
        }
    }
    /// Renames a dimension and gives its id again.
    fn ncdimrename(id: c_int, dimension: c_int, name: *const c_char) {
        nc_rename_dim(id, dimension, name) => dimension
    }

    /// Defines a variable and gives its id.
    fn ncvardef(
        id: c_int,
        name: *const c_char,
        data_type: c_int,
        count: c_int,
        dimensions: *const c_int
    ) {
        let mut variable = -1;
        nc_def_var(id, name, data_type, count, dimensions, &mut variable) => variable
    }
    /// Finds a variable by its name.
    fn ncvarid(id: c_int, name: *const c_char) {
        let mut variable = -1;
        nc_inq_varid(id, name, &mut variable) => variable
    }
    /// Says what a variable is, and gives its id again.
    fn ncvarinq(
        id: c_int,
        variable: c_int,
        name: *mut c_char,
        data_type: *mut c_int,
        count: *mut c_int,
        dimensions: *mut c_int,
        attributes: *mut c_int
    ) {
        nc_inq_var(id, variable, name, data_type, count, dimensions, attributes) => variable
    }
    /// Renames a variable and gives its id again.
    fn ncvarrename(id: c_int, variable: c_int, name: *const c_char) {
        nc_rename_var(id, variable, name) => variable
    }
}
