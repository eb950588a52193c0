//! Opening files for changing them.

use std::path::Path;
use std::sync::Arc;

use super::Backend;
use super::classic::ClassicBackend;
use super::commit::Committer;
use super::hdf5::Hdf5Backend;
use super::home::Home;
use super::session::Session;
use super::space::Space;
use super::target::Target;
use crate::draft::Draft;
use crate::error::{Error, ErrorKind, Result};
use crate::file::{File, OpenOptions};
use crate::storage::shifted::Shifted;
use crate::storage::{Creation, GrowingMemory, Storage, WritableFile, WritableStorage};
use crate::writer::EditOptions;

impl Session {
    /// Opens a local file for changing it.
    pub(crate) fn open(path: &Path, options: &EditOptions) -> Result<Self> {
        let storage = Arc::new(WritableFile::open(path, Creation::Open, options.lock)?);
        Self::open_in(path.to_string_lossy().into(), Home::Local { storage, new: None }, options)
    }

    /// Changes a copy of a file in memory.
    pub(crate) fn open_bytes(name: &str, bytes: Vec<u8>, options: &EditOptions) -> Result<Self> {
        let home = Home::Memory(Arc::new(GrowingMemory::new(bytes)));
        Self::open_in(name.into(), home, options)
    }

    /// Opens the file that a storage holds for changing it.
    pub(crate) fn open_in_storage(
        name: &str,
        storage: Arc<dyn WritableStorage>,
        options: &EditOptions,
    ) -> Result<Self> {
        Self::open_in(name.into(), Home::Given(storage), options)
    }

    fn open_in(name: Arc<str>, home: Home, options: &EditOptions) -> Result<Self> {
        let Some(storage) = home.storage() else {
            return Err(Error::new(&name, ErrorKind::Closed));
        };
        let file = open_file(&name, &storage)?;
        let (draft, backend) = match file.hdf5() {
            Some(objects) => {
                let base = objects.user_block_bytes();
                drop(file);
                open_hdf5(&name, storage, base, options)?
            }
            None => open_classic(&name, storage, options)?,
        };
        Ok(Self::new(name, draft, backend, home, options.commit_interval))
    }
}

fn open_file(name: &Arc<str>, storage: &Arc<dyn WritableStorage>) -> Result<File> {
    let storage = Arc::clone(storage) as Arc<dyn Storage>;
    OpenOptions::default().open_storage(name, storage)
}

fn open_hdf5(
    name: &Arc<str>,
    storage: Arc<dyn WritableStorage>,
    base: u64,
    options: &EditOptions,
) -> Result<(Draft, Box<dyn Backend>)> {
    // All addresses count from where HDF5 begins.
    let storage: Arc<dyn WritableStorage> = match base {
        0 => storage,
        _ => Arc::new(Shifted::new(storage, base)),
    };
    let superblock_end = |file: &File| {
        let superblock = file.hdf5().map(crate::hdf5::Objects::superblock);
        superblock.map_or(0, |superblock| superblock.end_of_file_address)
    };
    let end = superblock_end(&open_file(name, &storage)?);
    let committer = Committer::open(name, Arc::clone(&storage), 0, end, options.durability)?;
    // What an earlier writer had not finished is finished now.
    let file = open_file(name, &storage)?;
    let target = Target {
        name: Arc::clone(name),
        space: Arc::new(Space::aligned(superblock_end(&file), options.alignment)),
        storage,
    };
    let (surveyed, storage) = (Arc::clone(name), Arc::clone(&target.storage));
    target.space.set_survey(Box::new(move || {
        let file = open_file(&surveyed, &storage).ok()?;
        file.hdf5()?.used_space().ok()
    }));
    let mut draft = Draft::of(&file, name)?;
    let Some(objects) = file.hdf5() else {
        return Err(Error::new(name, ErrorKind::Closed));
    };
    let backend = Hdf5Backend::open(target, committer, &mut draft, objects)?;
    Ok((draft, Box::new(backend)))
}

fn open_classic(
    name: &Arc<str>,
    storage: Arc<dyn WritableStorage>,
    options: &EditOptions,
) -> Result<(Draft, Box<dyn Backend>)> {
    let EditOptions { durability, header_room, .. } = *options;
    let target = Target {
        name: Arc::clone(name),
        storage: Arc::clone(&storage),
        space: Arc::new(Space::new(0)),
    };
    let mut backend = ClassicBackend::open(target, durability, header_room)?;
    let draft = Draft::of(&open_file(name, &storage)?, name)?;
    backend.adopt(&draft)?;
    Ok((draft, Box::new(backend)))
}
