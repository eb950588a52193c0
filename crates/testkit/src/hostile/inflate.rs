//! Deflate streams, beside another library's reading of them.

use flate2::{Decompress, FlushDecompress, Status};
use isotach_codec::{Filter, Pipeline, Scratch};

/// The most that a stream may give.
const OUTPUT_BYTES: usize = 1 << 16;

/// A deflate stream without a frame: what is behind it is left out, and a header and the checksum of
/// what the other library makes of it stand around it.
pub fn inflate(data: &[u8]) {
    let mut expected = vec![0; OUTPUT_BYTES];
    let mut oracle = Decompress::new(false);
    let status = oracle.decompress(data, &mut expected, FlushDecompress::Finish);
    expected.truncate(oracle.total_out() as usize);
    let used = &data[..oracle.total_in() as usize];
    let stored = [&[0x78, 0x01], used, &adler32(&expected).to_be_bytes()].concat();
    let filter = Filter { id: 1, name: None, optional: false, parameters: vec![] };
    let pipeline = Pipeline { filters: vec![filter] };
    let decoded = pipeline.decode_vec(&stored, 0, expected.len(), &mut Scratch::default());
    if matches!(status, Ok(Status::StreamEnd)) {
        assert!(decoded.as_ref() == Ok(&expected), "{:?}", decoded.map(|bytes| bytes.len()));
    } else {
        assert!(decoded.is_err(), "{status:?} of {} bytes", expected.len());
    }
}

/// RFC 1950, 8.2.
fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (low, high) = bytes.iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % MODULUS;
        (low, (high + low) % MODULUS)
    });
    high << 16 | low
}
