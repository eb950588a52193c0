//! Dimensions and variables: their ids, names and storage, and which fault each format tells first. The
//! expected numbers are what libnetcdf 4.9.0 answers.

mod support;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use support::*;
use tempfile::TempDir;

const NC_CHUNKED: c_int = 0;
const NC_CONTIGUOUS: c_int = 1;
const NC_COMPACT: c_int = 2;

const NC_FILL: c_int = 0;

const OK: c_int = 0;

/// A file in a folder of its own.
struct Dataset {
    folder: TempDir,
    id: c_int,
}

impl Dataset {
    fn new(format: c_int) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut id = 0;
        let path = path_in(&folder);
        // SAFETY: a string and a place for an id.
        assert_eq!(unsafe { nc_create(path.as_ptr(), format, &mut id) }, OK);
        Self { folder, id }
    }

    /// Closes it and opens it again, for reading or for changing it.
    fn reopen(&mut self, flags: c_int) {
        assert_eq!(nc_close(self.id), OK);
        let path = path_in(&self.folder);
        // SAFETY: a string and a place for an id.
        assert_eq!(unsafe { nc_open(path.as_ptr(), flags, &mut self.id) }, OK);
    }
}

fn path_in(folder: &TempDir) -> CString {
    c_path(&folder.path().join("file.nc"))
}

/// What an inquiry with one result gives: the result, or the status.
fn ask<T: Default>(inquire: impl FnOnce(*mut T) -> c_int) -> Result<T, Status> {
    let mut result = T::default();
    match inquire(&mut result) {
        OK => Ok(result),
        status => Err(Status(status)),
    }
}

fn ask_name(inquire: impl FnOnce(*mut c_char) -> c_int) -> Result<String, Status> {
    let mut name = [0; 257];
    match inquire(name.as_mut_ptr()) {
        // SAFETY: the call wrote a name with its zero.
        OK => Ok(unsafe { CStr::from_ptr(name.as_ptr()) }.to_str().unwrap().to_owned()),
        status => Err(Status(status)),
    }
}

fn define_dimension(group: c_int, name: &str, len: usize) -> Result<c_int, Status> {
    // SAFETY: a string and a place for an id.
    ask(|id| unsafe { nc_def_dim(group, c(name).as_ptr(), len, id) })
}

fn define_variable(group: c_int, name: &str, of: c_int, along: &[c_int]) -> Result<c_int, Status> {
    let rank = along.len().try_into().unwrap();
    // SAFETY: a string, as many ids, and a place for an id.
    ask(|id| unsafe { nc_def_var(group, c(name).as_ptr(), of, rank, along.as_ptr(), id) })
}

fn dimension_id(group: c_int, name: &str) -> Result<c_int, Status> {
    // SAFETY: a string and a place for an id.
    ask(|id| unsafe { nc_inq_dimid(group, c(name).as_ptr(), id) })
}

fn variable_id(group: c_int, name: &str) -> Result<c_int, Status> {
    // SAFETY: a string and a place for an id.
    ask(|id| unsafe { nc_inq_varid(group, c(name).as_ptr(), id) })
}

fn rename_dimension(group: c_int, id: c_int, name: &str) -> Status {
    // SAFETY: a string.
    Status(unsafe { nc_rename_dim(group, id, c(name).as_ptr()) })
}

fn rename_variable(group: c_int, id: c_int, name: &str) -> Status {
    // SAFETY: a string.
    Status(unsafe { nc_rename_var(group, id, c(name).as_ptr()) })
}

fn set_chunks(group: c_int, id: c_int, kind: c_int, shape: Option<&[usize]>) -> Status {
    let shape = shape.map_or(null(), <[usize]>::as_ptr);
    // SAFETY: NULL or a length for each dimension.
    Status(unsafe { nc_def_var_chunking(group, id, kind, shape) })
}

/// Kind and shape; places that were not written are 77.
fn chunks(group: c_int, id: c_int) -> (c_int, [usize; 3]) {
    let mut shape = [77; 3];
    // SAFETY: places for at least as many lengths as there are dimensions.
    let kind = ask(|kind| unsafe { nc_inq_var_chunking(group, id, kind, shape.as_mut_ptr()) });
    (kind.unwrap(), shape)
}

fn add_filter(group: c_int, id: c_int, filter: u32, parameters: &[u32]) -> Status {
    // SAFETY: as many parameters.
    Status(unsafe { nc_def_var_filter(group, id, filter, parameters.len(), parameters.as_ptr()) })
}

