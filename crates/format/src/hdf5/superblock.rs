//! The superblock: the first structure of a file, from which all others are reached.
//!
//! ```text
//! version 0, 1                               version 2, 3
//!   0 signature \x89HDF\r\n\x1a\n              0 signature \x89HDF\r\n\x1a\n
//!   8 version | free-space v. | root v. | -    8 version | size of offsets | size of lengths | flags
//!  12 header v. | offsets | lengths | -       12 base address             (O = size of offsets)
//!  16 group leaf K (2) | group internal K (2)  +O superblock extension address
//!  20 flags (4)                                +O end-of-file address
//!  24 [1: indexed storage K (2) | - (2)]       +O root group's object header address
//!     base address | free-space address        +O checksum (4)
//!     end-of-file address | driver information address
//!     root group's symbol table entry
//! ```
//! Specification: II.A "Format Signature and Superblock".

use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::hdf5::Sizes;
use crate::hdf5::group::symbol_table_entry::{EntryCache, SymbolTableEntry};
use crate::output::Output;

/// The eight bytes that say "HDF5".
pub const SIGNATURE: [u8; 8] = *b"\x89HDF\r\n\x1a\n";

/// Bytes that hold any superblock with offsets and lengths of 8 bytes; a good first read.
pub const USUAL_BYTES: usize = 96;

const NAME: &str = "superblock";

/// What the superblock says about the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Superblock {
    /// Version, 0 to 3.
    pub version: u8,
    /// Widths of addresses and lengths everywhere in the file.
    pub sizes: Sizes,
    /// Consistency flags: bit 0 open for writing, bit 2 open by a single writer with readers.
    pub status_flags: u32,
    /// Where address 0 of the file lies: the place where the signature was found.
    ///
    /// This is what libhdf5 does with a file whose user block was added or removed by a program
    /// that does not know HDF5, so that [`Self::stored_base_address`] is wrong.
    pub base_address: u64,
    /// The base address as stored.
    pub stored_base_address: u64,
    /// First byte behind the file's last one, counted from the start of the storage (the base
    /// address is part of it), corrected like [`Self::base_address`].
    pub end_of_file_address: u64,
    /// Address of the superblock extension's object header (version 2, 3).
    pub extension_address: Option<u64>,
    /// Address of the file driver's information block (version 0, 1).
    pub driver_information_address: Option<u64>,
    /// Address of the global free-space index (version 0, 1; never used by the libraries).
    pub free_space_address: Option<u64>,
    /// Address of the root group's object header.
    pub root_address: u64,
    /// The root group's symbol table entry (version 0, 1), which may cache the group's B-tree.
    pub root_entry: Option<SymbolTableEntry>,
    /// B-tree sizes (version 0, 1); a message of the extension has those of later versions.
    pub btree_k: BtreeK,
}

/// Half the number of entries that a node of each kind of version-1 B-tree has at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BtreeK {
    /// Symbol table nodes: a node has up to twice as many entries.
    pub group_leaf: u16,
    /// Group B-trees.
    pub group_internal: u16,
    /// Chunk B-trees.
    pub indexed_storage: u16,
}

impl Default for BtreeK {
    /// What the libraries write when nothing is asked for.
    fn default() -> Self {
        Self { group_leaf: 4, group_internal: 16, indexed_storage: 32 }
    }
}

/// The places where a superblock may stand in storage of `len_bytes`: 0, 512, 1024, 2048, ...
pub fn candidate_addresses(len_bytes: u64) -> impl Iterator<Item = u64> {
    let doubled = std::iter::successors(Some(512_u64), |address| address.checked_mul(2));
    std::iter::once(0)
        .chain(doubled)
        .take_while(move |address| len_bytes.saturating_sub(*address) >= SIGNATURE.len() as u64)
}

/// True where `bytes` begin with the signature.
pub fn is_signature(bytes: &[u8]) -> bool {
    bytes.starts_with(&SIGNATURE)
}

impl Superblock {
    /// A superblock of version 2 with addresses of 8 bytes, for a new file.
    ///
    /// `end_of_file_address` counts from the start of the storage; `root_address`, like all
    /// addresses in the file, from `base_address`.
    pub fn new(base_address: u64, root_address: u64, end_of_file_address: u64) -> Self {
        Self {
            version: 2,
            sizes: Sizes::default(),
            status_flags: 0,
            base_address,
            stored_base_address: base_address,
            end_of_file_address,
            extension_address: None,
            driver_information_address: None,
            free_space_address: None,
            root_address,
            root_entry: None,
            btree_k: BtreeK::default(),
        }
    }

