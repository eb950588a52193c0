//! Which faults may cost one object, and which are an error of the whole request.
//!
//! ```text
//! damaged, not supported, missing -> the object is left out, visibly, and that may be remembered
//! storage                         -> an error to the caller, never remembered: the next call tries again
//! request                         -> an error to the caller
//! ```
//! Whoever goes on after an error in `mapping` does so through [`Readable`]: it lets nothing pass but what is
//! known of the file itself. `Result::ok` and its kin would take a disk that fails for a file without the object.

use std::io;

use crate::error::{Error, ErrorKind, OtherFileReason, Result};
use crate::storage::is_past_end;
use crate::{DefinitionFault, file::LeftOut};

/// The kinds of fault, by what a caller may make of them; see [`Error::fault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The file's bytes are not what they must be, or end before a structure does.
    Damaged,
    /// The file has something that is not read here.
    NotSupported,
    /// Something refers to what is not there: an object, another file.
    Missing,
    /// Storage, or memory, failed. Nothing is known of what is in the file; the next call may find it.
    Storage,
    /// What the caller asked for cannot be, whatever is in the file.
    Request,
}

impl Fault {
    /// Whether the same file always has this fault, so that the object that has it may be left out and the others
    /// be shown.
    pub fn is_of_the_file(self) -> bool {
        match self {
            Self::Damaged | Self::NotSupported | Self::Missing => true,
            Self::Storage | Self::Request => false,
        }
    }
}

impl Fault {
    /// Whether the file and the request may be as they should be, so that the same request may succeed later.
    pub fn is_failure(self) -> bool {
        match self {
            Self::Storage => true,
            Self::Damaged | Self::NotSupported | Self::Missing | Self::Request => false,
        }
    }
}

impl Error {
    /// Which kind of fault it is: whether the file is to blame, the storage, or the request.
    pub fn fault(&self) -> Fault {
        self.kind.fault()
    }

    /// Whether it may cost no more than the object that has it; see [`Fault::is_of_the_file`].
    pub(crate) fn is_of_the_file(&self) -> bool {
        self.fault().is_of_the_file()
    }

    /// Puts the error among those of what is left out.
    ///
    /// # Errors
    /// This one, where storage failed: nothing may be left out for it.
    pub(crate) fn leave_out(self, left_out: &mut Vec<Self>) -> Result<()> {
        left_out.push(self.of_the_file()?);
        Ok(())
    }

    fn of_the_file(self) -> Result<Self> {
        if self.is_of_the_file() { Ok(self) } else { Err(self) }
    }
}

impl ErrorKind {
    fn fault(&self) -> Fault {
        match self {
            Self::Open(_) | Self::Write { .. } | Self::Publish(_) => Fault::Storage,
            // Of the state that was opened nothing more is known.
            Self::Changed => Fault::Storage,
            Self::Storage { source, .. } if is_past_end(source) => Fault::Damaged,
            Self::Storage { .. } => Fault::Storage,
            Self::NotCommitted { source, .. } => source.fault(),
            Self::UnknownFormat { .. } | Self::OtherFormat { .. } | Self::Limit { .. } => {
                Fault::NotSupported
            }
            Self::Structure(source) => match source.kind {
                isotach_format::ErrorKind::Unsupported { .. }
                | isotach_format::ErrorKind::Limit { .. } => Fault::NotSupported,
                _ => Fault::Damaged,
            },
            Self::Chunk { source, .. } => fault_of_filter(&source.kind),
            Self::Encode { source, .. } => match fault_of_filter(&source.kind) {
                Fault::Storage => Fault::Storage,
                _ => Fault::Request,
            },
            Self::Definition(
                DefinitionFault::ForeignType { .. } | DefinitionFault::NotInFormat { .. },
            ) => Fault::NotSupported,
            Self::NotFound { .. } => Fault::Missing,
            Self::Elements(_) | Self::MissingBytes { .. } => Fault::Damaged,
            Self::WrongType { .. } => Fault::NotSupported,
            Self::OtherFile { reason, .. } => match reason {
                OtherFileReason::NotAllowed { .. } => Fault::NotSupported,
                OtherFileReason::Failed(source) => fault_of_opening(source),
                OtherFileReason::Broken(_) => Fault::Damaged,
            },
            Self::InUse { .. }
            | Self::Setting { .. }
            | Self::Closed
            | Self::Definition(_)
            | Self::Values(_)
            | Self::Selection(_)
            | Self::Convert(_)
            | Self::Destination { .. }
            | Self::Source { .. }
            | Self::Format(_) => Fault::Request,
        }
    }
}

