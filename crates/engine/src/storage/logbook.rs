//! What our writers note of a local file for readers that hold an earlier state of it to the end.
//!
//! It is an extended attribute of the file, four numbers as text. Such a reader asks two things of it:
//! ```text
//! who has written   the file's stamp is one that a writer of ours left, or one is at work, or was killed at work: then
//!                   `foreign` is what others left before it; else others have written the file, and its stamp is
//! what was written  `overwritten`, the generation from which on values that have one place only are others
//! ```
//! A file that only our writers have ever written, and none of them over such values, has no attribute while it is at rest.

use std::fs::File;
use std::io;

use super::state::Stamp;

/// What the attribute says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Log {
    /// The stamp that somebody else left last, as a number; 0 where nobody has.
    pub(super) foreign: u64,
    /// See the module; 0 where no value was ever overwritten.
    pub(super) overwritten: u64,
    /// The stamp that our last writer left, as a number, where the stamp itself does not show that.
    pub(super) closed: u64,
    /// Whether our last writer has not closed the file.
    pub(super) is_open: bool,
}

impl Log {
    /// What `file` has; `None` where its file system keeps no such attributes.
    pub(super) fn of(file: &File) -> io::Result<Option<Self>> {
        let mut memory = [0; 128];
        Ok(match system::get(file, &mut memory)? {
            system::Found::Text(text) => Some(Self::parse(text)),
            system::Found::Nothing => Some(Self::default()),
            system::Found::Unsupported => None,
        })
    }

    /// What cannot be read says nothing: others have written it.
    fn parse(text: &[u8]) -> Self {
        let text = std::str::from_utf8(text).unwrap_or_default();
        let numbers: Option<Vec<u64>> = text.split(' ').map(|word| word.parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[foreign, overwritten, closed, is_open]) => {
                Self { foreign, overwritten, closed, is_open: is_open != 0 }
            }
            _ => Self::default(),
        }
    }

    /// Has `file` say this. Where its file system keeps no such attributes, nothing happens.
    pub(super) fn put(&self, file: &File) -> io::Result<()> {
        let Self { foreign, overwritten, closed, is_open } = *self;
        if *self == Self::default() {
            return system::remove(file);
        }
        system::set(file, &format!("{foreign} {overwritten} {closed} {}", u8::from(is_open)))
    }

    /// What others have left of the file that has this stamp: the same number until others write it again.
    pub(super) fn foreign_of(&self, stamp: &Stamp) -> u64 {
        match stamp {
            _ if self.is_open || stamp.is_ours() || stamp.as_number() == self.closed => {
                self.foreign
            }
            _ if stamp.is_empty() => 0,
            _ => stamp.as_number(),
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use std::fs::File;
    use std::io;

    use rustix::fs::{XattrFlags, fgetxattr, fremovexattr, fsetxattr};
    use rustix::io::Errno;

    const NAME: &str = "user.isotach";

    pub(super) enum Found<'a> {
        Text(&'a [u8]),
        Nothing,
        Unsupported,
    }

    pub(super) fn get<'a>(file: &File, memory: &'a mut [u8; 128]) -> io::Result<Found<'a>> {
        match fgetxattr(file, NAME, &mut memory[..]) {
            Ok(len) => Ok(Found::Text(memory.get(..len).unwrap_or_default())),
            // Longer than ours are.
            Err(Errno::RANGE) => Ok(Found::Text(&[])),
            Err(Errno::NODATA) => Ok(Found::Nothing),
            Err(error) if is_unsupported(error) => Ok(Found::Unsupported),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn set(file: &File, text: &str) -> io::Result<()> {
        supported(fsetxattr(file, NAME, text.as_bytes(), XattrFlags::empty()))
    }

    pub(super) fn remove(file: &File) -> io::Result<()> {
        match fremovexattr(file, NAME) {
            Err(Errno::NODATA) => Ok(()),
            outcome => supported(outcome),
        }
    }

    fn supported(outcome: Result<(), Errno>) -> io::Result<()> {
        match outcome {
            Err(error) if !is_unsupported(error) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Some sandboxes know no such call, and say so in a way of their own.
    fn is_unsupported(error: Errno) -> bool {
        [Errno::NOTSUP, Errno::NOSYS, Errno::PERM].contains(&error)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    use std::fs::File;
    use std::io;

    #[expect(dead_code, reason = "no attribute is read here")]
    pub(super) enum Found<'a> {
        Text(&'a [u8]),
        Nothing,
        Unsupported,
    }

    pub(super) fn get<'a>(_file: &File, _memory: &'a mut [u8; 128]) -> io::Result<Found<'a>> {
        Ok(Found::Unsupported)
    }

    pub(super) fn set(_file: &File, _text: &str) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn remove(_file: &File) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = File::create_new(folder.path().join("file")).unwrap();
        let Some(nothing) = Log::of(&file).unwrap() else {
            eprintln!("left out: this file system keeps no extended attributes");
            return;
        };
        assert_eq!(nothing, Log::default());
        let log = Log { foreign: u64::MAX, overwritten: 7, closed: u64::MAX, is_open: true };
        log.put(&file).unwrap();
        assert_eq!(Log::of(&file).unwrap(), Some(log));
        Log::default().put(&file).unwrap();
        Log::default().put(&file).unwrap();
        assert_eq!(Log::of(&file).unwrap(), Some(Log::default()));
    }

    #[test]
    fn what_nobody_of_ours_has_put_says_nothing() {
        for text in ["", "1 2 3", "1 2 3 4 5", "1 2 x 0", "-1 2 3 0", "1 2 3 99999999999999999999"]
        {
            assert_eq!(Log::parse(text.as_bytes()), Log::default(), "{text}");
        }
        assert_eq!(Log::parse(b"\xff 1 2 3"), Log::default());
    }
}
