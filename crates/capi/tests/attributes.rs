//! Attributes: every number here is what libnetcdf 4.9.0 returns for the same call.

mod support;

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};
use support::*;

/// An open file, and calls on it with Rust's strings.
struct Nc(c_int);

impl Nc {
    /// A file with an int variable, which has the id 0.
    fn create(folder: &Path, name: &str, format: c_int) -> Self {
        let mut id = 0;
        let path = c(folder.join(name).to_str().unwrap());
        // SAFETY: strings, places and lists that are there.
        unsafe {
            assert_eq!(nc_create(path.as_ptr(), format, &mut id), 0);
            assert_eq!(nc_def_var(id, c"v".as_ptr(), NC_INT, 0, null(), null_mut()), 0);
        }
        Self(id)
    }

    fn open(folder: &Path, name: &str, flags: c_int) -> Self {
        let mut id = 0;
        let path = c(folder.join(name).to_str().unwrap());
        // SAFETY: a string and a place.
        assert_eq!(unsafe { nc_open(path.as_ptr(), flags, &mut id) }, 0);
        Self(id)
    }

    fn close(self) {
        assert_eq!(nc_close(self.0), 0);
    }

    fn put_int(&self, variable: c_int, name: &str, type_id: c_int, values: &[c_int]) -> c_int {
        let (name, len) = (c(name), values.len());
        // SAFETY: a string and so many values.
        unsafe { nc_put_att_int(self.0, variable, name.as_ptr(), type_id, len, values.as_ptr()) }
    }

    fn put_text(&self, variable: c_int, name: &str, text: &str) -> c_int {
        let name = c(name);
        let values = text.as_ptr().cast();
        // SAFETY: a string and so many chars.
        unsafe { nc_put_att_text(self.0, variable, name.as_ptr(), text.len(), values) }
    }

    fn get_ints(&self, variable: c_int, name: &str) -> (c_int, Vec<c_int>) {
        let (_, _, len) = self.inquire(variable, name);
        let mut values = vec![-9; len];
        // SAFETY: a string, and room for all values.
        let status =
            unsafe { nc_get_att_int(self.0, variable, c(name).as_ptr(), values.as_mut_ptr()) };
        (status, values)
    }

    /// What the call returns, the type and the length.
    fn inquire(&self, variable: c_int, name: &str) -> (c_int, c_int, usize) {
        let (mut type_id, mut len) = (0, 0);
        // SAFETY: a string and places.
        let status =
            unsafe { nc_inq_att(self.0, variable, c(name).as_ptr(), &mut type_id, &mut len) };
        (status, type_id, len)
    }

    fn number(&self, variable: c_int, name: &str) -> (c_int, c_int) {
        let mut number = -9;
        // SAFETY: a string and a place.
        let status = unsafe { nc_inq_attid(self.0, variable, c(name).as_ptr(), &mut number) };
        (status, number)
    }

    fn rename(&self, variable: c_int, from: &str, to: &str) -> c_int {
        // SAFETY: strings.
        unsafe { nc_rename_att(self.0, variable, c(from).as_ptr(), c(to).as_ptr()) }
    }

    fn delete(&self, variable: c_int, name: &str) -> c_int {
        // SAFETY: a string.
        unsafe { nc_del_att(self.0, variable, c(name).as_ptr()) }
    }

    /// All names in order; each is found under its number.
    fn names(&self, variable: c_int) -> Vec<String> {
        let mut count = -9;
        // SAFETY: a place.
        assert_eq!(unsafe { nc_inq_varnatts(self.0, variable, &mut count) }, 0);
        let name = |number| {
            let mut name = [0_u8; 257];
            // SAFETY: room for the longest name.
            let status =
                unsafe { nc_inq_attname(self.0, variable, number, name.as_mut_ptr().cast()) };
            assert_eq!(status, 0);
            let end = name.iter().position(|&byte| byte == 0).unwrap();
            let name = std::str::from_utf8(&name[..end]).unwrap().to_owned();
            assert_eq!(self.number(variable, &name), (0, number));
            name
        };
        (0..count).map(name).collect()
    }
}

