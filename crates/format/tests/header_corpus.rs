//! Superblocks, object headers and their messages of every HDF5 file of the corpus.
//!
//! Every message of every header is decoded, and the types that the golden answers name for data
//! sets must be among the datatype messages found.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use isotach_format::Result;
use isotach_format::hdf5::btree::v1::GroupNode;
use isotach_format::hdf5::group::symbol_table_node::SymbolTableNode;
use isotach_format::hdf5::heap::global::GlobalHeapCollection;
use isotach_format::hdf5::message::attribute_info::AttributeInfo;
use isotach_format::hdf5::message::cache_image::CacheImage;
use isotach_format::hdf5::message::comment::Comment;
use isotach_format::hdf5::message::driver_info::DriverInfo;
use isotach_format::hdf5::message::file_space_info::FileSpaceInfo;
use isotach_format::hdf5::message::fill_value::OldFillValue;
use isotach_format::hdf5::message::link::LinkTarget;
use isotach_format::hdf5::message::modification_time::{ModificationTime, OldModificationTime};
use isotach_format::hdf5::message::reference_count::ReferenceCount;
use isotach_format::hdf5::message::shared_table::SharedMessageTableLocation;
use isotach_format::hdf5::message::{
    Attribute, Dataspace, Datatype, ExternalFileList, FillValue, FilterPipeline, GroupInfo, Layout,
    Link, LinkInfo, MaybeShared, Message, MessageFlags, MessageType, NewMessage, RawMessage,
    SharedReference, SymbolTable,
};
use isotach_format::hdf5::object_header::ObjectHeader;
use isotach_format::hdf5::superblock::{BtreeK, Superblock, candidate_addresses, is_signature};
use isotach_format::hdf5::text::text;
use isotach_format::hdf5::virtual_mapping::VirtualMapping;
use isotach_format::hdf5::{Encoding, OldestReader, Sizes};
use isotach_testkit::corpus;

/// What was found in a file.
#[derive(Default)]
struct Found {
    headers: usize,
    messages: BTreeMap<u16, usize>,
    types: BTreeSet<String>,
    has_shared_heap: bool,
    distinct: BTreeSet<(MessageType, Vec<u8>)>,
}

/// A file from its base address on.
struct File {
    name: String,
    bytes: Vec<u8>,
    sizes: Sizes,
    found: Found,
    visited: HashSet<u64>,
    faults: Vec<String>,
}

impl File {
    fn at(&self, address: u64) -> &[u8] {
        &self.bytes[(address as usize).min(self.bytes.len())..]
    }

