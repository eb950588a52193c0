//! The implicit index: all chunks lie behind each other, in the order of the grid.
//!
//! There is nothing on disk; the layout message has the address of the first chunk. Section VII.B,
//! "The Implicit Index".

/// The address of the chunk with `index`, all of `chunk_bytes` bytes; `None` beyond 64 bits.
pub fn chunk_address(first_address: u64, index: u64, chunk_bytes: u64) -> Option<u64> {
    index.checked_mul(chunk_bytes)?.checked_add(first_address)
}

#[cfg(test)]
mod tests {
    use super::chunk_address;

    #[test]
    fn addresses() {
        assert_eq!(chunk_address(2048, 3, 400), Some(3248));
        assert_eq!(chunk_address(2048, u64::MAX, 400), None);
        assert_eq!(chunk_address(u64::MAX, 1, 1), None);
    }
}
