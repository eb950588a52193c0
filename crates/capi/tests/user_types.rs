//! User-defined types, groups, and what programs hold of any type. The numbers are what libnetcdf 4.9.0
//! gives for the same calls.

mod support;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::offset_of;
use std::ptr::{null, null_mut};
use support::*;

/// Every call here gets strings that end with a zero and places that are valid.
macro_rules! call {
    ($($call:tt)*) => {
        // SAFETY: as said above.
        unsafe { $($call)* }
    };
}

/// The new id, of a call that gives one.
macro_rules! made {
    ($function:ident($($arg:expr),*)) => {{
        let mut id = -1;
        assert_eq!(call!($function($($arg,)* &raw mut id)), 0);
        id
    }};
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> CString {
        c_path(&self.0.path().join("file.nc"))
    }

    fn create(&self, flags: c_int) -> c_int {
        made!(nc_create(self.path().as_ptr(), flags))
    }

    fn open(&self) -> c_int {
        made!(nc_open(self.path().as_ptr(), 0))
    }
}

fn name_of(tell: impl FnOnce(*mut c_char) -> c_int) -> String {
    let mut room = [0; 1024];
    assert_eq!(tell(room.as_mut_ptr()), 0);
    call!(CStr::from_ptr(room.as_ptr())).to_str().unwrap().to_owned()
}

fn add_field(file: c_int, id: c_int, name: &CStr, offset: usize, field: c_int) -> c_int {
    call!(nc_insert_compound(file, id, name.as_ptr(), offset, field))
}

#[test]
fn faults_come_in_netcdfs_order() {
    let folder = Folder::new();
    let file = folder.create(NC_NETCDF4);
    let opaque =
        |file, size, name: &CStr| call!(nc_def_opaque(file, size, name.as_ptr(), null_mut()));
    assert_eq!(opaque(file | 9, 0, c"a/b"), EBADNAME);
    assert_eq!(opaque(file | 9, 0, c"a"), EBADID);
    assert_eq!(opaque(file, 0, c"a"), EINVAL);
    assert_eq!(opaque(file, 3, c"a"), 0);
    assert_eq!(opaque(file, 3, c"a"), ENAMEINUSE);
    assert_eq!(call!(nc_def_grp(file, c"a".as_ptr(), null_mut())), ENAMEINUSE);
    assert_eq!(call!(nc_def_vlen(file, null(), NC_INT, null_mut())), EINVAL);
    let base = |base| call!(nc_def_enum(file, base, c"e".as_ptr(), null_mut()));
    assert_eq!([base(-1), base(0), base(99)], [EINVAL, EBADTYPE, EBADTYPID]);

    let compound = made!(nc_def_compound(file, 16, c"c".as_ptr()));
    let field = |id, field| add_field(file, id, c"f", 0, field);
    assert_eq!(
        [field(-1, NC_INT), field(NC_INT, NC_INT), field(99, NC_INT)],
        [EINVAL, EBADTYPE, EBADTYPID]
    );
    assert_eq!(field(32, NC_INT), EBADTYPE, "the opaque type has no members");
    assert_eq!(field(compound, NC_INT), 0);
    assert_eq!(
        call!(nc_inq_compound_field(
            file,
            32,
            0,
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut()
        )),
        EBADFIELD
    );
    assert_eq!(call!(nc_inq_compound_fieldtype(file, compound, 1, null_mut())), EBADFIELD);
    let index =
        |id, name: &CStr| call!(nc_inq_compound_fieldindex(file, id, name.as_ptr(), null_mut()));
    assert_eq!(
        [index(compound, c"f"), index(compound, c"g"), index(98, c"f")],
        [0, EBADFIELD, EBADTYPID]
    );
    let mut equal = 7;
    assert_eq!(call!(nc_inq_type_equal(file, compound, file, compound, &raw mut equal)), EHDFERR);
    assert_eq!(nc_enddef(file), 0);
    assert_eq!(call!(nc_inq_type_equal(file, compound, file, compound, &raw mut equal)), 0);
    assert_eq!(equal, 1);
    let told = |file, id| call!(nc_inq_type(file, id, null_mut(), null_mut()));
    assert_eq!(
        [told(file, 99), told(file | 9, compound), told(-1, compound)],
        [EBADTYPE, EBADID, EBADTYPE]
    );
    assert_eq!(field(compound, NC_INT), ETYPDEFINED);
    assert_eq!(nc_close(file), 0);
    // Of a file that was closed another test may have the id.
    assert_eq!(opaque(-1, 3, c"a/b"), EBADID);

    let file = folder.create(NC_NETCDF4 | NC_CLASSIC_MODEL);
    assert_eq!([opaque(file, 3, c"a/b"), opaque(file, 0, c"a")], [EBADNAME, ESTRICTNC3]);
    assert_eq!(nc_abort(file), 0);
    let file = folder.create(0);
    assert_eq!([opaque(file, 3, c"a/b"), opaque(file, 3, c"a")], [ENOTNC4, ENOTNC4]);
    let mut count = 7;
    assert_eq!(call!(nc_inq_typeids(file, &raw mut count, null_mut())), 0);
    assert_eq!(count, 0);
    assert_eq!(nc_abort(file), 0);
}