    fn expect<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.faults.push(format!("{}: {error}", self.name))).ok()
    }

    fn header(&self, address: u64) -> Result<ObjectHeader> {
        let mut header = ObjectHeader::decode_prefix(self.at(address), address, self.sizes)?;
        while let Some(block) = header.next_continuation() {
            header.decode_continuation(self.at(block.address), self.sizes)?;
        }
        Ok(header)
    }

    /// Decodes all messages of the header at `address` and of all that it leads to.
    fn walk(&mut self, address: u64) {
        let mut open = vec![address];
        while let Some(address) = open.pop() {
            if !self.visited.insert(address) {
                continue;
            }
            let header = self.header(address);
            let Some(header) = self.expect(header) else { continue };
            self.found.headers += 1;
            let known = |message: &&RawMessage| !message.flags.was_unknown();
            for message in header.messages().iter().filter(known) {
                *self.found.messages.entry(message.message_type.0).or_default() += 1;
                let decoded = self.decode(message, &mut open);
                self.expect(decoded);
                if !message.flags.is_shared() {
                    let bytes = message.bytes().to_vec();
                    self.found.distinct.insert((message.message_type, bytes));
                }
            }
        }
    }

    fn decode(&mut self, message: &RawMessage, open: &mut Vec<u64>) -> Result<()> {
        let sizes = self.sizes;
        match message.message_type {
            MessageType::DATASPACE => drop(self.shared(message.decode::<Dataspace>(sizes)?)),
            MessageType::DATATYPE => {
                if let Some(datatype) = self.shared(message.decode::<Datatype>(sizes)?) {
                    self.found.types.insert(datatype.describe());
                }
            }
            MessageType::FILL_VALUE => drop(self.shared(message.decode::<FillValue>(sizes)?)),
            MessageType::FILTER_PIPELINE => {
                drop(self.shared(message.decode::<FilterPipeline>(sizes)?));
            }
            MessageType::ATTRIBUTE => {
                if let Some(attribute) = self.shared(message.decode::<Attribute>(sizes)?) {
                    self.check_attribute(attribute);
                }
            }
            MessageType::LINK => {
                let link = message.decode_own::<Link>(sizes)?;
                if let LinkTarget::Hard { address } = link.target {
                    open.push(address);
                }
            }
            MessageType::SYMBOL_TABLE => {
                let table = message.decode_own::<SymbolTable>(sizes)?;
                self.walk_tree(table.btree_address, open)?;
            }
            _ => decode_bytes(message.message_type, message.bytes(), sizes)?,
        }
        Ok(())
    }

    fn shared<T>(&mut self, message: MaybeShared<T>) -> Option<T> {
        match message {
            MaybeShared::Own(message) => Some(message),
            MaybeShared::Shared(reference) => {
                match reference {
                    SharedReference::Heap(_) => self.found.has_shared_heap = true,
                    // Committed datatypes need no link to exist.
                    SharedReference::Object(address) => self.walk(address),
                }
                None
            }
        }
    }

    /// An attribute has at least as many bytes as its type and space say.
    fn check_attribute(&mut self, attribute: Attribute) {
        let name = attribute.name;
        let (Some(datatype), Some(space)) =
            (self.shared(attribute.datatype), self.shared(attribute.dataspace))
        else {
            return;
        };
        let len = space.element_count().unwrap_or(u64::MAX);
        let len = len.saturating_mul(u64::from(datatype.size()));
        if len > attribute.data.len() as u64 {
            self.faults.push(format!("{}: {}: {len} bytes", self.name, name.escape_ascii()));
        }
    }

    fn walk_tree(&self, address: u64, open: &mut Vec<u64>) -> Result<()> {
        let node = GroupNode::decode(self.at(address), address, self.sizes)?;
        for child in node.children {
            if node.header.level > 0 {
                self.walk_tree(child, open)?;
                continue;
            }
            let leaf = SymbolTableNode::decode(self.at(child), child, self.sizes)?;
            open.extend(leaf.entries.iter().filter_map(|entry| entry.header_address));
        }
        Ok(())
    }

    /// Headers that only dense links lead to: all in the file that carry a good checksum.
    fn walk_signatures(&mut self) {
        let places = self.bytes.windows(4).enumerate();
        let places = places.filter(|(_, window)| window == b"OHDR").map(|(place, _)| place as u64);
        for address in places.collect::<Vec<_>>() {
            if self.header(address).is_ok() {
                self.walk(address);
            }
        }
    }
}

