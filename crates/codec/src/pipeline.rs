//! The filters of a data set, and a chunk's way through them and back.
//!
//! ```text
//! encode   the chunk's bytes -> first filter -> .. -> last filter -> stored bytes
//! decode   stored bytes -> last filter -> .. -> first filter -> the chunk's bytes, in their place
//! ```
//! Encoding swaps buffers with a [`Scratch`], and says which filters it left out. Decoding's
//! last step writes to its place; the steps before it write to two buffers in turn, which live
//! in a [`Scratch`]. No step can write more than [`intermediate_limit`] bytes.

use std::mem::MaybeUninit;

use crate::error::{Error, ErrorKind, Result};
use crate::filter::{Decoder, Encoder, decoder, encoder, shuffle};
use crate::foreign::ForeignFilter;
use crate::registry;
use crate::uninit::{Output, fill_reserved, fill_vec, reserve};

/// One filter as the file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Registered identifier: 1 deflate, 2 shuffle, 3 fletcher32, 4 szip, ...
    pub id: u16,
    /// The name stored in the file, where there is one.
    pub name: Option<String>,
    /// True where a chunk may be stored without it.
    pub optional: bool,
    /// The filter's own parameters ("client data").
    pub parameters: Vec<u32>,
}

impl Filter {
    /// The name registered for the identifier, else the one stored in the file, else "unregistered".
    pub fn display_name(&self) -> &str {
        registry::registered_name(self.id).or(self.name.as_deref()).unwrap_or("unregistered")
    }

    /// True where there is code here for this filter.
    pub fn is_supported(&self) -> bool {
        decoder(self.id).is_some()
    }

    /// True where there is code here that applies this filter.
    pub fn can_encode(&self) -> bool {
        encoder(self.id).is_some()
    }

    /// Whether a chunk can do without it where it is the `index`-th of its pipeline.
    fn may_be_left_out(&self, index: usize) -> bool {
        self.optional && index < MASK_BITS
    }

    /// The error that there is no code here that applies it.
    pub fn not_encodable(&self) -> Error {
        self.error(match self.is_supported() {
            true => ErrorKind::DecodesOnly,
            false => ErrorKind::UnknownFilter,
        })
    }

    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        Error { filter_id: self.id, filter_name: self.display_name().to_owned(), kind }
    }

    /// True for a shuffle of single bytes, which gives what it was given.
    fn changes_nothing(&self) -> bool {
        self.id == registry::SHUFFLE && self.parameters.first() == Some(&1)
    }
}

/// The filters of a data set in the order in which they were applied.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pipeline {
    /// In order of encoding; decoding goes backwards.
    pub filters: Vec<Filter>,
}

/// Filters that a filter mask can leave out, the first ones.
const MASK_BITS: usize = 32;

/// Buffers that one thread uses again for every chunk.
#[derive(Debug, Default)]
pub struct Scratch {
    /// What the next step reads.
    front: Vec<u8>,
    /// What it writes to.
    back: Vec<u8>,
}

impl Scratch {
    /// Memory held, in bytes.
    pub fn allocated_bytes(&self) -> usize {
        self.front.capacity() + self.back.capacity()
    }

    /// Gives all memory back.
    pub fn release(&mut self) {
        *self = Self::default();
    }
}

/// A chunk decoded up to its shuffle, for [`shuffle::unshuffle_range`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shuffled<'s> {
    /// As many bytes as the chunk has.
    pub bytes: &'s [u8],
    /// The shuffle's element size in bytes; 1 where the bytes are not shuffled at all.
    pub element_size: usize,
}

/// The most bytes that an inner step of a pipeline may give for a chunk of `decoded_len` bytes.
///
/// Filters that do not compress add a little: a checksum 4 bytes, codecs of incompressible data a
/// header and at most 1 byte in 16. Whatever wants more is not the chunk it claims to be.
pub fn intermediate_limit(decoded_len: usize) -> usize {
    decoded_len.saturating_add(decoded_len / 16).saturating_add(64 << 10)
}

impl Pipeline {
    /// The first filter for which there is no code here, if any.
    pub fn unsupported(&self) -> Option<&Filter> {
        self.filters.iter().find(|filter| !filter.is_supported())
    }

    /// The first filter that cannot be applied here, if any.
    pub fn not_encodable(&self) -> Option<&Filter> {
        self.filters.iter().find(|filter| !filter.can_encode())
    }