/// What `nc_enddef` says of a type that `define` makes.
fn committed(define: impl FnOnce(c_int)) -> c_int {
    let folder = Folder::new();
    let file = folder.create(NC_NETCDF4);
    define(file);
    let status = nc_enddef(file);
    nc_abort(file);
    status
}

#[test]
fn types_are_checked_when_they_are_committed() {
    let compound = |fields: &[(&CStr, usize, c_int)]| {
        committed(|file| {
            let id = made!(nc_def_compound(file, 16, c"c".as_ptr()));
            for &(name, offset, field) in fields {
                add_field(file, id, name, offset, field);
            }
        })
    };
    assert_eq!(compound(&[]), EHDFERR);
    assert_eq!(compound(&[(c"a", 0, NC_INT), (c"b", 8, NC_DOUBLE)]), 0);
    assert_eq!(compound(&[(c"b", 8, NC_DOUBLE), (c"a", 0, NC_INT)]), 0, "in any order");
    assert_eq!(compound(&[(c"a", 0, NC_INT), (c"b", 2, NC_INT)]), EHDFERR, "they overlap");
    assert_eq!(compound(&[(c"a", 14, NC_INT)]), EHDFERR, "beyond the end");
    assert_eq!(compound(&[(c"a", usize::MAX, NC_INT)]), EHDFERR);
    assert_eq!(compound(&[(c"a", 0, NC_INT), (c"a", 4, NC_INT)]), EHDFERR, "one name");
    assert_eq!(compound(&[(c"a", 0, 99)]), EBADTYPE);
    assert_eq!(compound(&[(c"a", 0, 32)]), EHDFERR, "made of itself");

    let enumeration = |base, members: &[(&CStr, i32)]| {
        committed(|file| {
            let id = made!(nc_def_enum(file, base, c"e".as_ptr()));
            for (name, value) in members {
                let value: *const i32 = value;
                assert_eq!(call!(nc_insert_enum(file, id, name.as_ptr(), value.cast())), 0);
            }
        })
    };
    assert_eq!(enumeration(NC_INT, &[]), EINVAL);
    assert_eq!(enumeration(NC_INT, &[(c"a", 1), (c"b", -2)]), 0);
    assert_eq!(enumeration(NC_INT, &[(c"a", 1), (c"a", 2)]), EHDFERR);
    assert_eq!(enumeration(NC_INT, &[(c"a", 1), (c"b", 1)]), EHDFERR);
    assert_eq!(enumeration(5, &[(c"a", 1)]), EHDFERR);
    let vlen = |file| assert_eq!(call!(nc_def_vlen(file, c"v".as_ptr(), 99, null_mut())), 0);
    assert_eq!(committed(vlen), EBADTYPE);
}

