//! Values through the C interface: what is moved, what is refused, and which error comes first.

mod support;

use std::ffi::{CStr, c_char, c_int};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use support::*;

/// Ids of files that were closed are given again: the tests follow one another.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file in a folder of its own.
struct Fixture {
    folder: tempfile::TempDir,
    id: c_int,
}

impl Fixture {
    fn new(mode: c_int) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut id = 0;
        let path = c_path(&folder.path().join("data.nc"));
        // SAFETY: a string, and a place for an id.
        assert_eq!(unsafe { nc_create(path.as_ptr(), mode, &mut id) }, 0);
        Self { folder, id }
    }

    fn dimension(&self, name: &CStr, len: usize) -> c_int {
        let mut dimension = 0;
        // SAFETY: a string, and a place for an id.
        assert_eq!(unsafe { nc_def_dim(self.id, name.as_ptr(), len, &mut dimension) }, 0);
        dimension
    }

    fn variable(&self, name: &CStr, type_id: c_int, along: &[c_int]) -> c_int {
        let (mut variable, rank) = (0, along.len() as c_int);
        let defined =
            // SAFETY: a string, a list of that length, and a place for an id.
            unsafe { nc_def_var(self.id, name.as_ptr(), type_id, rank, along.as_ptr(), &mut variable) };
        assert_eq!(defined, 0);
        variable
    }

    /// Closes the file and opens it again.
    fn reopen(&mut self, mode: c_int) {
        assert_eq!(nc_close(self.id), 0);
        let path = c_path(&self.folder.path().join("data.nc"));
        // SAFETY: a string, and a place for an id.
        assert_eq!(unsafe { nc_open(path.as_ptr(), mode, &mut self.id) }, 0);
    }

    fn len_of(&self, dimension: c_int) -> usize {
        let mut len = 0;
        // SAFETY: a place for a length.
        assert_eq!(unsafe { nc_inq_dimlen(self.id, dimension, &mut len) }, 0);
        len
    }

    fn put(&self, variable: c_int, start: &[usize], count: &[usize], values: &[i32]) -> c_int {
        // SAFETY: lists for each dimension, and as many values.
        unsafe {
            nc_put_vara_int(self.id, variable, start.as_ptr(), count.as_ptr(), values.as_ptr())
        }
    }

    fn get(&self, variable: c_int, start: &[usize], count: &[usize]) -> Result<Vec<i32>, Status> {
        let mut values = vec![-77; 64];
        let (id, into) = (self.id, values.as_mut_ptr());
        // SAFETY: lists for each dimension, and room for more than the tests ask for.
        let status = unsafe { nc_get_vara_int(id, variable, start.as_ptr(), count.as_ptr(), into) };
        values.truncate(count.iter().product());
        if status == 0 { Ok(values) } else { Err(Status(status)) }
    }
}

#[test]
fn records_come_into_being_and_are_fill_where_nothing_was_written() {
    let _alone = alone();
    for mode in FORMATS {
        let mut file = Fixture::new(mode);
        let time = file.dimension(c"t", 0);
        let long = file.variable(c"long", NC_INT, &[time]);
        let short = file.variable(c"short", NC_INT, &[time]);
        assert_eq!(nc_enddef(file.id), 0);
        assert_eq!(file.put(long, &[0], &[4], &[1, 2, 3, 4]), 0);
        assert_eq!(file.put(short, &[0], &[1], &[9]), 0);
        for mode in [NC_WRITE, 0] {
            file.reopen(mode);
            let fill = -2_147_483_647;
            assert_eq!(file.get(short, &[0], &[4]), Ok(vec![9, fill, fill, fill]));
            // At the end there is nothing, and that may be asked for.
            assert_eq!(file.get(short, &[4], &[0]), Ok(vec![]));
            assert_eq!(file.len_of(time), 4);
        }
        assert_eq!(nc_close(file.id), 0);
    }
}

