//! How the commands that read files open them.

use std::path::Path;
use std::time::{Duration, SystemTime};

use clap::Args;
use isotach::{AllowExternal, File, MissingBytes, OpenOptions};

/// Options of all commands that read files.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ReadOptions {
    /// Other files that external links, virtual data sets and external raw data may open: anywhere, folder (the
    /// file's own and below it), none, or folders such as /data:/more; else as ISOTACH_ALLOW_EXTERNAL says, else
    /// folder
    #[arg(long, value_name = "WHERE", num_args = 0..=1, require_equals = true,
          default_missing_value = "anywhere", value_parser = allow_external)]
    allow_external: Option<AllowExternal>,
    /// What the values are that a classic file was cut short of: error, or zeros; else as ISOTACH_MISSING_BYTES
    /// says, else error
    #[arg(long, value_name = "WHAT", value_parser = missing_bytes)]
    missing_bytes: Option<MissingBytes>,
}

/// A file that was changed no longer ago than that may be changed again while it is shown.
const YOUNG: Duration = Duration::from_secs(60);

impl ReadOptions {
    /// Opens a file. Where it was changed shortly before, it is a snapshot: all its structures are read first, and
    /// nobody can change what is shown. A writer that begins while an older file is shown makes the command fail
    /// where it meets the change.
    pub(crate) fn open(&self, path: impl AsRef<Path>) -> isotach::Result<File> {
        let path = path.as_ref();
        let modified = std::fs::metadata(path).and_then(|found| found.modified());
        // Times to come are those of a writer, too.
        let snapshot = modified.is_ok_and(|time| match SystemTime::now().duration_since(time) {
            Ok(since) => since < YOUNG,
            Err(_) => true,
        });
        self.options(snapshot).open(path)
    }

    /// Opens a file for a look at one thing in it.
    pub(crate) fn open_for_one(&self, path: impl AsRef<Path>) -> isotach::Result<File> {
        self.options(false).open(path)
    }

    fn options(&self, snapshot: bool) -> OpenOptions {
        let (allow_external, missing_bytes) = (self.allow_external.clone(), self.missing_bytes);
        OpenOptions { allow_external, missing_bytes, snapshot }
    }
}

fn allow_external(text: &str) -> Result<AllowExternal, String> {
    AllowExternal::parse(text).ok_or_else(|| format!("it is not {}", AllowExternal::WORDS))
}

fn missing_bytes(text: &str) -> Result<MissingBytes, String> {
    MissingBytes::parse(text).ok_or_else(|| format!("it is not {}", MissingBytes::WORDS))
}