#[test]
fn faults_have_their_precedence() {
    let folder = tempfile::tempdir().unwrap();
    let long = "n".repeat(257);
    for format in FORMATS {
        let is_hdf5 = format & NC_NETCDF4 != 0;
        let file = Nc::create(folder.path(), "a.nc", format);
        assert_eq!(file.put_int(7, "", 0, &[1]), ENOTVAR);
        assert_eq!(file.put_int(0, "", NC_INT, &[1]), EBADNAME);
        assert_eq!(file.put_int(0, "a/b", NC_INT, &[1]), EBADNAME);
        assert_eq!(file.put_int(0, &long, NC_INT, &[1]), if is_hdf5 { EBADNAME } else { EMAXNAME });
        assert_eq!(file.put_int(0, "a", 0, &[1]), EBADTYPE);
        assert_eq!(file.put_int(0, "a/b", 0, &[1]), if is_hdf5 { EBADNAME } else { EBADTYPE });
        assert_eq!(file.put_int(0, "a", NC_CHAR, &[1]), ECHAR);
        let unknown = match format {
            NC_NETCDF4 => EBADTYPID,
            NC_NETCDF4_CLASSIC => ESTRICTNC3,
            _ => EBADTYPE,
        };
        assert_eq!(file.put_int(0, "a", 99, &[1]), unknown);
        assert_eq!(file.put_int(0, "a", NC_STRING, &[1]), if is_hdf5 { ECHAR } else { EBADTYPE });
        // SAFETY: strings; NULL is what is tested.
        unsafe {
            let (name, id) = (c"a".as_ptr(), file.0);
            assert_eq!(nc_put_att_int(id, 0, name, NC_INT, 1, null()), EINVAL);
            assert_eq!(nc_put_att_int(id, 0, name, NC_INT, 1 << 31, null()), EINVAL);
            assert_eq!(nc_put_att_int(id, 0, null(), NC_INT, 1, [1].as_ptr()), EBADNAME);
            assert_eq!(nc_put_att_int(id, 0, name, NC_INT, 0, null()), 0);
            assert_eq!(nc_get_att_int(id, 0, null(), null_mut()), EBADNAME);
            assert_eq!(nc_rename_att(id, 0, null(), name), EINVAL);
            assert_eq!(nc_del_att(id, 0, null()), EINVAL);
            assert_eq!(nc_get_att_text(id, 0, name, null_mut()), 0);
        }
        assert_eq!(file.names(0), ["a"]);
        assert_eq!(file.inquire(0, "a"), (0, NC_INT, 0));
        assert_eq!(file.inquire(0, "b").0, ENOTATT);
        assert_eq!(file.inquire(9, "a").0, ENOTVAR);
        file.close();
    }
}

#[test]
fn numbers_are_converted_and_all_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS {
        let file = Nc::create(folder.path(), "a.nc", format);
        assert_eq!(file.put_int(NC_GLOBAL, "b", NC_BYTE, &[1, 200, 300]), ERANGE);
        assert_eq!(file.get_ints(NC_GLOBAL, "b"), (0, vec![1, -56, 44]));
        assert_eq!(file.put_text(NC_GLOBAL, "t", "abc"), 0);
        assert_eq!(file.get_ints(NC_GLOBAL, "t").0, ECHAR);
        // SAFETY: strings, values and room for them.
        unsafe {
            let id = file.0;
            let doubles = [1.5, -2.7, 300.0];
            let set = |name: *const c_char, type_id| {
                nc_put_att_double(id, NC_GLOBAL, name, type_id, 3, doubles.as_ptr())
            };
            assert_eq!(set(c"s".as_ptr(), NC_SHORT), 0);
            let mut bytes = [9_i8; 3];
            let status = nc_get_att_schar(id, NC_GLOBAL, c"s".as_ptr(), bytes.as_mut_ptr());
            assert_eq!((status, &bytes[..2]), (ERANGE, &[1, -2][..]));
            // A byte is signed or unsigned as the caller has it, but not in the newer formats.
            let either = format == NC_CLASSIC || format == NC_NETCDF4_CLASSIC;
            let set = nc_put_att_uchar(id, NC_GLOBAL, c"u".as_ptr(), NC_BYTE, 1, [200].as_ptr());
            assert_eq!(set, if either { 0 } else { ERANGE });
            let mut byte = 0;
            let got = nc_get_att_uchar(id, NC_GLOBAL, c"u".as_ptr(), &mut byte);
            assert_eq!((got, byte), (if either { 0 } else { ERANGE }, 200));
            let mut string = null_mut();
            let get = |name: *const c_char, to| nc_get_att_string(id, NC_GLOBAL, name, to);
            assert_eq!(get(c"t".as_ptr(), &mut string), ECHAR);
            assert_eq!(get(c"s".as_ptr(), &mut string), EBADTYPE);
        }
        file.close();
    }
}

