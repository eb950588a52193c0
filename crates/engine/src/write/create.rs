//! Creating files.

use std::path::Path;
use std::sync::Arc;

use super::Backend;
use super::classic::ClassicBackend;
use super::hdf5::Hdf5Backend;
use super::home::Home;
use super::open::holders;
use super::session::Session;
use super::space::Space;
use super::target::Target;
use crate::draft::Draft;
use crate::error::{DefinitionFault, Error, ErrorKind, Result, User};
use crate::file::Format;
use crate::storage::readers::is_read;
use crate::storage::replacement::is_no_place;
use crate::storage::shifted::Shifted;
use crate::storage::{
    Creation, GrowingMemory, Replacement, WritableFile, WritableStorage, write_error,
};
use crate::writer::{CreateOptions, Overwrite};

/// HDF5 looks for its superblock at 0, here, and at twice that again and again.
const SMALLEST_USER_BLOCK: u64 = 512;

impl Session {
    /// Creates a local file.
    pub(crate) fn create(path: &Path, options: &CreateOptions) -> Result<Self> {
        let (name, lock): (Arc<str>, _) = (path.to_string_lossy().into(), options.edit.lock);
        let home = match options.overwrite {
            Overwrite::Truncate | Overwrite::Displace => {
                return Self::create_at_once(path, name, options);
            }
            Overwrite::Never => Home::local(WritableFile::open(path, Creation::New, lock)?),
            Overwrite::Replace => {
                let replacement = Some(Box::new(Replacement::create(path, lock)?));
                Home::Beside { replacement, durability: options.edit.durability }
            }
        };
        Self::create_in(name, home, options)
    }

    /// Creates a local file that is at its name from the beginning. Nothing that others may read is
    /// ever cut off: another file takes the place of one that has bytes.
    fn create_at_once(path: &Path, name: Arc<str>, options: &CreateOptions) -> Result<Self> {
        let (lock, durability) = (options.edit.lock, options.edit.durability);
        if !is_filled(path) {
            let file = WritableFile::open(path, Creation::Either, lock)?;
            // Somebody may have come in between.
            if file.new_path().is_some() || !is_filled(path) {
                return Self::create_in(name, Home::local(file), options);
            }
        }
        if options.overwrite == Overwrite::Truncate && is_read(path) {
            return Err(Error::new(&name, ErrorKind::InUse { by: User::OwnReader }));
        }
        let created = Replacement::create(path, lock).and_then(|replacement| {
            let storage = Arc::clone(replacement.storage());
            let home = Home::local(Arc::clone(&storage));
            let (draft, backend) = create_empty(&name, &home, options)?;
            replacement.publish(durability)?;
            Ok((draft, backend, home))
        });
        let (draft, backend, home) = match created {
            Err(error) if is_no_place(&error.kind) => {
                let file = WritableFile::open(path, Creation::Emptied, lock)?;
                return Self::create_in(name, Home::local(file), options);
            }
            created => created?,
        };
        Ok(Self::new(name, draft, backend, home, options.edit.commit_interval))
    }

    /// Creates a file in memory.
    pub(crate) fn create_in_memory(name: &str, options: &CreateOptions) -> Result<Self> {
        let memory = GrowingMemory::default();
        let reserved = memory.reserve(options.reserved_bytes);
        reserved.map_err(|source| write_error(&name.into(), 0, options.reserved_bytes, source))?;
        Self::create_in(name.into(), Home::Memory(Arc::new(memory)), options)
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

/// Whether a file is there that has bytes to lose.
fn is_filled(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0)
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
    let space = Space::aligned(0, options.edit.alignment);
    let space = space.with_blocks(options.edit.structure_block_bytes);
    let space = Arc::new(space.with_holders(storage.generation(), holders(&storage)));
    let least_bytes = match options.format {
        Format::NetCdf4 | Format::NetCdf4Classic => 0,
        Format::Classic | Format::Offset64Bit | Format::Data64Bit => options.least_bytes,
    };
    let target = Target { name: Arc::clone(name), storage: Arc::clone(&storage), space };
    let mut backend: Box<dyn Backend> = match options.format {
        Format::NetCdf4 | Format::NetCdf4Classic => Box::new(Hdf5Backend::create(target, options)?),
        Format::Classic | Format::Offset64Bit | Format::Data64Bit => {
            Box::new(ClassicBackend::create(target, &options.edit))
        }
    };
    backend.commit(&mut draft, false)?;
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
