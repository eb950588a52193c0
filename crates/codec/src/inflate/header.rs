//! The codes of a block (RFC 1951, 3.2.6 and 3.2.7).

use super::bits::Bits;
use super::code::{Code, MAX_SYMBOLS};
use super::entry::Entry;
use super::tables::Tables;
use crate::deflate::LENGTH_ORDER;
use crate::error::ErrorKind;

/// Literals, the end of the block, and lengths.
const MAX_SYMBOL_COUNT: usize = 286;
const MAX_DISTANCE_COUNT: usize = 30;

/// Bits of the longest code of a length.
const LENGTH_BITS: u32 = 7;

/// Prepares for a block in the codes that every reader knows, of at most `room` bytes.
pub(super) fn fixed(tables: &mut Tables, room: usize) {
    let mut symbols = [8; MAX_SYMBOLS];
    symbols[144..256].fill(9);
    symbols[256..280].fill(7);
    tables.fill(&symbols, &[5; 32], room).expect("these codes are complete");
}

/// Prepares for a block in the codes that come next, of at most `room` bytes.
pub(super) fn dynamic(
    bits: &mut Bits<'_>,
    tables: &mut Tables,
    room: usize,
) -> Result<(), ErrorKind> {
    let symbol_count = bits.take(5) + 257;
    let distance_count = bits.take(5) + 1;
    if symbol_count > MAX_SYMBOL_COUNT || distance_count > MAX_DISTANCE_COUNT {
        return Err(bits.corrupt("more codes than there are symbols"));
    }
    let mut lengths = [0; MAX_SYMBOL_COUNT + MAX_DISTANCE_COUNT];
    let lengths = &mut lengths[..symbol_count + distance_count];
    code_lengths(bits, lengths)?;
    let (symbols, distances) = lengths.split_at(symbol_count);
    tables.fill(symbols, distances, room).map_err(|what| bits.corrupt(what))
}

/// Reads the lengths of all codes, which are coded themselves.
fn code_lengths(bits: &mut Bits<'_>, lengths: &mut [u8]) -> Result<(), ErrorKind> {
    let count = bits.take(4) + 4;
    let mut lengths_of_lengths = [0; LENGTH_ORDER.len()];
    for &symbol in &LENGTH_ORDER[..count] {
        bits.refill();
        lengths_of_lengths[symbol] = bits.take(3) as u8;
    }
    let what = "no complete code of code lengths";
    let code = Code::new(&lengths_of_lengths).ok_or_else(|| bits.corrupt(what))?;
    let mut table = [Entry::INVALID; 1 << LENGTH_BITS];
    code.fill(&mut table, &mut Vec::new(), Entry::of_code_length);
    let mut at = 0;
    while at < lengths.len() {
        bits.refill();
        let entry = table[bits.window() as usize & (table.len() - 1)];
        bits.pass(entry.bits());
        let (length, times) = match entry.code_length() {
            Some(length @ 0..16) => (length, 1),
            Some(16) if at > 0 => (lengths[at - 1], 3 + bits.take(2)),
            Some(17) => (0, 3 + bits.take(3)),
            Some(18) => (0, 11 + bits.take(7)),
            _ => return Err(bits.corrupt("no valid code length")),
        };
        let Some(run) = lengths.get_mut(at..at + times) else {
            return Err(bits.corrupt("more code lengths than codes"));
        };
        run.fill(length);
        at += times;
    }
    Ok(())
}
