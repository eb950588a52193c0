//! Between the file's byte order and the machine's.
//!
//! Numbers of 2, 4 and 8 bytes go through loops over fixed-size pieces, which the compiler turns
//! into vector instructions; every other width is reversed byte by byte.

/// Reverses each piece of `width` bytes. Bytes that do not fill a last piece are left alone.
pub fn swap_in_place(bytes: &mut [u8], width: usize) {
    match width {
        0 | 1 => {}
        2 => reverse_pieces(bytes, |piece| u16::from_ne_bytes(piece).swap_bytes().to_ne_bytes()),
        4 => reverse_pieces(bytes, |piece| u32::from_ne_bytes(piece).swap_bytes().to_ne_bytes()),
        8 => reverse_pieces(bytes, |piece| u64::from_ne_bytes(piece).swap_bytes().to_ne_bytes()),
        _ => bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse),
    }
}

fn reverse_pieces<const N: usize>(bytes: &mut [u8], reverse: impl Fn([u8; N]) -> [u8; N]) {
    for piece in bytes.as_chunks_mut::<N>().0 {
        *piece = reverse(*piece);
    }
}

/// Copies `source` to `target` with each piece of `width` bytes reversed. As many whole pieces as
/// both have room for.
pub fn swap_copy(source: &[u8], target: &mut [u8], width: usize) {
    match width {
        0 => {}
        1 => {
            let len = source.len().min(target.len());
            target[..len].copy_from_slice(&source[..len]);
        }
        2 => copy_pieces(source, target, |p| u16::from_ne_bytes(p).swap_bytes().to_ne_bytes()),
        4 => copy_pieces(source, target, |p| u32::from_ne_bytes(p).swap_bytes().to_ne_bytes()),
        8 => copy_pieces(source, target, |p| u64::from_ne_bytes(p).swap_bytes().to_ne_bytes()),
        _ => {
            for (from, to) in source.chunks_exact(width).zip(target.chunks_exact_mut(width)) {
                to.copy_from_slice(from);
                to.reverse();
            }
        }
    }
}

fn copy_pieces<const N: usize>(
    source: &[u8],
    target: &mut [u8],
    reverse: impl Fn([u8; N]) -> [u8; N],
) {
    let pieces = source.as_chunks::<N>().0.iter().zip(target.as_chunks_mut::<N>().0);
    for (from, to) in pieces {
        *to = reverse(*from);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn swaps_as_byte_by_byte(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            width in 1usize..20,
        ) {
            let mut expected = bytes.clone();
            let whole = bytes.len() / width * width;
            for at in 0..whole {
                expected[at] = bytes[at / width * width + (width - 1 - at % width)];
            }
            let mut in_place = bytes.clone();
            swap_in_place(&mut in_place, width);
            prop_assert_eq!(&in_place, &expected);
            let mut copied = vec![0; whole];
            swap_copy(&bytes, &mut copied, width);
            prop_assert_eq!(&copied[..], &expected[..whole]);
        }
    }
}
