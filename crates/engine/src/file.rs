//! The public face: open a file, look around in it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use isotach_model::UserType;

use crate::attribute::Attribute;
use crate::dimension::Dimension;
use crate::error::{Error, ErrorKind, Result};
use crate::fault::Readable;
use crate::mapping::{FileMapping, GroupMapping, hdf5};
use crate::settings::{AllowExternal, MissingBytes};
use crate::storage::{FileToken, LocalFile, Storage, Turn, state};
use crate::variable::Variable;

/// How often a file is opened anew because a writer commits meanwhile.
const MOST_OPENINGS: u32 = 100;
/// After how many of them writers are asked for time, and for how long.
const FREE_OPENINGS: u32 = 8;
const MOST_ASKED: Duration = Duration::from_secs(60);

/// netCDF's formats, as `nc_inq_format` tells them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Format {
    /// CDF-1.
    Classic,
    /// CDF-2.
    Offset64Bit,
    /// CDF-5.
    Data64Bit,
    /// HDF5.
    NetCdf4,
    /// HDF5 that keeps to the classic model (`_nc3_strict`).
    NetCdf4Classic,
}

impl fmt::Display for Format {
    /// As netCDF's programs call it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Classic => "classic",
            Self::Offset64Bit => "64-bit offset",
            Self::Data64Bit => "cdf5",
            Self::NetCdf4 => "netCDF-4",
            Self::NetCdf4Classic => "netCDF-4 classic model",
        })
    }
}

/// An object that is in the file and could not be shown.
#[derive(Debug, Clone)]
pub struct LeftOut {
    /// Its path.
    pub path: String,
    /// Why it is not shown.
    pub reason: Error,
}

/// How to open a file.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Which other files external links, virtual data sets and external raw data may open; `None` for what the
    /// environment's `ISOTACH_ALLOW_EXTERNAL` says, or else [`AllowExternal::OwnFolder`].
    pub allow_external: Option<AllowExternal>,
    /// What values are that a classic file, or a file of external raw data, was cut short of; `None` for what the environment's
    /// `ISOTACH_MISSING_BYTES` says, or else [`MissingBytes::Error`].
    pub missing_bytes: Option<MissingBytes>,
    /// Whether all structures are read at opening: then the file is shown as it is at that moment, to the end, whatever
    /// is committed meanwhile, and none of that is [`ErrorKind::Changed`] later. It takes the time and the memory of
    /// all headers, attributes and chunk indexes. Values of classic files have one place only (see [`File`]): where a
    /// commit overwrites any, or a program that knows nothing of commits writes the file, its values are
    /// [`ErrorKind::Changed`]. Other files that it refers to are opened when they are first needed. Without effect in
    /// storages that the caller gives.
    pub snapshot: bool,
}

/// An open file in one of its committed states. Cheap to clone; handles may be used by many threads at once.
///
/// A file may be written while it is read: nobody waits for anybody, and all that a handle shows is of the state in
/// which the file was opened, until [`File::refresh`]. Structures that were not looked for before the next commit are
/// [`ErrorKind::Changed`] from then on. Values that later commits replaced stay where they are as long as the file is
/// open, because a writer of this library sees that it is; where file locks do not work, they are
/// [`ErrorKind::Changed`], too. Values of classic files have one place only: each request finds those of the last
/// commit, as long as that place is theirs.
#[derive(Clone)]
pub struct File {
    name: Arc<str>,
    mapping: Arc<dyn FileMapping>,
    source: Source,
}

/// Where a file can be read anew.
#[derive(Clone)]
enum Source {
    /// It shows what is being written.
    Writer,
    /// At its path, even if another file is there by then.
    Path {
        path: Arc<PathBuf>,
        options: OpenOptions,
        storage: Arc<LocalFile>,
    },
    Storage {
        storage: Arc<dyn Storage>,
        path: Option<Arc<PathBuf>>,
        options: OpenOptions,
    },
}

