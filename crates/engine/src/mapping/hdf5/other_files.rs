//! Other files that a file refers to: found where libhdf5 looks for them, opened once, kept.
//!
//! External links, virtual data sets and external raw data name files. Where a name is looked up
//! (libhdf5's `H5F_prefix_open_file`, in this order):
//! an absolute name as it stands, and if that fails only its last part further on; then behind
//! each prefix in an environment variable; in the directory of the file that refers to it; in the
//! process's working directory; and, where that file was opened by a symbolic link, in the
//! directory where it really lies. The first place where there is something counts: may it not be
//! opened, that is an error, and the places behind it do not come into question.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, Weak};

use super::context::Context;
use super::reach::{Allowed, Reach};
use crate::error::{Error, ErrorKind, OtherFileReason, Result};
use crate::file::OpenOptions;
use crate::storage::reopening::ReopeningFile;
use crate::storage::{MetadataReader, Storage};
use crate::sync::Mutex;

/// Files one file keeps open for what refers to them. A virtual data set over more files than
/// that works too; the oldest are then opened again when they are needed again.
const KEPT_FILES: usize = 256;

/// Files that refer to one another in a row; longer chains are taken for a cycle.
const FILE_DEPTH: u32 = 16;

/// What refers to another file; each kind has a prefix variable of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReferenceKind {
    ExternalLink,
    VirtualSource,
    RawData,
}

impl ReferenceKind {
    fn prefix_variable(self) -> &'static str {
        match self {
            Self::ExternalLink => "HDF5_EXT_PREFIX",
            Self::VirtualSource => "HDF5_VDS_PREFIX",
            Self::RawData => "HDF5_EXTFILE_PREFIX",
        }
    }
}

/// The other files that one file has opened.
pub(super) struct OtherFiles {
    /// Which may be opened at all.
    reach: Arc<Reach>,
    /// The file that opened this one, if one did; a file that refers back to it gets it again.
    opened_by: Option<Weak<Context>>,
    /// How many files lie between this one and the one the caller opened.
    depth: u32,
    files: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    by_path: HashMap<PathBuf, Arc<Context>>,
    oldest_first: std::collections::VecDeque<PathBuf>,
}

/// Where a file may be.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    path: PathBuf,
    /// The folder that the environment names, where it is that.
    prefix: Option<PathBuf>,
}

impl Context {
    /// The HDF5 file `name` that this file refers to.
    pub(super) fn other_file(
        self: &Arc<Self>,
        name: &str,
        kind: ReferenceKind,
    ) -> Result<Arc<Context>> {
        let mut reason = None;
        for place in self.places(name, kind)? {
            match self.find(name, &place).and_then(|path| self.open_or_reuse(path)) {
                Ok(context) => return Ok(context),
                Err(error) if is_not_allowed(&error) => return Err(error),
                Err(error) if is_not_found(&error) => {}
                // That place may have it: another one would be another file.
                Err(error) if !error.is_of_the_file() => return Err(error),
                Err(error) => {
                    reason.get_or_insert(error);
                }
            }
        }
        Err(match reason {
            Some(error) => error,
            None => self.other_file_error(name, missing()),
        })
    }