    /// That chunks can be encoded: filters that cannot be applied here can be left out.
    ///
    /// # Errors
    /// The error that [`Self::encode`] would give for any chunk.
    pub fn check_encode(&self) -> Result<()> {
        let filters = self.filters.iter().enumerate();
        let mut needed = filters.filter(|(index, filter)| !filter.may_be_left_out(*index));
        match needed.find(|(_, filter)| !filter.can_encode()) {
            Some((_, filter)) => Err(filter.not_encodable()),
            None => Ok(()),
        }
    }

    /// That there is code here for all filters of a chunk with this mask.
    ///
    /// # Errors
    /// The error that [`Self::decode`] would give for it.
    pub fn check_decode(&self, filter_mask: u32) -> Result<()> {
        match self.applied(filter_mask).iter().rev().find(|filter| !filter.is_supported()) {
            Some(filter) => Err(filter.error(ErrorKind::UnknownFilter)),
            None => Ok(()),
        }
    }

    /// Applies all filters to `chunk`, puts the bytes to store in place of what `out` held, and
    /// returns the filter mask: bit `i` says that filter `i` was left out.
    ///
    /// As in libhdf5, optional filters are left out where they fail, there is no code for them, or
    /// they are of those that give up where nothing is gained (szip, lzf, blosc, blosc2).
    ///
    /// # Errors
    /// The filter that failed although it is not optional, and why; a want of memory always.
    pub fn encode(&self, chunk: &[u8], scratch: &mut Scratch, out: &mut Vec<u8>) -> Result<u32> {
        self.encode_from(0, Some(chunk), scratch, out)
    }

    /// As [`Self::encode`], for a chunk of `len` bytes that `pieces` gives one after the other, each some
    /// whole elements of `element_size` bytes. The first filter works on each as it comes, if it is shuffle:
    /// what is small stays in the nearest cache.
    ///
    /// # Errors
    /// Those of [`Self::encode`]; [`ErrorKind::Length`] where there are fewer bytes.
    pub fn encode_pieces(
        &self,
        len: usize,
        element_size: usize,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
        pieces: impl FnOnce(&mut dyn FnMut(&[u8])),
    ) -> Result<u32> {
        let shuffled = self.filters.first().filter(|filter| {
            filter.id == registry::SHUFFLE
                && shuffle::element_size(&filter.parameters) == Ok(element_size)
        });
        let is_whole = match shuffled {
            Some(filter) => shuffle::encode_pieces(element_size, len, pieces, &mut scratch.front)
                .map_err(|kind| filter.error(kind))?,
            None => {
                reserve(&mut scratch.front, len).map_err(|kind| error_after(&[], kind))?;
                pieces(&mut |piece| scratch.front.extend_from_slice(piece));
                scratch.front.len() == len
            }
        };
        if !is_whole {
            let decoded_bytes = scratch.front.len();
            return Err(error_after(&[], ErrorKind::Length { expected_bytes: len, decoded_bytes }));
        }
        self.encode_from(usize::from(shuffled.is_some()), None, scratch, out)
    }