#[test]
fn numbers_of_attributes_follow_deleting_and_renaming() {
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS {
        let is_hdf5 = format & NC_NETCDF4 != 0;
        let file = Nc::create(folder.path(), "a.nc", format);
        for name in ["a", "b", "c", "d"] {
            assert_eq!(file.put_int(0, name, NC_INT, &[1]), 0);
        }
        assert_eq!(file.delete(0, "b"), 0);
        assert_eq!(file.names(0), ["a", "c", "d"]);
        assert_eq!(file.rename(0, "a", "longer"), 0);
        assert_eq!(file.put_int(0, "b", NC_INT, &[2]), 0);
        assert_eq!(file.put_text(0, "c", "now text"), 0);
        assert_eq!(file.names(0), ["longer", "c", "d", "b"]);
        assert_eq!(file.rename(0, "c", "d"), ENAMEINUSE);
        assert_eq!(file.rename(0, "c", "c"), ENAMEINUSE);
        assert_eq!(file.rename(0, "x", "d"), if is_hdf5 { ENAMEINUSE } else { ENOTATT });
        assert_eq!(file.rename(0, "x", "y"), ENOTATT);
        assert_eq!(file.rename(9, "c", "y"), ENOTVAR);
        assert_eq!(file.rename(0, "c", "a/b"), EBADNAME);
        assert_eq!(file.rename(0, "c", &"n".repeat(257)), EMAXNAME);
        assert_eq!((file.delete(0, "x"), file.delete(9, "c")), (ENOTATT, ENOTVAR));
        assert_eq!(file.put_int(0, "cafe\u{301}", NC_INT, &[1]), 0);
        assert_eq!(file.number(0, "caf\u{e9}"), (0, 4));
        assert_eq!(file.number(0, "cafe\u{301}"), (0, 4));
        file.close();
        let file = Nc::open(folder.path(), "a.nc", 0);
        assert_eq!(file.names(0), ["longer", "c", "d", "b", "caf\u{e9}"]);
        assert_eq!(file.put_int(0, "a", NC_INT, &[1]), EPERM);
        assert_eq!(file.put_int(9, "a", NC_INT, &[1]), if is_hdf5 { ENOTVAR } else { EPERM });
        assert_eq!(file.rename(0, "d", "e"), EPERM);
        file.close();
    }
}

#[test]
fn what_is_made_anew_after_definitions_ended_stands_last_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let check = |change: &dyn Fn(&Nc), session: [&str; 4], stored: [&str; 4]| {
        let file = Nc::create(folder.path(), "a.nc", NC_NETCDF4);
        for name in ["a", "b", "c", "d"] {
            assert_eq!(file.put_int(0, name, NC_INT, &[1]), 0);
        }
        change(&file);
        assert_eq!(file.names(0), session);
        file.close();
        let file = Nc::open(folder.path(), "a.nc", 0);
        assert_eq!(file.names(0), stored);
        file.close();
    };
    let rename = |file: &Nc| assert_eq!(file.rename(0, "a", "z"), 0);
    let put = |file: &Nc, len| assert_eq!(file.put_int(0, "b", NC_INT, &[1, 2][..len]), 0);
    let end = |file: &Nc| assert_eq!(nc_enddef(file.0), 0);
    let session = ["z", "b", "c", "d"];
    let both = |file: &Nc| {
        rename(file);
        put(file, 2);
    };
    check(&both, session, session);
    let later = |file: &Nc| {
        end(file);
        both(file);
    };
    check(&later, session, ["c", "d", "z", "b"]);
    let twice = |file: &Nc| {
        end(file);
        put(file, 2);
        end(file);
        rename(file);
    };
    check(&twice, session, ["c", "d", "b", "z"]);
    let back = |file: &Nc| {
        end(file);
        put(file, 2);
        put(file, 1);
    };
    check(&back, ["a", "b", "c", "d"], ["a", "b", "c", "d"]);
}