    /// The bytes of the raw file `name` that this file refers to; `None` where there is none.
    pub(super) fn raw_file(&self, name: &str) -> Result<Option<Arc<dyn Storage>>> {
        for place in self.places(name, ReferenceKind::RawData)? {
            let opened = self.find(name, &place).and_then(|path| {
                ReopeningFile::open_raw(path).map_err(|error| self.failed(name, error))
            });
            match opened {
                Ok(file) => return Ok(Some(Arc::new(file))),
                Err(error) if is_not_found(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// The error that the file `path` cannot be had.
    pub(super) fn other_file_error(&self, path: &str, reason: OtherFileReason) -> Error {
        self.error(ErrorKind::OtherFile { path: path.to_owned(), reason })
    }

    fn failed(&self, path: &str, error: io::Error) -> Error {
        self.other_file_error(path, OtherFileReason::Failed(error.into()))
    }

    /// The places where `name` may be, where any file may be opened.
    fn places(&self, name: &str, kind: ReferenceKind) -> Result<Vec<Place>> {
        if *self.others.reach.allowed()? == Allowed::Nowhere {
            let reason = OtherFileReason::NotAllowed { real_path: None };
            return Err(self.other_file_error(name, reason));
        }
        if self.others.depth >= FILE_DEPTH {
            return Err(self.error(ErrorKind::Limit {
                what: "files that refer to one another",
                value: u64::from(self.others.depth) + 1,
                limit: u64::from(FILE_DEPTH),
            }));
        }
        let prefixes = std::env::var(kind.prefix_variable()).unwrap_or_default();
        Ok(places(self.path(), Path::new(name), kind, &prefixes))
    }

    /// The path by which this file was opened.
    fn path(&self) -> &Path {
        let first = self.others.reach.first().filter(|_| self.others.depth == 0);
        first.unwrap_or_else(|| Path::new(&*self.name))
    }

    /// What really lies at a place for `name`: its path without symbolic links.
    fn find(&self, name: &str, place: &Place) -> Result<PathBuf> {
        let shown = || place.path.to_string_lossy();
        let real = place.path.canonicalize().map_err(|error| self.failed(&shown(), error))?;
        let allowed = self.others.reach.allowed()?;
        let is_allowed = allowed.has(&real, place.prefix.as_deref());
        if is_allowed.map_err(|error| self.failed(&shown(), error))? {
            return Ok(real);
        }
        let real_path = Some(real.to_string_lossy().into());
        Err(self.other_file_error(name, OtherFileReason::NotAllowed { real_path }))
    }

    fn open_or_reuse(self: &Arc<Self>, path: PathBuf) -> Result<Arc<Context>> {
        if let Some(context) = self.self_or_opener(&path) {
            return Ok(context);
        }
        if let Some(context) = self.others.lock().by_path.get(&path) {
            return Ok(Arc::clone(context));
        }
        let name: Arc<str> = path.to_string_lossy().into();
        let storage =
            ReopeningFile::open(path.clone()).map_err(|error| self.failed(&name, error))?;
        let others = OtherFiles {
            reach: Arc::clone(&self.others.reach),
            opened_by: Some(Arc::downgrade(self)),
            depth: self.others.depth + 1,
            files: Mutex::default(),
        };
        let reader = MetadataReader::new(name, Arc::new(storage))?;
        let context = Context::open(reader, &self.options, others)?;
        self.others.lock().keep(path, &context);
        Ok(context)
    }

    /// This file, or one of those through which it was opened, where `path` is one of them.
    fn self_or_opener(self: &Arc<Self>, path: &Path) -> Option<Arc<Context>> {
        let mut context = Some(Arc::clone(self));
        while let Some(candidate) = context {
            let own = candidate.path().canonicalize();
            if own.is_ok_and(|own| own == path) {
                return Some(candidate);
            }
            context = candidate.others.opened_by.as_ref().and_then(Weak::upgrade);
        }
        None
    }
}

impl OtherFiles {
    /// Those of the file that the caller opened, by the path `first` or from bytes.
    pub(super) fn of_first(options: &OpenOptions, first: Option<Arc<PathBuf>>) -> Self {
        let reach = Arc::new(Reach::new(options.allow_external.clone(), first));
        Self { reach, opened_by: None, depth: 0, files: Mutex::default() }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn keep(&mut self, path: PathBuf, context: &Arc<Context>) {
        if self.by_path.insert(path.clone(), Arc::clone(context)).is_none() {
            self.oldest_first.push_back(path);
        }
        while self.oldest_first.len() > KEPT_FILES {
            if let Some(oldest) = self.oldest_first.pop_front() {
                self.by_path.remove(&oldest);
            }
        }
    }
}

fn missing() -> OtherFileReason {
    OtherFileReason::Failed(Arc::new(io::Error::from(io::ErrorKind::NotFound)))
}

fn is_not_found(error: &Error) -> bool {
    match &error.kind {
        ErrorKind::OtherFile { reason: OtherFileReason::Failed(source), .. } => {
            source.kind() == io::ErrorKind::NotFound
        }
        _ => false,
    }
}

fn is_not_allowed(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::OtherFile { reason: OtherFileReason::NotAllowed { .. }, .. })
}

/// The places where `name`, to which the file at `referring` refers, may be; `prefixes` are those of the
/// environment.
fn places(referring: &Path, name: &Path, kind: ReferenceKind, prefixes: &str) -> Vec<Place> {
    let directory = referring.parent().unwrap_or(Path::new(""));
    let unnamed = |path| Place { path, prefix: None };
    let mut places = Vec::new();
    let mut relative = name;
    if name.is_absolute() {
        places.push(unnamed(name.to_owned()));
        relative = name.file_name().map_or(name, Path::new);
    }
    for prefix in prefixes.split(':').filter(|prefix| !prefix.is_empty()) {
        let prefix = match prefix.strip_prefix("${ORIGIN}") {
            Some(rest) => directory.join(rest.trim_start_matches('/')),
            None => PathBuf::from(prefix),
        };
        places.push(Place { path: prefix.join(relative), prefix: Some(prefix) });
    }
    places.push(unnamed(directory.join(relative)));
    places.push(unnamed(relative.to_owned()));
    if kind != ReferenceKind::RawData
        && let Ok(real) = referring.canonicalize()
        && let Some(directory) = real.parent()
    {
        places.push(unnamed(directory.join(relative)));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(referring: &str, name: &str, prefixes: &str) -> Vec<PathBuf> {
        let kind = ReferenceKind::ExternalLink;
        let places = places(Path::new(referring), Path::new(name), kind, prefixes);
        places.into_iter().map(|place| place.path).collect()
    }

    #[test]
    fn a_relative_name_is_looked_up_beside_the_file_first() {
        let found = paths("/data/a.h5", "sub/b.h5", "");
        assert_eq!(found, ["/data/sub/b.h5", "sub/b.h5"].map(PathBuf::from));
    }

    #[test]
    fn of_an_absolute_name_that_fails_the_last_part_is_looked_up() {
        let found = paths("a.h5", "/gone/b.h5", "/more:${ORIGIN}/up");
        let expected = ["/gone/b.h5", "/more/b.h5", "up/b.h5", "b.h5", "b.h5"];
        assert_eq!(found, expected.map(PathBuf::from));
    }
}