    /// The superblock's bytes, which stand at [`Self::base_address`] of the storage; as many as
    /// they were before, where the superblock was decoded.
    ///
    /// # Errors
    /// An address that the file's addresses have no room for, or that lies before the base; no
    /// symbol table entry of the root group in version 0 or 1.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut output = Output::of(NAME);
        output.put(&SIGNATURE);
        output.u8(self.version);
        match self.version {
            0 | 1 => self.encode_old(&mut output)?,
            2 | 3 => self.encode_new(&mut output)?,
            version => return Err(output.error(ErrorKind::Version { found: u64::from(version) })),
        }
        Ok(output.into_bytes())
    }

    /// Version 0 and 1, behind the version.
    fn encode_old(&self, output: &mut Output) -> Result<()> {
        let (sizes, width) = (self.sizes, self.sizes.offset);
        // Versions of the free-space information, the root group's entry and, behind a reserved
        // byte, of shared messages.
        output.zeros(4);
        output.put(&[sizes.offset as u8, sizes.length as u8, 0]);
        output.u16(self.btree_k.group_leaf);
        output.u16(self.btree_k.group_internal);
        output.u32(self.status_flags);
        if self.version == 1 {
            output.u16(self.btree_k.indexed_storage);
            output.zeros(2);
        }
        output.sized_address("base address", Some(self.stored_base_address), width)?;
        output.sized_address("free-space address", self.free_space_address, width)?;
        self.encode_end_of_file(output)?;
        let driver_information = self.driver_information_address;
        output.sized_address("driver information address", driver_information, width)?;
        let entry = self.root_entry.as_ref().ok_or_else(|| {
            let feature = "no root group entry in version";
            output.error(ErrorKind::Unsupported { feature, value: u64::from(self.version) })
        })?;
        let mut addresses = vec![Some(self.root_address)];
        if let EntryCache::Group { btree_address, heap_address } = entry.cache {
            addresses.extend([btree_address, heap_address]);
        }
        for address in addresses {
            Output::of(NAME).sized_address("address of the root group", address, width)?;
        }
        let header_address = Some(self.root_address);
        SymbolTableEntry { header_address, ..entry.clone() }.encode(output, sizes);
        Ok(())
    }

    /// Version 2 and 3, behind the version.
    fn encode_new(&self, output: &mut Output) -> Result<()> {
        let (sizes, width) = (self.sizes, self.sizes.offset);
        output.put(&[sizes.offset as u8, sizes.length as u8]);
        output.sized("status flags", u64::from(self.status_flags), 1)?;
        output.sized_address("base address", Some(self.stored_base_address), width)?;
        output.sized_address("superblock extension address", self.extension_address, width)?;
        self.encode_end_of_file(output)?;
        output.sized_address("root group address", Some(self.root_address), width)?;
        output.checksum();
        Ok(())
    }

    /// The end of the file as it is where the base is the stored one.
    fn encode_end_of_file(&self, output: &mut Output) -> Result<()> {
        let address = self.end_of_file_address.checked_sub(self.base_address);
        let address = address.and_then(|len| len.checked_add(self.stored_base_address));
        let end = self.end_of_file_address;
        let address = address.ok_or_else(|| output.bad_field("end-of-file address", end))?;
        output.sized_address("end-of-file address", Some(address), self.sizes.offset)
    }

    /// Decodes the superblock in `bytes`, whose signature was found at `found_address` of the
    /// storage. Needs [`USUAL_BYTES`] or says how many more.
    pub fn decode(bytes: &[u8], found_address: u64) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, NAME, found_address);
        let found = cursor.array::<8>()?;
        if found != SIGNATURE {
            let (expected, found) = (first_four(SIGNATURE), first_four(found));
            return Err(cursor.error(ErrorKind::Signature { expected, found }));
        }
        let mut superblock = match cursor.u8()? {
            version @ (0 | 1) => Self::decode_old(&mut cursor, version)?,
            version @ (2 | 3) => Self::decode_new(&mut cursor, version)?,
            version => {
                return Err(cursor.error(ErrorKind::Version { found: u64::from(version) }));
            }
        };
        superblock.base_address = found_address;
        superblock.end_of_file_address = superblock
            .end_of_file_address
            .checked_sub(superblock.stored_base_address)
            .and_then(|len_bytes| len_bytes.checked_add(found_address))
            .ok_or_else(|| {
                cursor.bad_field("end-of-file address", superblock.end_of_file_address)
            })?;
        Ok(superblock)
    }

    /// Version 0 and 1, behind the version.
    fn decode_old(cursor: &mut Cursor<'_>, version: u8) -> Result<Self> {
        for part in ["free-space version", "root group version"] {
            let found = cursor.u8()?;
            if found != 0 {
                return Err(cursor.bad_field(part, u64::from(found)));
            }
        }
        cursor.skip(1)?;
        let shared_header_version = cursor.u8()?;
        if shared_header_version != 0 {
            let value = u64::from(shared_header_version);
            return Err(cursor.bad_field("shared header message version", value));
        }
        let sizes = decode_sizes(cursor)?;
        cursor.skip(1)?;
        let group_leaf = nonzero_k(cursor, "group leaf node K")?;
        let group_internal = nonzero_k(cursor, "group internal node K")?;
        let status_flags = cursor.u32()?;
        let mut indexed_storage = BtreeK::default().indexed_storage;
        if version == 1 {
            indexed_storage = nonzero_k(cursor, "indexed storage internal node K")?;
            cursor.skip(2)?;
        }
        cursor.require((sizes.offset * 4 + SymbolTableEntry::byte_len(sizes)) as u64)?;
        let stored_base_address = defined(cursor, sizes, "base address")?;
        let free_space_address = cursor.address_field(sizes.offset)?;
        let end_of_file_address = defined(cursor, sizes, "end-of-file address")?;
        let driver_information_address = cursor.address_field(sizes.offset)?;
        let root_entry = SymbolTableEntry::decode(cursor, sizes)?;
        let root_address = root_entry
            .header_address
            .ok_or_else(|| cursor.bad_field("root group address", u64::MAX))?;
        Ok(Self {
            version,
            sizes,
            status_flags,
            base_address: stored_base_address,
            stored_base_address,
            end_of_file_address,
            extension_address: None,
            driver_information_address,
            free_space_address,
            root_address,
            root_entry: Some(root_entry),
            btree_k: BtreeK { group_leaf, group_internal, indexed_storage },
        })
    }

    /// Version 2 and 3, behind the version.
    fn decode_new(cursor: &mut Cursor<'_>, version: u8) -> Result<Self> {
        let sizes = decode_sizes(cursor)?;
        let status_flags = u32::from(cursor.u8()?);
        cursor.require(sizes.offset as u64 * 4 + 4)?;
        let stored_base_address = defined(cursor, sizes, "base address")?;
        let extension_address = cursor.address_field(sizes.offset)?;
        let end_of_file_address = defined(cursor, sizes, "end-of-file address")?;
        let root_address = defined(cursor, sizes, "root group address")?;
        cursor.verify_checksum()?;
        Ok(Self {
            version,
            sizes,
            status_flags,
            base_address: stored_base_address,
            stored_base_address,
            end_of_file_address,
            extension_address,
            driver_information_address: None,
            free_space_address: None,
            root_address,
            root_entry: None,
            btree_k: BtreeK::default(),
        })
    }
}

