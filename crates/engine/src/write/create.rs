//! Creating files.

use std::path::Path;
use std::sync::Arc;

use super::Backend;
use super::classic::ClassicBackend;
use super::hdf5::Hdf5Backend;
use super::home::Home;
use super::session::Session;
use super::space::Space;
use super::target::Target;
use crate::draft::Draft;
use crate::error::{DefinitionFault, Error, ErrorKind, Result};
use crate::file::Format;
use crate::storage::shifted::Shifted;
use crate::storage::{Creation, Replacement, WritableFile, WritableStorage, write_error};
use crate::writer::{CreateOptions, EditOptions, Overwrite};

/// HDF5 looks for its superblock at 0, here, and at twice that again and again.
const SMALLEST_USER_BLOCK: u64 = 512;

impl Session {
    /// Creates a local file.
    pub(crate) fn create(path: &Path, options: &CreateOptions) -> Result<Self> {
        let lock = options.edit.lock;
        let local = |creation| {
            let new = (!path.exists()).then(|| path.to_owned());
            let storage = Arc::new(WritableFile::open(path, creation, lock)?);
            Ok::<_, Error>(Home::Local { storage, new })
        };
        let home = match options.overwrite {
            Overwrite::Truncate => local(Creation::Truncate)?,
            Overwrite::Never => local(Creation::New)?,
            Overwrite::Replace => {
                let replacement = Some(Replacement::create(path, lock)?);
                Home::Beside { replacement, durability: options.edit.durability }
            }
        };
        Self::create_in(path.to_string_lossy().into(), home, options)
    }

    /// Creates a file in memory.
    pub(crate) fn create_in_memory(name: &str, options: &CreateOptions) -> Result<Self> {
        Self::create_in(name.into(), Home::Memory(Arc::default()), options)
    }

    /// Creates a file in a storage, which is emptied.
    pub(crate) fn create_in_storage(
        name: &str,
        storage: Arc<dyn WritableStorage>,
        options: &CreateOptions,
    ) -> Result<Self> {
        let name: Arc<str> = name.into();
        storage.set_len(0).map_err(|source| write_error(&name, 0, 0, source))?;
        Self::create_in(name, Home::Given(storage), options)
    }

    fn create_in(name: Arc<str>, mut home: Home, options: &CreateOptions) -> Result<Self> {
        match create_empty(&name, &home, options) {
            Ok((draft, backend)) => {
                Ok(Self::new(name, draft, backend, home, options.edit.commit_interval))
            }
            Err(error) => {
                home.discard();
                Err(error)
            }
        }
    }
}

/// From the beginning, whoever opens the file finds an empty one.
fn create_empty(
    name: &Arc<str>,
    home: &Home,
    options: &CreateOptions,
) -> Result<(Draft, Box<dyn Backend>)> {
    let storage = home.storage().ok_or_else(|| Error::new(name, ErrorKind::Closed))?;
    let storage = with_user_block(name, storage, options)?;
    let mut draft = Draft::new(options.format);
    draft.fills = options.fill;
    let space = Arc::new(Space::aligned(0, options.edit.alignment));
    let least_bytes = match options.format {
        Format::NetCdf4 | Format::NetCdf4Classic => 0,
        Format::Classic | Format::Offset64Bit | Format::Data64Bit => options.least_bytes,
    };
    let target = Target { name: Arc::clone(name), storage: Arc::clone(&storage), space };
    let mut backend: Box<dyn Backend> = match options.format {
        Format::NetCdf4 | Format::NetCdf4Classic => Box::new(Hdf5Backend::create(target, options)?),
        Format::Classic | Format::Offset64Bit | Format::Data64Bit => {
            let EditOptions { durability, header_room, .. } = options.edit;
            Box::new(ClassicBackend::create(target, durability, header_room))
        }
    };
    backend.commit(&mut draft)?;
    draft.mark_committed();
    let fail = |source| write_error(name, 0, least_bytes, source);
    if storage.len().map_err(fail)? < least_bytes {
        storage.set_len(least_bytes).map_err(fail)?;
    }
    Ok((draft, backend))
}

/// The storage behind the user block.
fn with_user_block(
    name: &Arc<str>,
    storage: Arc<dyn WritableStorage>,
    options: &CreateOptions,
) -> Result<Arc<dyn WritableStorage>> {
    let bytes = options.user_block_bytes;
    let is_hdf5 = matches!(options.format, Format::NetCdf4 | Format::NetCdf4Classic);
    if bytes == 0 {
        return Ok(storage);
    }
    if !is_hdf5 || bytes < SMALLEST_USER_BLOCK || !bytes.is_power_of_two() {
        let what = "user block";
        let fault = DefinitionFault::NotInFormat { what, format: options.format };
        return Err(Error::new(name, ErrorKind::Definition(fault)));
    }
    let grown = storage.set_len(bytes);
    grown.map_err(|source| write_error(name, 0, bytes, source))?;
    Ok(Arc::new(Shifted::new(storage, bytes)))
}
