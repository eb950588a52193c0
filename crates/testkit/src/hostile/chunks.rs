//! Chunks through their filters.

use std::mem::MaybeUninit;

use isotach_codec::{Filter, Pipeline, Scratch, shuffle};

/// Every filter there is code for, by the first byte of the input.
const FILTERS: [u16; 13] = [1, 2, 3, 4, 5, 6, 307, 32_000, 32_001, 32_004, 32_008, 32_015, 32_026];
/// Of these, szip, nbit and scale-offset.
const LOSSY: [u16; 3] = [4, 5, 6];
/// The most that a filter may be told to decode to.
const OUTPUT_BYTES: u32 = 1 << 16;

/// A filter, perhaps a shuffle before it, a chunk.
///
/// ```text
///   0 filter | flags: shuffle's element size (0-3), fletcher32 (4), masked (5)
///   2 decoded length (3) | number of parameters | parameters (4 each) | the chunk
/// ```
pub fn codec(data: &[u8]) {
    let Some((&[filter, flags, l0, l1, l2, count], rest)) = data.split_first_chunk() else {
        return;
    };
    let decoded_len = (u32::from_le_bytes([l0, l1, l2, 0]) % OUTPUT_BYTES) as usize;
    let Some((parameters, stored)) = rest.split_at_checked(4 * usize::from(count)) else { return };
    let words = parameters.chunks_exact(4);
    let parameters = words.map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
    let mut filters = Vec::new();
    if flags & 0x0f != 0 {
        filters.push(described(2, vec![u32::from(flags & 0x0f)]));
    }
    filters.push(described(FILTERS[usize::from(filter) % FILTERS.len()], parameters));
    if flags & 0x10 != 0 {
        filters.push(described(3, vec![]));
    }
    let mask = if flags & 0x20 != 0 { 1 << (filters.len() - 1) } else { 0 };
    decode(&Pipeline { filters }, stored, mask, decoded_len);
}

/// A filter, perhaps a shuffle before it and a checksum behind, and what they are to encode: it must
/// come back.
///
/// ```text
///   0 filter | flags: shuffle's element size (0-3), fletcher32 (4), optional (5)
///   2 number of parameters | parameters (4 each) | the chunk
/// ```
pub fn encode(data: &[u8]) {
    let Some((&[filter, flags, count], rest)) = data.split_first_chunk() else { return };
    let Some((parameters, chunk)) = rest.split_at_checked(4 * usize::from(count)) else { return };
    let words = parameters.chunks_exact(4);
    let parameters = words.map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
    let id = FILTERS[usize::from(filter) % FILTERS.len()];
    let mut filters = vec![described(id, parameters)];
    if flags & 0x0f != 0 {
        filters.insert(0, described(2, vec![u32::from(flags & 0x0f)]));
    }
    if flags & 0x10 != 0 {
        filters.push(described(3, vec![]));
    }
    filters.iter_mut().for_each(|filter| filter.optional = flags & 0x20 != 0);
    let pipeline = Pipeline { filters };
    let mut stored = b"of before".to_vec();
    let mut scratch = Scratch::default();
    let Ok(mask) = pipeline.encode(chunk, &mut scratch, &mut stored) else { return };
    let decoded = pipeline.decode_vec(&stored, mask, chunk.len(), &mut scratch);
    let decoded = decoded.expect("what was encoded is decoded");
    assert_eq!(decoded.len(), chunk.len());
    // These keep only what their parameters call significant.
    if !LOSSY.contains(&id) {
        assert!(decoded == chunk, "{pipeline:?} with mask {mask:#b}");
    }
}

fn described(id: u16, parameters: Vec<u32>) -> Filter {
    Filter { id, name: None, optional: false, parameters }
}

/// Decodes in each of the three ways, which must agree.
fn decode(pipeline: &Pipeline, stored: &[u8], mask: u32, decoded_len: usize) {
    let mut scratch = Scratch::default();
    let mut place = vec![MaybeUninit::new(0xA5); decoded_len];
    let placed =
        pipeline.decode(stored, mask, &mut scratch, &mut place).map(|bytes| bytes.to_vec());
    let vector = pipeline.decode_vec(stored, mask, decoded_len, &mut scratch);
    assert_eq!(placed, vector, "decoded into a place and to a vector");
    let shuffled = pipeline.decode_to_shuffled(stored, mask, decoded_len, &mut scratch);
    match (&placed, &shuffled) {
        (Ok(decoded), Ok(shuffled)) => {
            assert_eq!(decoded.len(), decoded_len);
            let size = shuffled.element_size;
            let (first, total) = (decoded_len / size / 3, decoded_len / size);
            let mut run = vec![MaybeUninit::new(0x5A); (total - first) * size];
            let run = shuffle::unshuffle_range(
                shuffled.bytes,
                size,
                total,
                first,
                total - first,
                &mut run,
            );
            assert_eq!(run, &decoded[first * size..total * size]);
        }
        (Err(_), Err(_)) => {}
        _ => panic!("{placed:?} in place, {shuffled:?} up to the shuffle"),
    }
}
