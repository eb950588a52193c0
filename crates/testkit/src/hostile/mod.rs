//! What any bytes at all must be survived by: one function for each kind of decoder.
//!
//! The fuzzer's targets (`fuzz/fuzz_targets/`) call these with the bytes it makes up, the tests
//! with those that once were a finding (`fuzz/regressions/`). A function returns where all is well:
//! an error of the decoder is well, a panic, an overflow, an endless loop and unbounded memory are
//! not.
//!
//! Random damage seldom passes a checksum. So where a checksum is wrong, the functions put the
//! right one in its place and go on ([`sparse::Sparse::seal`]): no decoder knows it is being tested.

mod cdl;
mod changes;
mod chunks;
mod edits;
mod indexes;
mod inflate;
mod messages;
mod open_to_write;
mod operations;
mod plain_file;
mod script;
mod sparse;
mod structures;
mod whole_file;

use isotach_format::classic::{Header, RecordLayout};
use isotach_format::hdf5::superblock::{Superblock, candidate_addresses, is_signature};

pub use cdl::cdl;
pub use chunks::{codec, encode};
pub use edits::edits;
pub use indexes::{btree, chunk_index};
pub use inflate::inflate;
pub use messages::{message, object_header, selection};
pub use open_to_write::{open_to_write, open_to_write_with};
pub use operations::operations;
pub use structures::{group, heap};
pub use whole_file::open_and_read;

/// A target: what it is called, and what it does with the bytes.
pub type Target = (&'static str, fn(&[u8]));

/// Every target by its name.
pub const TARGETS: &[Target] = &[
    ("btree", btree),
    ("cdl", cdl),
    ("chunk_index", chunk_index),
    ("classic", classic),
    ("codec", codec),
    ("edits", edits),
    ("encode", encode),
    ("group", group),
    ("heap", heap),
    ("inflate", inflate),
    ("message", message),
    ("object_header", object_header),
    ("open_and_read", open_and_read),
    ("open_to_write", open_to_write),
    ("operations", operations),
    ("selection", selection),
    ("superblock", superblock),
];

/// The bytes at the place of a superblock.
pub fn superblock(data: &[u8]) {
    let mut bytes = data.to_vec();
    sparse::seal_bytes(&mut bytes, |bytes| Superblock::decode(bytes, 0).map(drop));
    for address in candidate_addresses(bytes.len() as u64) {
        let from = &bytes[address as usize..];
        if let Ok(superblock) = Superblock::decode(from, address) {
            assert!(is_signature(from), "a superblock without its signature");
            assert!((1..=32).contains(&superblock.sizes.offset));
        }
    }
}

/// A classic file from its first byte.
pub fn classic(data: &[u8]) {
    // The header's bounds hang on the file's length: that of the bytes, and a very long one.
    for file_len in [data.len() as u64, 1 << 40] {
        let Ok(header) = Header::decode(data, file_len) else { continue };
        let Ok(layout) = RecordLayout::new(&header, file_len) else { continue };
        for variable in &header.variables {
            if let Ok(place) = layout.variable(&header, variable) {
                let _ = place.missing_bytes(file_len);
            }
        }
    }
}