impl File {
    /// Opens a local file with the default options.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::default().open(path)
    }

    pub(crate) fn new(name: Arc<str>, mapping: Arc<dyn FileMapping>) -> Self {
        Self { name, mapping, source: Source::Writer }
    }

    /// Has this handle show the file as its newest commit has it, or the file that has taken its place;
    /// groups and variables that were found before go on to be those of the earlier state, and so do
    /// clones of this handle. Tells whether anything was read anew. Does nothing for the file of a
    /// [`Writer`](crate::Writer), which is never behind.
    ///
    /// Where nothing changed, that costs two or three calls: a writer's locks, the file's number, length and times
    /// tell, as soon as they are old enough to tell two changes apart. A file in a storage that the caller
    /// gave is always read anew.
    ///
    /// # Errors
    /// Those of opening; the handle goes on to show the earlier state.
    pub fn refresh(&mut self) -> Result<bool> {
        *self = match &self.source {
            Source::Writer => return Ok(false),
            Source::Path { path, options, storage } => {
                let is_newest = storage.is_newest(path);
                if is_newest.map_err(|source| open_error(&self.name, source))? {
                    return Ok(false);
                }
                options.open_path(&self.name, Arc::clone(path))?
            }
            Source::Storage { storage, path, options } => {
                options.open_storage_at(&self.name, path.clone(), Arc::clone(storage))?
            }
        };
        Ok(true)
    }

    /// For a program that was told [`ErrorKind::Changed`] again and again by a file that others write: while it keeps what this
    /// returns, each writer waits before it commits, at first for up to a tenth of a second, and never for more than a second or a
    /// fifth of its time. `None` of what is no local file, or is written.
    pub fn turn(&self) -> Option<Turn> {
        match &self.source {
            Source::Path { storage, .. } => Some(Arc::clone(storage).turn()),
            Source::Writer | Source::Storage { .. } => None,
        }
    }

    /// By what the local file that this handle reads is known again; `None` where it is read from elsewhere,
    /// or written.
    pub fn token(&self) -> Option<FileToken> {
        match &self.source {
            Source::Path { storage, .. } => storage.token(),
            Source::Writer | Source::Storage { .. } => None,
        }
    }

    /// The name it was opened by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which of netCDF's formats it is.
    pub fn format(&self) -> Result<Format> {
        self.mapping.format()
    }

    /// The root group.
    pub fn root(&self) -> Group {
        Group { file: self.clone(), parent: None, mapping: self.mapping.root() }
    }

    /// HDF5's own view of the file; `None` for classic files.
    pub fn hdf5(&self) -> Option<&hdf5::Objects> {
        self.mapping.hdf5()
    }

    /// The group at `path` such as `/forecast/model1`; the root group for `/`.
    pub fn group(&self, path: &str) -> Result<Group> {
        path.split('/').filter(|name| !name.is_empty()).try_fold(self.root(), |group, name| {
            match group.group(name)? {
                Some(found) => Ok(found),
                None => Err(self.not_shown(&group, name, "group", path)?),
            }
        })
    }

    /// The variable at `path` such as `/forecast/temperature` or `temperature`.
    ///
    /// # Errors
    /// There is none, or the reason why what is there was left out.
    pub fn variable(&self, path: &str) -> Result<Variable> {
        let (group, name) = path.rsplit_once('/').unwrap_or(("", path));
        let group = self.group(group)?;
        match group.variable(name)? {
            Some(found) => Ok(found),
            None => Err(self.not_shown(&group, name, "variable", path)?),
        }
    }

    /// Why there is no `name` in `group`: that it was left out, or that there is none.
    fn not_shown(
        &self,
        group: &Group,
        name: &str,
        what: &'static str,
        path: &str,
    ) -> Result<Error> {
        let is_it = |left_out: &&LeftOut| {
            let (above, own) = left_out.path.rsplit_once('/').unwrap_or(("", &left_out.path));
            own == name && above == group.path().trim_end_matches('/')
        };
        // Of a damaged group nobody knows what is in it.
        let left_out = group.left_out().readable()?.unwrap_or_default();
        Ok(match left_out.iter().find(is_it) {
            Some(left_out) => left_out.reason.clone(),
            None => Error::new(&self.name, ErrorKind::NotFound { what, name: path.to_owned() }),
        })
    }
}

/// A group of an open file. Cheap to clone.
#[derive(Clone)]
pub struct Group {
    file: File,
    parent: Option<Arc<Group>>,
    mapping: Arc<dyn GroupMapping>,
}

impl Group {
    /// Path from the root group, `/` for the root itself.
    pub fn path(&self) -> &str {
        self.mapping.path()
    }

    /// Last part of the path; `/` for the root group.
    pub fn name(&self) -> &str {
        match self.path().rsplit_once('/') {
            Some((_, name)) if !name.is_empty() => name,
            _ => "/",
        }
    }

    /// The file it belongs to.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The group it lies in; `None` for the root group.
    pub fn parent(&self) -> Option<&Group> {
        self.parent.as_deref()
    }

    /// Its own dimensions by ascending id.
    pub fn dimensions(&self) -> Result<Arc<[Dimension]>> {
        self.mapping.dimensions()
    }

    /// Its own dimensions in the order of their objects.
    pub(crate) fn listed_dimensions(&self) -> Result<Arc<[Dimension]>> {
        self.mapping.listed_dimensions()
    }

    /// Ids of its unlimited dimensions in the order in which libnetcdf tells them, that of their objects.
    pub fn unlimited_ids(&self) -> Result<Vec<i32>> {
        let listed = self.listed_dimensions()?;
        let is_shown = |found: &&Dimension| found.is_unlimited() && !found.is_foreign();
        listed.iter().filter(is_shown).map(Dimension::id).collect()
    }

    /// The dimension `name` of this group or the nearest group above it that has one.
    pub fn find_dimension(&self, name: &str) -> Result<Option<Dimension>> {
        let own = self.dimensions()?.iter().find(|dimension| dimension.name() == name).cloned();
        match (own, &self.parent) {
            (None, Some(parent)) => parent.find_dimension(name),
            (own, _) => Ok(own),
        }
    }

    /// Its own user-defined types in the order of their definition.
    pub fn types(&self) -> Result<Arc<[Arc<UserType>]>> {
        self.mapping.types()
    }