#[test]
fn a_type_that_cannot_be_stored_costs_nothing_else() {
    let folder = Folder::new();
    let file = folder.create(NC_NETCDF4);
    let colour = made!(nc_def_enum(file, NC_INT, c"colour".as_ptr()));
    let variable = made!(nc_def_var(file, c"v".as_ptr(), NC_INT, 0, null()));
    let put = |value: c_int| call!(nc_put_var(file, variable, (&raw const value).cast()));
    assert_eq!([put(4), put(5)], [EINVAL, 0], "definitions end, but for the type");
    assert_eq!(nc_close(file), EINVAL, "the id stays, as the program may mend the type");
    let stored = folder.open();
    let mut value: c_int = 0;
    assert_eq!(call!(nc_get_var(stored, variable, (&raw mut value).cast())), 0);
    assert_eq!(value, 5);
    assert_eq!(nc_close(stored), 0);

    let red: c_int = 1;
    assert_eq!(call!(nc_insert_enum(file, colour, c"red".as_ptr(), (&raw const red).cast())), 0);
    assert_eq!(nc_close(file), 0);
    let file = folder.open();
    let mut id = 0;
    assert_eq!(call!(nc_inq_typeid(file, c"colour".as_ptr(), &raw mut id)), 0);
    assert_eq!(nc_close(file), 0);
}

