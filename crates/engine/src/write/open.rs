//! Opening files for changing them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Backend;
use super::classic::ClassicBackend;
use super::commit::Committer;
use super::hdf5::Hdf5Backend;
use super::home::Home;
use super::session::Session;
use super::space::{Holders, Space};
use super::target::Target;
use crate::draft::Draft;
use crate::error::{Error, ErrorKind, Result};
use crate::fault::Readable;
use crate::file::{File, OpenOptions};
use crate::plan::layout::{BeyondEnd, Placement};
use crate::storage::shifted::Shifted;
use crate::storage::{Creation, GrowingMemory, Storage, WritableFile, WritableStorage};
use crate::writer::EditOptions;

impl Session {
    /// Opens a local file for changing it.
    pub(crate) fn open(path: &Path, options: &EditOptions) -> Result<Self> {
        let storage = Arc::new(WritableFile::open(path, Creation::Open, options.lock)?);
        let name: Arc<str> = path.to_string_lossy().into();
        let path = std::path::absolute(path)
            .map_err(|source| Error::new(&name, ErrorKind::Open(Arc::new(source))))?;
        let face = Face { name, path: Some(Arc::new(path)), options: options.read.clone() };
        Self::open_in(face, Home::Local { storage, new: None }, options)
    }

    /// Changes a copy of a file in memory.
    pub(crate) fn open_bytes(name: &str, bytes: Vec<u8>, options: &EditOptions) -> Result<Self> {
        let home = Home::Memory(Arc::new(GrowingMemory::new(bytes)));
        Self::open_in(Face::of_bytes(name, options), home, options)
    }

    /// Opens the file that a storage holds for changing it.
    pub(crate) fn open_in_storage(
        name: &str,
        storage: Arc<dyn WritableStorage>,
        options: &EditOptions,
    ) -> Result<Self> {
        Self::open_in(Face::of_bytes(name, options), Home::Given(storage), options)
    }

    fn open_in(face: Face, home: Home, options: &EditOptions) -> Result<Self> {
        let Some(storage) = home.storage() else {
            return Err(Error::new(&face.name, ErrorKind::Closed));
        };
        let file = face.open(&storage)?;
        let (draft, backend) = match file.hdf5() {
            Some(objects) => {
                let base = objects.user_block_bytes();
                drop(file);
                open_hdf5(&face, storage, base, options)?
            }
            None => open_classic(&face, storage, options)?,
        };
        Ok(Self::new(face.name, draft, backend, home, options.commit_interval))
    }
}

/// How the file that is changed is read.
#[derive(Clone)]
struct Face {
    name: Arc<str>,
    /// The absolute path by which the caller opened it; `None` for bytes.
    path: Option<Arc<PathBuf>>,
    options: OpenOptions,
}

impl Face {
    fn of_bytes(name: &str, options: &EditOptions) -> Self {
        Self { name: name.into(), path: None, options: options.read.clone() }
    }

    fn open(&self, storage: &Arc<dyn WritableStorage>) -> Result<File> {
        let storage = Arc::clone(storage) as Arc<dyn Storage>;
        self.options.open_storage_at(&self.name, self.path.clone(), storage)
    }
}

fn open_hdf5(
    face: &Face,
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
    let name = &face.name;
    let end = superblock_end(&face.open(&storage)?);
    let committer = Committer::open(name, storage, 0, end, options.durability)?;
    // What an earlier writer had not finished is laid over it, and finished by the first write.
    let storage = committer.storage();
    let file = face.open(&storage)?;
    let space = Space::opened(end, committer.first_free(), options.alignment);
    let space = space.with_blocks(options.structure_block_bytes);
    let space = Arc::new(space.with_holders(storage.generation(), holders(&storage)));
    let target = Target { name: Arc::clone(name), space, storage };
    let (surveyed, storage) = (face.clone(), Arc::clone(&target.storage));
    target.space.set_survey(Box::new(move || {
        let file = surveyed.open(&storage).ok()?;
        file.hdf5()?.used_space().ok()
    }));
    let mut draft = Draft::of(&file, name)?;
    let Some(objects) = file.hdf5() else {
        return Err(Error::new(name, ErrorKind::Closed));
    };
    objects.check_apart()?;
    let backend = Hdf5Backend::open(target, committer, &mut draft, objects, options.track_times)?;
    Ok((draft, Box::new(backend)))
}

/// Those who read the file that `storage` holds.
pub(super) fn holders(storage: &Arc<dyn WritableStorage>) -> Holders {
    let storage = Arc::clone(storage);
    Box::new(move |from, to| storage.held_between(from, to))
}

fn open_classic(
    face: &Face,
    storage: Arc<dyn WritableStorage>,
    options: &EditOptions,
) -> Result<(Draft, Box<dyn Backend>)> {
    let name = &face.name;
    let target = Target { name: Arc::clone(name), storage, space: Arc::new(Space::new(0)) };
    let mut backend = ClassicBackend::open(target, options)?;
    let file = face.open(&backend.storage())?;
    check_whole(name, &file)?;
    let draft = Draft::of(&file, name)?;
    backend.adopt(&draft)?;
    Ok((draft, Box::new(backend)))
}

/// That no values are missing of a classic file which is going to be changed: with the next commit they would be
/// zeros, which nobody could tell from values.
fn check_whole(name: &Arc<str>, file: &File) -> Result<()> {
    for variable in file.root().variables()? {
        let Some(array) = variable.array().readable()? else { continue };
        let layout = &array.layout;
        let (missing, extent) = (layout.missing_bytes(), layout.extent_bytes());
        if let Placement::Strided { beyond_end: BeyondEnd::Missing, .. } = layout.placement
            && let Some((address, length_bytes)) = extent
            && missing > 0
        {
            let there_bytes = length_bytes.saturating_sub(missing);
            let kind = ErrorKind::MissingBytes { address, length_bytes, there_bytes };
            return Err(Error::new(name, kind).at(&variable.path()));
        }
    }
    Ok(())
}
