//! Filter 307, bzip2: one bzip2 stream per chunk.

use bzip2::{Action, Compress, Compression, Decompress, Status};

use crate::error::ErrorKind;
use crate::uninit::{Output, reserve};

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

/// The block size where the parameters name none, in units of 100,000 bytes.
const DEFAULT_BLOCK_SIZE: u32 = 9;

/// Encodes `input` as one stream, in blocks of the size that the first parameter gives, 1 to 9.
pub(crate) fn encode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    let block_size = match parameters.first().copied().unwrap_or(DEFAULT_BLOCK_SIZE) {
        size @ 1..=9 => Compression::new(size),
        value => return Err(ErrorKind::Parameter { index: 0, value }),
    };
    // What the library's manual says is always enough.
    let bound = input.len() + input.len() / 100 + 600;
    reserve(output, bound)?;
    let mut stream = Compress::new(block_size, 0);
    loop {
        let rest = usize::try_from(stream.total_in()).ok().and_then(|read| input.get(read..));
        let written = output.len();
        match stream.compress_vec(rest.unwrap_or(&[]), output, Action::Finish) {
            Ok(Status::StreamEnd) => return Ok(()),
            Ok(_) if output.len() > written => {}
            _ => return Err(ErrorKind::OutOfMemory { wanted_bytes: bound }),
        }
    }
}
