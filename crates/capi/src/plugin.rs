//! Filters as plugins: shared libraries with HDF5's filter interface, in the folders of `HDF5_PLUGIN_PATH`.
//!
//! A plugin is looked for when a file has, or a program asks for, a filter that is not built in; it
//! stays loaded. Its functions run one at a time, as plugins are written for libhdf5, which many of them call,
//! and which is not made for several threads.
//!
//! `can_apply` and `set_local` get ids of libhdf5's objects. Where the plugin brings that library along, the ids
//! come from there ([`Hdf5`]); where it does not, the plugin only reads, as what it would write without completed
//! parameters could not be read. What `can_apply` answers decides nothing, as with netCDF-C, whose filters are
//! all optional; but it may fail.

mod hdf5;
pub mod version;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

use isotach_codec::foreign::{ForeignEncoder, ForeignFilter, look_up_with};
use isotach_codec::{ChunkType, ErrorKind};
use libloading::Library;

use self::hdf5::{Ask, Hdf5};
use isotach::sync::{Kept, Mutex, OnceLock};

use crate::boundary::{answer, list, put};
use crate::status::{Outcome, Status};

/// What `H5PLget_plugin_type` gives for a filter.
const TYPE_FILTER: c_int = 0;
/// The version of [`Class`].
const CLASS_VERSION: c_int = 1;
/// The filter is to be undone.
const FLAG_REVERSE: c_uint = 0x0100;
/// Where HDF5's own build looks where nobody says anything.
const DEFAULT_FOLDER: &str = "/usr/local/hdf5/lib/plugin";

/// Arguments: flags, the parameters and their count, the bytes' count, the buffer's size, the buffer. Gives
/// how many bytes are in the buffer then, which may be another one; 0 where it failed.
type Run = unsafe extern "C" fn(
    c_uint,
    usize,
    *const c_uint,
    usize,
    *mut usize,
    *mut *mut c_void,
) -> usize;

/// `H5Z_class2_t`: a filter as its plugin describes it.
#[repr(C)]
struct Class {
    version: c_int,
    id: c_int,
    encoder_present: c_uint,
    decoder_present: c_uint,
    name: *const c_char,
    can_apply: Option<Ask>,
    set_local: Option<Ask>,
    run: Option<Run>,
}

/// A filter of a plugin, which is never unloaded.
struct Plugin {
    id: u16,
    name: Option<String>,
    run: Run,
    can_decode: bool,
    can_encode: bool,
    /// Functions that ask libhdf5 of the chunks that the filter is to be applied to, in their order.
    questions: Option<(Hdf5, [Option<Ask>; 2])>,
}

/// Held while a function of a plugin runs.
fn running() -> MutexGuard<'static, ()> {
    static RUNNING: Mutex<()> = Mutex::fixed(());
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Plugin {
    fn run(&self, flags: c_uint, parameters: &[u32], bytes: &[u8]) -> Result<Vec<u8>, ErrorKind> {
        // Room for one byte at least: filters may look at the size.
        let mut size = bytes.len().max(1);
        // SAFETY: memory for `size` bytes, which becomes the plugin's: it may free it and put other memory
        // from `malloc` in its place, as HDF5's interface has it. `bytes` fits in.
        unsafe {
            let mut buffer = libc::malloc(size);
            if buffer.is_null() {
                return Err(ErrorKind::OutOfMemory { wanted_bytes: size });
            }
            buffer.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            let running = running();
            let count = parameters.len();
            let len =
                (self.run)(flags, count, parameters.as_ptr(), bytes.len(), &mut size, &mut buffer);
            drop(running);
            let is_whole = len != 0 && len <= size && !buffer.is_null();
            let outcome = is_whole
                .then(|| std::slice::from_raw_parts(buffer.cast::<u8>(), len).to_vec())
                .ok_or(ErrorKind::Foreign);
            libc::free(buffer);
            outcome
        }
    }
}

impl ForeignFilter for Plugin {
    fn decode(&self, parameters: &[u32], encoded: &[u8]) -> Result<Vec<u8>, ErrorKind> {
        match self.can_decode {
            true => self.run(FLAG_REVERSE, parameters, encoded),
            false => Err(ErrorKind::UnknownFilter),
        }
    }

    fn encoder(&self) -> Option<&dyn ForeignEncoder> {
        self.can_encode.then_some(self)
    }
}

impl ForeignEncoder for Plugin {
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn complete(&self, given: &[u32], chunk: &ChunkType<'_>) -> Result<Vec<u32>, ErrorKind> {
        let Some((hdf5, questions)) = &self.questions else { return Ok(given.to_vec()) };
        let _running = running();
        let data_set = hdf5.data_set(self.id, given, chunk)?;
        questions.iter().flatten().try_for_each(|question| data_set.ask(*question))?;
        data_set.parameters()
    }

    fn encode(&self, parameters: &[u32], bytes: &[u8]) -> Result<Vec<u8>, ErrorKind> {
        self.run(0, parameters, bytes)
    }
}

/// Where the program says that plugins are; `None` where it does not.
static FOLDERS: Kept<Option<Vec<PathBuf>>> = Kept::fixed(None, None);