#[test]
fn a_dimension_is_as_long_as_variables_that_lie_beside_its_group() {
    let _alone = alone();
    let mut file = Fixture::new(NC_NETCDF4);
    let (mut group, mut dimension) = (0, 0);
    // SAFETY: strings, and places for ids.
    unsafe {
        assert_eq!(nc_def_grp(file.id, c"a".as_ptr(), &mut group), 0);
        assert_eq!(nc_def_dim(group, c"x".as_ptr(), 0, &mut dimension), 0);
    }
    let variable = file.variable(c"v", NC_INT, &[dimension]);
    assert_eq!(file.put(variable, &[0], &[3], &[1, 2, 3]), 0);
    for mode in [NC_WRITE, 0] {
        // libnetcdf finds none of the values when it opens the file again.
        file.reopen(mode);
        assert_eq!(file.len_of(dimension), 3);
        assert_eq!(file.get(variable, &[0], &[3]), Ok(vec![1, 2, 3]));
    }
    assert_eq!(nc_close(file.id), 0);
}

#[test]
fn records_that_a_variable_has_not_are_fill_even_where_it_is_not_filled() {
    let _alone = alone();
    let mut file = Fixture::new(NC_NETCDF4);
    let time = file.dimension(c"t", 0);
    let long = file.variable(c"long", NC_INT, &[time]);
    let short = file.variable(c"short", NC_INT, &[time]);
    // SAFETY: no fill value.
    assert_eq!(unsafe { nc_def_var_fill(file.id, short, 1, null()) }, 0);
    assert_eq!(file.put(long, &[0], &[3], &[1, 2, 3]), 0);
    assert_eq!(file.put(short, &[0], &[1], &[9]), 0);
    for mode in [NC_WRITE, 0] {
        assert_eq!(file.get(short, &[0], &[3]), Ok(vec![9, -2_147_483_647, -2_147_483_647]));
        file.reopen(mode);
    }
    assert_eq!(file.get(short, &[0], &[3]), Ok(vec![9, -2_147_483_647, -2_147_483_647]));
    assert_eq!(nc_close(file.id), 0);
}

#[test]
fn a_whole_variable_has_the_records_that_there_are() {
    let _alone = alone();
    for mode in FORMATS {
        let file = Fixture::new(mode);
        let along = [file.dimension(c"t", 0), file.dimension(c"x", 2)];
        let variable = file.variable(c"v", NC_INT, &along);
        assert_eq!(nc_enddef(file.id), 0);
        let values = [5, 6, 7, 8];
        // SAFETY: as many values as the present length asks for, here and below.
        unsafe {
            assert_eq!(nc_put_var_int(file.id, variable, values.as_ptr()), 0);
            assert_eq!(file.len_of(along[0]), 0);
            assert_eq!(file.put(variable, &[1, 0], &[1, 2], &[1, 2]), 0);
            assert_eq!(nc_put_var_int(file.id, variable, values.as_ptr()), 0);
        }
        assert_eq!(file.get(variable, &[0, 0], &[2, 2]), Ok(values.to_vec()));
        assert_eq!(nc_close(file.id), 0);
    }
}

#[test]
fn nothing_written_makes_records_in_classic_files_only() {
    let _alone = alone();
    for mode in FORMATS {
        let file = Fixture::new(mode);
        let time = file.dimension(c"t", 0);
        let variable = file.variable(c"v", NC_INT, &[time]);
        assert_eq!(nc_enddef(file.id), 0);
        assert_eq!(file.put(variable, &[7], &[0], &[]), 0);
        let is_classic = mode & NC_NETCDF4 == 0;
        assert_eq!(file.len_of(time), if is_classic { 7 } else { 0 });
        // Behind the last record that can be counted.
        let refused = Status(file.put(variable, &[usize::MAX], &[1], &[1]));
        assert_eq!(refused, if is_classic { Status::EINVALCOORDS } else { Status::EHDFERR });
        assert_eq!(nc_close(file.id), 0);
    }
}

