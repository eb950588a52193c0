use super::*;
use crate::checksum::lookup3;
use crate::hdf5::damage::survive;
use crate::hdf5::message::NewMessage;
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

/// A header decoded from its blocks.
fn decode(blocks: &RewrittenHeader, address: u64) -> ObjectHeader {
    let mut header = ObjectHeader::decode_prefix(&blocks.first, address, SIZES).unwrap();
    if let Some(block) = &blocks.continuation {
        let next = header.next_continuation().unwrap();
        assert_eq!((next.address, next.len_bytes), (0x2000, block.len() as u64));
        header.decode_continuation(block, SIZES).unwrap();
    }
    assert_eq!(header.next_continuation(), None);
    header
}

fn new_message(message_type: u16, len: usize, order: Option<u16>) -> NewMessage {
    NewMessage {
        message_type: MessageType(message_type),
        flags: MessageFlags::CONSTANT,
        creation_order: order,
        bytes: (0..len).map(|place| place as u8 | 1).collect(),
    }
}

/// What headers of version 1 pad messages with is not looked at.
fn assert_same_messages(header: &ObjectHeader, expected: &[NewMessage]) {
    let found: Vec<NewMessage> = header.messages().iter().map(NewMessage::from).collect();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let padded = if header.version == 1 { found.bytes.len() } else { expected.bytes.len() };
        let mut bytes = expected.bytes.clone();
        bytes.resize(padded.max(bytes.len()), 0);
        let creation_order = found.creation_order.and(Some(expected.creation_order.unwrap_or(0)));
        let expected = NewMessage { bytes, creation_order, ..expected.clone() };
        assert_eq!(*found, expected);
    }
}

#[test]
fn a_new_header_is_one_block() {
    for tracked in [false, true] {
        for len in (0..40).chain(215..260).chain([65_000]) {
            for spare_bytes in [0, 1, 5, 6, 7, 100, 70_000, 65_540, 65_541, 65_545, 65_550] {
                let messages = vec![new_message(3, len, None), new_message(0x0c, 8, Some(7))];
                let properties = Properties {
                    times: (len % 2 == 0).then_some(Times {
                        access: 1,
                        modification: 2,
                        change: 3,
                        birth: 4,
                    }),
                    attribute_phase_change: (len % 3 == 0).then_some((9, 7)),
                    attribute_order_tracked: tracked,
                    attribute_order_indexed: tracked,
                };
                let new = NewHeader { properties, messages, spare_bytes };
                let first = new.encode(SIZES).unwrap();
                assert_eq!(first.len(), new.len_bytes(SIZES));
                let header =
                    decode(&RewrittenHeader { first: first.clone(), continuation: None }, 48);
                assert_eq!(header.properties(), properties);
                assert_eq!(header.first_block_bytes(), first.len() as u64);
                assert_same_messages(&header, &new.messages);
                // There is as much room as was asked for: messages may take it without moving.
                let format = header.format();
                let least_bytes = format.prefix_bytes();
                if spare_bytes >= least_bytes && spare_bytes <= 65_535 {
                    let mut more = new.messages.clone();
                    more.push(new_message(6, spare_bytes - least_bytes, None));
                    let rewrite = header.rewrite(&more, SIZES).unwrap();
                    assert_eq!(rewrite.continuation_bytes(), None);
                    assert_same_messages(&decode(&rewrite.finish(None).unwrap(), 48), &more);
                }
            }
        }
    }
}

#[test]
fn an_empty_header_can_grow() {
    let first = NewHeader::default().encode(SIZES).unwrap();
    let header = decode(&RewrittenHeader { first, continuation: None }, 48);
    let messages = [new_message(6, 5, None)];
    let rewrite = header.rewrite(&messages, SIZES).unwrap();
    assert_eq!(rewrite.continuation_bytes(), None);
    let messages = [new_message(6, 5, None), new_message(6, 100, None)];
    let rewrite = header.rewrite(&messages, SIZES).unwrap();
    assert_eq!(rewrite.continuation_bytes(), Some(4 + 4 + 5 + 4 + 100 + 4));
    assert_same_messages(&decode(&rewrite.finish(Some(0x2000)).unwrap(), 48), &messages);
}