#[test]
fn a_file_that_is_changed_by_the_classic_model_keeps_to_it() {
    let folder = tempfile::tempdir().unwrap();
    Nc::create(folder.path(), "a.nc", NC_NETCDF4).close();
    let format = |flags| {
        let file = Nc::open(folder.path(), "a.nc", flags);
        let mut format = 0;
        // SAFETY: a place for a number.
        assert_eq!(unsafe { nc_inq_format(file.0, &mut format) }, 0);
        assert_eq!(file.names(NC_GLOBAL), [""; 0]);
        file.close();
        format
    };
    let read_only = format(NC_CLASSIC_MODEL);
    assert_eq!([read_only, format(0)], [4, 3]);
    let changed = format(NC_CLASSIC_MODEL | NC_WRITE);
    assert_eq!([changed, format(0)], [4, 4]);
}

#[test]
fn what_grows_needs_define_mode() {
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS {
        let refused = if format == NC_NETCDF4 { 0 } else { ENOTINDEFINE };
        let file = Nc::create(folder.path(), "a.nc", format);
        assert_eq!(file.put_text(0, "text", "abcd"), 0);
        assert_eq!(nc_enddef(file.0), 0);
        assert_eq!(file.put_text(0, "text", "ab"), 0);
        assert_eq!(file.put_text(0, "text", "abcdefghi"), refused);
        assert_eq!(file.put_text(0, "new", "a"), refused);
        assert_eq!(file.rename(0, "text", "t"), 0);
        assert_eq!(file.rename(0, "t", "longer"), refused);
        assert_eq!(file.delete(0, "x"), if format == NC_NETCDF4 { ENOTATT } else { ENOTINDEFINE });
        assert_eq!(nc_redef(file.0), 0);
        assert_eq!(file.put_text(0, "text", "abcdefghi"), 0);
        file.close();
    }
}

#[test]
fn fill_values_are_set_in_time() {
    let folder = tempfile::tempdir().unwrap();
    for format in [NC_NETCDF4, NC_NETCDF4_CLASSIC] {
        let file = Nc::create(folder.path(), "a.nc", format);
        assert_eq!(file.put_int(0, "_FillValue", NC_DOUBLE, &[1]), EBADTYPE);
        assert_eq!(file.put_int(0, "_FillValue", NC_INT, &[1, 2]), EINVAL);
        assert_eq!(file.put_int(NC_GLOBAL, "_FillValue", NC_DOUBLE, &[1, 2]), 0);
        assert_eq!(file.put_int(0, "_FillValue", NC_INT, &[7]), 0);
        assert_eq!(nc_enddef(file.0), 0);
        assert_eq!(file.put_int(0, "_FillValue", NC_INT, &[8]), ELATEFILL);
        assert_eq!(file.get_ints(0, "_FillValue"), (0, vec![7]));
        file.close();
    }
    for format in [NC_CLASSIC, NC_64BIT_DATA] {
        let file = Nc::create(folder.path(), "a.nc", format);
        assert_eq!(file.put_int(0, "_FillValue", NC_DOUBLE, &[1, 2]), 0);
        assert_eq!(file.inquire(0, "_FillValue"), (0, NC_DOUBLE, 2));
        assert_eq!(file.put_int(0, "_FillValue", NC_INT, &[7]), 0);
        assert_eq!(nc_enddef(file.0), 0);
        assert_eq!(file.put_int(0, "_FillValue", NC_INT, &[8]), 0);
        file.close();
    }
}

#[test]
fn what_the_file_tells_of_itself_has_no_number() {
    let folder = tempfile::tempdir().unwrap();
    let file = Nc::create(folder.path(), "a.nc", NC_NETCDF4);
    for name in ["_NCProperties", "_IsNetcdf4", "_SuperblockVersion", "CLASS", "_nc3_strict"] {
        assert_eq!(file.put_int(NC_GLOBAL, name, NC_INT, &[1]), ENAMEINUSE);
        assert_eq!(file.put_int(0, name, NC_INT, &[1]), ENAMEINUSE);
    }
    file.close();
    let file = Nc::open(folder.path(), "a.nc", 0);
    assert_eq!(file.get_ints(NC_GLOBAL, "_IsNetcdf4"), (0, vec![0]));
    assert_eq!(file.get_ints(NC_GLOBAL, "_SuperblockVersion"), (0, vec![2]));
    assert_eq!(file.inquire(NC_GLOBAL, "_NCProperties").1, NC_CHAR);
    assert_eq!(file.number(NC_GLOBAL, "_NCProperties").0, EATTMETA);
    assert_eq!(file.inquire(0, "_IsNetcdf4").0, ENOTATT);
    let mut count = -9;
    // SAFETY: a place.
    assert_eq!(unsafe { nc_inq_natts(file.0, &mut count) }, 0);
    assert_eq!(count, 0);
    file.close();
}

