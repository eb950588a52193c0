//! A file of which only some pieces exist: enough for a structure and those it refers to.
//!
//! ```text
//!   0 sizes and a free choice of the target
//!   1 pieces, each: address (4) | length (2) | that many bytes
//! ```
//! Small for the fuzzer to change, and pieces keep the addresses they had in a real file, so that
//! references between them lead somewhere.

use isotach_format::hdf5::Sizes;
use isotach_format::{Error, ErrorKind, Result};

/// Checksums that are put right in one piece before it counts as damaged for good.
const SEALS: usize = 4;

/// See the module.
pub struct Sparse {
    /// Widths of addresses and lengths.
    pub sizes: Sizes,
    /// 0 to 15, for the target to make something of.
    pub choice: u8,
    pieces: Vec<(u64, Vec<u8>)>,
}

impl Sparse {
    /// Takes `data` apart; whatever is missing at its end is not there.
    pub fn new(data: &[u8]) -> Self {
        let (first, mut rest) =
            data.split_first().map_or((0, data), |(&first, rest)| (first, rest));
        let width = |bits: u8| [8, 4, 2, 16][usize::from(bits & 3)];
        let sizes = Sizes { offset: width(first), length: width(first >> 2) };
        let mut pieces = Vec::new();
        while let Some((prefix, behind)) = rest.split_at_checked(6) {
            let address = u32::from_le_bytes([prefix[0], prefix[1], prefix[2], prefix[3]]);
            let len = usize::from(u16::from_le_bytes([prefix[4], prefix[5]]));
            let (piece, behind) = behind.split_at(len.min(behind.len()));
            pieces.push((u64::from(address), piece.to_vec()));
            rest = behind;
        }
        Self { sizes, choice: first >> 4, pieces }
    }

    /// Addresses of all pieces.
    pub fn addresses(&self) -> Vec<u64> {
        self.pieces.iter().map(|&(address, _)| address).collect()
    }

    /// The bytes from `address` to the end of their piece; none where there are none.
    pub fn at(&self, address: u64) -> &[u8] {
        let piece = self.pieces.iter().find_map(|(start, bytes)| {
            bytes.get(usize::try_from(address.checked_sub(*start)?).ok()?..)
        });
        piece.unwrap_or_default()
    }

    /// Puts the checksum at `address` right if only that keeps `decode` from the structure.
    pub fn seal(&mut self, address: u64, decode: impl Fn(&[u8]) -> Result<()>) {
        let piece = self.pieces.iter_mut().find_map(|(start, bytes)| {
            bytes.get_mut(usize::try_from(address.checked_sub(*start)?).ok()?..)
        });
        if let Some(piece) = piece {
            seal_bytes(piece, decode);
        }
    }

    /// What `decode` makes of the bytes at `address`, their checksum put right.
    pub fn sealed<T>(&mut self, address: u64, decode: impl Fn(&[u8]) -> Result<T>) -> Option<T> {
        self.seal(address, |bytes| decode(bytes).map(drop));
        decode(self.at(address)).ok()
    }
}

/// Puts the checksum in `bytes` right if only that keeps `decode` from the structure.
pub fn seal_bytes(bytes: &mut [u8], decode: impl Fn(&[u8]) -> Result<()>) {
    for _ in 0..SEALS {
        let Err(Error { kind: ErrorKind::Checksum { stored, computed }, .. }) = decode(bytes)
        else {
            return;
        };
        if !replace(bytes, stored, computed) {
            return;
        }
    }
}

/// Replaces the last place where `stored` stands; false where it stands nowhere.
pub fn replace(bytes: &mut [u8], stored: u32, computed: u32) -> bool {
    let place = bytes.windows(4).rposition(|window| window == stored.to_le_bytes());
    if let Some(place) = place {
        bytes[place..place + 4].copy_from_slice(&computed.to_le_bytes());
    }
    place.is_some()
}
