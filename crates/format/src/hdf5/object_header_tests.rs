use super::*;
use crate::checksum::lookup3;
use crate::hdf5::damage::survive;
use crate::hdf5::message::symbol_table::SymbolTable;
use crate::hdf5::superblock;

const SIZES: Sizes = Sizes { offset: 8, length: 8 };

/// Address and size of the block that the headers below continue in.
const BLOCK: [u64; 2] = [0x1000, 24];

fn message_1(message_type: u16, data: &[u8]) -> Vec<u8> {
    let mut bytes = message_type.to_le_bytes().to_vec();
    bytes.extend((data.len() as u16).to_le_bytes());
    bytes.extend([0, 0, 0, 0]);
    bytes.extend(data);
    bytes
}

fn message_2(message_type: u8, order: u16, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![message_type];
    bytes.extend((data.len() as u16).to_le_bytes());
    bytes.push(0);
    bytes.extend(order.to_le_bytes());
    bytes.extend(data);
    bytes
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(lookup3(&bytes).to_le_bytes());
    bytes
}

fn first_version() -> Vec<u8> {
    let messages = [
        message_1(0x11, &words(&[136, 680])),
        message_1(0, &[0; 8]),
        message_1(0x10, &words(&BLOCK)),
    ]
    .concat();
    let mut bytes = vec![1, 0, 4, 0, 1, 0, 0, 0];
    bytes.extend((messages.len() as u32).to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(messages);
    bytes
}

fn second_version() -> Vec<u8> {
    let messages =
        [message_2(0x0d, 3, b"hi\0"), message_2(0x10, 0, &words(&BLOCK)), vec![0; 5]].concat();
    let mut bytes = b"OHDR\x02\x34".to_vec();
    bytes.extend(words(&[0x2_0000_0001, 0x4_0000_0003]));
    bytes.extend([9, 0, 7, 0, messages.len() as u8]);
    bytes.extend(messages);
    with_checksum(bytes)
}

fn continuation_2() -> Vec<u8> {
    let bytes = [b"OCHK".to_vec(), message_2(0x16, 0, &[0, 2, 0, 0, 0]), vec![0; 5]].concat();
    with_checksum(bytes)
}

fn types(header: &ObjectHeader) -> Vec<u16> {
    header.messages().iter().map(|message| message.message_type.0).collect()
}

#[test]
fn first_version_with_a_continuation() {
    let mut header = ObjectHeader::decode_prefix(&first_version(), 96, SIZES).unwrap();
    assert_eq!((header.version, header.reference_count), (1, Some(1)));
    assert_eq!(types(&header), [0x11]);
    assert_eq!(header.messages()[0].address, 96 + 16 + 8);
    let table = header.messages()[0].decode_own::<SymbolTable>(SIZES).unwrap();
    assert_eq!((table.btree_address, table.heap_address), (136, 680));
    let next = header.next_continuation().unwrap();
    assert_eq!((next.address, next.len_bytes), (0x1000, 24));
    let block = [message_1(0x0d, b"comment\0"), message_1(0, &[])].concat();
    header.decode_continuation(&block, SIZES).unwrap();
    assert_eq!(types(&header), [0x11, 0x0d]);
    assert_eq!(header.next_continuation(), None);
}

#[test]
fn second_version_with_a_continuation_and_gaps() {
    let mut header = ObjectHeader::decode_prefix(&second_version(), 48, SIZES).unwrap();
    assert_eq!(header.times.unwrap().birth, 4);
    assert_eq!(header.attribute_phase_change, Some((9, 7)));
    assert!(header.attribute_order_tracked && !header.attribute_order_indexed);
    assert_eq!(header.messages()[0].creation_order, Some(3));
    assert_eq!(header.messages()[0].bytes(), b"hi\0");
    header.decode_continuation(&continuation_2(), SIZES).unwrap();
    assert_eq!(types(&header), [0x0d, 0x16]);
}

#[test]
fn wrong_bytes_are_noticed() {
    let mut bytes = second_version();
    bytes[30] ^= 1;
    let error = ObjectHeader::decode_prefix(&bytes, 48, SIZES).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Checksum { .. }));
    let mut header = ObjectHeader::decode_prefix(&second_version(), 48, SIZES).unwrap();
    let mut block = continuation_2();
    block[8] ^= 1;
    let error = header.decode_continuation(&block, SIZES).unwrap_err();
    assert_eq!((error.address, error.structure), (0x1000, CONTINUATION_NAME));
}

#[test]
fn more_is_asked_for_once() {
    for bytes in [first_version(), second_version()] {
        let error = ObjectHeader::decode_prefix(&bytes[..32], 0, SIZES).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NeedMore { bytes: bytes.len() as u64 });
    }
}

#[test]
fn a_block_cannot_continue_in_itself() {
    let mut header = ObjectHeader::decode_prefix(&first_version(), 96, SIZES).unwrap();
    let block = message_1(0x10, &words(&BLOCK));
    let error = header.decode_continuation(&block, SIZES).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cycle);
}

#[test]
fn a_message_cannot_leave_its_block() {
    let mut bytes = first_version();
    bytes[18] = 200;
    let error = ObjectHeader::decode_prefix(&bytes, 96, SIZES).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Truncated { .. }));
}

#[test]
fn unknown_messages_are_kept() {
    let mut bytes = vec![1, 0, 1, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend([0xee, 0xee, 0, 0, 0x80, 0, 0, 0]);
    let header = ObjectHeader::decode_prefix(&bytes, 0, SIZES).unwrap();
    assert_eq!(header.unknown_message().unwrap().message_type, MessageType(0xeeee));
}

#[test]
fn damage_never_panics() {
    for valid in [first_version(), second_version()] {
        survive(&valid, |bytes| drop(ObjectHeader::decode_prefix(bytes, 0, SIZES)));
    }
    for (valid, block) in
        [(first_version(), message_1(0x0d, &[0; 16])), (second_version(), continuation_2())]
    {
        let header = ObjectHeader::decode_prefix(&valid, 0, SIZES).unwrap();
        survive(&block, |bytes| drop(header.clone().decode_continuation(bytes, SIZES)));
    }
}

#[test]
fn signature_of_the_superblock_is_not_a_header() {
    let error = ObjectHeader::decode_prefix(&superblock::SIGNATURE, 0, SIZES).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Signature { .. }));
}
