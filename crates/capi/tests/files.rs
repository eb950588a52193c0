//! Files through the C interface: several ids of one file, define mode and back, memory, and programs that
//! end without closing.

mod support;

use std::ffi::{CStr, CString, c_int};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::*;

const NC_MEMIO_LOCKED: c_int = 1;
const FORMATS: [c_int; 5] =
    [0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4 | NC_CLASSIC_MODEL, NC_NETCDF4];

/// A file's path in a folder of its own.
fn new_file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.nc");
    (folder, path)
}

/// What a call that gives an id gives.
fn id_of(call: impl FnOnce(*mut c_int) -> c_int) -> Result<c_int, Status> {
    let mut id = 0;
    match call(&mut id) {
        0 => Ok(id),
        status => Err(Status(status)),
    }
}

fn create(path: &Path, flags: c_int) -> Result<c_int, Status> {
    let path = c_path(path);
    // SAFETY: a string and a place for an id.
    id_of(|id| unsafe { nc_create(path.as_ptr(), flags, id) })
}

fn open(path: &Path, flags: c_int) -> Result<c_int, Status> {
    let path = c_path(path);
    // SAFETY: a string and a place for an id.
    id_of(|id| unsafe { nc_open(path.as_ptr(), flags, id) })
}

/// Defines the variable `name` along the unlimited dimension 0, which comes about with the first.
fn define(id: c_int, name: &CStr) {
    let mut new = 0;
    // SAFETY: strings, one dimension, and a place for an id.
    unsafe {
        if counts(id).0 == 0 {
            assert_eq!(nc_def_dim(id, c"t".as_ptr(), 0, &mut new), 0);
        }
        assert_eq!(nc_def_var(id, name.as_ptr(), NC_INT, 1, &0, &mut new), 0);
    }
}

fn put(id: c_int, index: usize, value: c_int) -> c_int {
    // SAFETY: an index along one dimension, and a value.
    unsafe { nc_put_var1_int(id, 0, &index, &value) }
}

fn get(id: c_int, index: usize) -> Result<c_int, Status> {
    // SAFETY: an index along one dimension, and a place for a value.
    id_of(|value| unsafe { nc_get_var1_int(id, 0, &index, value) })
}

/// How many dimensions and variables there are.
fn counts(id: c_int) -> (c_int, c_int) {
    let (mut dimensions, mut variables) = (0, 0);
    let null = std::ptr::null_mut;
    // SAFETY: places for numbers.
    assert_eq!(unsafe { nc_inq(id, &mut dimensions, &mut variables, null(), null()) }, 0);
    (dimensions, variables)
}

fn format(id: c_int) -> c_int {
    // SAFETY: a place for a number.
    id_of(|format| unsafe { nc_inq_format(id, format) }).unwrap()
}

fn call(function: unsafe extern "C" fn(c_int) -> c_int, id: c_int) {
    // SAFETY: takes any number.
    assert_eq!(unsafe { function(id) }, 0);
}

/// A file with the variable `v` and the value 5.
fn write_one(path: &Path, flags: c_int) {
    let id = create(path, flags).unwrap();
    define(id, c"v");
    call(nc_enddef, id);
    assert_eq!(put(id, 0, 5), 0);
    call(nc_close, id);
}

fn status(number: c_int) -> Result<c_int, Status> {
    Err(Status(number))
}

