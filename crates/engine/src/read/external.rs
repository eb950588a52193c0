//! External raw data: segments of other files, one after the other, as one storage.

use std::mem::MaybeUninit;
use std::{fmt, io};

use crate::error::{Error, ErrorKind, OtherFileReason};
use crate::plan::layout::{BeyondEnd, ExternalSegment};
use crate::storage::{Storage, is_past_end, uninit};

/// Segments as one run of bytes. A file that is missing is an error where its bytes are wanted, and so are bytes that are
/// missing at its end, unless they are to be zeros (`docs/decisions/0029-what-is-not-in-the-file.md`).
pub(super) struct Segments<'s> {
    segments: &'s [ExternalSegment],
    beyond_end: BeyondEnd,
}

impl<'s> Segments<'s> {
    /// The bytes of `segments`.
    pub(super) fn new(segments: &'s [ExternalSegment], beyond_end: BeyondEnd) -> Self {
        Self { segments, beyond_end }
    }

    /// What of a read at `offset` lies in one segment: the segment, where in it, how many bytes.
    fn segment_at(&self, offset: u64) -> Option<(&'s ExternalSegment, u64, u64)> {
        let mut start = 0u64;
        for segment in self.segments {
            let end = start.saturating_add(segment.length_bytes);
            if offset < end {
                return Some((segment, offset - start, end - offset));
            }
            start = end;
        }
        None
    }
}

impl Storage for Segments<'_> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.segments.iter().fold(0, |sum, segment| sum.saturating_add(segment.length_bytes)))
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        uninit::fill(into, |done, rest| {
            let at = offset.saturating_add(done);
            // Nothing filled says that the bytes end here.
            let Some((segment, within, left)) = self.segment_at(at) else {
                return Ok(uninit::zeroed(&mut rest[..0]));
            };
            let len = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
            let part = &mut rest[..len];
            let storage = segment.storage.as_ref().ok_or_else(|| missing(segment))?;
            let from = segment.offset.saturating_add(within);
            match self.beyond_end {
                BeyondEnd::Zeros => uninit::read_with_zeros(storage.as_ref(), from, part),
                BeyondEnd::Error | BeyondEnd::Missing => {
                    let wanted = part.len() as u64;
                    uninit::read_at(storage.as_ref(), from, part)
                        .map_err(|error| ended(segment, &**storage, (from, wanted), error))
                }
            }
        })
    }

    fn call_cost_bytes(&self) -> u64 {
        let costs = self.segments.iter().filter_map(|segment| segment.storage.as_ref());
        costs.map(|storage| storage.call_cost_bytes()).max().unwrap_or(64)
    }

    fn parallel(&self) -> bool {
        self.segments
            .iter()
            .filter_map(|segment| segment.storage.as_ref())
            .all(|storage| storage.parallel())
    }
}

/// A raw file that is not there, by the name that the data set has for it.
#[derive(Debug)]
struct Missing(Box<str>);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "external raw data file {:?} is not there", self.0)
    }
}

impl std::error::Error for Missing {}

fn missing(segment: &ExternalSegment) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, Missing(segment.name.clone()))
}

/// A raw file that ends before the bytes that stand in it.
#[derive(Debug)]
struct Ended {
    name: Box<str>,
    address: u64,
    length_bytes: u64,
    there_bytes: u64,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "external raw data file {:?} ends early", self.name)
    }
}

impl std::error::Error for Ended {}

/// What the `error` of a read of `wanted` (address and bytes) is, where the raw file has not so many.
fn ended(
    segment: &ExternalSegment,
    storage: &dyn Storage,
    wanted: (u64, u64),
    error: io::Error,
) -> io::Error {
    if !is_past_end(&error) {
        return error;
    }
    let (address, length_bytes) = wanted;
    let there_bytes = match storage.len() {
        Ok(len) => len.saturating_sub(address).min(length_bytes),
        Err(failure) => return failure,
    };
    io::Error::other(Ended { name: segment.name.clone(), address, length_bytes, there_bytes })
}

/// What a read of [`Segments`] failed for: not the file itself, where another one is missing or ends early.
pub(super) fn named(error: Error) -> Error {
    let ErrorKind::Storage { source, .. } = &error.kind else { return error };
    let Some(inner) = source.get_ref() else { return error };
    if let Some(Missing(name)) = inner.downcast_ref::<Missing>() {
        let (path, source) = (name.to_string(), io::Error::from(io::ErrorKind::NotFound));
        let reason = OtherFileReason::Failed(source.into());
        return Error { kind: ErrorKind::OtherFile { path, reason }, ..error };
    }
    if let Some(&Ended { ref name, address, length_bytes, there_bytes }) =
        inner.downcast_ref::<Ended>()
    {
        let kind = ErrorKind::MissingBytes { address, length_bytes, there_bytes };
        let file = format!("{} (external raw data file {name:?})", error.file);
        return Error { file: file.into(), kind, ..error };
    }
    error
}