#[test]
fn a_header_grows_and_shrinks_where_it_is() {
    for (bytes, block) in [
        (first_version(), [message_1(0x0d, b"comment\0"), message_1(0, &[])].concat()),
        (second_version(), continuation_2()),
    ] {
        let mut header = ObjectHeader::decode_prefix(&bytes, 96, SIZES).unwrap();
        header.decode_continuation(&block, SIZES).unwrap();
        assert_eq!(header.continuations(), [Continuation { address: 0x1000, len_bytes: 24 }]);
        header.reference_count = header.reference_count.map(|count| count + 1);
        let own: Vec<NewMessage> = header.messages().iter().map(NewMessage::from).collect();
        for count in 0..40 {
            for len in 0..40 {
                let mut messages = own.clone();
                messages.truncate(count);
                messages.extend((own.len()..count).map(|at| new_message(6, len, Some(at as u16))));
                let rewrite = header.rewrite(&messages, SIZES).unwrap();
                let continuation_bytes = rewrite.continuation_bytes();
                let address = continuation_bytes.map(|_| 0x2000);
                let blocks = rewrite.finish(address).unwrap();
                assert_eq!(blocks.first.len(), bytes.len());
                let block_bytes = blocks.continuation.as_ref().map(|block| block.len() as u64);
                assert_eq!(block_bytes, continuation_bytes);
                let again = decode(&blocks, 96);
                assert_same_messages(&again, &messages);
                assert_eq!(again.properties(), header.properties());
                assert_eq!(again.reference_count, header.reference_count);
                assert_eq!(again.stored_message_count, stored_messages(&blocks));
            }
        }
    }
}

/// Counts the messages of a version-1 header, those without a meaning too.
fn stored_messages(blocks: &RewrittenHeader) -> Option<u16> {
    if blocks.first[0] != 1 {
        return None;
    }
    let mut count = 0;
    for mut block in [&blocks.first[16..], blocks.continuation.as_deref().unwrap_or_default()] {
        while let [_, _, low, high, ..] = *block {
            block = &block[8 + usize::from(u16::from_le_bytes([low, high]))..];
            count += 1;
        }
    }
    Some(count)
}

#[test]
fn what_cannot_be_written_is_said() {
    let header = ObjectHeader::decode_prefix(&second_version(), 48, SIZES).unwrap();
    let kind = |messages: &[NewMessage]| {
        header.rewrite(messages, SIZES).map(drop).map_err(|error| error.kind)
    };
    let limit = |field, value, limit| Err(ErrorKind::Limit { field, value, limit });
    let long = [new_message(6, 0x1_0000, None)];
    assert_eq!(kind(&long), limit("bytes of a message", 0x1_0000, 0xffff));
    assert_eq!(kind(&[new_message(0x100, 1, None)]), limit("message type", 0x100, 0xff));
    let rewrite = header.rewrite(&[new_message(6, 100, None)], SIZES).unwrap();
    assert!(matches!(rewrite.finish(None).unwrap_err().kind, ErrorKind::Field { .. }));
    let old = ObjectHeader::decode_prefix(&first_version(), 48, SIZES).unwrap();
    let many = vec![new_message(6, 1, None); 0x1_0000];
    let error = old.rewrite(&many, SIZES).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Limit { field: "number of messages", .. }));
    // Eight bytes of messages: no room for a continuation message.
    let mut small = vec![1, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0];
    small.extend([0; 8]);
    let small = ObjectHeader::decode_prefix(&small, 48, SIZES).unwrap();
    let error = small.rewrite(&[new_message(6, 8, None)], SIZES).unwrap_err();
    assert_eq!(
        error.kind,
        ErrorKind::Limit { field: "bytes of a continuation message", value: 24, limit: 8 }
    );
}