#[test]
fn flags_that_do_not_go_together_are_refused() {
    let (_folder, path) = new_file();
    write_one(&path, NC_NETCDF4);
    for (flags, expected) in [
        (NC_DISKLESS | NC_MMAP, Status::EDISKLESS),
        (NC_DISKLESS | NC_INMEMORY, Status::EDISKLESS),
        (NC_INMEMORY | NC_MMAP, Status::EINMEMORY),
        (NC_MMAP | NC_NETCDF4, Status::EINVAL),
        (NC_UDF0, Status::ENOTBUILT),
    ] {
        assert_eq!(create(&path, flags), Err(expected), "{flags:x}");
        assert_eq!(open(&path, flags), Err(expected), "{flags:x}");
    }
    assert_eq!(create(&path, NC_NETCDF4 | NC_64BIT_DATA), Err(Status::EINVAL));
    assert_eq!(create(&path, NC_NOCLOBBER), Err(Status::EEXIST));
    assert_eq!(open(&path, NC_MMAP), Err(Status::EINVAL));
    assert_eq!(open(&path, NC_INMEMORY), Err(Status::EINVAL));
    assert_eq!(get(open(&path, 0).unwrap(), 0), Ok(5));
}

#[test]
fn paths_that_are_no_files_give_their_errors() {
    let (folder, _) = new_file();
    let missing = folder.path().join("no/file.nc");
    assert_eq!(create(&missing, 0), status(libc::ENOENT));
    assert_eq!(create(&missing, NC_NETCDF4), status(libc::EACCES));
    assert_eq!(open(&missing, NC_WRITE), status(libc::ENOENT));
    assert_eq!(create(folder.path(), 0), status(libc::EISDIR));
    assert_eq!(open(folder.path(), 0), Err(Status::ENOTNC));
    assert_eq!(open(Path::new("  "), 0), Err(Status::EDAPURL));
    assert_eq!(open(Path::new("https://host/file.nc"), 0), Err(Status::ENOTBUILT));
    for (bytes, expected) in [
        (&b"CDF\x03xxxxxxxxxxx"[..], Status::ENOTNC),
        (b"", Status::ENOTNC),
        (b"\x0e\x03\x13\x01xxxxxxxxxxxxx", Status::ENOTBUILT),
        (b"\x89HDF\r\n\x1a\n", Status::EHDFERR),
    ] {
        let path = folder.path().join("other");
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(open(&path, 0), Err(expected), "{}", bytes.escape_ascii());
    }
}

#[test]
fn paths_are_told_without_what_is_white_before_them() {
    let (_folder, path) = new_file();
    let mut given = b"\t ".to_vec();
    given.extend_from_slice(path.as_os_str().as_encoded_bytes());
    let given = CString::new(given).unwrap();
    // SAFETY: a string and a place for an id.
    let id = id_of(|id| unsafe { nc_create(given.as_ptr(), 0, id) }).unwrap();
    let (mut len, mut told) = (0, [0; 4096]);
    // SAFETY: places for a length and for more than a path.
    assert_eq!(unsafe { nc_inq_path(id, &mut len, told.as_mut_ptr()) }, 0);
    // SAFETY: a string, as the call succeeded.
    assert_eq!(unsafe { CStr::from_ptr(told.as_ptr()) }, &*c_path(&path));
    assert_eq!(len, path.as_os_str().len());
    call(nc_close, id);
}

#[test]
fn define_and_data_mode_are_kept_apart() {
    for flags in FORMATS {
        let (_folder, path) = new_file();
        let has_modes = flags != NC_NETCDF4;
        let in_define_mode = if has_modes { Status::EINDEFINE.0 } else { 0 };
        let id = create(&path, flags).unwrap();
        assert_eq!(nc_redef(id), in_define_mode);
        assert_eq!(nc_sync(id), in_define_mode);
        define(id, c"v");
        if has_modes {
            assert_eq!(put(id, 0, 1), Status::EINDEFINE.0);
            assert_eq!(nc_enddef(id), 0);
        }
        assert_eq!(put(id, 0, 1), 0);
        assert_eq!(nc_enddef(id), Status::ENOTINDEFINE.0);
        assert_eq!(nc_redef(id), 0);
        assert_eq!(nc_redef(id), in_define_mode);
        assert_eq!(nc_close(id), 0);
        let id = open(&path, 0).unwrap();
        assert_eq!(nc_redef(id), Status::EPERM.0);
        assert_eq!(nc_enddef(id), Status::ENOTINDEFINE.0);
        assert_eq!(nc_sync(id), 0);
        assert_eq!(nc_close(id), 0);
    }
}