/// Decodes the bytes of a message that is not shared.
fn decode_bytes(message_type: MessageType, bytes: &[u8], sizes: Sizes) -> Result<()> {
    fn own<M: Message>(bytes: &[u8], sizes: Sizes) -> Result<()> {
        M::decode(bytes, 0, sizes).map(drop)
    }
    let decode: fn(&[u8], Sizes) -> Result<()> = match message_type {
        MessageType::DATASPACE => own::<Dataspace>,
        MessageType::DATATYPE => own::<Datatype>,
        MessageType::FILL_VALUE => own::<FillValue>,
        MessageType::FILTER_PIPELINE => own::<FilterPipeline>,
        MessageType::ATTRIBUTE => own::<Attribute>,
        MessageType::LINK => own::<Link>,
        MessageType::SYMBOL_TABLE => own::<SymbolTable>,
        MessageType::LINK_INFO => own::<LinkInfo>,
        MessageType::OLD_FILL_VALUE => own::<OldFillValue>,
        MessageType::EXTERNAL_FILES => own::<ExternalFileList>,
        MessageType::LAYOUT => own::<Layout>,
        MessageType::GROUP_INFO => own::<GroupInfo>,
        MessageType::COMMENT => own::<Comment>,
        MessageType::OLD_MODIFICATION_TIME => own::<OldModificationTime>,
        MessageType::SHARED_MESSAGE_TABLE => own::<SharedMessageTableLocation>,
        MessageType::MODIFICATION_TIME => own::<ModificationTime>,
        MessageType::BTREE_K => own::<BtreeK>,
        MessageType::DRIVER_INFO => own::<DriverInfo>,
        MessageType::ATTRIBUTE_INFO => own::<AttributeInfo>,
        MessageType::REFERENCE_COUNT => own::<ReferenceCount>,
        MessageType::FILE_SPACE_INFO => own::<FileSpaceInfo>,
        MessageType::CACHE_IMAGE => own::<CacheImage>,
        _ => return Ok(()),
    };
    decode(bytes, sizes)
}

/// Damages bytes the same way in every run.
struct Damage(u64);

impl Damage {
    fn next(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % bound.max(1)
    }

    fn damaged(&mut self, valid: &[u8]) -> Vec<u8> {
        let mut bytes = valid.to_vec();
        for _ in 0..1 + self.next(3) {
            let place = self.next(bytes.len());
            let value = [0, 1, 0x7f, 0x80, 0xff, self.next(256) as u8][self.next(6)];
            if let Some(byte) = bytes.get_mut(place) {
                *byte = value;
            }
        }
        if self.next(8) == 0 {
            bytes.truncate(self.next(valid.len()));
        }
        bytes
    }
}

/// Every HDF5 file with golden answers, without those that are broken.
fn corpus_files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = corpus().into_iter().collect();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                if !path.ends_with("malformed") {
                    folders.push(path);
                }
            } else if golden_path(&path).exists() {
                found.push(path);
            }
        }
    }
    if found.is_empty() {
        println!("left out: no corpus");
    }
    found.sort();
    found
}

fn golden_path(path: &Path) -> PathBuf {
    let mut golden = path.as_os_str().to_owned();
    golden.push(".json");
    golden.into()
}

fn open(path: &Path) -> Option<(Superblock, File)> {
    let bytes = std::fs::read(path).unwrap();
    let base = candidate_addresses(bytes.len() as u64)
        .find(|&address| is_signature(&bytes[address as usize..]))?;
    let name = path.display().to_string();
    let superblock = Superblock::decode(&bytes[base as usize..], base)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let sizes = superblock.sizes;
    let bytes = bytes[base as usize..].to_vec();
    let found = Found::default();
    let (visited, faults) = (HashSet::new(), Vec::new());
    Some((superblock, File { name, bytes, sizes, found, visited, faults }))
}

/// The types that the golden answers name for data sets and committed datatypes.
fn golden_types(golden: &serde_json::Value) -> BTreeSet<String> {
    let objects = golden["hdf5"]["objects"].as_object();
    let types = objects.into_iter().flatten().filter_map(|(_, object)| object["type"].as_str());
    types.map(str::to_owned).collect()
}

/// Every file that the golden answers could open, walked.
fn walked_files() -> impl Iterator<Item = (serde_json::Value, Superblock, File)> {
    corpus_files().into_iter().filter_map(|path| {
        let golden = std::fs::read_to_string(golden_path(&path)).unwrap();
        let golden: serde_json::Value = serde_json::from_str(&golden).unwrap();
        if !golden["hdf5"].is_object() || golden["hdf5"]["open_error"] == true {
            return None;
        }
        let Some((superblock, mut file)) = open(&path) else { panic!("{}", path.display()) };
        file.walk(superblock.root_address);
        if let Some(address) = superblock.extension_address {
            file.walk(address);
        }
        file.walk_signatures();
        Some((golden, superblock, file))
    })
}