fn first_four([a, b, c, d, ..]: [u8; 8]) -> [u8; 4] {
    [a, b, c, d]
}

fn decode_sizes(cursor: &mut Cursor<'_>) -> Result<Sizes> {
    let (offset, length) = (cursor.u8()?, cursor.u8()?);
    for (field, size) in [("size of offsets", offset), ("size of lengths", length)] {
        if !matches!(size, 2 | 4 | 8 | 16 | 32) {
            return Err(cursor.bad_field(field, u64::from(size)));
        }
    }
    Ok(Sizes { offset: usize::from(offset), length: usize::from(length) })
}

fn nonzero_k(cursor: &mut Cursor<'_>, field: &'static str) -> Result<u16> {
    match cursor.u16()? {
        0 => Err(cursor.bad_field(field, 0)),
        k => Ok(k),
    }
}

fn defined(cursor: &mut Cursor<'_>, sizes: Sizes, field: &'static str) -> Result<u64> {
    cursor.address_field(sizes.offset)?.ok_or_else(|| cursor.bad_field(field, u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::lookup3;

    fn version_2(base: u64) -> Vec<u8> {
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend([2, 8, 8, 0]);
        for address in [base, u64::MAX, 4096 + base, 48] {
            bytes.extend(address.to_le_bytes());
        }
        bytes.extend(lookup3(&bytes).to_le_bytes());
        bytes
    }

    fn version_1_narrow() -> Vec<u8> {
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend([1, 0, 0, 0, 0, 4, 2, 0, 4, 0, 16, 0, 0, 0, 0, 0, 32, 0, 0, 0]);
        for address in [0, u32::MAX, 4096, u32::MAX, 0, 96] {
            bytes.extend(address.to_le_bytes());
        }
        bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend([136_u32, 680, 0, 0].iter().flat_map(|word| word.to_le_bytes()));
        bytes
    }

    #[test]
    fn new_version() {
        let superblock = Superblock::decode(&version_2(0), 0).unwrap();
        assert_eq!(superblock, Superblock::new(0, 48, 4096));
        assert_eq!(superblock.encode(), Ok(version_2(0)));
    }

    #[test]
    fn old_version_with_narrow_addresses() {
        let superblock = Superblock::decode(&version_1_narrow(), 0).unwrap();
        assert_eq!(superblock.encode(), Ok(version_1_narrow()));
        assert_eq!(superblock.sizes, Sizes { offset: 4, length: 2 });
        assert_eq!(superblock.root_address, 96);
        assert_eq!(
            superblock.root_entry.unwrap().cache,
            EntryCache::Group { btree_address: Some(136), heap_address: Some(680) }
        );
        assert_eq!(superblock.btree_k.indexed_storage, 32);
        assert_eq!(superblock.driver_information_address, None);
    }

    #[test]
    fn a_moved_user_block_moves_the_base() {
        let superblock = Superblock::decode(&version_2(512), 1024).unwrap();
        assert_eq!((superblock.base_address, superblock.stored_base_address), (1024, 512));
        assert_eq!(superblock.end_of_file_address, 4096 + 1024);
        assert_eq!(superblock.encode(), Ok(version_2(512)));
    }

    #[test]
    fn a_new_file_behind_a_user_block() {
        let superblock = Superblock::new(512, 48, 4096 + 512);
        assert_eq!(superblock.encode(), Ok(version_2(512)));
        assert_eq!(superblock.encode().unwrap().len(), 48);
    }

    #[test]
    fn what_does_not_fit_is_not_encoded() {
        let superblock = Superblock::new(512, 48, 100);
        let kind = ErrorKind::Field { field: "end-of-file address", value: 100 };
        assert_eq!(superblock.encode().unwrap_err().kind, kind);
        let mut superblock = Superblock::decode(&version_1_narrow(), 0).unwrap();
        superblock.end_of_file_address = 1 << 32;
        assert!(matches!(superblock.encode().unwrap_err().kind, ErrorKind::Limit { .. }));
        superblock.end_of_file_address = 96;
        superblock.root_entry = None;
        assert!(matches!(superblock.encode().unwrap_err().kind, ErrorKind::Unsupported { .. }));
    }

    #[test]
    fn a_wrong_byte_is_noticed() {
        let mut bytes = version_2(0);
        bytes[40] ^= 1;
        let error = Superblock::decode(&bytes, 0).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Checksum { .. }));
    }

    #[test]
    fn more_is_asked_for_once() {
        let bytes = version_2(0);
        let error = Superblock::decode(&bytes[..12], 0).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NeedMore { bytes: 48 });
    }

    #[test]
    fn candidates_double() {
        assert_eq!(candidate_addresses(2056).collect::<Vec<_>>(), [0, 512, 1024, 2048]);
        assert_eq!(candidate_addresses(7).count(), 0);
    }

    #[test]
    fn damage_never_panics() {
        for bytes in [version_2(0), version_1_narrow()] {
            crate::hdf5::damage::survive(&bytes, |bytes| {
                let _ = Superblock::decode(bytes, 0);
            });
        }
    }
}