#[test]
fn abort_goes_back_to_where_define_mode_began() {
    for flags in FORMATS {
        let (_folder, path) = new_file();
        write_one(&path, flags);
        let id = open(&path, NC_WRITE).unwrap();
        assert_eq!(put(id, 1, 6), 0);
        call(nc_redef, id);
        define(id, c"w");
        call(nc_abort, id);
        let id = open(&path, NC_WRITE).unwrap();
        assert_eq!((counts(id), get(id, 1)), ((1, 1), Ok(6)));
        // In data mode it is as good as `nc_close`.
        assert_eq!(put(id, 1, 7), 0);
        call(nc_abort, id);
        let reading = open(&path, 0).unwrap();
        assert_eq!(get(reading, 1), Ok(7));
        // What this process reads is not replaced.
        call(nc_close, reading);
        // A new file is gone, also one that took the place of another.
        let id = create(&path, flags).unwrap();
        define(id, c"v");
        call(nc_abort, id);
        assert!(!path.exists());
    }
}

#[test]
fn ids_of_one_file_share_what_is_written() {
    for flags in FORMATS {
        let (_folder, path) = new_file();
        let writing = create(&path, flags).unwrap();
        define(writing, c"v");
        call(nc_enddef, writing);
        let (second, reading) = (open(&path, NC_WRITE).unwrap(), open(&path, 0).unwrap());
        assert_eq!(put(writing, 0, 5), 0);
        assert_eq!((get(second, 0), get(reading, 0)), (Ok(5), Ok(5)));
        assert_ne!(put(reading, 0, 5), 0);
        call(nc_close, writing);
        assert_eq!(put(second, 1, 6), 0);
        assert_eq!(get(reading, 1), Ok(6));
        call(nc_close, second);
        // What the last writer left can be read, also by who opened it meanwhile.
        assert_eq!(get(reading, 1), Ok(6));
        assert_eq!(get(open(&path, 0).unwrap(), 1), Ok(6));
        call(nc_close, reading);
        let again = open(&path, NC_WRITE).unwrap();
        assert_eq!(put(again, 0, 9), 0);
        call(nc_close, again);
    }
}

#[test]
fn a_reader_sees_what_was_stored_when_it_looks_again() {
    for flags in FORMATS {
        let (_folder, path) = new_file();
        write_one(&path, flags);
        let reading = open(&path, 0).unwrap();
        let writing = open(&path, NC_WRITE).unwrap();
        assert_eq!(put(writing, 1, 6), 0);
        assert!(get(reading, 1).is_err());
        call(nc_sync, writing);
        call(nc_sync, reading);
        assert_eq!(get(reading, 1), Ok(6));
        call(nc_redef, writing);
        define(writing, c"w");
        call(nc_enddef, writing);
        call(nc_sync, writing);
        call(nc_sync, reading);
        assert_eq!(counts(reading), (1, 2));
        call(nc_close, writing);
        call(nc_sync, reading);
        // A file that is gone is as it was found.
        std::fs::remove_file(&path).unwrap();
        call(nc_sync, reading);
        assert_eq!(get(reading, 0), Ok(5));
        call(nc_close, reading);
    }
}

#[test]
fn shared_classic_files_have_what_was_just_written() {
    let (_folder, path) = new_file();
    let writing = create(&path, NC_SHARE).unwrap();
    define(writing, c"v");
    call(nc_enddef, writing);
    assert_eq!(isotach::File::open(&path).unwrap().root().variable_names().unwrap().len(), 1);
    assert_eq!(put(writing, 0, 5), 0);
    let variable = isotach::File::open(&path).unwrap().variable("v").unwrap();
    assert_eq!(variable.shape().unwrap(), [1]);
    call(nc_close, writing);
}