/// All filters with their parameters, in order.
fn filters(group: c_int, id: c_int) -> Vec<(u32, Vec<u32>)> {
    let mut ids = [0; 8];
    // SAFETY: more places than the tests have filters.
    let count = ask(|count| unsafe { nc_inq_var_filter_ids(group, id, count, ids.as_mut_ptr()) });
    let with_parameters = |&filter: &u32| {
        let mut found = [0; 16];
        let found_at = found.as_mut_ptr();
        // SAFETY: more places than the tests have parameters.
        let count =
            ask(|count| unsafe { nc_inq_var_filter_info(group, id, filter, count, found_at) });
        (filter, found[..count.unwrap()].to_vec())
    };
    ids[..count.unwrap()].iter().map(with_parameters).collect()
}

fn set_fill<T>(group: c_int, id: c_int, no_fill: c_int, value: Option<T>) -> Status {
    let value = value.as_ref().map_or(null(), |value| (value as *const T).cast::<c_void>());
    // SAFETY: NULL or an element of the variable's type.
    Status(unsafe { nc_def_var_fill(group, id, no_fill, value) })
}

/// The mode and the value; a value that was not written is -1.
fn fill(group: c_int, id: c_int) -> (c_int, f32) {
    let mut value = -1.0_f32;
    // SAFETY: places for a mode and a float, which the variables are of.
    let mode = ask(|mode| unsafe { nc_inq_var_fill(group, id, mode, (&raw mut value).cast()) });
    (mode.unwrap(), value)
}

fn endianness(group: c_int, id: c_int) -> Result<c_int, Status> {
    // SAFETY: a place for a number.
    ask(|endianness| unsafe { nc_inq_var_endian(group, id, endianness) })
}

#[test]
fn dimensions_have_ids_of_the_whole_file_and_are_seen_from_below() {
    let mut file = Dataset::new(NC_NETCDF4);
    let root = file.id;
    let group = |parent, name: &str| {
        // SAFETY: a string and a place for an id.
        ask(|id| unsafe { nc_def_grp(parent, c(name).as_ptr(), id) }).unwrap()
    };
    assert_eq!(define_dimension(root, "x", 4), Ok(0));
    let above = group(root, "above");
    assert_eq!(define_dimension(above, "x", 6), Ok(1));
    assert_eq!(define_dimension(root, "t", 0), Ok(2));
    let below = group(above, "below");
    assert_eq!(define_dimension(below, "u", 0), Ok(3));
    assert_eq!(define_variable(below, "v", NC_INT, &[0, 2, 3]), Ok(0));
    assert_eq!(define_variable(below, "w", NC_INT, &[1]), Ok(1));
    assert_eq!(define_variable(root, "v", NC_INT, &[3]), Ok(0));

    let check = |root: c_int, below: c_int| {
        assert_eq!(dimension_id(below, "x"), Ok(1));
        assert_eq!(dimension_id(below, "t"), Ok(2));
        assert_eq!(dimension_id(root, "u"), Err(Status::EBADDIM));
        assert_eq!(dimension_id(root, "/above/below/u"), Ok(3), "by its path");
        let ids = |group, with_parents| {
            let (mut count, mut ids) = (0, [-1; 8]);
            // SAFETY: places for a count and all ids.
            let status =
                unsafe { nc_inq_dimids(group, &mut count, ids.as_mut_ptr(), with_parents) };
            assert_eq!(status, OK);
            ids[..count as usize].to_vec()
        };
        assert_eq!(ids(below, 0), [3]);
        assert_eq!(ids(below, 1), [0, 1, 2, 3]);
        let unlimited = |group| {
            let mut ids = [-1; 4];
            // SAFETY: places for a count and all ids.
            let count = ask(|count| unsafe { nc_inq_unlimdims(group, count, ids.as_mut_ptr()) });
            // SAFETY: a place for an id.
            (count.unwrap(), ids[0], ask(|id| unsafe { nc_inq_unlimdim(group, id) }).unwrap())
        };
        assert_eq!(unlimited(root), (1, 2, 2));
        assert_eq!(unlimited(below), (1, 3, 3));
        // An id leads to its dimension from every group.
        // SAFETY: room for a name.
        assert_eq!(ask_name(|name| unsafe { nc_inq_dimname(root, 3, name) }).as_deref(), Ok("u"));
        let mut along = [-1; 4];
        let at = along.as_mut_ptr();
        // SAFETY: room for the ids.
        assert_eq!(unsafe { nc_inq_vardimid(below, 0, at) }, OK);
        assert_eq!(along, [0, 2, 3, -1]);
    };
    check(root, below);
    file.reopen(0);
    // SAFETY: a string and a place for an id.
    let find =
        |group, name| ask(|id| unsafe { nc_inq_grp_ncid(group, c(name).as_ptr(), id) }).unwrap();
    check(file.id, find(find(file.id, "above"), "below"));
}