#[test]
fn requests_beyond_the_shape_are_refused_in_order() {
    let _alone = alone();
    for mode in FORMATS {
        let mut file = Fixture::new(mode);
        let along = [file.dimension(c"y", 3), file.dimension(c"x", 5)];
        let variable = file.variable(c"v", NC_INT, &along);
        assert_eq!(nc_enddef(file.id), 0);
        file.reopen(0);
        let both = [
            (file.get(variable, &[4, 0], &[1, 1]), Status::EINVALCOORDS),
            (file.get(variable, &[3, 0], &[1, 1]), Status::EINVALCOORDS),
            (file.get(variable, &[2, 0], &[2, 1]), Status::EEDGE),
            (file.get(99, &[0, 0], &[1, 1]), Status::ENOTVAR),
        ];
        for (found, expected) in both {
            assert_eq!(found, Err(expected));
        }
        // The end along y is looked at before the start along x in netCDF-4, and after it elsewhere.
        let is_classic = mode & NC_NETCDF4 == 0;
        let expected = if is_classic { Status::EINVALCOORDS } else { Status::EEDGE };
        assert_eq!(file.get(variable, &[2, 6], &[2, 1]), Err(expected));
        let refused = Status(file.put(variable, &[0, 0], &[1, 1], &[1]));
        assert_eq!(refused, if is_classic { Status::EPERM } else { Status::EHDFERR });
        assert_eq!(nc_close(file.id), 0);
        assert_eq!(file.get(variable, &[0, 0], &[1, 1]), Err(Status::EBADID));
        assert_eq!(nc_close(file.id), Status::EBADID.0);
    }
}

#[test]
fn what_is_not_filled_keeps_what_stood_at_its_place() {
    let _alone = alone();
    let mut file = Fixture::new(0);
    let (time, x) = (file.dimension(c"t", 0), file.dimension(c"x", 3));
    let records = file.variable(c"records", NC_INT, &[time]);
    // The header may grow.
    assert_eq!(nc__enddef(file.id, 64, 4, 0, 4), 0);
    let values = [5, 6, 7, 8];
    assert_eq!(file.put(records, &[0], &[4], &values), 0);
    assert_eq!(nc_redef(file.id), 0);
    // SAFETY: nobody wants to know the mode before.
    assert_eq!(unsafe { nc_set_fill(file.id, NC_NOFILL, null_mut()) }, 0);
    let variable = file.variable(c"v", NC_INT, &[x]);
    assert_eq!(nc_enddef(file.id), 0);
    for _ in 0..2 {
        assert_eq!(file.get(records, &[0], &[4]), Ok(values.to_vec()));
        assert_eq!(file.get(variable, &[0], &[3]), Ok(values[..3].to_vec()));
        file.reopen(0);
    }
    assert_eq!(nc_close(file.id), 0);
}

#[test]
fn define_mode_is_left_where_the_model_has_none() {
    let _alone = alone();
    for mode in FORMATS {
        let file = Fixture::new(mode);
        let variable = file.variable(c"v", NC_INT, &[]);
        let has_modes = mode != NC_NETCDF4;
        let expected = if has_modes { Status::EINDEFINE } else { Status(0) };
        assert_eq!(Status(file.put(variable, &[], &[], &[4])), expected);
        // netCDF-4 looks at the types before the mode.
        let mut text: c_char = 0;
        // SAFETY: room for one char.
        let status = unsafe { nc_get_var_text(file.id, variable, &mut text) };
        let is_classic = mode & NC_NETCDF4 == 0;
        assert_eq!(Status(status), if is_classic { Status::EINDEFINE } else { Status::ECHAR });
        // A netCDF-4 file has left it by then.
        assert_eq!(nc_enddef(file.id), if has_modes { 0 } else { Status::ENOTINDEFINE.0 });
        assert_eq!(file.put(variable, &[], &[], &[4]), 0);
        assert_eq!(nc_redef(file.id), 0);
        let found = file.get(variable, &[], &[]);
        assert_eq!(found, if has_modes { Err(Status::EINDEFINE) } else { Ok(vec![4]) });
        assert_eq!(nc_close(file.id), 0);
    }
}