/// Where plugins are looked for: if the program does not say, where the environment does.
fn folders() -> Vec<PathBuf> {
    FOLDERS.read().clone().unwrap_or_else(|| match std::env::var_os("HDF5_PLUGIN_PATH") {
        Some(folders) => std::env::split_paths(&folders).collect(),
        None => vec![PathBuf::from(DEFAULT_FOLDER)],
    })
}

/// The plugins that were looked for, by number; `None` for a filter that none has.
type Known = HashMap<u16, Option<&'static Plugin>>;

fn known() -> MutexGuard<'static, Known> {
    static KNOWN: OnceLock<Mutex<Known>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has the codecs look for plugins.
pub(crate) fn be_looked_for() {
    look_up_with(|id| {
        let mut known = known();
        let find = || folders().iter().find_map(|folder| find_in(folder, id));
        let found = known.entry(id).or_insert_with(find);
        found.map(|plugin| plugin as &dyn ForeignFilter)
    });
}

/// The filter of that number among the plugins of a folder, in the order of their names.
fn find_in(folder: &Path, id: u16) -> Option<&'static Plugin> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let is_library = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        name.is_some_and(|name| {
            name.starts_with("lib") && [".so", ".dylib"].iter().any(|end| name.contains(end))
        })
    };
    let mut libraries: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(is_library).collect();
    libraries.sort();
    libraries.iter().find_map(|path| load(path, id))
}

/// The filter of a plugin, where it is the one of that number.
fn load(path: &Path, id: u16) -> Option<&'static Plugin> {
    // SAFETY: whoever names the folder vouches for the libraries in it, as with libhdf5: that they have HDF5's
    // interface, under whose names the functions are looked up, and that loading them does no harm.
    unsafe {
        let library = Library::new(path).ok()?;
        let plugin_type = library.get::<unsafe extern "C" fn() -> c_int>(b"H5PLget_plugin_type\0");
        if plugin_type.ok()?() != TYPE_FILTER {
            return None;
        }
        let info = library.get::<unsafe extern "C" fn() -> *const Class>(b"H5PLget_plugin_info\0");
        let class = info.ok()?().as_ref()?;
        if class.version != CLASS_VERSION || class.id != c_int::from(id) {
            return None;
        }
        let questions = [class.can_apply, class.set_local];
        let asks = questions.iter().any(Option::is_some);
        let hdf5 = if asks { Hdf5::of(&library) } else { None };
        let name = (!class.name.is_null()).then(|| CStr::from_ptr(class.name).to_string_lossy());
        let plugin = Plugin {
            id,
            name: name.map(Cow::into_owned),
            run: class.run?,
            can_decode: class.decoder_present != 0,
            can_encode: class.encoder_present != 0 && (hdf5.is_some() || !asks),
            questions: hdf5.map(|hdf5| (hdf5, questions)),
        };
        // Its code stays for as long as the program runs.
        std::mem::forget(library);
        Some(Box::leak(Box::new(plugin)))
    }
}

/// Folders as programs see them.
#[repr(C)]
pub struct PluginList {
    pub count: usize,
    pub folders: *mut *mut c_char,
}

/// The number of folders where plugins are looked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_plugin_path_ndirs(count: *mut usize) -> c_int {
    answer(|| {
        // SAFETY: the caller's place for a count.
        unsafe { put(count, self::folders().len()) };
        Ok(())
    })
}

/// The folders where plugins are looked for, in order. Where there is no vector for them, one is allocated;
/// their names are for the caller to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_plugin_path_get(folders: *mut PluginList) -> c_int {
    answer(|| {
        // SAFETY: NULL or the caller's list.
        let Some(wanted) = (unsafe { folders.as_mut() }) else { return Ok(()) };
        let found = self::folders();
        wanted.count = found.len();
        if wanted.count > 0 && wanted.folders.is_null() {
            // SAFETY: memory for as many pointers as there are folders.
            wanted.folders = unsafe { libc::calloc(wanted.count, size_of::<*mut c_char>()) }.cast();
            if wanted.folders.is_null() {
                return Err(Status::ENOMEM);
            }
        }
        for (index, folder) in found.iter().enumerate() {
            let name = crate::stock::allocate_text(folder.as_os_str().as_bytes());
            // SAFETY: the caller's vector, or the one above, has room for all folders.
            unsafe { wanted.folders.add(index).write(name) };
        }
        Ok(())
    })
}

/// Has plugins be looked for in these folders and nowhere else; those that are loaded stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_plugin_path_set(folders: *const PluginList) -> c_int {
    answer(|| {
        // SAFETY: NULL or the caller's list, whose vector has as many strings as it says.
        let names = unsafe {
            let wanted = folders.as_ref().ok_or(Status::EINVAL)?;
            list(wanted.folders.cast_const(), wanted.count)?
        };
        let folder = |name: &*mut c_char| {
            if name.is_null() {
                return Err(Status::EINVAL);
            }
            // SAFETY: a string of the caller's vector.
            let name: CString = unsafe { CStr::from_ptr(*name) }.into();
            Ok(PathBuf::from(std::ffi::OsString::from_vec(name.into_bytes())))
        };
        let folders = names.iter().map(folder).collect::<Outcome<Vec<_>>>()?;
        FOLDERS.change(|said| *said = Some(folders.clone()));
        known().retain(|_, found| found.is_some());
        Ok(())
    })
}