#[test]
fn names_are_composed_and_checked() {
    let long = "n".repeat(257);
    for format in FORMATS {
        let Dataset { folder: _folder, id: file } = Dataset::new(format);
        assert_eq!(define_dimension(file, "e\u{301}", 2), Ok(0));
        assert_eq!(define_dimension(file, "\u{e9}", 2), Err(Status::ENAMEINUSE));
        assert_eq!(dimension_id(file, "\u{e9}"), Ok(0));
        assert_eq!(define_variable(file, "e\u{301}", NC_INT, &[]), Ok(0));
        assert_eq!(variable_id(file, "\u{e9}"), Ok(0));
        for bad in ["", "/", " a", "a ", "a/b", &"/".repeat(300)] {
            assert_eq!(define_dimension(file, bad, 2), Err(Status::EBADNAME), "{bad:?}");
            assert_eq!(define_variable(file, bad, NC_INT, &[]), Err(Status::EBADNAME), "{bad:?}");
            let is_long = bad.len() > 256 && format & NC_NETCDF4 != 0;
            let fault = if is_long { Status::EMAXNAME } else { Status::EBADNAME };
            assert_eq!(rename_variable(file, 0, bad), fault, "{bad:?}");
        }
        assert_eq!(define_dimension(file, &long, 2), Err(Status::EMAXNAME));
        let sought = if format & NC_NETCDF4 != 0 { Status::EMAXNAME } else { Status::EBADDIM };
        assert_eq!(dimension_id(file, &long), Err(sought));
        // SAFETY: NULL is no name.
        assert_eq!(unsafe { nc_def_dim(file, null(), 1, null_mut()) }, Status::EINVAL.0);
        assert_eq!(nc_close(file), OK);
    }
}

#[test]
fn each_format_tells_its_own_fault_first() {
    for format in FORMATS {
        let (is_classic, is_model) = (format & NC_NETCDF4 == 0, format & NC_CLASSIC_MODEL != 0);
        let mut file = Dataset::new(format);
        assert_eq!(define_dimension(file.id, "x", 2), Ok(0));
        assert_eq!(define_dimension(file.id, "t", 0), Ok(1));
        let second = define_dimension(file.id, "/u", 0);
        let expected = if is_model { Status::EUNLIMIT } else { Status::EBADNAME };
        assert_eq!(second, Err(expected));

        let of_type = |name: &str, of| define_variable(file.id, name, of, &[]);
        assert_eq!(of_type("none", 0), Err(Status::EBADTYPE));
        let unsigned = match format {
            NC_CLASSIC => Err(Status::EBADTYPE),
            _ if is_model => Err(Status::ESTRICTNC3),
            _ => Ok(0),
        };
        assert_eq!(of_type("unsigned", NC_UINT), unsigned);
        let placed = define_variable(file.id, "placed", NC_INT, &[0, 1]);
        assert_eq!(placed.is_err(), is_classic);
        if is_classic {
            assert_eq!(placed, Err(Status::EUNLIMPOS));
        }
        assert_eq!(define_variable(file.id, "bad", NC_INT, &[0, 9]), Err(Status::EBADDIM));
        assert_eq!(define_variable(file.id, "bad", NC_INT, &[-1]), Err(Status::EBADDIM));
        let deep = define_variable(file.id, "/deep", NC_INT, &[0; 33]);
        assert_eq!(deep, Err(if is_classic { Status::EBADNAME } else { Status::EMAXDIMS }));
        let last = define_variable(file.id, "last", NC_INT, &[0]).unwrap();
        assert_eq!(define_variable(file.id, "last", NC_INT, &[9]), Err(Status::ENAMEINUSE));

        // In data mode.
        assert_eq!(nc_enddef(file.id), OK);
        assert_eq!(rename_variable(file.id, last, "less"), Status(OK));
        let longer = if format == NC_NETCDF4 { Status(OK) } else { Status::ENOTINDEFINE };
        assert_eq!(rename_variable(file.id, last, "longer"), longer);
        // The header of a classic file keeps the room for the name that it was written with.
        let back = rename_variable(file.id, last, "las");
        assert_eq!(back, Status(OK));
        let back = rename_variable(file.id, last, "last");
        assert_eq!(back, if is_model { Status::ENOTINDEFINE } else { Status(OK) });
        let shorter = [rename_dimension(file.id, 0, ""), rename_dimension(file.id, 0, "y")];
        assert_eq!(shorter, [Status::EBADNAME, Status(OK)]);
        let longer = if is_classic { Status::ENOTINDEFINE } else { Status(OK) };
        assert_eq!(rename_dimension(file.id, 0, "longer"), longer);
        let late = define_dimension(file.id, "/", 3);
        let closed = if format == NC_NETCDF4 { Status::EBADNAME } else { Status::ENOTINDEFINE };
        assert_eq!(late, Err(closed));

        // Opened for reading.
        file.reopen(0);
        let refused = if is_classic { Status::ENOTINDEFINE } else { Status::EPERM };
        assert_eq!(define_dimension(file.id, "/", 3), Err(refused));
        let refused = if format == NC_NETCDF4 { Status::EPERM } else { Status::ENOTINDEFINE };
        assert_eq!(define_variable(file.id, "/", 3, &[]), Err(refused));
        assert_eq!(rename_dimension(file.id, 9, "/"), Status::EPERM);
        // SAFETY: NULL is no name.
        let nameless = unsafe { nc_rename_var(file.id, 9, null()) };
        assert_eq!(nameless, if is_classic { Status::EPERM.0 } else { Status::EINVAL.0 });
    }
}