fn fault_of_filter(kind: &isotach_codec::ErrorKind) -> Fault {
    match kind {
        isotach_codec::ErrorKind::UnknownFilter
        | isotach_codec::ErrorKind::DecodesOnly
        | isotach_codec::ErrorKind::Unsupported { .. } => Fault::NotSupported,
        isotach_codec::ErrorKind::OutOfMemory { .. } => Fault::Storage,
        isotach_codec::ErrorKind::Foreign
        | isotach_codec::ErrorKind::Parameter { .. }
        | isotach_codec::ErrorKind::MissingParameter { .. }
        | isotach_codec::ErrorKind::Corrupt { .. }
        | isotach_codec::ErrorKind::Checksum { .. }
        | isotach_codec::ErrorKind::Length { .. } => Fault::Damaged,
    }
}

/// Of another file: that there is none that may be read is known; anything else may be otherwise next time.
fn fault_of_opening(source: &io::Error) -> Fault {
    if names_no_file(source) { Fault::Missing } else { Fault::Storage }
}

/// Whether a file system says that a path leads to no file that may be read.
pub(crate) fn names_no_file(source: &io::Error) -> bool {
    // Names too long and loops of links have kinds of their own that are not stable yet.
    let by_number = matches!(source.raw_os_error(), Some(libc::ELOOP | libc::ENAMETOOLONG));
    by_number
        || matches!(
            source.kind(),
            io::ErrorKind::NotFound
                | io::ErrorKind::PermissionDenied
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::IsADirectory
                | io::ErrorKind::NotSeekable
                | io::ErrorKind::InvalidInput
        )
}

/// Results that tell what a file has: an object of it may be damaged, and the others are shown.
pub trait Readable<T>: Sized {
    /// What was found, or why it cannot be had, where that is the file's own fault.
    ///
    /// # Errors
    /// Any other fault: above all, that of a storage that failed.
    fn or_fault(self) -> Result<std::result::Result<T, Error>>;

    /// What was found; `None` where it cannot be had by the file's own fault.
    ///
    /// # Errors
    /// As [`Readable::or_fault`].
    fn readable(self) -> Result<Option<T>> {
        Ok(self.or_fault()?.ok())
    }

    /// What was found; where it cannot be had by the file's own fault, the object at `path` is left out.
    ///
    /// # Errors
    /// As [`Readable::or_fault`].
    fn or_leave_out(
        self,
        path: impl FnOnce() -> String,
        left_out: &mut Vec<LeftOut>,
    ) -> Result<Option<T>> {
        Ok(match self.or_fault()? {
            Ok(found) => Some(found),
            Err(reason) => {
                left_out.push(LeftOut { path: path(), reason });
                None
            }
        })
    }
}

impl<T> Readable<T> for Result<T> {
    fn or_fault(self) -> Result<std::result::Result<T, Error>> {
        match self {
            Ok(found) => Ok(Ok(found)),
            Err(error) => error.of_the_file().map(Err),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::storage::{past_end, storage_error};

    fn failed(source: io::Error) -> Error {
        storage_error(&Arc::from("file"), 8, 4, source)
    }

    #[test]
    fn a_file_that_ends_early_is_damaged_and_a_read_that_ends_early_has_failed() {
        assert_eq!(failed(past_end()).fault(), Fault::Damaged);
        assert_eq!(failed(io::ErrorKind::UnexpectedEof.into()).fault(), Fault::Storage);
        assert_eq!(failed(io::Error::from_raw_os_error(libc::EIO)).fault(), Fault::Storage);
    }

    #[test]
    fn another_file_may_be_missing_or_fail() {
        let fault = |number| {
            let reason = OtherFileReason::Failed(io::Error::from_raw_os_error(number).into());
            let kind = ErrorKind::OtherFile { path: "other".into(), reason };
            Error::new(&Arc::from("file"), kind).fault()
        };
        for number in [libc::ENOENT, libc::EACCES, libc::ENOTDIR, libc::ELOOP, libc::ENAMETOOLONG] {
            assert_eq!(fault(number), Fault::Missing, "{number}");
        }
        for number in [libc::EIO, libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::ESTALE] {
            assert_eq!(fault(number), Fault::Storage, "{number}");
        }
    }

    #[test]
    fn only_the_files_own_faults_leave_something_out() {
        let damaged = || Err::<u8, _>(failed(past_end()));
        let storage = || Err::<u8, _>(failed(io::Error::from_raw_os_error(libc::EIO)));
        assert!(damaged().readable().is_ok_and(|found| found.is_none()));
        assert!(storage().readable().is_err());
        let mut left_out = Vec::new();
        let found = damaged().or_leave_out(|| "/here".to_owned(), &mut left_out);
        assert!(found.is_ok_and(|found| found.is_none()));
        assert!(storage().or_leave_out(|| "/there".to_owned(), &mut left_out).is_err());
        let paths: Vec<&str> = left_out.iter().map(|left_out| left_out.path.as_str()).collect();
        assert_eq!(paths, ["/here"]);
    }
}
