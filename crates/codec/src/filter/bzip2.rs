//! Filter 307, bzip2: one bzip2 stream per chunk.

use bzip2::{Decompress, Status};

use crate::error::ErrorKind;
use crate::uninit::Output;

/// Decodes the stream in `input`; bytes behind its end are ignored, as the plugin ignores them.
pub(crate) fn decode(_: &[u32], input: &[u8], output: &mut Output<'_>) -> Result<(), ErrorKind> {
    let mut stream = Decompress::new(false);
    loop {
        let (read, written) = (stream.total_in(), stream.total_out());
        let rest = usize::try_from(read).ok().and_then(|read| input.get(read..)).unwrap_or(&[]);
        let mut status = Ok(Status::Ok);
        let decompress = |place: &mut [std::mem::MaybeUninit<u8>]| {
            status = stream.decompress_uninit(rest, place);
            Ok::<_, ErrorKind>((stream.total_out() - written) as usize)
        };
        // SAFETY: the decompressor counts the bytes that it has written, from the front.
        let count = unsafe { output.extend_up_to(decompress)? };
        let at_byte = stream.total_in() as usize;
        match status {
            Ok(Status::StreamEnd) => return Ok(()),
            Err(_) => return Err(ErrorKind::Corrupt { what: "no valid bzip2 block", at_byte }),
            Ok(_) if count > 0 || stream.total_in() > read => {}
            // Nothing moves any more: for want of room, or of input.
            Ok(_) if at_byte >= input.len() => {
                return Err(ErrorKind::Corrupt { what: "bzip2 stream is cut off", at_byte });
            }
            Ok(_) => return Err(output.overflow()),
        }
    }
}
