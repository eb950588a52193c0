//! Entries for the tables of formats that programs bring along (`netcdf_dispatch.h`), for what such a format
//! does not have: each returns the same whatever it is asked.

use std::ffi::{c_int, c_uint};

use crate::boundary::{answer, put};
use crate::status::Status;

/// Defines functions that look at none of their arguments. C's callers pass those that the header declares
/// and take them back, so that they need no names here.
macro_rules! always {
    ($($status:expr => $($name:ident)*;)*) => {$($(
        #[doc = "Returns the same whatever it is asked."]
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "the names are netCDF's")]
        pub extern "C" fn $name() -> c_int {
            $status
        }
    )*)*};
}

always! {
    // A format that is only read.
    Status::EPERM.0 => NC_RO_create NC_RO_redef NC_RO_def_dim NC_RO_rename_dim NC_RO_def_var
        NC_RO_rename_var NC_RO_def_var_fill NC_RO_put_vara NC_RO_put_att NC_RO_rename_att
        NC_RO_del_att NC_RO_set_fill;
    0 => NC_RO__enddef NC_RO_sync;
    // A format without netCDF-4's model.
    Status::ENOTNC4.0 => NC_NOTNC4_def_grp NC_NOTNC4_rename_grp NC_NOTNC4_inq_ncid
        NC_NOTNC4_inq_grps NC_NOTNC4_inq_grpname NC_NOTNC4_inq_grpname_full
        NC_NOTNC4_inq_grp_parent NC_NOTNC4_inq_grp_full_ncid NC_NOTNC4_inq_varids
        NC_NOTNC4_inq_dimids NC_NOTNC4_inq_typeids NC_NOTNC4_inq_typeid NC_NOTNC4_inq_user_type
        NC_NOTNC4_def_compound NC_NOTNC4_insert_compound NC_NOTNC4_insert_array_compound
        NC_NOTNC4_inq_compound_field NC_NOTNC4_inq_compound_fieldindex NC_NOTNC4_def_vlen
        NC_NOTNC4_put_vlen_element NC_NOTNC4_get_vlen_element NC_NOTNC4_def_enum
        NC_NOTNC4_insert_enum NC_NOTNC4_inq_enum_member NC_NOTNC4_inq_enum_ident
        NC_NOTNC4_def_opaque NC_NOTNC4_def_var_deflate NC_NOTNC4_def_var_fletcher32
        NC_NOTNC4_def_var_endian NC_NOTNC4_def_var_filter NC_NOTNC4_inq_var_filter_ids
        NC_NOTNC4_inq_var_filter_info NC_NOTNC4_def_var_quantize NC_NOTNC4_inq_var_quantize
        NC_NOTNC4_set_var_chunk_cache NC_NOTNC4_get_var_chunk_cache NC_NOTNC4_var_par_access;
    // The one that the original makes a question of writing.
    Status::EPERM.0 => NC_NOTNC4_def_var_chunking;
    // A format without mapped access.
    Status::ENOTNC4.0 => NC_NOTNC3_get_varm NC_NOTNC3_put_varm;
    // A format without filters.
    Status::ENOFILTER.0 => NC_NOOP_inq_var_filter_info NC_NOOP_inq_filter_avail;
}

/// Finds no filter.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the names are netCDF's")]
pub unsafe extern "C" fn NC_NOOP_inq_var_filter_ids(
    _id: c_int,
    _variable: c_int,
    count: *mut usize,
    _filters: *mut c_uint,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's place for a count.
        unsafe { put(count, 0) };
        Ok(())
    })
}
