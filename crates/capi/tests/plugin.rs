//! Filters from plugins: a shared library with HDF5's filter interface, compiled from C here, is found,
//! writes and reads.

mod support;

use std::ffi::{CString, c_char, c_int};
use std::path::Path;
use std::process::Command;
use std::ptr::null_mut;

use isotach::model::Atomic;
use isotach::model::selection::Selection;
use isotach::{CreateOptions, File, FilterRequest, Format, VariableOptions};
use support::*;

/// A filter that is written and read.
const WHOLE: u16 = 300;
/// One that asks libhdf5.
const LOCAL: u16 = 301;
/// One that would ask libhdf5, if it had it.
const ALONE: u16 = 303;
/// One that no plugin has.
const MISSING: u16 = 302;
const KEY: u32 = 0x5a;

/// Compiles the plugin for a filter of that number into `folder`; false where there is no compiler.
fn compile(folder: &Path, id: u16, flags: &[String]) -> bool {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plugin.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-w", "-o"]).arg(folder.join(format!("libtest{id}.so")));
    compiler.arg(format!("-DID={id}")).arg(source).args(flags);
    match compiler.status() {
        Ok(status) => {
            assert!(status.success(), "the plugin is not compiled");
            true
        }
        Err(error) => {
            eprintln!("skipped: no C compiler: {error}");
            false
        }
    }
}

/// What links a plugin to libhdf5, where it is installed.
fn hdf5_flags() -> Option<Vec<String>> {
    let output = Command::new("pkg-config").args(["--libs", "hdf5"]).output().ok();
    let Some(output) = output.filter(|output| output.status.success()) else {
        eprintln!("LEFT OUT: pkg-config knows no libhdf5");
        return None;
    };
    let flags = String::from_utf8(output.stdout).unwrap();
    Some(flags.split_whitespace().map(str::to_owned).collect())
}

fn set_folders(folders: &[&Path]) {
    let names: Vec<CString> = folders.iter().map(|folder| c_path(folder)).collect();
    let mut pointers: Vec<*mut c_char> =
        names.iter().map(|name| name.as_ptr().cast_mut()).collect();
    let list = PluginList { count: pointers.len(), folders: pointers.as_mut_ptr() };
    // SAFETY: a list of as many strings.
    assert_eq!(unsafe { nc_plugin_path_set(&list) }, 0);
}

/// A new file that is open; the first one makes plugins be looked for.
fn create(path: &Path) -> c_int {
    let path = c_path(path);
    let mut id: c_int = 0;
    // SAFETY: a string, and a place for an id.
    assert_eq!(unsafe { nc_create(path.as_ptr(), NC_NETCDF4, &mut id) }, 0);
    id
}

fn write(path: &Path, id: u16, numbers: &[i32]) -> isotach::Result<()> {
    write_as(path, id, Atomic::Int, numbers)
}

fn write_as(path: &Path, id: u16, data_type: Atomic, numbers: &[i32]) -> isotach::Result<()> {
    let writer = CreateOptions::new(Format::NetCdf4).create(path)?;
    let root = writer.root();
    let dimension = root.define_dimension("x", Some(numbers.len() as u64))?;
    let filter = FilterRequest::Registered { id, parameters: vec![KEY] };
    let chunk_shape = Some(vec![numbers.len() as u64 / 2]);
    let options = VariableOptions { filters: vec![filter], chunk_shape, ..Default::default() };
    let variable = root.define_variable("v", data_type, &[dimension], options)?;
    variable.write_as(&Selection::all(&[numbers.len() as u64]), numbers)?;
    writer.close()
}

fn read(path: &Path) -> isotach::Result<Vec<i32>> {
    let variable = File::open(path)?.variable("v")?;
    Ok(variable.read_as(&Selection::all(&variable.shape()?))?.0)
}

#[test]
fn plugins_write_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let (path, numbers) = (folder.path().join("v.nc"), Vec::from_iter(0x1234_5678..0x1234_5978));
    let open = create(&folder.path().join("open.nc"));
    let available = |filter: u16| nc_inq_filter_avail(open, filter.into());
    set_folders(&[]);
    assert_eq!(available(WHOLE), ENOFILTER);
    assert!(write(&path, WHOLE, &numbers).is_err(), "nothing is found yet");
    if !compile(folder.path(), WHOLE, &[]) {
        return;
    }
    set_folders(&[Path::new("nowhere"), folder.path()]);
    assert_eq!([WHOLE, MISSING].map(available), [0, ENOFILTER]);
    write(&path, WHOLE, &numbers).unwrap();
    assert_eq!(read(&path).unwrap(), numbers);

    let stored = std::fs::read(&path).unwrap();
    let key = KEY as u8;
    let filtered: Vec<u8> = numbers[0].to_le_bytes().iter().map(|byte| byte ^ key).collect();
    let has = |wanted: &[u8]| stored.windows(wanted.len()).any(|window| window == wanted);
    assert!(has(&[b"test".as_slice(), &filtered].concat()), "the plugin's bytes are stored");

    // The chunk's header is damaged: the plugin says so, and nothing else happens.
    let place = stored.windows(4).position(|window| window == b"test").unwrap();
    let mut damaged = stored.clone();
    damaged[place] = b'T';
    std::fs::write(&path, damaged).unwrap();
    let error = read(&path).unwrap_err().to_string();
    assert!(error.contains("plugin failed"), "{error}");

    assert!(write(&path, MISSING, &numbers).is_err());
    assert_eq!(nc_close(open), 0);
}

/// Plugins complete their parameters with the libhdf5 that they are linked to, and only with that.
#[test]
fn plugins_ask_libhdf5_where_they_have_it() {
    let Some(hdf5) = hdf5_flags() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (path, numbers) = (folder.path().join("v.nc"), Vec::from_iter(0..100));
    let open = create(&folder.path().join("open.nc"));
    let local = "-DSET_LOCAL".to_owned();
    let linked = [std::slice::from_ref(&local), &hdf5].concat();
    if !compile(folder.path(), LOCAL, &linked)
        || !compile(folder.path(), ALONE, &[local, "-Wl,-z,lazy".to_owned()])
    {
        return;
    }
    set_folders(&[folder.path()]);
    write(&path, LOCAL, &numbers).unwrap();
    assert_eq!(read(&path).unwrap(), numbers);
    let filters =
        File::open(&path).unwrap().variable("v").unwrap().storage().unwrap().filters.clone();
    assert_eq!(filters[0].parameters, [KEY, 4, 50]);
    assert_eq!(filters[0].name, "test");
    let error = write_as(&path, LOCAL, Atomic::Short, &numbers).unwrap_err().to_string();
    assert!(error.contains("plugin failed"), "{error}");

    let error = write(&path, ALONE, &numbers).unwrap_err().to_string();
    assert!(error.contains("can be read, but not be written"), "{error}");
    assert_eq!(nc_inq_filter_avail(open, ALONE.into()), ENOFILTER);
    assert_eq!(nc_close(open), 0);
}

#[test]
fn folders_are_told() {
    let (mut count, mut list) = (0, PluginList { count: 0, folders: null_mut() });
    // SAFETY: places for a count and a list; the strings are freed as C would.
    unsafe {
        assert_eq!(nc_plugin_path_ndirs(&mut count), 0);
        assert_eq!(nc_plugin_path_get(&mut list), 0);
        for index in 0..list.count {
            libc::free((*list.folders.add(index)).cast());
        }
        libc::free(list.folders.cast());
        assert_eq!(nc_plugin_path_set(std::ptr::null()), -36);
    }
}