    /// Applies the filters from the `first` on to `unfiltered`, else to what stands in front.
    fn encode_from(
        &self,
        first: usize,
        mut unfiltered: Option<&[u8]>,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<u32> {
        let mut mask = 0;
        for (index, filter) in self.filters.iter().enumerate().skip(first) {
            let may_leave_out = filter.may_be_left_out(index);
            match apply(filter, may_leave_out, unfiltered, scratch) {
                Ok(true) => unfiltered = None,
                Err(kind @ ErrorKind::OutOfMemory { .. }) => return Err(filter.error(kind)),
                Ok(false) => mask |= 1 << index,
                Err(_) if may_leave_out => mask |= 1 << index,
                Err(kind) => return Err(filter.error(kind)),
            }
        }
        match unfiltered {
            Some(chunk) => copy(chunk, out).map_err(|kind| error_after(&[], kind))?,
            None => std::mem::swap(out, &mut scratch.front),
        }
        Ok(mask)
    }

    /// Decodes one stored chunk into `out`, whose length is the chunk's decoded length, and gives
    /// `out` back, every byte of it written.
    ///
    /// Bit `i` of `filter_mask` says that filter `i` was not applied to this chunk. Memory used
    /// beside `out`: at most two buffers of [`intermediate_limit`] bytes, kept in `scratch`.
    ///
    /// # Errors
    /// The filter that failed and why; [`ErrorKind::Length`] where the chunk decodes to another
    /// number of bytes than `out` has.
    pub fn decode<'o>(
        &self,
        stored: &[u8],
        filter_mask: u32,
        scratch: &mut Scratch,
        out: &'o mut [MaybeUninit<u8>],
    ) -> Result<&'o mut [u8]> {
        let steps = self.applied(filter_mask);
        let mut output = Output::new(out);
        run(&steps, stored, scratch, &mut output)?;
        self.check_len(&steps, output.limit(), output.len())?;
        Ok(output.into_written())
    }

    /// Decodes to a new vector of `decoded_len` bytes; otherwise as [`Self::decode`].
    ///
    /// Memory is asked for before anything is decoded: the caller bounds `decoded_len`.
    pub fn decode_vec(
        &self,
        stored: &[u8],
        filter_mask: u32,
        decoded_len: usize,
        scratch: &mut Scratch,
    ) -> Result<Vec<u8>> {
        let steps = self.applied(filter_mask);
        let mut decoded = Vec::new();
        reserve(&mut decoded, decoded_len).map_err(|kind| error_after(&steps, kind))?;
        fill_reserved(&mut decoded, decoded_len, |output| run(&steps, stored, scratch, output))?;
        self.check_len(&steps, decoded_len, decoded.len())?;
        Ok(decoded)
    }

    /// Undoes everything but a shuffle that was applied first.
    ///
    /// For reading a few elements of a chunk: restore just those with
    /// [`shuffle::unshuffle_range`], or copy them where the element size comes back as 1.
    /// The result borrows from `scratch`, or from `stored` where there is nothing to undo.
    pub fn decode_to_shuffled<'s>(
        &self,
        stored: &'s [u8],
        filter_mask: u32,
        decoded_len: usize,
        scratch: &'s mut Scratch,
    ) -> Result<Shuffled<'s>> {
        let steps = self.applied(filter_mask);
        let (element_size, steps) = match steps.split_first() {
            Some((first, rest)) if first.id == registry::SHUFFLE => {
                let size = shuffle::element_size(&first.parameters);
                (size.map_err(|kind| first.error(kind))?, rest)
            }
            _ => (1, &steps[..]),
        };
        let bytes = match run_inner(steps, stored, (decoded_len, decoded_len), scratch)? {
            Decoded::Stored(len) => &stored[..len],
            Decoded::Front(len) => &scratch.front[..len],
        };
        self.check_len(steps, decoded_len, bytes.len())?;
        Ok(Shuffled { bytes, element_size })
    }

    /// The filters to undo, in order of encoding.
    fn applied(&self, filter_mask: u32) -> Vec<&Filter> {
        let skipped = |index: usize| index < MASK_BITS && filter_mask >> index & 1 == 1;
        let indexed = self.filters.iter().enumerate();
        let applied = indexed.filter(|(index, f)| !skipped(*index) && !f.changes_nothing());
        applied.map(|(_, filter)| filter).collect()
    }

    /// The length of a chunk is known; what decodes to another one is damaged.
    fn check_len(&self, steps: &[&Filter], expected: usize, decoded: usize) -> Result<()> {
        if expected == decoded {
            return Ok(());
        }
        let kind = ErrorKind::Length { expected_bytes: expected, decoded_bytes: decoded };
        Err(error_after(steps, kind))
    }
}

/// The error of a chunk that came out wrong at the end of `steps`: the filter applied first gave
/// it; where none was applied, there is only what is stored.
fn error_after(steps: &[&Filter], kind: ErrorKind) -> Error {
    match steps.first() {
        Some(filter) => filter.error(kind),
        None => Error { filter_id: 0, filter_name: "none".to_owned(), kind },
    }
}

/// Applies `filter` to `unfiltered`, else to what stands in front, where the outcome then stands.
/// False where the filter gained nothing and is to be left out.
fn apply(
    filter: &Filter,
    may_leave_out: bool,
    unfiltered: Option<&[u8]>,
    scratch: &mut Scratch,
) -> Result<bool, ErrorKind> {
    let input = unfiltered.unwrap_or(&scratch.front);
    let encoder = encoder(filter.id).ok_or_else(|| filter.not_encodable().kind)?;
    let (encode, only_if_smaller) = match encoder {
        Encoder::Always(encode) => (encode, false),
        Encoder::IfSmaller(encode) => (encode, true),
        Encoder::Append(append) => {
            if let Some(chunk) = unfiltered {
                copy(chunk, &mut scratch.front)?;
            }
            append(&mut scratch.front)?;
            return Ok(true);
        }
        Encoder::Foreign(foreign) => {
            scratch.front = foreign.encode(&filter.parameters, input)?;
            return Ok(true);
        }
    };
    encode(&filter.parameters, input, &mut scratch.back)?;
    if only_if_smaller && may_leave_out && scratch.back.len() >= input.len() {
        return Ok(false);
    }
    std::mem::swap(&mut scratch.front, &mut scratch.back);
    Ok(true)
}