#[derive(Clone, Copy)]
#[repr(C)]
struct List {
    len: usize,
    p: *mut c_void,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Row {
    number: i16,
    table: [[f64; 2]; 3],
    name: *mut c_char,
    list: List,
}

/// Defines the type of `Row`, whose list is one of strings.
fn define_row(file: c_int) -> c_int {
    let list = made!(nc_def_vlen(file, c"list".as_ptr(), NC_STRING));
    let row = made!(nc_def_compound(file, size_of::<Row>(), c"row".as_ptr()));
    let shape = [3, 2];
    assert_eq!(add_field(file, row, c"number", offset_of!(Row, number), 3), 0);
    let (name, offset) = (c"table".as_ptr(), offset_of!(Row, table));
    assert_eq!(
        call!(nc_insert_array_compound(file, row, name, offset, NC_DOUBLE, 2, shape.as_ptr())),
        0
    );
    assert_eq!(add_field(file, row, c"name", offset_of!(Row, name), NC_STRING), 0);
    assert_eq!(add_field(file, row, c"list", offset_of!(Row, list), list), 0);
    row
}

fn words(file: c_int, id: c_int, row: &mut Row) -> String {
    let mut words = null_mut();
    let row: *mut Row = row;
    assert_eq!(call!(nc_dump_data(file, id, row.cast(), 1, &raw mut words)), 0);
    let found = call!(CStr::from_ptr(words)).to_str().unwrap().to_owned();
    assert_eq!(call!(nc_free_string(1, &raw mut words)), 0);
    found
}

#[test]
fn structures_are_written_read_copied_and_freed() {
    let folder = Folder::new();
    let file = folder.create(NC_NETCDF4);
    let row = define_row(file);
    let variable = made!(nc_def_var(file, c"v".as_ptr(), row, 0, null()));
    let mut strings = [c"one", c"", c"three"].map(|word| word.as_ptr().cast_mut());
    let list = List { len: 3, p: strings.as_mut_ptr().cast() };
    let table = [[1.0, 2.0], [3.0, 4.0], [5.0, -6.5]];
    let mut written = Row { number: -7, table, name: strings[2], list };
    assert_eq!(call!(nc_put_var(file, variable, (&raw const written).cast())), 0);
    let expected = "<number-7;table[3][2]1.000000 2.000000 3.000000 4.000000 5.000000 -6.500000;\
                    name\"three\";list{len=3,p=(\"one\" \"\" \"three\")}>";
    assert_eq!(words(file, row, &mut written), expected);
    assert_eq!(nc_close(file), 0);

    let file = folder.open();
    let mut read = Row { number: 0, table, name: null_mut(), list: List { len: 0, p: null_mut() } };
    assert_eq!(call!(nc_get_var(file, variable, (&raw mut read).cast())), 0);
    assert_eq!(words(file, row, &mut read), expected);
    let mut copy: *mut c_void = null_mut();
    let from: *mut Row = &raw mut read;
    assert_eq!(call!(nc_copy_data_all(file, row, from.cast(), 1, &raw mut copy)), 0);
    assert_eq!(call!(nc_reclaim_data(file, row, from.cast(), 1)), 0);
    assert_eq!(words(file, row, call!(&mut *copy.cast::<Row>())), expected);
    assert_eq!(call!(nc_reclaim_data_all(file, row, copy, 1)), 0);

    let (mut offset, mut axes, mut lens) = (0, 0, [0; 2]);
    let name = name_of(|name| {
        let (offset, axes) = (&raw mut offset, &raw mut axes);
        call!(nc_inq_compound_field(
            file,
            row,
            1,
            name,
            offset,
            null_mut(),
            axes,
            lens.as_mut_ptr()
        ))
    });
    assert_eq!((&*name, offset, axes, lens), ("table", 8, 2, [3, 2]));
    let mut broken = List { len: 1, p: null_mut() };
    let broken: *mut List = &raw mut broken;
    assert_eq!(call!(nc_reclaim_data(file, 32, broken.cast(), 1)), EINVAL);
    assert_eq!(nc_close(file), 0);
}

#[test]
fn groups_are_found_and_renamed_with_what_is_in_them() {
    let folder = Folder::new();
    let file = folder.create(NC_NETCDF4);
    let outer = made!(nc_def_grp(file, c"outer".as_ptr()));
    let inner = made!(nc_def_grp(outer, c"inner".as_ptr()));
    let last = made!(nc_def_grp(file, c"last".as_ptr()));
    assert_eq!([outer, inner, last].map(|id| id - file), [1, 2, 3]);
    let list = made!(nc_def_vlen(inner, c"list".as_ptr(), NC_INT));
    let variable = made!(nc_def_var(inner, c"v".as_ptr(), list, 0, null()));
    let rename = |id, name: &CStr| call!(nc_rename_grp(id, name.as_ptr()));
    assert_eq!(rename(outer, c"last"), ENAMEINUSE);
    assert_eq!([rename(file, c"x"), rename(file | 9, c"x")], [EBADGRPID, EBADID]);
    assert_eq!(rename(outer, c"renamed"), 0);

    let check = |file: c_int| {
        let full = |from, path: &CStr| {
            let mut found = -1;
            let status = call!(nc_inq_grp_full_ncid(from, path.as_ptr(), &raw mut found));
            if status == 0 { found - file } else { status }
        };
        let inner = file | 2;
        assert_eq!(full(file, c"/renamed/inner"), 2);
        assert_eq!(
            [full(file, c"/outer"), full(inner, c"/renamed"), full(inner, c"/")],
            [ENOGRP; 3]
        );
        assert_eq!(full(file, c"/"), 0);
        let path = name_of(|name| call!(nc_inq_grpname_full(inner, null_mut(), name)));
        assert_eq!(path, "/renamed/inner");
        assert_eq!(name_of(|name| call!(nc_inq_grpname(file, name))), "/");
        assert_eq!(made!(nc_inq_grp_parent(inner)), file | 1);
        assert_eq!(call!(nc_inq_grp_parent(file, null_mut())), ENOGRP);
        assert_eq!(made!(nc_inq_vartype(inner, variable)), list);
        assert_eq!(made!(nc_inq_typeid(file, c"/renamed/inner/list".as_ptr())), list);
        assert_eq!(made!(nc_inq_typeid(file | 3, c"list".as_ptr())), list);
        assert_eq!(made!(nc_inq_ncid(inner, null())), file);
    };
    check(file);
    assert_eq!(nc_close(file), 0);
    let file = folder.open();
    check(file);
    assert_eq!(rename(file | 1, c"x"), -37);
    assert_eq!(nc_close(file), 0);
}

#[test]
fn types_are_looked_for_from_the_root_down() {
    let folder = Folder::new();
    let file = folder.create(NC_NETCDF4);
    let upper = made!(nc_def_grp(file, c"upper".as_ptr()));
    let lower = made!(nc_def_grp(upper, c"lower".as_ptr()));
    let other = made!(nc_def_grp(file, c"other".as_ptr()));
    let opaque = |group| made!(nc_def_opaque(group, 3, c"a".as_ptr()));
    let (of_other, of_lower) = (opaque(other), opaque(lower));
    let found = || made!(nc_inq_typeid(file, c"a".as_ptr()));
    assert_eq!(found(), of_lower);
    let of_upper = opaque(upper);
    assert_eq!(found(), of_upper);
    assert_eq!(made!(nc_inq_typeid(other, c"a".as_ptr())), of_other);
    assert_eq!(nc_close(file), 0);
}

#[test]
fn structures_are_laid_out_as_in_c() {
    let folder = Folder::new();
    let file = folder.create(NC_NETCDF4);
    let mut tag = null_mut();
    assert_eq!(call!(ncaux_begin_compound(file, c"built".as_ptr(), 0, &raw mut tag)), 0);
    let add = |name: &CStr, id, shape: &[c_int]| {
        call!(ncaux_add_field(tag, name.as_ptr(), id, shape.len() as c_int, shape.as_ptr()))
    };
    assert_eq!(add(c"bad", NC_INT, &[0]), EINVAL);
    assert_eq!([add(c"b", 1, &[3]), add(c"d", NC_DOUBLE, &[]), add(c"i", NC_INT, &[2, 2])], [0; 3]);
    let id = made!(ncaux_end_compound(tag));
    assert_eq!(call!(ncaux_abort_compound(tag)), 0);
    let offset = |index| {
        let mut offset = 0;
        assert_eq!(call!(nc_inq_compound_fieldoffset(file, id, index, &raw mut offset)), 0);
        offset
    };
    let mut size = 0;
    assert_eq!(call!(nc_inq_compound_size(file, id, &raw mut size)), 0);
    assert_eq!(([offset(0), offset(1), offset(2)], size), ([0, 8, 16], 32));
    let mut alignment = 0;
    assert_eq!(call!(ncaux_type_alignment(id, file, &raw mut alignment)), 0);
    assert_eq!(alignment, 8);
    assert_eq!(call!(ncaux_class_alignment(16, &raw mut alignment)), EINVAL);
    assert_eq!(nc_abort(file), 0);
}

/// Bit fields are of no type that netCDF has: variables and types made of them are not there.
#[test]
fn what_netcdf_cannot_say_is_left_out() {
    let corpus = std::env::var_os("ISOTACH_CORPUS").map_or_else(
        || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"),
        Into::into,
    );
    let path = corpus.join("hdf5-1.14.5/tbitnopaque.h5");
    if !path.exists() {
        eprintln!("skipped: no {}", path.display());
        return;
    }
    let path = c_path(&path);
    let file = made!(nc_open(path.as_ptr(), 0));
    let counts = [c"bittypetests", c"cmpdtypetests", c"opaquetypetests"].map(|name| {
        let group = made!(nc_inq_ncid(file, name.as_ptr()));
        let mut types = -1;
        assert_eq!(call!(nc_inq_typeids(group, &raw mut types, null_mut())), 0);
        (made!(nc_inq_nvars(group)), types)
    });
    assert_eq!(counts, [(0, 0), (0, 0), (2, 2)]);
    assert_eq!(nc_close(file), 0);
}