#[test]
fn renaming_keeps_ids() {
    for format in FORMATS {
        let mut file = Dataset::new(format);
        define_dimension(file.id, "x", 2).unwrap();
        define_dimension(file.id, "y", 3).unwrap();
        for name in ["a", "b", "x"] {
            define_variable(file.id, name, NC_BYTE, &[0]).unwrap();
        }
        assert_eq!(rename_variable(file.id, 1, "a"), Status::ENAMEINUSE);
        assert_eq!(rename_variable(file.id, 1, "b"), Status::ENAMEINUSE);
        let (free, taken) = match format & NC_NETCDF4 {
            0 => (Status::ENOTVAR, Status::ENAMEINUSE),
            _ => (Status::ENOTVAR, Status::ENOTVAR),
        };
        assert_eq!(rename_variable(file.id, 9, "q"), free);
        assert_eq!(rename_variable(file.id, 9, "a"), taken);
        assert_eq!(rename_variable(file.id, 1, "bb"), Status(OK));
        assert_eq!(rename_dimension(file.id, 0, "y"), Status::ENAMEINUSE);
        assert_eq!(rename_dimension(file.id, 0, "xx"), Status(OK));
        assert_eq!(define_variable(file.id, "b", NC_BYTE, &[1]), Ok(3));
        for _ in 0..2 {
            let variables = ["a", "bb", "x", "b"].map(|name| variable_id(file.id, name));
            assert_eq!(variables, [Ok(0), Ok(1), Ok(2), Ok(3)]);
            assert_eq!(["xx", "y"].map(|name| dimension_id(file.id, name)), [Ok(0), Ok(1)]);
            // SAFETY: room for a name.
            let name = ask_name(|name| unsafe { nc_inq_varname(file.id, 1, name) });
            assert_eq!(name.as_deref(), Ok("bb"));
            file.reopen(0);
        }
    }
}

