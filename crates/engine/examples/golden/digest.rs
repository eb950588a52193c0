//! SHA-256 of values' canonical bytes.

use isotach::model::Values;
use sha2::{Digest, Sha256};

/// Data that takes more memory than this is not read.
pub const MAX_DATA_BYTES: u64 = 256 << 20;

/// Of values, as lower-case hexadecimal digits.
pub fn of_values(values: &Values) -> String {
    let mut hasher = Sha256::new();
    values.canonical_into(&mut |piece| hasher.update(piece));
    hex(&hasher.finalize())
}

/// Of bytes as they stand.
pub fn of_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Two digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
