//! Filter 32000, lzf: h5py's filter around LibLZF.
//!
//! A sequence of literal runs and back references, with nothing before or behind it:
//! ```text
//! 000LLLLL  bytes          L + 1 literal bytes
//! LLLddddd  dddddddd       L + 2 bytes from d + 1 bytes back   (L = 1 to 6)
//! 111ddddd  LLLLLLLL  dddddddd    L + 9 bytes from d + 1 bytes back
//! ```

use crate::error::ErrorKind;
use crate::filter::matches::Matches;
use crate::uninit::{Output, reserve};

const MAX_LITERALS: usize = 32;
const MAX_DISTANCE: usize = 1 << 13;
const MAX_MATCH: usize = 264;

/// Encodes `input`, at worst as nothing but literals.
pub(crate) fn encode(_: &[u32], input: &[u8], output: &mut Vec<u8>) -> Result<(), ErrorKind> {
    reserve(output, input.len() + input.len().div_ceil(MAX_LITERALS))?;
    let mut done = 0;
    for found in Matches::new(input, MAX_DISTANCE, MAX_MATCH) {
        push_literals(&input[done..found.start], output);
        let (len, distance) = (found.len - 2, found.distance - 1);
        let high = (distance >> 8) as u8;
        match len {
            ..7 => output.push((len as u8) << 5 | high),
            _ => output.extend([7 << 5 | high, (len - 7) as u8]),
        }
        output.push(distance as u8);
        done = found.start + found.len;
    }
    push_literals(&input[done..], output);
    Ok(())
}

fn push_literals(literals: &[u8], output: &mut Vec<u8>) {
    for run in literals.chunks(MAX_LITERALS) {
        output.push(run.len() as u8 - 1);
        output.extend_from_slice(run);
    }
}

/// Decodes all of `input`.
pub(crate) fn decode(_: &[u32], input: &[u8], output: &mut Output<'_>) -> Result<(), ErrorKind> {
    let mut at = 0;
    let cut_off = |at| ErrorKind::Corrupt { what: "lzf data is cut off", at_byte: at };
    let byte = |at: usize| input.get(at).map(|&byte| usize::from(byte)).ok_or_else(|| cut_off(at));
    while at < input.len() {
        let start = at;
        let control = byte(at)?;
        at += 1;
        if control < 32 {
            let end = at + control + 1;
            output.extend(input.get(at..end).ok_or_else(|| cut_off(at))?)?;
            at = end;
            continue;
        }
        let mut count = (control >> 5) + 2;
        if control >> 5 == 7 {
            count += byte(at)?;
            at += 1;
        }
        let distance = ((control & 31) << 8 | byte(at)?) + 1;
        at += 1;
        if !output.repeat_from_back(distance, count)? {
            let what = "lzf reference to before the data";
            return Err(ErrorKind::Corrupt { what, at_byte: start });
        }
    }
    Ok(())
}