#[test]
fn every_message_decodes_and_types_are_told_as_agreed() {
    let mut messages = BTreeMap::new();
    let mut files = 0;
    let mut faults = Vec::new();
    for (golden, superblock, mut file) in walked_files() {
        let userblock = golden["hdf5"]["userblock"].as_u64();
        assert_eq!(userblock, Some(superblock.base_address), "{}", file.name);
        if !file.found.has_shared_heap {
            let expected = golden_types(&golden);
            let missing: Vec<_> = expected.difference(&file.found.types).collect();
            if !missing.is_empty() {
                let found = &file.found.types;
                file.faults.push(format!("{}: {missing:?} not in {found:?}", file.name));
            }
        }
        files += 1;
        faults.append(&mut file.faults);
        for (message_type, count) in file.found.messages {
            *messages.entry(message_type).or_insert(0) += count;
        }
    }
    println!("{files} files, messages {messages:?}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn damaged_messages_never_panic() {
    let mut distinct = BTreeSet::new();
    for (_, _, file) in walked_files() {
        distinct.extend(file.found.distinct.into_iter().filter(|(_, bytes)| bytes.len() < 2_000));
    }
    let mut damage = Damage(1);
    let mut refused = 0_u64;
    for (message_type, valid) in &distinct {
        for _ in 0..100 {
            let bytes = damage.damaged(valid);
            refused += u64::from(decode_bytes(*message_type, &bytes, Sizes::default()).is_err());
        }
    }
    println!("{} messages, {refused} of their damaged copies refused", distinct.len());
    assert_eq!(refused == 0, distinct.is_empty());
}

/// The sources that the golden answers name for virtual data sets: file and data set.
fn golden_sources(golden: &serde_json::Value) -> BTreeSet<(String, String)> {
    let objects = golden["hdf5"]["objects"].as_object();
    let lists = objects.into_iter().flatten();
    let lists = lists.filter_map(|(_, object)| object["virtual_sources"].as_array());
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    lists.flatten().map(|source| (text(&source[0]), text(&source[1]))).collect()
}

#[test]
fn virtual_mappings_name_their_sources() {
    let mut mapping_count = 0;
    for (golden, _, file) in walked_files() {
        let mut sources = BTreeSet::new();
        for (message_type, bytes) in &file.found.distinct {
            if *message_type != MessageType::LAYOUT {
                continue;
            }
            let layout = Layout::decode(bytes, 0, file.sizes).unwrap();
            let Layout::Virtual { heap_address: Some(address), heap_index } = layout else {
                continue;
            };
            let heap = file.at(address);
            let collection = GlobalHeapCollection::decode(heap, address, file.sizes).unwrap();
            let block = collection.object(heap, heap_index).unwrap();
            for mapping in VirtualMapping::decode_all(block, address, file.sizes).unwrap() {
                mapping_count += 1;
                sources.insert((text(&mapping.source_file), text(&mapping.source_data_set)));
            }
        }
        assert_eq!(sources, golden_sources(&golden), "{}", file.name);
    }
    println!("{mapping_count} mappings");
}

/// Decodes a message, encodes it for every reader, and says how it compares.
fn encode_again(message_type: MessageType, bytes: &[u8], sizes: Sizes) -> Result<Again> {
    fn again<M: Message + PartialEq>(bytes: &[u8], sizes: Sizes) -> Result<Again> {
        let message = M::decode(bytes, 0, sizes)?;
        let mut outcomes = Vec::new();
        for oldest_reader in [OldestReader::V16, OldestReader::V18, OldestReader::V110] {
            let encoding = Encoding { sizes, oldest_reader };
            let encoded = message.encode(encoding)?;
            let decoded = M::decode(&encoded, 0, sizes)?;
            assert_eq!(decoded.encode(encoding)?, encoded, "{}", M::NAME);
            // Newer pipelines do not name the library's own filters.
            let is_equal = decoded == message || M::TYPE == MessageType::FILTER_PIPELINE;
            assert!(is_equal, "{}: {encoded:?}", M::NAME);
            outcomes.push(Again::of(bytes, &encoded));
        }
        Ok(outcomes.into_iter().min().unwrap_or(Again::Differs))
    }
    let again: fn(&[u8], Sizes) -> Result<Again> = match message_type {
        MessageType::DATASPACE => again::<Dataspace>,
        MessageType::DATATYPE => again::<Datatype>,
        MessageType::FILL_VALUE => again::<FillValue>,
        MessageType::FILTER_PIPELINE => again::<FilterPipeline>,
        MessageType::ATTRIBUTE => again::<Attribute>,
        MessageType::LINK => again::<Link>,
        MessageType::LINK_INFO => again::<LinkInfo>,
        MessageType::GROUP_INFO => again::<GroupInfo>,
        MessageType::OLD_FILL_VALUE => again::<OldFillValue>,
        MessageType::EXTERNAL_FILES => again::<ExternalFileList>,
        MessageType::LAYOUT => again::<Layout>,
        MessageType::COMMENT => again::<Comment>,
        MessageType::OLD_MODIFICATION_TIME => again::<OldModificationTime>,
        MessageType::SHARED_MESSAGE_TABLE => again::<SharedMessageTableLocation>,
        MessageType::SYMBOL_TABLE => again::<SymbolTable>,
        MessageType::MODIFICATION_TIME => again::<ModificationTime>,
        MessageType::BTREE_K => again::<BtreeK>,
        MessageType::DRIVER_INFO => again::<DriverInfo>,
        MessageType::ATTRIBUTE_INFO => again::<AttributeInfo>,
        MessageType::REFERENCE_COUNT => again::<ReferenceCount>,
        MessageType::FILE_SPACE_INFO => again::<FileSpaceInfo>,
        MessageType::CACHE_IMAGE => again::<CacheImage>,
        _ => return Ok(Again::Identical),
    };
    again(bytes, sizes)
}

/// What became of a message that was decoded and encoded; the better, the less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Again {
    /// Byte for byte what it was.
    Identical,
    /// The same but for the high bits of some bytes, where datatypes have their versions.
    OtherVersion,
    /// Other bytes of the same meaning.
    Differs,
}