#[test]
fn storage_is_told_as_it_was_said_and_later_as_it_is() {
    let mut file = Dataset::new(NC_NETCDF4);
    let id = file.id;
    define_dimension(id, "x", 10).unwrap();
    define_dimension(id, "y", 20).unwrap();
    define_dimension(id, "t", 0).unwrap();
    let v = define_variable(id, "v", NC_FLOAT, &[0, 1]).unwrap();
    assert_eq!(chunks(id, v), (NC_CONTIGUOUS, [77; 3]));
    assert_eq!(endianness(id, v), Ok(0));

    // The shape outlives a variable without chunks.
    assert_eq!(set_chunks(id, v, NC_CHUNKED, Some(&[5, 4])), Status(OK));
    assert_eq!(set_chunks(id, v, NC_COMPACT, None), Status(OK));
    assert_eq!(chunks(id, v), (NC_COMPACT, [77; 3]));
    assert_eq!(set_chunks(id, v, NC_CHUNKED, Some(&[11, 4])), Status::EBADCHUNK);
    assert_eq!(nc_def_var_deflate(id, v, 1, 1, 4), OK);
    assert_eq!(chunks(id, v), (NC_CHUNKED, [5, 4, 77]));
    assert_eq!(set_chunks(id, v, NC_CONTIGUOUS, None), Status::EINVAL);
    assert_eq!(set_chunks(id, v, NC_CHUNKED, Some(&[0, 5])), Status(OK));
    assert_eq!(chunks(id, v), (NC_CHUNKED, [10, 5, 77]));

    // Checksums first, then the shuffle, then what compresses; the second level replaces the first.
    assert_eq!(nc_def_var_fletcher32(id, v, 1), OK);
    assert_eq!(nc_def_var_deflate(id, v, 1, 1, 2), OK);
    let said = [(3, vec![]), (2, vec![]), (1, vec![2])];
    assert_eq!(filters(id, v), said);
    assert_eq!(nc_def_var_endian(id, v, 2), OK);
    assert_eq!(nc_enddef(id), OK);
    assert_eq!(filters(id, v), said);

    let scalar = define_variable(id, "s", NC_INT, &[]).unwrap();
    assert_eq!(set_chunks(id, scalar, NC_CHUNKED, None), Status::EINVAL);
    assert_eq!(nc_def_var_deflate(id, scalar, 0, 1, 3), Status::EINVAL.0);
    let unlimited = define_variable(id, "u", NC_INT, &[2]).unwrap();
    assert_eq!(set_chunks(id, unlimited, NC_CONTIGUOUS, None), Status::EINVAL);
    assert_eq!(chunks(id, unlimited).0, NC_CHUNKED);
    let text = define_variable(id, "c", NC_CHAR, &[0]).unwrap();
    assert_eq!(nc_def_var_endian(id, text, 1), Status::EINVAL.0);

    file.reopen(0);
    let id = file.id;
    assert_eq!(filters(id, v), [(3, vec![]), (2, vec![4]), (1, vec![2])]);
    assert_eq!(chunks(id, v), (NC_CHUNKED, [10, 5, 77]));
    assert_eq!((endianness(id, v), endianness(id, scalar)), (Ok(2), Ok(1)));
    let (mut deflate, mut level) = (0, 0);
    // SAFETY: places for three numbers.
    let shuffle =
        ask(|shuffle| unsafe { nc_inq_var_deflate(id, v, shuffle, &mut deflate, &mut level) });
    assert_eq!((shuffle, deflate, level), (Ok(1), 1, 2));
    // SAFETY: a place for a flag.
    assert_eq!(ask(|is_used| unsafe { nc_inq_var_fletcher32(id, v, is_used) }), Ok(1));
}

#[test]
fn filters_that_cannot_be_are_refused_at_once() {
    let Dataset { folder: _folder, id } = Dataset::new(NC_NETCDF4);
    define_dimension(id, "x", 30).unwrap();
    let v = define_variable(id, "v", NC_INT, &[0]).unwrap();
    assert_eq!(add_filter(id, 9, 1, &[3]), Status::ENOTVAR);
    assert_eq!(add_filter(id, v, 1, &[]), Status::EFILTER);
    assert_eq!(add_filter(id, v, 1, &[10]), Status::EINVAL);
    assert_eq!(add_filter(id, v, 4, &[32]), Status::EFILTER);
    assert_eq!(add_filter(id, v, 4, &[32, 7]), Status::EINVAL);
    // A block larger than the variable.
    assert_eq!(add_filter(id, v, 4, &[32, 32]), Status::EINVAL);
    assert_eq!(add_filter(id, v, 5000, &[]), Status::ENOFILTER);
    assert_eq!(add_filter(id, v, 1 << 20, &[]), Status::EHDFERR);
    assert_eq!(nc_inq_filter_avail(id, 5000), Status::ENOFILTER.0);
    assert_eq!(filters(id, v), []);

    assert_eq!(nc_def_var_szip(id, v, 32, 8), OK);
    assert_eq!(nc_def_var_deflate(id, v, 0, 1, 3), Status::EINVAL.0);
    assert_eq!(filters(id, v), [(4, vec![32, 8])]);
    let text = define_variable(id, "text", NC_STRING, &[0]).unwrap();
    assert_eq!(add_filter(id, text, 1, &[3]), Status(OK));
    assert_eq!(filters(id, text), [(1, vec![3])]);

    let w = define_variable(id, "w", NC_INT, &[0]).unwrap();
    assert_eq!(nc_def_var_zstandard(id, w, 23), Status::EINVAL.0);
    assert_eq!(nc_def_var_zstandard(id, w, -7), OK);
    assert_eq!(nc_def_var_bzip2(id, w, 0), Status::EINVAL.0);
    assert_eq!(nc_def_var_blosc(id, w, 6, 1, 0, 1), Status::EINVAL.0);
    let mut level = 0;
    // SAFETY: places for a flag and a level.
    let is_used = ask(|is_used| unsafe { nc_inq_var_zstandard(id, w, is_used, &mut level) });
    assert_eq!((is_used, level), (Ok(1), -7));
    // SAFETY: as above.
    let is_used = ask(|is_used| unsafe { nc_inq_var_bzip2(id, w, is_used, &mut level) });
    assert_eq!((is_used, level), (Ok(0), 0));
    assert_eq!(nc_close(id), OK);
}