#[test]
fn what_another_process_writes_is_refused() {
    for flags in FORMATS {
        let (_folder, path) = new_file();
        write_one(&path, flags);
        // A lock belongs to the opening, not to the process: this one stands for another process.
        let other = std::fs::File::open(&path).unwrap();
        // SAFETY: an open file.
        assert_eq!(unsafe { libc::flock(other.as_raw_fd(), libc::LOCK_EX) }, 0);
        assert_eq!(get(open(&path, 0).unwrap(), 0), Ok(5));
        let (opened, created) = (open(&path, NC_WRITE), create(&path, flags));
        if flags & NC_NETCDF4 == 0 {
            assert_eq!((opened, created), (status(libc::EAGAIN), status(libc::EAGAIN)));
            // Programs that have agreed on who writes what.
            call(nc_close, open(&path, NC_WRITE | NC_SHARE).unwrap());
        } else {
            assert_eq!((opened, created), (Err(Status::EHDFERR), status(libc::EACCES)));
        }
        drop(other);
        assert_eq!(get(open(&path, 0).unwrap(), 0), Ok(5));
    }
}

#[test]
fn what_is_open_for_reading_is_read_on_when_another_takes_its_place() {
    for flags in FORMATS {
        for new in FORMATS {
            let (_folder, path) = new_file();
            write_one(&path, flags);
            let reading = open(&path, 0).unwrap();
            let created = create(&path, new);
            if flags & new & NC_NETCDF4 == 0 {
                define(created.unwrap(), c"v");
                call(nc_close, created.unwrap());
            } else {
                // As HDF5 has it, which knows of its own files only.
                assert_eq!(created, status(libc::EACCES));
            }
            assert_eq!(get(reading, 0), Ok(5));
            call(nc_close, reading);
            call(nc_close, create(&path, new).unwrap());
        }
    }
}

#[test]
fn a_new_file_takes_the_place_of_one_that_was_never_closed() {
    let (_folder, path) = new_file();
    let old = create(&path, 0).unwrap();
    define(old, c"v");
    call(nc_enddef, old);
    assert_eq!(put(old, 0, 5), 0);
    let new = create(&path, NC_NETCDF4).unwrap();
    assert_ne!(put(old, 1, 6), 0);
    define(new, c"v");
    assert_eq!(put(new, 0, 7), 0);
    call(nc_close, old);
    // Two netCDF-4 files at one path are HDF5's error.
    assert_eq!(create(&path, NC_NETCDF4), status(libc::EACCES));
    call(nc_close, new);
    assert_eq!(get(open(&path, 0).unwrap(), 0), Ok(7));
}

#[test]
fn room_for_more_definitions_lies_behind_the_header() {
    let (_folder, path) = new_file();
    let address = |path: &Path| {
        let bytes = std::fs::read(path).unwrap();
        // The last word of the header is where the only variable begins.
        let header = bytes.windows(4).position(|word| word == 4096u32.to_be_bytes());
        header.is_some()
    };
    let id = create(&path, 0).unwrap();
    define(id, c"v");
    assert_eq!(nc__enddef(id, 100, 4, 0, 4096), 0);
    assert_eq!(put(id, 0, 5), 0);
    call(nc_close, id);
    assert!(address(&path));
    // What fits in the room moves nothing.
    let id = open(&path, NC_WRITE).unwrap();
    call(nc_redef, id);
    define(id, c"w");
    call(nc_enddef, id);
    call(nc_close, id);
    assert!(address(&path));
    let id = open(&path, 0).unwrap();
    assert_eq!((counts(id), get(id, 0)), ((1, 2), Ok(5)));
}

