//! Inflate (RFC 1951) and the frame around it (RFC 1950), for the chunks that shuffled numbers make.
//!
//! ```text
//! chunk -> frame -> block headers -> codes -> tables -> symbols -> output
//! ```
//! What takes time is that each symbol says where the next one begins. So a table says as much as
//! its index tells: two literals, or a repetition's length and its distance together; and the next
//! entry is looked up before anything is done about the last one. Which of these are worth filling
//! in depends on a block's codes, which say how often everything occurs: each block gets tables of
//! its own kind.

mod bits;
mod code;
mod entry;
mod header;
mod processor;
mod symbols;
mod tables;

use std::cell::RefCell;

use bits::Bits;
use symbols::Place;
use tables::Tables;

use crate::error::ErrorKind;
use crate::libdeflate::adler32;
use crate::uninit::Output;

thread_local! {
    static TABLES: RefCell<Tables> = RefCell::default();
}

/// Deflate, in the low half of a stream's first byte.
const METHOD: u8 = 8;
/// In the high half: a window of `256 << n` bytes; more than 32 KiB there cannot be.
const MAX_WINDOW: u8 = 7;
/// The checksum of all bytes, behind the last block.
const CHECKSUM_LEN: usize = 4;
/// In the second byte: a dictionary that the reader has is to be used.
const DICTIONARY: u8 = 0x20;

/// Inflates one zlib stream to behind what `output` has, ignoring what follows the stream.
///
/// What was inflated before a fault stands in `output`.
pub(crate) fn inflate_zlib(input: &[u8], output: &mut Output<'_>) -> Result<(), ErrorKind> {
    let header = input.first_chunk().ok_or(corrupt("a zlib stream cut short", input.len()))?;
    check_header(*header)?;
    output.extend_by(|out| {
        let mut place = Place { bits: Bits::new(input, header.len()), out: out.take() };
        let inflated = TABLES.with_borrow_mut(|tables| inflate(&mut place, tables));
        *out = place.out;
        inflated?;
        let stored = place.bits.bytes(CHECKSUM_LEN)?;
        let stored = stored.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
        let computed = adler32(out.written());
        if stored != computed {
            return Err(ErrorKind::Checksum { stored, computed });
        }
        Ok(())
    })
}

fn check_header([first, second]: [u8; 2]) -> Result<(), ErrorKind> {
    let checked = u16::from_be_bytes([first, second]).is_multiple_of(31);
    let method = first & 0xF == METHOD && first >> 4 <= MAX_WINDOW;
    if !checked || !method || second & DICTIONARY != 0 {
        return Err(corrupt("no valid zlib stream", 0));
    }
    Ok(())
}

/// Inflates all blocks.
fn inflate(place: &mut Place<'_, '_>, tables: &mut Tables) -> Result<(), ErrorKind> {
    loop {
        place.bits.refill();
        let last = place.bits.take(1) == 1;
        match place.bits.take(2) {
            0 => stored(place)?,
            1 => {
                header::fixed(tables, place.out.remaining());
                processor::decode(tables, place)?;
            }
            2 => {
                header::dynamic(&mut place.bits, tables, place.out.remaining())?;
                processor::decode(tables, place)?;
            }
            _ => return Err(place.bits.corrupt("a block of a kind that does not exist")),
        }
        place.bits.check_end()?;
        if last {
            return Ok(());
        }
    }
}

/// Copies a block that is stored as it is.
fn stored(place: &mut Place<'_, '_>) -> Result<(), ErrorKind> {
    let lengths = place.bits.bytes(4)?;
    let [low, high, not_low, not_high] = *lengths else { unreachable!("as many as asked for") };
    if [low, high] != [!not_low, !not_high] {
        return Err(place.bits.corrupt("the length of a stored block"));
    }
    let bytes = place.bits.bytes(u16::from_le_bytes([low, high]).into())?;
    place.out.extend(bytes)
}

fn corrupt(what: &'static str, at_byte: usize) -> ErrorKind {
    ErrorKind::Corrupt { what, at_byte }
}