#[test]
fn what_is_in_the_file_cannot_be_stored_otherwise() {
    let mut file = Dataset::new(NC_NETCDF4);
    define_dimension(file.id, "x", 30).unwrap();
    let v = define_variable(file.id, "v", NC_FLOAT, &[0]).unwrap();
    assert_eq!(nc_enddef(file.id), OK);
    let late = Status::ELATEDEF;
    for _ in 0..2 {
        let id = file.id;
        assert_eq!(nc_def_var_deflate(id, v, 0, 0, 0), late.0);
        assert_eq!(nc_def_var_fletcher32(id, v, 0), late.0);
        assert_eq!(set_chunks(id, v, NC_CHUNKED, None), late);
        assert_eq!(nc_def_var_endian(id, v, 1), late.0);
        assert_eq!(nc_def_var_quantize(id, v, 1, 3), late.0);
        assert_eq!(set_fill(id, v, 0, Some(1.0_f32)), late);
        assert_eq!(nc_def_var_deflate(id, 9, 0, 0, 0), Status::ENOTVAR.0);
        // Only this one asks for define mode.
        assert_eq!(add_filter(id, v, 1, &[3]), Status::EINDEFINE);
        assert_eq!(nc_redef(id), OK);
        assert_eq!(add_filter(id, v, 1, &[3]), late);
        file.reopen(1);
    }
    file.reopen(0);
    assert_eq!(nc_def_var_deflate(file.id, 9, 0, 0, 0), Status::EPERM.0);
    assert_eq!(set_fill(file.id, NC_GLOBAL, 1, None::<f32>), Status::EGLOBAL);
    assert_eq!(add_filter(file.id, v, 1, &[3]), Status::EINDEFINE);
}

#[test]
fn classic_files_store_in_one_way() {
    let Dataset { folder: _folder, id } = Dataset::new(NC_CLASSIC);
    define_dimension(id, "x", 30).unwrap();
    let v = define_variable(id, "v", NC_FLOAT, &[0]).unwrap();
    let not_here = Status::ENOTNC4;
    assert_eq!(nc_def_var_deflate(id, 9, 0, 1, 3), not_here.0);
    assert_eq!(set_chunks(id, v, NC_CONTIGUOUS, None), not_here);
    assert_eq!(add_filter(id, v, 1, &[3]), not_here);
    assert_eq!(add_filter(id, 9, 1, &[3]), Status::ENOTVAR);
    assert_eq!(nc_def_var_quantize(id, v, 1, 3), not_here.0);
    assert_eq!(nc_set_var_chunk_cache(id, v, 1, 1, 2.0), not_here.0);
    assert_eq!(nc_set_var_chunk_cache_ints(id, v, 1, 1, 1), Status::EBADID.0);
    assert_eq!(nc_inq_filter_avail(id, 1), Status::ENOFILTER.0);
    assert_eq!(chunks(id, v), (NC_CONTIGUOUS, [77; 3]));
    assert_eq!(filters(id, 99), []);
    assert_eq!(endianness(id, v), Err(not_here));
    assert_eq!(nc_close(id), OK);
}