#[test]
fn the_default_format_is_for_flags_that_say_none() {
    // The only test that changes it; the others say their format or have the default one's flags.
    let (_folder, path) = new_file();
    let set = |number| {
        // SAFETY: a place for a number.
        id_of(|old| unsafe { nc_set_default_format(number, old) })
    };
    let path = c_path(&path);
    let made = |flags| {
        // SAFETY: a string and a place for an id.
        let id = id_of(|id| unsafe { nc_create(path.as_ptr(), flags | NC_INMEMORY, id) }).unwrap();
        let made = format(id);
        call(nc_abort, id);
        made
    };
    assert_eq!((set(0), set(6)), (Err(Status::EINVAL), Err(Status::EINVAL)));
    assert_eq!(set(1), Ok(1));
    for (flags, number) in FORMATS.into_iter().zip([1, 2, 5, 4, 3]) {
        assert_eq!(made(flags), number);
    }
}

#[test]
fn diskless_files_reach_the_disk_only_where_they_are_to_persist() {
    for flags in FORMATS {
        let (_folder, path) = new_file();
        write_one(&path, flags | NC_DISKLESS);
        assert!(!path.exists());
        write_one(&path, flags | NC_DISKLESS | NC_PERSIST);
        for (mode, value) in [(NC_DISKLESS, 5), (NC_DISKLESS | NC_PERSIST, 6)] {
            let id = open(&path, mode | NC_WRITE).unwrap();
            assert_eq!(put(id, 0, 6), 0);
            call(nc_sync, id);
            assert_eq!(get(open(&path, 0).unwrap(), 0), Ok(5));
            call(nc_close, id);
            assert_eq!(get(open(&path, 0).unwrap(), 0), Ok(value));
        }
        let id = open(&path, NC_DISKLESS).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(get(id, 0), Ok(6));
        call(nc_close, id);
    }
}

/// The bytes of a file in a block as callers have it.
fn block(path: &Path, flags: c_int) -> NC_memio {
    let bytes = std::fs::read(path).unwrap();
    // SAFETY: a block of that size is filled.
    let memory = unsafe {
        let memory = libc::malloc(bytes.len());
        memory.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        memory
    };
    NC_memio { size: bytes.len(), memory, flags }
}

fn open_block(flags: c_int, block: &mut NC_memio) -> Result<c_int, Status> {
    // SAFETY: a string, a block, and a place for an id.
    id_of(|id| unsafe { nc_open_memio(c"block".as_ptr(), flags, block, id) })
}

fn close_block(id: c_int) -> Result<NC_memio, Status> {
    let mut block = NC_memio { size: 0, memory: std::ptr::null_mut(), flags: 0 };
    // SAFETY: a place for a block.
    match unsafe { nc_close_memio(id, &mut block) } {
        0 => Ok(block),
        status => Err(Status(status)),
    }
}

fn free(block: &NC_memio) {
    // SAFETY: a block that is nobody else's.
    unsafe { libc::free(block.memory) };
}

/// The value at an index of the file in a block.
fn look_into(block: &NC_memio, index: usize) -> Result<c_int, Status> {
    let NC_memio { size, memory, .. } = *block;
    // SAFETY: a string, a block that stays until the file is closed, and a place for an id.
    let id = id_of(|id| unsafe { nc_open_mem(c"block".as_ptr(), 0, size, memory, id) })?;
    let value = get(id, index);
    call(nc_close, id);
    value
}

#[test]
fn blocks_of_memory_are_files() {
    for flags in FORMATS {
        let (_folder, path) = new_file();
        write_one(&path, flags);
        let mut ours = block(&path, 0);
        let id = open_block(0, &mut ours).unwrap();
        assert_eq!(get(id, 0), Ok(5));
        let back = close_block(id).unwrap();
        assert_eq!((back.memory, back.size), (ours.memory, ours.size));
        let mut back = back;
        let id = open_block(NC_WRITE, &mut back).unwrap();
        assert_eq!(put(id, 5000, 6), 0);
        let grown = close_block(id).unwrap();
        assert!(grown.size > back.size);
        assert_eq!((look_into(&grown, 0), look_into(&grown, 5000)), (Ok(5), Ok(6)));
        free(&grown);
        // Freed with the file.
        call(nc_close, open_block(0, &mut block(&path, 0)).unwrap());
    }
}