#[test]
fn all_values_are_moved_where_some_are_out_of_range() {
    let _alone = alone();
    for mode in FORMATS {
        let file = Fixture::new(mode);
        let x = file.dimension(c"x", 3);
        let (bytes, doubles) =
            (file.variable(c"b", NC_BYTE, &[x]), file.variable(c"d", NC_DOUBLE, &[x]));
        assert_eq!(nc_enddef(file.id), 0);
        let (start, count) = ([0], [3]);
        assert_eq!(Status(file.put(bytes, &start, &count, &[1, 300, -1])), Status::ERANGE);
        assert_eq!(file.get(bytes, &start, &count), Ok(vec![1, 44, -1]));
        let (given, mut found) = ([2.5, -1e300, 7.0], [-77i16; 3]);
        // SAFETY: as many values as the variable has, here and below.
        unsafe {
            assert_eq!(nc_put_var_double(file.id, doubles, given.as_ptr()), 0);
            let status = nc_get_var_short(file.id, doubles, found.as_mut_ptr());
            assert_eq!(Status(status), Status::ERANGE);
        }
        // What does not fit stays as it was where netCDF-C reads classic files.
        let is_classic = mode & NC_NETCDF4 == 0;
        assert_eq!(found, [2, if is_classic { -77 } else { 0 }, 7]);
        assert_eq!(nc_close(file.id), 0);
    }
}

#[test]
fn maps_lead_anywhere_in_memory() {
    let _alone = alone();
    for mode in FORMATS {
        let file = Fixture::new(mode);
        let along = [file.dimension(c"y", 2), file.dimension(c"x", 3)];
        let variable = file.variable(c"v", NC_INT, &along);
        assert_eq!(nc_enddef(file.id), 0);
        let (id, start, count) = (file.id, [0, 0], [2, 3]);
        let transposed: [isize; 2] = [1, 2];
        let columns = [1, 4, 2, 5, 3, 6];
        // SAFETY: lists for each dimension; the maps stay within the arrays, here and below.
        let put = unsafe {
            nc_put_varm_int(
                id,
                variable,
                start.as_ptr(),
                count.as_ptr(),
                null(),
                transposed.as_ptr(),
                columns.as_ptr(),
            )
        };
        assert_eq!(put, 0);
        assert_eq!(file.get(variable, &start, &count), Ok(vec![1, 2, 3, 4, 5, 6]));
        for (map, first, expected) in [
            ([-3, -1], 5, [6, 5, 4, 3, 2, 1]),
            // Of several values for one place the last one stays.
            ([0, 1], 0, [4, 5, 6, -1, -1, -1]),
            ([3, 0], 0, [3, -1, -1, 6, -1, -1]),
        ] {
            let (mut found, map): ([i32; 6], [isize; 2]) = ([-1; 6], map);
            // SAFETY: as above.
            let got = unsafe {
                nc_get_varm_int(
                    id,
                    variable,
                    start.as_ptr(),
                    count.as_ptr(),
                    null(),
                    map.as_ptr(),
                    found.as_mut_ptr().add(first),
                )
            };
            assert_eq!((got, found), (0, expected));
        }
        assert_eq!(nc_close(id), 0);
    }
}