#[test]
fn fill_values_and_modes() {
    for format in FORMATS {
        let is_classic = format & NC_NETCDF4 == 0;
        let mut file = Dataset::new(format);
        let id = file.id;
        define_dimension(id, "x", 3).unwrap();
        let v = define_variable(id, "v", NC_FLOAT, &[0]).unwrap();
        let default = 9.969_21e36;
        assert_eq!(fill(id, v), (0, default));
        assert_eq!(set_fill(id, v, 0, Some(9.5_f32)), Status(OK));
        assert_eq!(fill(id, v), (0, 9.5));
        assert_eq!(set_fill(id, v, 0, None::<f32>), Status(OK));
        assert_eq!(fill(id, v), (0, 9.5));
        // SAFETY: a place for a count.
        let attribute_count = || ask(|count| unsafe { nc_inq_varnatts(id, v, count) });
        assert_eq!(attribute_count(), Ok(1));
        assert_eq!(set_fill(id, v, 7, Some(1.0_f32)), Status(OK));
        assert_eq!(fill(id, v), (1, if is_classic { 9.5 } else { -1.0 }));
        assert_eq!(attribute_count(), Ok(c_int::from(is_classic)));
        assert_eq!(set_fill(id, 9, 0, None::<f32>), Status::ENOTVAR);
        assert_eq!(set_fill(id, NC_GLOBAL, 0, None::<f32>), Status::EGLOBAL);

        // SAFETY: a place for a mode.
        assert_eq!(ask(|old| unsafe { nc_set_fill(id, NC_NOFILL, old) }), Ok(NC_FILL));
        let w = define_variable(id, "w", NC_FLOAT, &[0]).unwrap();
        assert_eq!(fill(id, w), if is_classic { (1, default) } else { (NC_NOFILL, -1.0) });
        // SAFETY: as above.
        assert_eq!(ask(|old| unsafe { nc_set_fill(id, NC_FILL, old) }), Ok(NC_NOFILL));
        // The mode of a classic file is that of all its variables.
        assert_eq!(fill(id, w).0, if is_classic { 0 } else { NC_NOFILL });
        // An attribute alone fills nothing.
        let set = |id, value: f32| {
            // SAFETY: a string and a float.
            unsafe { nc_put_att_float(id, w, c"_FillValue".as_ptr(), NC_FLOAT, 1, &value) }
        };
        assert_eq!(set(id, 2.5), OK);
        file.reopen(0);
        assert_eq!(fill(file.id, w).0, c_int::from(!is_classic));
    }
}

#[test]
fn classic_names_are_as_long_in_data_mode_as_they_ever_were() {
    let mut file = Dataset::new(NC_CLASSIC);
    define_dimension(file.id, "longer", 3).unwrap();
    define_variable(file.id, "longer", NC_INT, &[0]).unwrap();
    assert_eq!(nc_enddef(file.id), OK);
    for _ in 0..2 {
        let outcomes =
            [("x", Status(OK)), ("longest", Status::ENOTINDEFINE), ("longe", Status(OK))];
        for (name, expected) in outcomes {
            assert_eq!(rename_dimension(file.id, 0, name), expected, "{name}");
            assert_eq!(rename_variable(file.id, 0, name), expected, "{name}");
        }
        file.reopen(NC_WRITE);
        assert_eq!((dimension_id(file.id, "longe"), variable_id(file.id, "longe")), (Ok(0), Ok(0)));
    }
    assert_eq!(nc_close(file.id), OK);
}

#[test]
fn a_classic_file_is_not_filled_with_what_is_no_fill_value() {
    let file = Dataset::new(NC_CLASSIC);
    let id = file.id;
    define_dimension(id, "t", 0).unwrap();
    define_dimension(id, "x", 3).unwrap();
    let (fixed, records) = (
        define_variable(id, "fixed", NC_INT, &[1]).unwrap(),
        define_variable(id, "records", NC_INT, &[0]).unwrap(),
    );
    let set_float = |variable| {
        // SAFETY: a string and a float.
        unsafe { nc_put_att_float(id, variable, c"_FillValue".as_ptr(), NC_FLOAT, 1, &2.5) }
    };
    assert_eq!((set_float(fixed), nc_enddef(id)), (OK, Status::EBADTYPE.0));
    assert_eq!(nc_redef(id), Status::EINDEFINE.0);
    // SAFETY: a string.
    assert_eq!(unsafe { nc_del_att(id, fixed, c"_FillValue".as_ptr()) }, OK);
    assert_eq!((set_float(records), nc_enddef(id)), (OK, OK));
    // SAFETY: an index and a value.
    let put = |record: usize| unsafe { nc_put_var1_int(id, records, &record, &7) };
    // SAFETY: a place for a length.
    let len = || ask(|len| unsafe { nc_inq_dimlen(id, 0, len) });
    assert_eq!((put(1), len()), (Status::EBADTYPE.0, Ok(0)));
    // SAFETY: nothing is told.
    assert_eq!(unsafe { nc_set_fill(id, NC_NOFILL, null_mut()) }, OK);
    assert_eq!((put(1), len()), (OK, Ok(2)));
    assert_eq!(nc_close(id), OK);
}