impl Again {
    fn of(bytes: &[u8], encoded: &[u8]) -> Self {
        // Headers of version 1 pad their messages.
        let is_longer = bytes.iter().skip(encoded.len()).any(|&byte| byte != 0);
        if bytes.len() < encoded.len() || is_longer {
            Self::Differs
        } else if bytes.starts_with(encoded) {
            Self::Identical
        } else if bytes.iter().zip(encoded).all(|(was, is)| was & 0x0f == is & 0x0f) {
            Self::OtherVersion
        } else {
            Self::Differs
        }
    }
}

/// Why a message is not encoded as it was written, where that is as it should be.
fn explanation(message_type: MessageType, bytes: &[u8]) -> Option<&'static str> {
    let len = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    Some(match (message_type, bytes[0]) {
        (MessageType::DATASPACE, _) if bytes[2] & 1 == 0 => "no greatest lengths",
        (MessageType::ATTRIBUTE, version) => {
            let alignment = if version == 1 { 8 } else { 1 };
            let start = if version == 3 { 9 } else { 8 };
            let [name, datatype] = [len(2), len(4)].map(|len| len.next_multiple_of(alignment));
            return explanation(MessageType::DATASPACE, &bytes[start + name + datatype..]);
        }
        // libhdf5 changes the versions of members that were there before the array.
        (MessageType::DATATYPE, 0x20..0x30) => "versions inside of a type with an array",
        (MessageType::FILL_VALUE, 1) => "version 1",
        (MessageType::LAYOUT, 1 | 2) => "version 1 or 2",
        (MessageType::LINK, 1) if bytes[1] & 3 == 3 => "name length of 8 bytes",
        _ => return None,
    })
}