#[test]
fn strides_are_positive_and_stay_within_the_shape() {
    let _alone = alone();
    for mode in FORMATS {
        let file = Fixture::new(mode);
        let x = file.dimension(c"x", 10);
        let variable = file.variable(c"v", NC_INT, &[x]);
        assert_eq!(nc_enddef(file.id), 0);
        let all: Vec<i32> = (0..10).collect();
        assert_eq!(file.put(variable, &[0], &[10], &all), 0);
        let strided = |count: usize, stride: isize| {
            let (mut found, start, id) = ([-1; 4], 1usize, file.id);
            // SAFETY: one dimension, and room for four.
            let got = unsafe {
                nc_get_vars_int(id, variable, &start, &count, &stride, found.as_mut_ptr())
            };
            (Status(got), found)
        };
        assert_eq!(strided(3, 4), (Status(0), [1, 5, 9, -1]));
        assert_eq!(strided(3, 0).0, Status::ESTRIDE);
        assert_eq!(strided(3, -1).0, Status::ESTRIDE);
        // netCDF-C walks a classic file element by element: those that lie inside are moved.
        let is_classic = mode & NC_NETCDF4 == 0;
        let beyond = match is_classic {
            true => (Status::EINVALCOORDS, [1, 6, -1, -1]),
            false => (Status::EEDGE, [-1; 4]),
        };
        assert_eq!(strided(3, 5), beyond);
        assert_eq!(nc_close(file.id), 0);
    }
}

#[test]
fn text_goes_with_text_and_strings_with_strings() {
    let _alone = alone();
    let mut file = Fixture::new(NC_NETCDF4);
    let x = file.dimension(c"x", 3);
    let text = file.variable(c"text", NC_CHAR, &[x]);
    let strings = file.variable(c"strings", NC_STRING, &[x]);
    let given = [c"one".as_ptr().cast_mut(), c"".as_ptr().cast_mut(), null_mut()];
    let (mut found, mut characters) = ([null_mut::<c_char>(); 3], [0 as c_char; 3]);
    // SAFETY: as many values as the variables have, here and below.
    unsafe {
        assert_eq!(nc_put_var_text(file.id, text, c"abc".as_ptr()), 0);
        assert_eq!(nc_put_var_string(file.id, strings, given.as_ptr()), 0);
    }
    file.reopen(0);
    // SAFETY: as above; the strings are the caller's.
    unsafe {
        assert_eq!(nc_get_var_text(file.id, text, characters.as_mut_ptr()), 0);
        assert_eq!(nc_get_var_string(file.id, strings, found.as_mut_ptr()), 0);
        assert_eq!(CStr::from_ptr(found[0]), c"one");
        assert_eq!(CStr::from_ptr(found[1]), c"");
        assert!(found[2].is_null());
        assert_eq!(Status(nc_get_var_string(file.id, text, found.as_mut_ptr())), Status::ECHAR);
        let mut numbers = [0; 3];
        let into = numbers.as_mut_ptr();
        assert_eq!(Status(nc_get_var_int(file.id, strings, into)), Status::EBADTYPE);
        assert_eq!(Status(nc_get_var_int(file.id, text, into)), Status::ECHAR);
    }
    for string in found {
        // SAFETY: the library took them from `malloc`.
        unsafe { libc::free(string.cast()) };
    }
    assert_eq!(characters.map(|character| character as u8), *b"abc");
    assert_eq!(nc_close(file.id), 0);
}

/// One value, as a double.
fn single(id: c_int, variable: c_int, index: &[usize]) -> Result<f64, Status> {
    let mut value = -1.0;
    // SAFETY: an index for each dimension, and room for one value.
    match unsafe { nc_get_var1_double(id, variable, index.as_ptr(), &mut value) } {
        0 => Ok(value),
        status => Err(Status(status)),
    }
}