/// Puts `bytes` in place of what `vec` held.
fn copy(bytes: &[u8], vec: &mut Vec<u8>) -> Result<(), ErrorKind> {
    reserve(vec, bytes.len())?;
    vec.extend_from_slice(bytes);
    Ok(())
}

/// Where the bytes stand after some steps: a prefix, of this length, of one of the two.
#[derive(Clone, Copy)]
enum Decoded {
    Stored(usize),
    Front(usize),
}

/// Undoes `steps`, the last of them into `output`.
fn run(
    steps: &[&Filter],
    stored: &[u8],
    scratch: &mut Scratch,
    output: &mut Output<'_>,
) -> Result<()> {
    let decoded_len = output.limit();
    let last = steps.first().and_then(|&filter| match decoder(filter.id) {
        Some(Decoder::IntoPlace(decode)) => Some((filter, decode)),
        _ => None,
    });
    let (inner, most) = match last {
        Some(_) => (&steps[1..], intermediate_limit(decoded_len)),
        None => (steps, decoded_len),
    };
    let input = match run_inner(inner, stored, (decoded_len, most), scratch)? {
        Decoded::Stored(len) => &stored[..len],
        Decoded::Front(len) => &scratch.front[..len],
    };
    match last {
        Some((filter, decode)) => {
            decode(&filter.parameters, input, output).map_err(|kind| filter.error(kind))
        }
        None => output.extend(input).map_err(|_| {
            let decoded_bytes = input.len();
            error_after(steps, ErrorKind::Length { expected_bytes: decoded_len, decoded_bytes })
        }),
    }
}

/// Undoes a filter from elsewhere, whose outcome is only bounded when it is there.
fn decode_foreign(
    foreign: &dyn ForeignFilter,
    filter: &Filter,
    input: &[u8],
    limit: usize,
) -> Result<Vec<u8>, ErrorKind> {
    let decoded = foreign.decode(&filter.parameters, input)?;
    match decoded.len() {
        len if len > limit => Err(ErrorKind::Length { expected_bytes: limit, decoded_bytes: len }),
        _ => Ok(decoded),
    }
}

/// Undoes `steps`, from the last to the first, within `scratch`. The last that is undone gives at most
/// `most` bytes: as many as the chunk has where it gives the chunk itself.
fn run_inner(
    steps: &[&Filter],
    stored: &[u8],
    (decoded_len, most): (usize, usize),
    scratch: &mut Scratch,
) -> Result<Decoded> {
    let mut at = Decoded::Stored(stored.len());
    for (index, filter) in steps.iter().enumerate().rev() {
        let limit = if index == 0 { most } else { intermediate_limit(decoded_len) };
        let input = match at {
            Decoded::Stored(len) => &stored[..len],
            Decoded::Front(len) => &scratch.front[..len],
        };
        let decoder = decoder(filter.id).ok_or_else(|| filter.error(ErrorKind::UnknownFilter))?;
        let outcome = match decoder {
            Decoder::Prefix(verify) => {
                let len = verify(input).map_err(|kind| filter.error(kind))?;
                at = match at {
                    Decoded::Stored(_) => Decoded::Stored(len),
                    Decoded::Front(_) => Decoded::Front(len),
                };
                continue;
            }
            Decoder::IntoPlace(decode) => fill_vec(&mut scratch.back, limit, |output| {
                decode(&filter.parameters, input, output)
            }),
            Decoder::Foreign(foreign) => {
                decode_foreign(foreign, filter, input, limit).map(|bytes| scratch.back = bytes)
            }
        };
        outcome.map_err(|kind| filter.error(kind))?;
        std::mem::swap(&mut scratch.front, &mut scratch.back);
        at = Decoded::Front(scratch.front.len());
    }
    Ok(at)
}
