//! Changes a node of a version-1 B-tree of chunks: what a tree that grows is made of.
//!
//! Each change leaves the node such that keys ascend; which nodes have to change together is the
//! tree's concern.

use std::ops::Range;

use super::super::Sizes;
use super::v1::{ChunkEntry, ChunkNode, EndKey};

/// Bytes before the first key: signature, type, level, count and siblings.
fn head_bytes(sizes: Sizes) -> usize {
    8 + 2 * sizes.offset
}

impl ChunkNode {
    /// How many children the node has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True where the node has no child.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many children have keys that are not above `offset`.
    pub fn count_up_to(&self, offset: &[u64]) -> usize {
        let (mut low, mut high) = (0, self.entries.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.key(middle) <= offset {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The offset of key `index`, of which there is one more than children; empty beyond them.
    pub fn key(&self, index: usize) -> &[u64] {
        self.offset(index).unwrap_or_default()
    }

    /// Gives child `index` another entry under the same key; nothing where there is no such child.
    pub fn replace(&mut self, index: usize, entry: ChunkEntry) {
        if let Some(place) = self.entries.get_mut(index) {
            *place = entry;
        }
    }

    /// Puts a child with its key before child `index`, or behind the last one.
    pub fn insert(&mut self, index: usize, offset: &[u64], entry: ChunkEntry) {
        let index = index.min(self.entries.len());
        let start = index * self.rank;
        self.offsets.splice(start..start, offset.iter().copied().take(self.rank));
        self.entries.insert(index, entry);
    }

    /// Gives key `index` another offset.
    pub fn set_key(&mut self, index: usize, offset: &[u64]) {
        let start = index * self.rank;
        if let Some(key) = self.offsets.get_mut(start..start + self.rank) {
            key.copy_from_slice(offset);
        }
    }

    /// Gives the node another last key.
    pub fn set_end(&mut self, offset: &[u64], end_key: EndKey) {
        self.set_key(self.entries.len(), offset);
        self.end_key = end_key;
    }

    /// Takes the children from `index` on out, as a node that ends as this one did and has no
    /// siblings yet. This node ends where that one begins.
    pub fn split_off(&mut self, index: usize) -> Self {
        let index = index.min(self.entries.len());
        let entries = self.entries.split_off(index);
        let offsets = self.offsets[index * self.rank..].to_vec();
        self.offsets.truncate((index + 1) * self.rank);
        let mut header = self.header;
        (header.left, header.right) = (None, None);
        let right = Self { header, rank: self.rank, entries, offsets, end_key: self.end_key };
        if let Some(first) = right.entries.first() {
            self.end_key = EndKey::of(first);
        }
        right
    }
}

impl EndKey {
    /// That of a node whose right sibling begins with `first`.
    pub fn of(first: &ChunkEntry) -> Self {
        Self { stored_bytes: first.stored_bytes, filter_mask: first.filter_mask, element_offset: 0 }
    }
}

/// Which bytes of a node of chunks of `rank` dimensions are to be written where its bytes were `old`
/// and shall be `new`, in this order: after each, readers find every chunk of the old node. Children
/// behind the old ones come before the count that says they are there.
pub fn changed_ranges(old: &[u8], new: &[u8], rank: usize, sizes: Sizes) -> Vec<Range<usize>> {
    let head = head_bytes(sizes);
    let count =
        old.get(6..8).map_or(0, |count| usize::from(u16::from_le_bytes([count[0], count[1]])));
    let old_end = head + count * (8 + 8 * (rank + 1) + sizes.offset);
    let body = changed(old, new, head..old.len().min(new.len()));
    let head = changed(old, new, 0..head);
    let ranges = match (body, head) {
        (Some(body), head) if body.start >= old_end => [Some(body), head],
        (Some(body), head) => [Some(head.map_or(body.start, |head| head.start)..body.end), None],
        (None, head) => [head, None],
    };
    ranges.into_iter().flatten().collect()
}

/// From the first byte of `within` that differs to the last.
fn changed(old: &[u8], new: &[u8], within: Range<usize>) -> Option<Range<usize>> {
    let (old, new) = (old.get(within.clone())?, new.get(within.clone())?);
    let differs = |(a, b): (&u8, &u8)| a != b;
    let first = old.iter().zip(new).position(differs)?;
    let last = old.iter().zip(new).rposition(differs)?;
    Some(within.start + first..within.start + last + 1)
}

#[cfg(test)]
mod tests {
    use super::super::v1::NodeHeader;
    use super::*;

    const RANK: usize = 2;

    fn entry(address: u64) -> ChunkEntry {
        ChunkEntry { stored_bytes: 10, filter_mask: 1, address: Some(address) }
    }

    fn leaf(rows: &[u64]) -> ChunkNode {
        let header = NodeHeader { level: 0, left: Some(7), right: None };
        let entries = rows.iter().map(|&row| entry(1000 + row)).collect();
        let end = rows.last().map_or(0, |row| row + 1);
        let offsets = rows.iter().chain([&end]).flat_map(|&row| [row, 0]).collect();
        let end_key = EndKey { element_offset: 4, ..EndKey::default() };
        ChunkNode::new(header, RANK, entries, offsets, end_key).unwrap()
    }

    #[test]
    fn inserted_children_are_found() {
        let mut node = leaf(&[2, 6]);
        assert_eq!([1, 2, 5, 6, 9].map(|row| node.count_up_to(&[row, 0])), [0, 1, 1, 2, 2]);
        node.insert(1, &[4, 0], entry(1004));
        node.insert(3, &[8, 0], entry(1008));
        node.set_end(&[9, 5], EndKey::default());
        node.set_key(0, &[1, 0]);
        node.replace(1, entry(5));
        assert_eq!(node.len(), 4);
        assert_eq!(node.find(&[4, 0]), Some(&entry(5)));
        assert_eq!(node.find(&[8, 0]), Some(&entry(1008)));
        assert_eq!((node.key(0), node.key(4), node.key(5)), (&[1, 0][..], &[9, 5][..], &[][..]));
        assert_eq!(node.end_key(), EndKey::default());
    }

    #[test]
    fn halves_meet_at_a_key() {
        let mut left = leaf(&[2, 4, 6]);
        let right = left.split_off(1);
        assert_eq!((left.len(), right.len()), (1, 2));
        assert_eq!((left.key(1), right.key(0)), (&[4, 0][..], &[4, 0][..]));
        assert_eq!(left.end_key(), EndKey::of(&entry(1004)));
        assert_eq!((right.key(2), right.end_key().element_offset), (&[7, 0][..], 4));
        assert_eq!((left.header.left, right.header.left), (Some(7), None));
    }

    #[test]
    fn children_come_before_their_count() {
        let sizes = Sizes::default();
        let old = leaf(&[2, 4]);
        let bytes = |node: &ChunkNode| node.encode(2, sizes).unwrap();
        let ranges = |new: &ChunkNode| changed_ranges(&bytes(&old), &bytes(new), RANK, sizes);
        assert_eq!(ranges(&old), []);

        let mut appended = old.clone();
        appended.insert(2, &[5, 0], entry(1005));
        let [body, head] = &ranges(&appended)[..] else { panic!("two writes") };
        assert!(body.start >= 24 + 2 * 40 && *head == (6..7), "{body:?} {head:?}");

        let mut between = old.clone();
        between.insert(1, &[3, 0], entry(1003));
        let [all] = &ranges(&between)[..] else { panic!("one write") };
        assert!(all.start == 6 && all.end > 24 + 2 * 40, "{all:?}");

        let mut moved = old.clone();
        moved.header.right = Some(9);
        let [link] = &ranges(&moved)[..] else { panic!("one write") };
        assert_eq!(*link, 16..24);
    }
}
