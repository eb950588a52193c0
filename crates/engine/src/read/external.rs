//! External raw data: segments of other files, one after the other, as one storage.

use std::mem::MaybeUninit;
use std::{fmt, io};

use crate::error::{Error, ErrorKind, OtherFileReason};
use crate::plan::layout::ExternalSegment;
use crate::storage::{Storage, uninit};

/// Segments as one run of bytes. What is missing at the end of a file reads as zeros, and a file
/// that is missing is an error where its bytes are wanted: so libhdf5 has it.
pub(super) struct Segments<'s> {
    segments: &'s [ExternalSegment],
}

impl<'s> Segments<'s> {
    /// The bytes of `segments`.
    pub(super) fn new(segments: &'s [ExternalSegment]) -> Self {
        Self { segments }
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
            uninit::read_with_zeros(storage.as_ref(), from, part)
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

/// What a read of [`Segments`] failed for: not the file itself, where another one is missing.
pub(super) fn named(error: Error) -> Error {
    let ErrorKind::Storage { source, .. } = &error.kind else { return error };
    match source.get_ref().and_then(|inner| inner.downcast_ref::<Missing>()) {
        Some(Missing(name)) => {
            let (path, source) = (name.to_string(), io::Error::from(io::ErrorKind::NotFound));
            let reason = OtherFileReason::Failed(source.into());
            Error { kind: ErrorKind::OtherFile { path, reason }, ..error }
        }
        None => error,
    }
}
