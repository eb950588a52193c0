//! Filter 32000, lzf: h5py's filter around LibLZF.
//!
//! A sequence of literal runs and back references, with nothing before or behind it:
//! ```text
//! 000LLLLL  bytes          L + 1 literal bytes
//! LLLddddd  dddddddd       L + 2 bytes from d + 1 bytes back   (L = 1 to 6)
//! 111ddddd  LLLLLLLL  dddddddd    L + 9 bytes from d + 1 bytes back
//! ```

use crate::error::ErrorKind;
use crate::uninit::Output;

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
