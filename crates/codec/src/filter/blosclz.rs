//! BloscLZ, the codec that comes with Blosc: literals and repetitions, told apart by a control byte.
//!
//! ```text
//! 000 c cccc              c + 1 literals follow
//! lll d dddd  [n ..]  e   l + 2 bytes (l = 7: and n more, n = 255: and one more n)
//!                         from 256 d + e + 1 bytes back
//! lll 1 1111  [n ..]  255 f g    from 256 f + g + 8192 bytes back
//! ```
//! The first control byte is always one of literals: its upper bits tell the version.

use crate::filter::matches::Matches;
use crate::uninit::Output;

/// The distance from which on two more bytes tell it.
const FAR: usize = 8191;

const MAX_LITERALS: usize = 32;
/// How far two more bytes reach.
const MAX_DISTANCE: usize = FAR + 0x1_0000;
/// Far repetitions below this length would not become shorter.
const MIN_FAR_LEN: usize = 6;
/// The reference decoder wants some literals at the end.
const LITERALS_AT_END: usize = 12;

/// Appends a stream for `input`, which is not empty.
pub(super) fn encode(input: &[u8], output: &mut Vec<u8>) {
    let searched = &input[..input.len().saturating_sub(LITERALS_AT_END)];
    let mut done = 0;
    for found in Matches::new(searched, MAX_DISTANCE, usize::MAX) {
        let distance = found.distance - 1;
        if distance >= FAR && found.len < MIN_FAR_LEN {
            continue;
        }
        push_literals(&input[done..found.start], output);
        let near = distance.min(FAR);
        let len = found.len - 2;
        output.push((len.min(7) << 5 | near >> 8) as u8);
        if len >= 7 {
            let more = len - 7;
            output.resize(output.len() + more / 255, 255);
            output.push((more % 255) as u8);
        }
        output.push(near as u8);
        if near == FAR {
            output.extend(((distance - FAR) as u16).to_be_bytes());
        }
        done = found.start + found.len;
    }
    push_literals(&input[done..], output);
}

fn push_literals(literals: &[u8], output: &mut Vec<u8>) {
    for run in literals.chunks(MAX_LITERALS) {
        output.push(run.len() as u8 - 1);
        output.extend_from_slice(run);
    }
}

/// Appends exactly `len` bytes to `output`. `None` where `stream` is not valid or gives another
/// number of bytes.
pub(super) fn decode(stream: &[u8], len: usize, output: &mut Output<'_>) -> Option<()> {
    let start = output.len();
    let mut input = stream;
    let mut control = next(&mut input)? & 31;
    loop {
        let done = output.len() - start;
        let left = len - done;
        if control < 32 {
            let (literals, rest) = input.split_at_checked(control + 1)?;
            if literals.len() > left {
                return None;
            }
            output.extend(literals).ok()?;
            input = rest;
        } else {
            let mut count = (control >> 5) + 2;
            if control >> 5 == 7 {
                loop {
                    let more = next(&mut input)?;
                    count += more;
                    if more != 255 {
                        break;
                    }
                }
            }
            let mut distance = (control & 31) << 8 | next(&mut input)?;
            if distance == FAR {
                distance += next(&mut input)? << 8;
                distance += next(&mut input)?;
            }
            if count > left || distance >= done {
                return None;
            }
            output.repeat_from_back(distance + 1, count).ok()?;
        }
        if input.is_empty() {
            break;
        }
        control = next(&mut input)?;
    }
    (output.len() - start == len).then_some(())
}

/// Takes a byte off the front.
fn next(input: &mut &[u8]) -> Option<usize> {
    let (&byte, rest) = input.split_first()?;
    *input = rest;
    Some(usize::from(byte))
}