    /// Its attributes in netCDF's order, without the reserved ones.
    pub fn attributes(&self) -> Result<Arc<[Attribute]>> {
        self.mapping.attributes()
    }

    /// How many attributes it has. That may read none of them.
    pub fn attribute_count(&self) -> Result<usize> {
        self.mapping.attribute_count()
    }

    /// One attribute, also of the special ones such as `_NCProperties`; `None` where there is none.
    pub fn attribute(&self, name: &str) -> Result<Option<Attribute>> {
        self.mapping.attribute(name)
    }

    /// Names of its variables in netCDF's order.
    pub fn variable_names(&self) -> Result<Arc<[Arc<str>]>> {
        self.mapping.variable_names()
    }

    /// The variable of that name; `None` where there is none.
    pub fn variable(&self, name: &str) -> Result<Option<Variable>> {
        Ok(self.mapping.variable(name)?.map(Variable::new))
    }

    /// Its variables in netCDF's order.
    pub fn variables(&self) -> Result<Vec<Variable>> {
        let names = self.variable_names()?;
        names.iter().filter_map(|name| self.variable(name).transpose()).collect()
    }

    /// Names of its groups in netCDF's order.
    pub fn group_names(&self) -> Result<Arc<[Arc<str>]>> {
        self.mapping.group_names()
    }

    /// The group of that name in this group; `None` where there is none.
    pub fn group(&self, name: &str) -> Result<Option<Group>> {
        let mapping = self.mapping.group(name)?;
        Ok(mapping.map(|mapping| Group {
            file: self.file.clone(),
            parent: Some(Arc::new(self.clone())),
            mapping,
        }))
    }

    /// Its groups in netCDF's order.
    pub fn groups(&self) -> Result<Vec<Group>> {
        let names = self.group_names()?;
        names.iter().filter_map(|name| self.group(name).transpose()).collect()
    }

    /// Objects in this group that could not be shown, and why.
    pub fn left_out(&self) -> Result<Arc<[LeftOut]>> {
        self.mapping.left_out()
    }
}

impl OpenOptions {
    /// Opens a local file.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<File> {
        let path = path.as_ref();
        let name: Arc<str> = path.to_string_lossy().into();
        let path = std::path::absolute(path).map_err(|source| open_error(&name, source))?;
        self.open_path(&name, Arc::new(path))
    }

    /// Opens the file at a path that does not depend on the working directory. Where a writer commits meanwhile, it is
    /// opened anew.
    fn open_path(&self, name: &Arc<str>, path: Arc<PathBuf>) -> Result<File> {
        let (mut attempts, mut turn): (u32, Option<(Turn, Instant)>) = (0, None);
        loop {
            let outcome = self.open_state(name, &path);
            attempts += 1;
            let may_try = match &turn {
                Some((_, begun)) => attempts < MOST_OPENINGS || begun.elapsed() < MOST_ASKED,
                None => attempts < MOST_OPENINGS,
            };
            match &outcome {
                Err(error) if error.kind.is_changed() && may_try => {}
                _ => return outcome,
            }
            if attempts >= FREE_OPENINGS && turn.is_none() {
                let file = LocalFile::open(&*path);
                turn = file.ok().map(|file| (Arc::new(file).turn(), Instant::now()));
            }
        }
    }

    fn open_state(&self, name: &Arc<str>, path: &Arc<PathBuf>) -> Result<File> {
        let storage = LocalFile::open(&**path).and_then(|opened| match self.snapshot {
            true => opened.held_to_the_end(),
            false => Ok(opened),
        });
        let storage = Arc::new(storage.map_err(|source| open_error(name, source))?);
        let mapping =
            crate::mapping::open(name, Arc::clone(&storage) as _, self, Some(Arc::clone(path)))?;
        let source = Source::Path { path: Arc::clone(path), options: self.clone(), storage };
        let file = File { name: Arc::clone(name), mapping, source };
        if self.snapshot {
            file.mapping.keep_all();
            crate::snapshot::keep_structures(&file)?;
        }
        Ok(file)
    }

    /// Opens what `storage` delivers; `name` stands in errors. It has no folder of its own, so that other files are
    /// opened only where the options name their folder; their names are taken relative to the directory of `name`.
    pub fn open_storage(&self, name: &str, storage: Arc<dyn Storage>) -> Result<File> {
        self.open_storage_at(&name.into(), None, storage)
    }

    /// The same, of a file that the caller opened by its absolute path.
    pub(crate) fn open_storage_at(
        &self,
        name: &Arc<str>,
        path: Option<Arc<PathBuf>>,
        storage: Arc<dyn Storage>,
    ) -> Result<File> {
        let name = Arc::clone(name);
        let mapping = crate::mapping::open(&name, Arc::clone(&storage), self, path.clone())?;
        let source = Source::Storage { storage, path, options: self.clone() };
        Ok(File { name, mapping, source })
    }
}

fn open_error(name: &Arc<str>, source: std::io::Error) -> Error {
    if state::is_changed(&source) {
        return Error::new(name, ErrorKind::Changed);
    }
    Error::new(name, ErrorKind::Open(Arc::new(source)))
}