#[test]
fn single_values_are_those_of_the_whole() {
    let _alone = alone();
    // More than a thread keeps of them at once.
    let shapes: [&[usize]; 3] = [&[22_100], &[130, 170], &[13, 10, 170]];
    for (mode, shape) in FORMATS.into_iter().flat_map(|mode| shapes.map(|shape| (mode, shape))) {
        let mut file = Fixture::new(mode);
        let names = [c"z", c"y", c"x"];
        let along: Vec<c_int> =
            shape.iter().zip(names).map(|(&len, name)| file.dimension(name, len)).collect();
        let variable = file.variable(c"v", NC_INT, &along);
        assert_eq!(nc_enddef(file.id), 0);
        let count: usize = shape.iter().product();
        let all: Vec<i32> = (0..count as i32).collect();
        assert_eq!(file.put(variable, &vec![0; shape.len()], shape, &all), 0);
        file.reopen(0);
        let id = file.id;
        let index = |mut number: usize| {
            let mut index = vec![0; shape.len()];
            for (at, &len) in index.iter_mut().zip(shape).rev() {
                (*at, number) = (number % len, number / len);
            }
            index
        };
        let check = |step: usize| {
            for number in (0..count).map(|number| number * step % count) {
                assert_eq!(single(id, variable, &index(number)), Ok(number as f64));
            }
        };
        // In order, backwards, far apart, and by several threads at once.
        std::thread::scope(|threads| {
            for step in [1, count - 1, 170, 777] {
                threads.spawn(move || check(step));
            }
        });
        check(1);
        let mut beyond = index(count - 1);
        *beyond.last_mut().unwrap() += 1;
        assert_eq!(single(id, variable, &beyond), Err(Status::EINVALCOORDS));
        assert_eq!(single(id, variable, shape), Err(Status::EINVALCOORDS));
        assert_eq!(nc_close(id), 0);
        assert_eq!(single(id, variable, &index(0)), Err(Status::EBADID));
    }
}

#[test]
fn single_values_of_a_file_that_is_written_are_the_newest() {
    let _alone = alone();
    for mode in FORMATS {
        let mut file = Fixture::new(mode);
        let x = file.dimension(c"x", 4);
        let variable = file.variable(c"v", NC_INT, &[x]);
        assert_eq!(nc_enddef(file.id), 0);
        file.reopen(NC_WRITE);
        for value in 1..4 {
            assert_eq!(file.put(variable, &[2], &[1], &[value]), 0);
            assert_eq!(single(file.id, variable, &[2]), Ok(f64::from(value)));
        }
        // Another file under the same id has other values.
        file.reopen(0);
        assert_eq!(single(file.id, variable, &[2]), Ok(3.0));
        let before = file.id;
        assert_eq!(nc_close(file.id), 0);
        let other = Fixture::new(mode);
        assert_eq!(other.id, before);
        let variable = other.variable(c"v", NC_INT, &[other.dimension(c"x", 4)]);
        assert_eq!(nc_enddef(other.id), 0);
        assert_eq!(other.put(variable, &[2], &[1], &[8]), 0);
        assert_eq!(single(other.id, variable, &[2]), Ok(8.0));
        assert_eq!(nc_close(other.id), 0);
    }
}

#[test]
fn a_variable_is_copied_with_all_of_its_values() {
    let _alone = alone();
    for from_mode in FORMATS {
        for to_mode in FORMATS {
            let (from, to) = (Fixture::new(from_mode), Fixture::new(to_mode));
            let along = [from.dimension(c"t", 0), from.dimension(c"x", 3)];
            let variable = from.variable(c"v", NC_INT, &along);
            assert_eq!(nc_enddef(from.id), 0);
            assert_eq!(Status(nc_copy_var(from.id, variable, to.id)), Status::EBADDIM);
            // The dimensions of the same names have other ids.
            to.dimension(c"x", 3);
            let time = to.dimension(c"t", 0);
            let values: Vec<i32> = (0..12).collect();
            assert_eq!(from.put(variable, &[0, 0], &[4, 3], &values), 0);
            assert_eq!(nc_copy_var(from.id, variable, to.id), 0);
            assert_eq!(to.len_of(time), 4);
            assert_eq!(to.get(0, &[0, 0], &[4, 3]), Ok(values));
            assert_eq!(Status(nc_copy_var(from.id, variable, to.id)), Status::ENAMEINUSE);
            assert_eq!(nc_close(from.id), 0);
            assert_eq!(nc_close(to.id), 0);
        }
    }
}
