//! Attributes.

use std::ffi::{c_char, c_int, c_void};

use super::advise::advise;
use super::version_2;
use crate::attribute::{nc_copy_att, nc_del_att, nc_get_att, nc_inq_att, nc_inq_attname};
use crate::attribute::{nc_put_att, nc_rename_att};
use crate::boundary::put;
use crate::status::Status;

version_2! {
    /// Sets an attribute.
    fn ncattput(
        id: c_int,
        variable: c_int,
        name: *const c_char,
        data_type: c_int,
        len: c_int,
        values: *const c_void
    ) {
        match usize::try_from(len) {
            Ok(len) => nc_put_att(id, variable, name, data_type, len, values),
            Err(_) => Status::EINVAL.0,
        } => 0
    }
    /// Gives an attribute's type and length.
    fn ncattinq(
        id: c_int,
        variable: c_int,
        name: *const c_char,
        data_type: *mut c_int,
        len: *mut c_int
    ) says(c"ncid %d; varid %d; attname \"%s\"", id, variable, name) {
        let mut found = 0;
        nc_inq_att(id, variable, name, data_type, &mut found) => {
            // SAFETY: the caller's place for a length.
            unsafe { put(len, found as c_int) };
            1
        }
    }
    /// Reads an attribute.
    fn ncattget(id: c_int, variable: c_int, name: *const c_char, values: *mut c_void) {
        nc_get_att(id, variable, name, values) => 1
    }
    /// Copies an attribute.
    fn ncattcopy(
        from: c_int,
        from_variable: c_int,
        name: *const c_char,
        to: c_int,
        to_variable: c_int
    ) says(c"%s", name) {
        nc_copy_att(from, from_variable, name, to, to_variable) => 0
    }
    /// Gives the name of an attribute by its number, and the number again.
    fn ncattname(id: c_int, variable: c_int, number: c_int, name: *mut c_char) {
        nc_inq_attname(id, variable, number, name) => number
    }
    /// Renames an attribute.
    fn ncattrename(id: c_int, variable: c_int, name: *const c_char, new: *const c_char) {
        nc_rename_att(id, variable, name, new) => 1
    }
    /// Deletes an attribute.
    fn ncattdel(id: c_int, variable: c_int, name: *const c_char) {
        nc_del_att(id, variable, name) => 1
    }
}
