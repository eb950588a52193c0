//! Which other files may be opened on behalf of the file that the caller opened.
//!
//! ```text
//! a name in the file -> places where it may be -> where that really lies -> in an allowed folder? -> opened
//! ```
//! All files that are reached from one another are judged by the folder of the first: what can be reached does
//! not depend on the road to it, and a file in a folder below can refer to one above it as long as both belong to
//! what the caller opened.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::error::{Error, ErrorKind, Result};
use crate::fault::names_no_file;
use crate::settings::AllowExternal;

/// See the module.
pub(super) struct Reach {
    asked: Option<AllowExternal>,
    /// The absolute path by which the caller opened the first file; `None` for bytes.
    first: Option<Arc<PathBuf>>,
    found: OnceLock<Allowed>,
}

/// Where other files may really lie.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Allowed {
    Nowhere,
    /// In these folders, without symbolic links, and below them.
    Below(Vec<PathBuf>),
    Anywhere,
}

impl Reach {
    pub(super) fn new(asked: Option<AllowExternal>, first: Option<Arc<PathBuf>>) -> Self {
        Self { asked, first, found: OnceLock::new() }
    }

    /// The absolute path by which the caller opened the first file; `None` for bytes.
    pub(super) fn first(&self) -> Option<&Path> {
        self.first.as_deref().map(PathBuf::as_path)
    }

    /// Where other files may lie.
    ///
    /// # Errors
    /// The environment's setting is none; the file system fails to tell where the file lies.
    pub(super) fn allowed(&self) -> Result<&Allowed> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        let asked = match &self.asked {
            Some(asked) => asked.clone(),
            None => AllowExternal::of_environment()?,
        };
        let found = self.folders(asked).map_err(|source| {
            let name = self.first().unwrap_or(Path::new("")).to_string_lossy();
            Error::new(&name.into(), ErrorKind::Open(Arc::new(source)))
        })?;
        Ok(self.found.get_or_init(|| found))
    }

    fn folders(&self, asked: AllowExternal) -> io::Result<Allowed> {
        let given = match asked {
            AllowExternal::No => return Ok(Allowed::Nowhere),
            AllowExternal::Anywhere => return Ok(Allowed::Anywhere),
            AllowExternal::OwnFolder => Vec::new(),
            AllowExternal::Folders(folders) => folders,
        };
        let mut below = Vec::new();
        // The folder in which the first file really lies.
        if let Some(first) = &self.first
            && let Some(first) = resolved(first)?
        {
            below.extend(first.parent().map(Path::to_path_buf));
        }
        for folder in given {
            below.extend(resolved(&folder)?);
        }
        Ok(Allowed::Below(below))
    }
}

impl Allowed {
    /// Whether what really lies at `path` may be opened, where the environment has it looked for behind `prefix`.
    ///
    /// # Errors
    /// The file system fails to tell where that is.
    pub(super) fn has(&self, path: &Path, prefix: Option<&Path>) -> io::Result<bool> {
        let folders = match self {
            Self::Nowhere => return Ok(false),
            Self::Anywhere => return Ok(true),
            Self::Below(folders) => folders,
        };
        if folders.iter().any(|folder| path.starts_with(folder)) {
            return Ok(true);
        }
        let Some(prefix) = prefix else { return Ok(false) };
        Ok(resolved(prefix)?.is_some_and(|folder| path.starts_with(folder)))
    }
}

/// A path without symbolic links; `None` where there is nothing.
fn resolved(path: &Path) -> io::Result<Option<PathBuf>> {
    match path.canonicalize() {
        Ok(path) => Ok(Some(path)),
        Err(error) if names_no_file(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_not_another_whose_name_begins_alike() {
        let allowed = Allowed::Below(vec!["/data/own".into()]);
        for (path, is_in) in [
            ("/data/own/file", true),
            ("/data/own/below/file", true),
            ("/data/owner/file", false),
            ("/data/file", false),
        ] {
            assert_eq!(allowed.has(Path::new(path), None).unwrap(), is_in, "{path}");
        }
    }

    #[test]
    fn bytes_have_no_folder() {
        let reach = Reach::new(Some(AllowExternal::OwnFolder), None);
        assert_eq!(reach.allowed().unwrap(), &Allowed::Below(Vec::new()));
        let root = std::env::temp_dir().canonicalize().unwrap();
        let folders = vec![root.clone(), "/there/is/no/such/folder".into()];
        let reach = Reach::new(Some(AllowExternal::Folders(folders)), None);
        assert_eq!(reach.allowed().unwrap(), &Allowed::Below(vec![root]));
    }
}
