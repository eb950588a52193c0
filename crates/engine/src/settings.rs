//! What a reader may reach, how it takes what is missing, and how a writer commits, said by the caller or by
//! the environment.

use std::path::PathBuf;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};

/// The environment's word on [`AllowExternal`], where the caller has none.
pub const ALLOW_EXTERNAL: &str = "ISOTACH_ALLOW_EXTERNAL";

/// The environment's word on [`MissingBytes`], where the caller has none.
pub const MISSING_BYTES: &str = "ISOTACH_MISSING_BYTES";

/// The environment's word on [`EditOptions::commit_interval`](crate::EditOptions::commit_interval), for
/// [`EditOptions::of_environment`](crate::EditOptions::of_environment).
pub const COMMIT_INTERVAL: &str = "ISOTACH_COMMIT_INTERVAL";

/// The same on [`EditOptions::track_times`](crate::EditOptions::track_times).
pub const TRACK_TIMES: &str = "ISOTACH_TRACK_TIMES";

/// How long a change waits for a commit, where nobody says anything.
pub(crate) const USUAL_COMMIT_INTERVAL: Duration = Duration::from_secs(5);

/// What becomes of values that a classic file, or a file of external raw data, should have and has not, as it was cut
/// short, or as a program that wrote without fill values was killed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MissingBytes {
    /// Whoever asks for them gets an error.
    #[default]
    Error,
    /// They are zeros, as libnetcdf and libhdf5 have it.
    Zeros,
}

impl MissingBytes {
    /// The words that [`MissingBytes::parse`] knows.
    pub const WORDS: &str = "\"error\" or \"zeros\"";

    /// `error` or `zeros`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "error" => Some(Self::Error),
            "zeros" => Some(Self::Zeros),
            _ => None,
        }
    }

    /// What was said, or else what the environment says.
    ///
    /// # Errors
    /// It says what [`MissingBytes::parse`] does not know.
    pub(crate) fn of(asked: Option<Self>) -> Result<Self> {
        match asked {
            Some(asked) => Ok(asked),
            None => of_environment(MISSING_BYTES, Self::parse, Self::WORDS),
        }
    }
}

/// Which other files external links, virtual data sets and external raw data may have opened.
///
/// What counts is where a file really lies: symbolic links and `..` are resolved first. The folder is that of the
/// file which the caller opened, for all files that are reached through it; bytes and file objects have none.
/// Folders of `HDF5_EXT_PREFIX`, `HDF5_VDS_PREFIX` and `HDF5_EXTFILE_PREFIX` count as allowed for their kind of
/// reference, but for [`AllowExternal::No`]. Only regular files are ever opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AllowExternal {
    /// None.
    No,
    /// Those in the file's own folder and below it.
    #[default]
    OwnFolder,
    /// Those, and what is in these folders and below them.
    Folders(Vec<PathBuf>),
    /// All.
    Anywhere,
}

impl AllowExternal {
    /// The words that [`AllowExternal::parse`] knows.
    pub const WORDS: &str =
        "\"none\", \"folder\", \"anywhere\", or folders that begin with /, with : between";

    /// `none`, `folder`, `anywhere`, or absolute paths of folders with `:` between; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let folders = || {
            let parts: Vec<&str> = text.split(':').filter(|part| !part.is_empty()).collect();
            let all_absolute = !parts.is_empty() && parts.iter().all(|part| part.starts_with('/'));
            all_absolute.then(|| Self::Folders(parts.into_iter().map(PathBuf::from).collect()))
        };
        match text {
            "none" => Some(Self::No),
            "folder" => Some(Self::OwnFolder),
            "anywhere" => Some(Self::Anywhere),
            _ => folders(),
        }
    }

    /// What the environment says, or else the default.
    ///
    /// # Errors
    /// It says what [`AllowExternal::parse`] does not know.
    pub(crate) fn of_environment() -> Result<Self> {
        of_environment(ALLOW_EXTERNAL, Self::parse, Self::WORDS)
    }
}

/// How long a change waits for a commit; `None` for ever.
///
/// # Errors
/// The environment says neither a number of seconds nor `off`.
pub(crate) fn commit_interval_of_environment() -> Result<Option<Duration>> {
    let said = said_by_environment(COMMIT_INTERVAL, parse_interval, "seconds, or \"off\"")?;
    Ok(said.unwrap_or(Some(USUAL_COMMIT_INTERVAL)))
}

fn parse_interval(text: &str) -> Option<Option<Duration>> {
    match text {
        "off" => Some(None),
        _ => Duration::try_from_secs_f64(text.parse().ok()?).ok().map(Some),
    }
}

/// Whether objects say when they were made and changed.
///
/// # Errors
/// The environment says neither `0` nor `1`.
pub(crate) fn track_times_of_environment() -> Result<bool> {
    let parse = |text: &str| ["0", "1"].iter().position(|known| *known == text);
    Ok(said_by_environment(TRACK_TIMES, parse, "\"0\" or \"1\"")? == Some(1))
}

/// The value of a setting; unset and empty are the default.
fn of_environment<T: Default>(
    name: &'static str,
    parse: impl FnOnce(&str) -> Option<T>,
    expected: &'static str,
) -> Result<T> {
    said_by_environment(name, parse, expected).map(Option::unwrap_or_default)
}

/// The value of a setting; `None` where it is unset or empty.
fn said_by_environment<T>(
    name: &'static str,
    parse: impl FnOnce(&str) -> Option<T>,
    expected: &'static str,
) -> Result<Option<T>> {
    let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    value.to_str().and_then(parse).map(Some).ok_or_else(|| {
        let value = value.to_string_lossy().into_owned();
        Error::new(&"the environment".into(), ErrorKind::Setting { name, value, expected })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_seconds_or_off() {
        assert_eq!(parse_interval("off"), Some(None));
        for (text, seconds) in [("0", 0.0), ("0.5", 0.5), ("60", 60.0)] {
            assert_eq!(parse_interval(text), Some(Some(Duration::from_secs_f64(seconds))));
        }
        for text in ["-1", "nan", "inf", "1e30", "5s", "Off", "none"] {
            assert_eq!(parse_interval(text), None, "{text}");
        }
    }

    #[test]
    fn folders_are_absolute_and_words_are_known() {
        let folders =
            |text: &str| Some(AllowExternal::Folders(text.split(' ').map(PathBuf::from).collect()));
        for (text, expected) in [
            ("none", Some(AllowExternal::No)),
            ("folder", Some(AllowExternal::OwnFolder)),
            ("anywhere", Some(AllowExternal::Anywhere)),
            ("/data", folders("/data")),
            (
                "/data:/more data/x:",
                Some(AllowExternal::Folders(vec!["/data".into(), "/more data/x".into()])),
            ),
            ("Anywhere", None),
            ("1", None),
            ("data", None),
            ("/data:more", None),
            (":", None),
        ] {
            assert_eq!(AllowExternal::parse(text), expected, "{text:?}");
        }
    }
}
