//! Other files that a file refers to: found where libhdf5 looks for them, opened once, kept.
//!
//! External links, virtual data sets and external raw data name files. Where a name is looked up
//! (libhdf5's `H5F_prefix_open_file`, in this order):
//! an absolute name as it stands, and if that fails only its last part further on; then behind
//! each prefix in an environment variable; in the directory of the file that refers to it; in the
//! process's working directory; and, where that file was opened by a symbolic link, in the
//! directory where it really lies.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::context::Context;
use crate::error::{Error, ErrorKind, OtherFileReason, Result};
use crate::storage::reopening::ReopeningFile;
use crate::storage::{MetadataReader, Storage};

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
#[derive(Default)]
pub(super) struct OtherFiles {
    /// The file that opened this one, if one did; a file that refers back to it gets it again.
    pub(super) opened_by: Option<Weak<Context>>,
    /// How many files lie between this one and the one the caller opened.
    pub(super) depth: u32,
    files: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    by_path: HashMap<PathBuf, Arc<Context>>,
    oldest_first: std::collections::VecDeque<PathBuf>,
}

impl Context {
    /// The HDF5 file `name` that this file refers to.
    pub(super) fn other_file(
        self: &Arc<Self>,
        name: &str,
        kind: ReferenceKind,
    ) -> Result<Arc<Context>> {
        self.check_allowed(name)?;
        let mut reason = None;
        for candidate in candidates(Path::new(&*self.name), Path::new(name), kind) {
            match self.open_or_reuse(&candidate) {
                Ok(context) => return Ok(context),
                Err(error) if is_not_found(&error) => {}
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
        self.check_allowed(name)?;
        for path in candidates(Path::new(&*self.name), Path::new(name), ReferenceKind::RawData) {
            match path.canonicalize().and_then(ReopeningFile::open) {
                Ok(file) => return Ok(Some(Arc::new(file))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(self.other_file_error(name, OtherFileReason::Failed(error.into())));
                }
            }
        }
        Ok(None)
    }

    /// The error that the file `path` cannot be had.
    pub(super) fn other_file_error(&self, path: &str, reason: OtherFileReason) -> Error {
        self.error(ErrorKind::OtherFile { path: path.to_owned(), reason })
    }

    fn check_allowed(&self, name: &str) -> Result<()> {
        if !self.options.other_files {
            return Err(self.other_file_error(name, OtherFileReason::NotAllowed));
        }
        if self.others.depth >= FILE_DEPTH {
            return Err(self.error(ErrorKind::Limit {
                what: "files that refer to one another",
                value: u64::from(self.others.depth) + 1,
                limit: u64::from(FILE_DEPTH),
            }));
        }
        Ok(())
    }

    fn open_or_reuse(self: &Arc<Self>, path: &Path) -> Result<Arc<Context>> {
        let failed = |error: io::Error| {
            self.other_file_error(&path.to_string_lossy(), OtherFileReason::Failed(error.into()))
        };
        let path = path.canonicalize().map_err(failed)?;
        if let Some(context) = self.self_or_opener(&path) {
            return Ok(context);
        }
        if let Some(context) = self.others.lock().by_path.get(&path) {
            return Ok(Arc::clone(context));
        }
        let storage = ReopeningFile::open(path.clone()).map_err(failed)?;
        let others = OtherFiles {
            opened_by: Some(Arc::downgrade(self)),
            depth: self.others.depth + 1,
            files: Mutex::default(),
        };
        let name: Arc<str> = path.to_string_lossy().into();
        let reader = MetadataReader::new(name, Arc::new(storage))?;
        let context = Context::open(reader, &self.options, others)?;
        self.others.lock().keep(path, &context);
        Ok(context)
    }

    /// This file, or one of those through which it was opened, where `path` is one of them.
    fn self_or_opener(self: &Arc<Self>, path: &Path) -> Option<Arc<Context>> {
        let mut context = Some(Arc::clone(self));
        while let Some(candidate) = context {
            let own = Path::new(&*candidate.name).canonicalize();
            if own.is_ok_and(|own| own == path) {
                return Some(candidate);
            }
            context = candidate.others.opened_by.as_ref().and_then(Weak::upgrade);
        }
        None
    }
}

impl OtherFiles {
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

/// The places where `name`, which `referring` refers to, may be.
fn candidates(referring: &Path, name: &Path, kind: ReferenceKind) -> Vec<PathBuf> {
    let directory = referring.parent().unwrap_or(Path::new(""));
    let mut places = Vec::new();
    let mut relative = name;
    if name.is_absolute() {
        places.push(name.to_owned());
        relative = name.file_name().map_or(name, Path::new);
    }
    let prefixes = std::env::var(kind.prefix_variable()).unwrap_or_default();
    for prefix in prefixes.split(':').filter(|prefix| !prefix.is_empty()) {
        let prefix = match prefix.strip_prefix("${ORIGIN}") {
            Some(rest) => directory.join(rest.trim_start_matches('/')),
            None => PathBuf::from(prefix),
        };
        places.push(prefix.join(relative));
    }
    places.push(directory.join(relative));
    places.push(relative.to_owned());
    if kind != ReferenceKind::RawData
        && let Ok(real) = referring.canonicalize()
        && let Some(directory) = real.parent()
    {
        places.push(directory.join(relative));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_name_is_looked_up_beside_the_file_first() {
        let places =
            candidates(Path::new("/data/a.h5"), Path::new("sub/b.h5"), ReferenceKind::ExternalLink);
        assert_eq!(places, [PathBuf::from("/data/sub/b.h5"), PathBuf::from("sub/b.h5")]);
    }

    #[test]
    fn of_an_absolute_name_that_fails_the_last_part_is_looked_up() {
        let places =
            candidates(Path::new("a.h5"), Path::new("/gone/b.h5"), ReferenceKind::VirtualSource);
        let expected = ["/gone/b.h5", "b.h5", "b.h5"];
        assert_eq!(places, expected.map(PathBuf::from));
    }
}
