//! Numbers and names of filters: the library's own (below 256), old private ones (256 to 511), and
//! those that The HDF Group has registered (from 32,000 on).

pub const DEFLATE: u16 = 1;
pub const SHUFFLE: u16 = 2;
pub const FLETCHER32: u16 = 3;
pub const SZIP: u16 = 4;
pub const NBIT: u16 = 5;
pub const SCALE_OFFSET: u16 = 6;
pub const BZIP2: u16 = 307;
pub const LZF: u16 = 32_000;
pub const BLOSC: u16 = 32_001;
pub const LZ4: u16 = 32_004;
pub const BITSHUFFLE: u16 = 32_008;
pub const ZSTD: u16 = 32_015;
pub const BLOSC2: u16 = 32_026;

/// The name under which `id` is registered, or `None` for a number that nobody registered.
pub fn registered_name(id: u16) -> Option<&'static str> {
    let index = REGISTERED.binary_search_by_key(&id, |&(id, _)| id).ok()?;
    Some(REGISTERED[index].1)
}

/// Ascending by number.
const REGISTERED: &[(u16, &str)] = &[
    (DEFLATE, "deflate"),
    (SHUFFLE, "shuffle"),
    (FLETCHER32, "fletcher32"),
    (SZIP, "szip"),
    (NBIT, "nbit"),
    (SCALE_OFFSET, "scaleoffset"),
    (257, "hzip"),
    (258, "fpzip"),
    (305, "lzo"),
    (BZIP2, "bzip2"),
    (LZF, "lzf"),
    (BLOSC, "blosc"),
    (32_002, "mafisc"),
    (32_003, "snappy"),
    (LZ4, "lz4"),
    (32_005, "apax"),
    (32_006, "cbf"),
    (32_007, "jpeg-xr"),
    (BITSHUFFLE, "bitshuffle"),
    (32_009, "spdp"),
    (32_010, "lpc-rice"),
    (32_011, "ccsds-123"),
    (32_012, "jpeg-ls"),
    (32_013, "zfp"),
    (32_014, "fpzip"),
    (ZSTD, "zstd"),
    (32_016, "b3d"),
    (32_017, "sz"),
    (32_018, "fcidecomp"),
    (32_019, "jpeg"),
    (32_020, "vbz"),
    (32_021, "fapec"),
    (32_022, "bitgroom"),
    (32_023, "granular bitround"),
    (32_024, "sz3"),
    (32_025, "delta-rice"),
    (BLOSC2, "blosc2"),
    (32_027, "flac"),
    (32_028, "h5z-sperr"),
    (32_029, "terse/prolix"),
    (32_030, "ffmpeg"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_ascending_so_that_it_can_be_searched() {
        assert!(REGISTERED.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(registered_name(32_013), Some("zfp"));
        assert_eq!(registered_name(300), None);
    }
}
