//! The libhdf5 that a plugin calls, for what it asks of the data set that it is to be applied to.
//!
//! There is no libhdf5 here. But a plugin that asks its functions has it in the program, or brings it along, as a
//! library that it is linked to. That same one makes the objects whose ids the plugin gets: a data set's properties
//! with the chunks and this filter, the type of the elements, and a space of a chunk's shape. Its functions are
//! called one at a time, under the lock of the plugins; other parts of the program that call them share their
//! trouble with threads.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

use isotach_codec::{ChunkType, ErrorKind};
use libloading::Library;

/// `hid_t`, which is that wide since HDF5 1.10.
type Id = i64;
/// `can_apply` and `set_local`: of properties, a type, and a space. Negative where they fail.
pub(super) type Ask = unsafe extern "C" fn(Id, Id, Id) -> c_int;

const OLDEST: [c_uint; 2] = [1, 10];
/// Before a datatype message where `H5Tdecode` takes it: what it is, and the version of that.
const DATATYPE_PREFIX: [u8; 2] = [3, 0];
/// `H5Z_FLAG_OPTIONAL`.
const OPTIONAL: c_uint = 1;
/// Room for parameters at first.
const USUAL_COUNT: usize = 64;

macro_rules! functions {
    ($($name:ident($($argument:ty),*) -> $result:ty;)*) => {
        /// Functions of libhdf5 by their names.
        #[allow(non_snake_case, reason = "the names are HDF5's")]
        #[derive(Clone, Copy)]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Functions {
            /// Looks them up; `None` where one is missing.
            ///
            /// # Safety
            /// What has these names in the library are HDF5's functions.
            unsafe fn find(library: &Library) -> Option<Self> {
                // SAFETY: by this function's contract.
                unsafe {
                    Some(Self {
                        $($name: *library.get(concat!(stringify!($name), "\0").as_bytes()).ok()?,)*
                    })
                }
            }
        }
    };
}

functions! {
    H5open() -> c_int;
    H5get_libversion(*mut c_uint, *mut c_uint, *mut c_uint) -> c_int;
    H5Screate_simple(c_int, *const u64, *const u64) -> Id;
    H5Sclose(Id) -> c_int;
    H5Tdecode(*const c_void) -> Id;
    H5Tclose(Id) -> c_int;
    H5Pcreate(Id) -> Id;
    H5Pset_chunk(Id, c_int, *const u64) -> c_int;
    H5Pset_filter(Id, c_int, c_uint, usize, *const c_uint) -> c_int;
    H5Pget_filter_by_id2(
        Id, c_int, *mut c_uint, *mut usize, *mut c_uint, usize, *mut c_char, *mut c_uint
    ) -> c_int;
    H5Pclose(Id) -> c_int;
}

/// A libhdf5 that stays in the program.
pub(super) struct Hdf5 {
    functions: Functions,
    /// The class of properties with which data sets are created.
    creation: Id,
}

/// An object of libhdf5, closed in the end.
struct Object {
    id: Id,
    close: unsafe extern "C" fn(Id) -> c_int,
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: an id that its library gave, and the function for it.
        unsafe { (self.close)(self.id) };
    }
}

/// What filters are told of: chunks that go through a filter.
pub(super) struct DataSet {
    functions: Functions,
    filter: c_int,
    properties: Object,
    datatype: Object,
    space: Object,
}

impl Hdf5 {
    /// The one that a plugin calls.
    ///
    /// # Safety
    /// What has the names of HDF5's functions is HDF5's.
    pub(super) unsafe fn of(plugin: &Library) -> Option<Self> {
        // SAFETY: by this function's contract; the functions are called as HDF5 declares them.
        unsafe {
            let program = Library::from(libloading::os::unix::Library::this());
            // The dynamic linker has the plugin's calls go to the program's libhdf5 where that has one, and else
            // to the plugin's.
            let is_shared = program.get::<*const c_void>(b"H5Pmodify_filter\0").is_ok();
            let library = if is_shared { &program } else { plugin };
            let functions = Functions::find(library)?;
            let creation = library.get::<*const Id>(b"H5P_CLS_DATASET_CREATE_ID_g\0").ok()?;
            let mut version: [c_uint; 3] = [0; 3];
            let [major, minor, release] = &mut version;
            let is_open = (functions.H5open)() >= 0
                && (functions.H5get_libversion)(major, minor, release) >= 0;
            (is_open && version[..2] >= OLDEST[..])
                .then(|| Self { functions, creation: **creation })
        }
    }

    /// A data set that a filter with these parameters is to be applied to, as far as the filter can see it.
    ///
    /// # Errors
    /// `Foreign` where libhdf5 does not take it.
    pub(super) fn data_set(
        &self,
        filter: u16,
        parameters: &[u32],
        chunk: &ChunkType<'_>,
    ) -> Result<DataSet, ErrorKind> {
        let functions = self.functions;
        let rank = c_int::try_from(chunk.shape.len()).map_err(|_| ErrorKind::Foreign)?;
        let encoded = [&DATATYPE_PREFIX, chunk.datatype].concat();
        let (shape, filter) = (chunk.shape.as_ptr(), c_int::from(filter));
        // SAFETY: as HDF5 declares them: lists of as many elements as are said, and a type as it encodes it.
        unsafe {
            let space =
                object((functions.H5Screate_simple)(rank, shape, null()), functions.H5Sclose)?;
            let datatype =
                object((functions.H5Tdecode)(encoded.as_ptr().cast()), functions.H5Tclose)?;
            let properties = object((functions.H5Pcreate)(self.creation), functions.H5Pclose)?;
            let data_set = DataSet { functions, filter, properties, datatype, space };
            let id = data_set.properties.id;
            went_well((functions.H5Pset_chunk)(id, rank, shape))?;
            let (count, parameters) = (parameters.len(), parameters.as_ptr());
            went_well((functions.H5Pset_filter)(id, filter, OPTIONAL, count, parameters))?;
            Ok(data_set)
        }
    }
}

impl DataSet {
    /// Has a filter ask.
    ///
    /// # Errors
    /// `Foreign` where it fails.
    pub(super) fn ask(&self, ask: Ask) -> Result<(), ErrorKind> {
        // SAFETY: the plugin's function, with ids of the library that it calls.
        went_well(unsafe { ask(self.properties.id, self.datatype.id, self.space.id) })
    }

    /// The parameters that the filter has now.
    ///
    /// # Errors
    /// `Foreign` where it is gone.
    pub(super) fn parameters(&self) -> Result<Vec<u32>, ErrorKind> {
        let mut parameters = vec![0; USUAL_COUNT];
        loop {
            let mut count = parameters.len();
            let (mut flags, mut config) = (0, 0);
            // SAFETY: places for numbers, and as many parameters as `count` says.
            went_well(unsafe {
                (self.functions.H5Pget_filter_by_id2)(
                    self.properties.id,
                    self.filter,
                    &mut flags,
                    &mut count,
                    parameters.as_mut_ptr(),
                    0,
                    null_mut(),
                    &mut config,
                )
            })?;
            let is_whole = count <= parameters.len();
            parameters.resize(count, 0);
            if is_whole {
                return Ok(parameters);
            }
        }
    }
}

fn object(id: Id, close: unsafe extern "C" fn(Id) -> c_int) -> Result<Object, ErrorKind> {
    if id < 0 { Err(ErrorKind::Foreign) } else { Ok(Object { id, close }) }
}

fn went_well(answer: c_int) -> Result<(), ErrorKind> {
    if answer < 0 { Err(ErrorKind::Foreign) } else { Ok(()) }
}