#[test]
fn locked_blocks_stay_where_they_are() {
    let (_folder, path) = new_file();
    write_one(&path, 0);
    let mut locked = block(&path, NC_MEMIO_LOCKED);
    let id = open_block(NC_WRITE, &mut locked).unwrap();
    assert_eq!(put(id, 0, 7), 0);
    let back = close_block(id).unwrap();
    assert_eq!(back.memory, locked.memory);
    assert_eq!(look_into(&back, 0), Ok(7));
    let id = open_block(NC_WRITE, &mut locked).unwrap();
    assert_eq!(put(id, 5000, 7), 0);
    assert_eq!(close_block(id).err(), Some(Status::EINMEMORY));
    assert_eq!(look_into(&locked, 0), Ok(7));
    free(&locked);
}

#[test]
fn new_files_in_memory_are_handed_out() {
    for flags in FORMATS {
        // SAFETY: a string and a place for an id.
        let id = id_of(|id| unsafe { nc_create_mem(c"new".as_ptr(), flags, 0, id) }).unwrap();
        define(id, c"v");
        call(nc_enddef, id);
        assert_eq!(put(id, 0, 8), 0);
        let made = close_block(id).unwrap();
        assert_eq!(look_into(&made, 0), Ok(8));
        free(&made);
    }
}

#[test]
fn memory_that_cannot_be_a_file_is_refused() {
    let (_folder, path) = new_file();
    write_one(&path, 0);
    let mut whole = block(&path, NC_MEMIO_LOCKED);
    let mut short = NC_memio { size: 4, ..whole };
    let mut none = NC_memio { memory: std::ptr::null_mut(), ..whole };
    assert_eq!(open_block(0, &mut short), Err(Status::EINVAL));
    assert_eq!(open_block(0, &mut none), Err(Status::EINVAL));
    assert_eq!(open_block(NC_MMAP, &mut whole), Err(Status::EINVAL));
    assert_eq!(open_block(NC_DISKLESS, &mut whole), Err(Status::EDISKLESS));
    let NC_memio { size, memory, .. } = whole;
    // SAFETY: a string, a block, and a place for an id.
    let writing = id_of(|id| unsafe { nc_open_mem(c"a".as_ptr(), NC_WRITE, size, memory, id) });
    assert_eq!(writing, Err(Status::EINVAL));
    free(&whole);
}

/// Names the folder for a program that ends without closing its files.
const UNCLOSED: &str = "ISOTACH_TEST_UNCLOSED";

#[test]
fn what_a_program_does_not_close_is_stored_when_it_ends() {
    if let Some(folder) = std::env::var_os(UNCLOSED) {
        for flags in FORMATS {
            let id = create(&Path::new(&folder).join(flags.to_string()), flags).unwrap();
            define(id, c"v");
            call(nc_enddef, id);
            assert_eq!(put(id, 0, 5), 0);
            if flags != NC_NETCDF4 {
                call(nc_redef, id);
                define(id, c"w");
            }
        }
        std::process::exit(0);
    }
    let folder = tempfile::tempdir().unwrap();
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.args(["--exact", "what_a_program_does_not_close_is_stored_when_it_ends"]);
    assert!(program.env(UNCLOSED, folder.path()).status().unwrap().success());
    for flags in FORMATS {
        let id = open(&folder.path().join(flags.to_string()), 0).unwrap();
        // Definitions that were not ended are not.
        assert_eq!((counts(id), get(id, 0)), ((1, 1), Ok(5)));
        call(nc_close, id);
    }
}

#[test]
fn errors_are_told_in_words() {
    let text = |status| {
        // SAFETY: takes any number; the text stays for this thread.
        unsafe { CStr::from_ptr(nc_strerror(status)) }.to_str().unwrap()
    };
    assert_eq!(text(0), "No error");
    assert_eq!(text(libc::ENOENT), "No such file or directory");
    assert_eq!(text(-33), "NetCDF: Not a valid ID");
    assert_eq!(text(-2000), "Unknown Error");
}
