//! Filters from plugins: a shared library with HDF5's filter interface, compiled from C here, is found,
//! writes and reads.

use std::ffi::{CString, c_char, c_int, c_uint};
use std::path::Path;
use std::process::Command;
use std::ptr::null_mut;

use isotach::model::Atomic;
use isotach::model::selection::Selection;
use isotach::{CreateOptions, File, FilterRequest, Format, VariableOptions};
use isotach_capi::file::mode::NC_NETCDF4;
use isotach_capi::plugin::{
    PluginList, nc_plugin_path_get, nc_plugin_path_ndirs, nc_plugin_path_set,
};

unsafe extern "C" {
    fn nc_create(path: *const c_char, flags: c_int, id: *mut c_int) -> c_int;
    fn nc_close(id: c_int) -> c_int;
    fn nc_inq_filter_avail(id: c_int, filter: c_uint) -> c_int;
}

/// A filter that is written and read.
const WHOLE: u16 = 300;
/// One that has `set_local`.
const LOCAL: u16 = 301;
/// One that no plugin has.
const MISSING: u16 = 302;
const KEY: u32 = 0x5a;
const NC_ENOFILTER: c_int = -136;

/// Compiles the plugin for a filter of that number into `folder`; false where there is no compiler.
fn compile(folder: &Path, id: u16, flags: &[&str]) -> bool {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plugin.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-w", "-o"]).arg(folder.join(format!("libtest{id}.so")));
    compiler.arg(format!("-DID={id}")).args(flags).arg(source);
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

fn set_folders(folders: &[&Path]) {
    let names: Vec<CString> = folders
        .iter()
        .map(|folder| CString::new(folder.as_os_str().as_encoded_bytes()).unwrap())
        .collect();
    let mut pointers: Vec<*mut c_char> =
        names.iter().map(|name| name.as_ptr().cast_mut()).collect();
    let list = PluginList { count: pointers.len(), folders: pointers.as_mut_ptr() };
    // SAFETY: a list of as many strings.
    assert_eq!(unsafe { nc_plugin_path_set(&list) }, 0);
}

/// A new file that is open; the first one makes plugins be looked for.
fn create(path: &Path) -> c_int {
    let path = CString::new(path.as_os_str().as_encoded_bytes()).unwrap();
    let mut id: c_int = 0;
    // SAFETY: a string, and a place for an id.
    assert_eq!(unsafe { nc_create(path.as_ptr(), NC_NETCDF4, &mut id) }, 0);
    id
}

fn write(path: &Path, id: u16, numbers: &[i32]) -> isotach::Result<()> {
    let writer = CreateOptions::new(Format::NetCdf4).create(path)?;
    let root = writer.root();
    let dimension = root.define_dimension("x", Some(numbers.len() as u64))?;
    let filter = FilterRequest::Registered { id, parameters: vec![KEY] };
    let chunk_shape = Some(vec![numbers.len() as u64 / 2]);
    let options = VariableOptions { filters: vec![filter], chunk_shape, ..Default::default() };
    let variable = root.define_variable("v", Atomic::Int, &[dimension], options)?;
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
    // SAFETY: no pointers.
    let available = |filter: u16| unsafe { nc_inq_filter_avail(open, filter.into()) };
    set_folders(&[]);
    assert_eq!(available(WHOLE), NC_ENOFILTER);
    assert!(write(&path, WHOLE, &numbers).is_err(), "nothing is found yet");
    if !compile(folder.path(), WHOLE, &[]) || !compile(folder.path(), LOCAL, &["-DSET_LOCAL"]) {
        return;
    }
    set_folders(&[Path::new("nowhere"), folder.path()]);
    assert_eq!([WHOLE, MISSING].map(available), [0, NC_ENOFILTER]);
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

    // One that completes its parameters with libhdf5 does not write.
    assert!(write(&path, LOCAL, &numbers).is_err());
    assert!(write(&path, MISSING, &numbers).is_err());
    // SAFETY: no pointers.
    assert_eq!(unsafe { nc_close(open) }, 0);
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
