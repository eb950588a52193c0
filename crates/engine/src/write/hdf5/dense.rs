//! Links and attributes that are too many or too large for an object header: a fractal heap of their
//! messages and two trees of where they are, by name and by order of creation.

use isotach_format::hdf5::btree::v2_build::{BTreeBuilder, BTreeKind};
use isotach_format::hdf5::btree::v2_record::{
    AttributeRecord, LinkCreationOrderRecord, LinkNameRecord, name_key,
};
use isotach_format::hdf5::heap::fractal::FractalHeap;
use isotach_format::hdf5::heap::fractal_build::FractalHeapBuilder;
use isotach_format::hdf5::message::link::Link;
use isotach_format::hdf5::message::{AttributeInfo, AttributeView, LinkInfo, Message, NewMessage};
use isotach_format::hdf5::{Encoding, Sizes};
use isotach_format::{Output, Result};

use super::blocks::Block;
use crate::write::space::Space;

/// Links in dense storage, and the message that says where it is.
pub(super) fn links<'l>(
    links: &'l [Link],
    tracks_order: bool,
    space: &Space,
    encoding: Encoding,
    blocks: &mut Vec<Block>,
) -> Result<LinkInfo> {
    let messages = links.iter().map(|link| link.encode(encoding)).collect::<Result<Vec<_>>>()?;
    let sizes = encoding.sizes;
    let objects = messages.iter().map(Vec::as_slice).collect();
    let heap = FractalHeapBuilder::new(FractalHeap::for_links(sizes), objects)?;
    let key = |(index, link): (usize, &'l Link)| (name_key(&link.name), index);
    let mut by_name: Vec<_> = links.iter().enumerate().map(key).collect();
    by_name.sort_unstable();
    let mut names = Output::new();
    for ((hash, _), index) in by_name {
        LinkNameRecord { hash, heap_id: heap.id(index) }.encode(&mut names);
    }
    let mut orders = Output::new();
    for (index, link) in links.iter().enumerate() {
        let creation_order = link.creation_order.unwrap_or(index as i64);
        LinkCreationOrderRecord { creation_order, heap_id: heap.id(index) }.encode(&mut orders);
    }
    let count = links.len() as u64;
    let by_order = match tracks_order {
        true => {
            let kind = BTreeKind::LINK_CREATION_ORDERS;
            Some(tree(kind, count, &orders, space, sizes, blocks)?)
        }
        false => None,
    };
    Ok(LinkInfo {
        max_creation_order: next_order(links, tracks_order),
        heap_address: Some(place_heap(&heap, space, blocks)?),
        name_index_address: Some(tree(BTreeKind::LINK_NAMES, count, &names, space, sizes, blocks)?),
        creation_order_indexed: tracks_order,
        creation_order_index_address: by_order,
    })
}

/// Attributes in dense storage, and the message that says where it is.
pub(super) fn attributes<'m>(
    messages: &'m [NewMessage],
    tracks_order: bool,
    space: &Space,
    encoding: Encoding,
    blocks: &mut Vec<Block>,
) -> Result<AttributeInfo> {
    let sizes = encoding.sizes;
    let objects = messages.iter().map(|message| message.bytes.as_slice()).collect();
    let heap = FractalHeapBuilder::new(FractalHeap::for_attributes(sizes), objects)?;
    let name_of = |(index, message): (usize, &'m NewMessage)| {
        Ok((name_key(AttributeView::name_of(&message.bytes, 0)?), index))
    };
    let mut by_name = messages.iter().enumerate().map(name_of).collect::<Result<Vec<_>>>()?;
    by_name.sort_unstable();
    let record = |index: usize, hash| AttributeRecord {
        heap_id: heap.id(index),
        message_flags: messages[index].flags.0,
        creation_order: index as u32,
        hash,
    };
    let (mut names, mut orders) = (Output::new(), Output::new());
    for ((hash, _), index) in by_name {
        record(index, Some(hash)).encode(&mut names);
    }
    for index in 0..messages.len() {
        record(index, None).encode(&mut orders);
    }
    let count = messages.len() as u64;
    let mut tree = |kind, records: &Output| tree(kind, count, records, space, sizes, blocks);
    let name_index = tree(BTreeKind::ATTRIBUTE_NAMES, &names)?;
    let order_index = match tracks_order {
        true => Some(tree(BTreeKind::ATTRIBUTE_CREATION_ORDERS, &orders)?),
        false => None,
    };
    Ok(AttributeInfo {
        max_creation_order: tracks_order.then(|| u16::try_from(count).unwrap_or(u16::MAX)),
        heap_address: Some(place_heap(&heap, space, blocks)?),
        name_index_address: Some(name_index),
        creation_order_indexed: tracks_order,
        creation_order_index_address: order_index,
    })
}

/// What a group says whose links are in its header.
pub(super) fn no_links(links: &[Link], tracks_order: bool) -> LinkInfo {
    LinkInfo {
        max_creation_order: next_order(links, tracks_order),
        heap_address: None,
        name_index_address: None,
        creation_order_indexed: tracks_order,
        creation_order_index_address: None,
    }
}

/// The creation order that the next link gets.
fn next_order(links: &[Link], tracks_order: bool) -> Option<u64> {
    let orders = links.iter().filter_map(|link| link.creation_order);
    tracks_order.then(|| orders.max().map_or(0, |last| last.saturating_add(1).cast_unsigned()))
}

/// What an object says whose `count` attributes are in its header.
pub(super) fn no_attributes(count: u64, tracks_order: bool) -> AttributeInfo {
    AttributeInfo {
        max_creation_order: tracks_order.then(|| u16::try_from(count).unwrap_or(u16::MAX)),
        heap_address: None,
        name_index_address: None,
        creation_order_indexed: tracks_order,
        creation_order_index_address: None,
    }
}

fn place_heap(
    heap: &FractalHeapBuilder<'_>,
    space: &Space,
    blocks: &mut Vec<Block>,
) -> Result<u64> {
    let address = space.allocate(heap.byte_len(), 8);
    blocks.push(Block { address, bytes: heap.encode(address)? });
    Ok(address)
}

fn tree(
    kind: BTreeKind,
    record_count: u64,
    records: &Output,
    space: &Space,
    sizes: Sizes,
    blocks: &mut Vec<Block>,
) -> Result<u64> {
    let builder = BTreeBuilder::new(kind, record_count, sizes)?;
    let address = space.allocate(builder.byte_len(), 8);
    blocks.push(Block { address, bytes: builder.encode(address, records.bytes())? });
    Ok(address)
}