#[test]
fn rounding_is_told_by_an_attribute_once_the_definitions_end() {
    let mut file = Dataset::new(NC_NETCDF4);
    let id = file.id;
    define_dimension(id, "x", 3).unwrap();
    let v = define_variable(id, "v", NC_FLOAT, &[0]).unwrap();
    let rounding = |id| {
        let mut significant = -1;
        // SAFETY: places for both.
        let mode = ask(|mode| unsafe { nc_inq_var_quantize(id, v, mode, &mut significant) });
        (mode, significant)
    };
    // SAFETY: a place for a count.
    let attribute_count = |id| ask(|count| unsafe { nc_inq_varnatts(id, v, count) }).unwrap();
    for (mode, significant) in [(4, 3), (-1, 3), (1, 0), (1, 8), (3, 24)] {
        assert_eq!(nc_def_var_quantize(id, v, mode, significant), Status::EINVAL.0);
    }
    assert_eq!(nc_def_var_quantize(id, NC_GLOBAL, 1, 3), Status::EGLOBAL.0);
    assert_eq!(nc_def_var_quantize(id, v, 1, 7), OK);
    assert_eq!(nc_def_var_quantize(id, v, 0, 0), OK);
    assert_eq!(rounding(id), (Ok(0), 0));
    assert_eq!(nc_def_var_quantize(id, v, 3, 5), OK);
    assert_eq!((rounding(id), attribute_count(id)), ((Ok(3), 5), 0));
    assert_eq!(nc_enddef(id), OK);
    assert_eq!((rounding(id), attribute_count(id)), ((Ok(3), 5), 1));
    file.reopen(0);
    assert_eq!((rounding(file.id), attribute_count(file.id)), ((Ok(3), 5), 1));
}

#[test]
fn chunk_caches_are_told_back() {
    let Dataset { folder: _folder, id } = Dataset::new(NC_NETCDF4);
    define_dimension(id, "x", 3).unwrap();
    let v = define_variable(id, "v", NC_FLOAT, &[0]).unwrap();
    let cache = || {
        let (mut slots, mut preemption) = (0, 0.0);
        // SAFETY: places for the three.
        let bytes = ask(|bytes| unsafe {
            nc_get_var_chunk_cache(id, v, bytes, &mut slots, &mut preemption)
        });
        (bytes, slots, preemption)
    };
    assert_eq!(cache(), (Ok(64 << 20), 1000, 0.75));
    assert_eq!(nc_set_var_chunk_cache(id, 9, 1, 1, 1.5), Status::EINVAL.0);
    assert_eq!(nc_set_var_chunk_cache(id, 9, 1, 1, 0.5), Status::ENOTVAR.0);
    assert_eq!(nc_set_var_chunk_cache(id, v, 1000, 7, 0.5), OK);
    assert_eq!(cache(), (Ok(1000), 7, 0.5));
    assert_eq!(nc_set_var_chunk_cache_ints(id, v, 2, 5, 101), Status::EINVAL.0);
    assert_eq!(nc_set_var_chunk_cache_ints(id, v, 2, -1, -1), OK);
    assert_eq!(cache(), (Ok(2 << 20), usize::MAX, 0.75));
    assert_eq!(rename_variable(id, v, "other"), Status(OK));
    assert_eq!(cache(), (Ok(2 << 20), usize::MAX, 0.75));
    assert_eq!(nc_set_chunk_cache(1, 1, f32::NAN), Status::EINVAL.0);
    assert_eq!(nc_set_chunk_cache_ints(0, 1, 1), Status::EINVAL.0);
    assert_eq!(nc_close(id), OK);
}