#[test]
fn copies_keep_type_and_values() {
    #[repr(C)]
    #[derive(Default, Clone, Copy, PartialEq, Debug)]
    struct Point {
        x: c_int,
        y: f64,
    }
    let folder = tempfile::tempdir().unwrap();
    let define = |id: c_int| {
        let (mut point, mut vlen) = (0, 0);
        // SAFETY: strings and places.
        unsafe {
            assert_eq!(nc_def_compound(id, 16, c"point".as_ptr(), &mut point), 0);
            assert_eq!(nc_insert_compound(id, point, c"x".as_ptr(), 0, NC_INT), 0);
            assert_eq!(nc_insert_compound(id, point, c"y".as_ptr(), 8, NC_DOUBLE), 0);
            assert_eq!(nc_def_vlen(id, c"list".as_ptr(), NC_INT, &mut vlen), 0);
        }
        (point, vlen)
    };
    let from = Nc::create(folder.path(), "a.nc", NC_NETCDF4);
    let (point, _) = define(from.0);
    let points = [Point { x: 1, y: 2.5 }, Point { x: -3, y: 4.0 }];
    let strings = [c"one".as_ptr(), null(), c"".as_ptr()];
    // SAFETY: strings and values.
    unsafe {
        let at = points.as_ptr().cast::<c_void>();
        assert_eq!(nc_put_att(from.0, NC_GLOBAL, c"points".as_ptr(), point, 2, at), 0);
        let at = strings.as_ptr();
        assert_eq!(nc_put_att_string(from.0, NC_GLOBAL, c"strings".as_ptr(), 3, at), 0);
    }
    assert_eq!(from.put_text(NC_GLOBAL, "text", "abc"), 0);
    let copy = |to: &Nc, name: &str| {
        // SAFETY: a string.
        unsafe { nc_copy_att(from.0, NC_GLOBAL, c(name).as_ptr(), to.0, 0) }
    };
    let classic = Nc::create(folder.path(), "c.nc", NC_CLASSIC);
    assert_eq!(copy(&classic, "text"), 0);
    assert_eq!(classic.inquire(0, "text"), (0, NC_CHAR, 3));
    assert_eq!(copy(&classic, "strings"), EBADTYPE);
    assert_eq!(copy(&classic, "points"), EBADTYPE);
    assert_eq!(copy(&classic, "none"), ENOTATT);
    classic.close();
    let to = Nc::create(folder.path(), "b.nc", NC_NETCDF4);
    assert_eq!(copy(&to, "points"), EBADTYPE);
    // The same type has another id here.
    // SAFETY: strings and places.
    unsafe { assert_eq!(nc_def_vlen(to.0, c"first".as_ptr(), NC_INT, null_mut()), 0) };
    let (own, _) = define(to.0);
    assert_ne!(own, point);
    assert_eq!((copy(&to, "points"), copy(&to, "strings")), (0, 0));
    assert_eq!(to.inquire(0, "points"), (0, own, 2));
    to.close();
    let to = Nc::open(folder.path(), "b.nc", 0);
    let mut read = [Point::default(); 2];
    let mut texts: [*mut c_char; 3] = [null_mut(); 3];
    // SAFETY: strings and room for the values; what is got is freed.
    unsafe {
        assert_eq!(nc_get_att(to.0, 0, c"points".as_ptr(), read.as_mut_ptr().cast()), 0);
        let mut number = 0.0;
        assert_eq!(nc_get_att_double(to.0, 0, c"points".as_ptr(), &mut number), EBADTYPE);
        assert_eq!(nc_get_att_string(to.0, 0, c"strings".as_ptr(), texts.as_mut_ptr()), 0);
        assert_eq!(std::ffi::CStr::from_ptr(texts[0]), c"one");
        texts.iter().for_each(|&text| libc::free(text.cast()));
    }
    assert_eq!(read, points);
    to.close();
    from.close();
}