#[test]
fn messages_are_encoded_as_they_were_written() {
    let mut counts = BTreeMap::new();
    let mut faults = Vec::new();
    for (_, _, file) in walked_files() {
        for (message_type, bytes) in &file.found.distinct {
            let outcome = match (message_type, encode_again(*message_type, bytes, file.sizes)) {
                // Where the size of contiguous data is not stored, only type and shape tell it.
                (&MessageType::LAYOUT, Err(_)) if bytes[0] < 3 => "layout without size",
                (_, Err(error)) => panic!("{}: {error}: {bytes:02x?}", file.name),
                (_, Ok(Again::Identical)) => "identical",
                (&MessageType::DATATYPE, Ok(Again::OtherVersion)) => "other datatype version",
                _ => explanation(*message_type, bytes).unwrap_or_else(|| {
                    faults.push(format!("{}: {message_type:?} {bytes:02x?}", file.name));
                    "unexplained"
                }),
            };
            *counts.entry(outcome).or_insert(0) += 1;
        }
    }
    println!("{counts:?}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The header at `address` with `messages` instead of its own, decoded again.
fn rewritten(file: &File, header: &ObjectHeader, messages: &[NewMessage]) -> Result<ObjectHeader> {
    let rewrite = header.rewrite(messages, file.sizes)?;
    // Far enough away to be no block of the header already.
    let address = rewrite.continuation_bytes().map(|_| file.bytes.len() as u64);
    let blocks = rewrite.finish(address)?;
    assert_eq!(blocks.first.len() as u64, header.first_block_bytes(), "{}", file.name);
    let mut again = ObjectHeader::decode_prefix(&blocks.first, header.address, file.sizes)?;
    if let Some(block) = blocks.continuation {
        again.decode_continuation(&block, file.sizes)?;
    }
    assert_eq!(again.next_continuation(), None);
    assert_eq!(again.properties(), header.properties());
    assert_eq!(again.reference_count, header.reference_count);
    Ok(again)
}

fn new_messages(header: &ObjectHeader) -> Vec<NewMessage> {
    header.messages().iter().map(NewMessage::from).collect()
}

#[test]
fn headers_are_rewritten_where_they_stand() {
    let (mut count, mut grown) = (BTreeMap::new(), 0);
    for (_, superblock, file) in walked_files() {
        let encoded = superblock.encode().unwrap();
        let start = superblock.base_address as usize;
        let original = &std::fs::read(&file.name).unwrap()[start..];
        assert!(original.starts_with(&encoded), "{}: {encoded:02x?}", file.name);
        for &address in &file.visited {
            let Ok(header) = file.header(address) else { continue };
            let mut messages = new_messages(&header);
            let same = rewritten(&file, &header, &messages).unwrap();
            assert_eq!(new_messages(&same), messages, "{}", file.name);
            let sizes = file.sizes;
            let encoding = Encoding { sizes, oldest_reader: OldestReader::V18 };
            // Of the length that headers of version 1 would pad them to.
            for len in [8, 48, 4000] {
                let comment = Comment(vec![b'c'; len - 1]);
                let comment = NewMessage::new(&comment, MessageFlags::NONE, encoding).unwrap();
                let creation_order = messages.first().and_then(|message| message.creation_order);
                messages.push(NewMessage { creation_order, ..comment });
                let more = rewritten(&file, &header, &messages).unwrap();
                assert_eq!(new_messages(&more), messages, "{}", file.name);
                grown += more.continuations().len();
            }
            messages.truncate(header.messages().len() / 2);
            let fewer = rewritten(&file, &header, &messages).unwrap();
            assert_eq!(new_messages(&fewer), messages, "{}", file.name);
            *count.entry(header.version).or_insert(0) += 1;
        }
    }
    println!("headers by version {count:?}, {grown} with a continuation");
}
