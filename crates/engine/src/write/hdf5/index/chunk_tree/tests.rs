//! Trees of small nodes against a map, after every change that a commit makes in place.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::storage::GrowingMemory;
use crate::write::space::Space;

/// Elements of a chunk along every dimension.
const CHUNK_LEN: u64 = 5;
/// Chunks along every dimension, at most.
const GRID: u64 = 40;

type Chunks = BTreeMap<Vec<u64>, ChunkPlace>;

struct File {
    kind: TreeKind,
    target: Target,
    table: ChunkTable,
    tree: Option<ChunkTree>,
    /// As of the last commit.
    committed: Chunks,
}

impl File {
    fn new(rank: usize, k: u16) -> Self {
        let storage = Arc::new(GrowingMemory::default());
        let space = Arc::new(Space::new(0));
        space.allocate(8, 8);
        let chunk_shape = vec![CHUNK_LEN; rank];
        Self {
            kind: TreeKind { chunk_shape, element_bytes: 4, k, sizes: Sizes::default() },
            target: Target { name: "test".into(), storage, space },
            table: ChunkTable::new(rank, None),
            tree: None,
            committed: Chunks::new(),
        }
    }

    /// Commits chunks at these coordinates.
    fn commit(&mut self, coordinates: &[Vec<u64>], number: u64) {
        let place = |index| ChunkPlace {
            address: 1_000_000 * number + index as u64,
            stored_bytes: number + 1,
            filter_mask: (number % 2) as u32,
        };
        let new: Chunks =
            coordinates.iter().enumerate().map(|(index, at)| (at.clone(), place(index))).collect();
        let grid = vec![GRID; self.kind.rank()];
        self.table.put(&grid, new.iter().map(|(at, place)| (&at[..], *place)));
        let mut next = self.committed.clone();
        next.extend(new);

        let mut changes = Changes::default();
        let old_root = self.tree.as_ref().map(ChunkTree::root);
        match &mut self.tree {
            Some(tree) => tree.update(&self.table, &self.target, &mut changes).unwrap(),
            None => {
                let tree =
                    ChunkTree::build(self.kind.clone(), &self.table, &self.target, &mut changes);
                self.tree = Some(tree.unwrap());
            }
        }
        for Block { address, bytes } in &changes.fresh {
            self.target.write(*address, bytes).unwrap();
            self.assert_readable(old_root, &next);
        }
        for Block { address, bytes } in &changes.in_place {
            self.target.write(*address, bytes).unwrap();
            self.assert_readable(old_root, &next);
        }
        for &(address, bytes) in &changes.freed {
            self.target.space.free(address, bytes);
        }
        self.target.space.begin_commit(0);
        self.target.space.finish_commit(0);
        self.table.mark_committed();
        self.committed = next;
    }

    fn decode(&self, address: u64) -> ChunkNode {
        let TreeKind { k, sizes, .. } = self.kind;
        let (mut bytes, rank) = (Vec::new(), self.kind.rank());
        let count = ChunkNode::byte_len(k, rank, sizes);
        uninit::read_vec(self.target.storage.as_ref(), address, count, &mut bytes).unwrap();
        ChunkNode::decode(&bytes, address, sizes, rank).unwrap()
    }

    /// Every committed chunk is found as libhdf5 looks for it, as it was or as it will be.
    fn assert_readable(&self, root: Option<u64>, next: &Chunks) {
        let Some(root) = root else { return };
        for (coordinates, old) in &self.committed {
            let found = self.find(root, coordinates).unwrap();
            assert!(found == *old || found == next[coordinates], "{coordinates:?}");
        }
    }

    /// Looks from key to key, the last one of each node too.
    fn find(&self, root: u64, coordinates: &[u64]) -> Option<ChunkPlace> {
        let offset: Vec<u64> = self.kind.offset(coordinates).collect();
        let mut address = root;
        loop {
            let node = self.decode(address);
            let index = (0..node.len()).find(|&index| {
                node.key(index) <= &offset[..] && &offset[..] < node.key(index + 1)
            })?;
            let entry = node.entries()[index];
            address = entry.address?;
            if node.header.level == 0 {
                let (stored_bytes, filter_mask) = (entry.stored_bytes.into(), entry.filter_mask);
                let place = ChunkPlace { address, stored_bytes, filter_mask };
                return (node.key(index) == offset).then_some(place);
            }
        }
    }

    /// Holds all that the format asks of a tree, and that it has the committed chunks.
    fn check(&self) {
        let root = self.tree.as_ref().unwrap().root();
        let mut level = vec![root];
        loop {
            let nodes: Vec<ChunkNode> = level.iter().map(|&address| self.decode(address)).collect();
            for (index, node) in nodes.iter().enumerate() {
                let sibling = |index: Option<usize>| index.and_then(|i| level.get(i).copied());
                assert_eq!(node.header.left, sibling(index.checked_sub(1)));
                assert_eq!(node.header.right, sibling(Some(index + 1)));
                assert!((1..=2 * usize::from(self.kind.k)).contains(&node.len()));
                assert!((0..node.len()).all(|key| node.key(key) < node.key(key + 1)));
                if let Some(next) = nodes.get(index + 1) {
                    assert_eq!(node.key(node.len()), next.key(0));
                    assert_eq!(node.end_key().element_offset, 0);
                }
            }
            let last = self.committed.last_key_value().unwrap().0;
            let corner: Vec<u64> = self.kind.offset(last).map(|at| at + CHUNK_LEN).collect();
            let end = nodes.last().unwrap();
            match end.header.level {
                0 => assert_eq!(end.key(end.len()), corner),
                _ => assert!(end.key(end.len()) >= &corner[..]),
            }
            assert!(end.key(end.len()).iter().all(|offset| offset % CHUNK_LEN == 0));
            assert_eq!(end.end_key(), EndKey { element_offset: 4, ..EndKey::default() });
            if nodes[0].header.level == 0 {
                let keys: Vec<Vec<u64>> = nodes
                    .iter()
                    .flat_map(|node| (0..node.len()).map(|key| node.key(key).to_vec()))
                    .collect();
                let expected = self.committed.keys().map(|at| self.kind.offset(at).collect());
                assert_eq!(keys, expected.collect::<Vec<Vec<u64>>>());
                break;
            }
            let children: Vec<_> = nodes
                .iter()
                .flat_map(|node| {
                    let keys = (0..node.len()).map(|key| node.key(key).to_vec());
                    keys.zip(node.entries().iter().map(|entry| entry.address.unwrap()))
                })
                .collect();
            for (key, child) in &children {
                assert_eq!(self.decode(*child).key(0), key);
            }
            level = children.into_iter().map(|(_, child)| child).collect();
        }
        for (coordinates, place) in &self.committed {
            assert_eq!(self.find(root, coordinates), Some(*place), "{coordinates:?}");
        }
    }
}

fn commits(rank: usize) -> impl Strategy<Value = Vec<Vec<Vec<u64>>>> {
    let side = [GRID, 7, 4][rank - 1];
    let chunk = prop::collection::vec(0..side, rank);
    prop::collection::vec(prop::collection::vec(chunk, 1..12), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn chunks_in_any_order(
        (rank, commits) in (1..=3_usize).prop_flat_map(|rank| (Just(rank), commits(rank))),
        k in 1..=3_u16,
    ) {
        let mut file = File::new(rank, k);
        for (number, commit) in commits.iter().enumerate() {
            file.commit(commit, number as u64);
            file.check();
        }
    }

    #[test]
    fn rows_of_chunks_at_the_end(rows in prop::collection::vec(1..4_u64, 1..12), k in 1..=3_u16) {
        let mut file = File::new(2, k);
        let mut first = 0;
        for (number, count) in rows.iter().enumerate() {
            let coordinates = (first..first + count).flat_map(|row| [vec![row, 0], vec![row, 1]]);
            file.commit(&coordinates.collect::<Vec<_>>(), number as u64);
            file.check();
            first += count;
        }
    }
}

#[test]
fn a_chunk_at_the_end_touches_few_bytes() {
    let mut file = File::new(1, 32);
    file.commit(&[vec![0]], 0);
    let (mut most_bytes, mut nodes, mut more_than_the_leaf) = (0, 0, 0);
    for number in 1..5000 {
        let grid = vec![u64::MAX];
        let place = ChunkPlace { address: number, stored_bytes: 1, filter_mask: 0 };
        let at = [number];
        file.table.put(&grid, [(&at[..], place)].into_iter());
        let mut changes = Changes::default();
        let tree = file.tree.as_mut().unwrap();
        tree.update(&file.table, &file.target, &mut changes).unwrap();
        nodes += changes.fresh.len();
        let bytes: usize = changes.in_place.iter().map(|block| block.bytes.len()).sum();
        most_bytes = most_bytes.max(bytes);
        // The entry of the chunk, and the count.
        more_than_the_leaf += usize::from(changes.in_place.len() > 2);
        for Block { address, bytes } in changes.fresh.iter().chain(&changes.in_place) {
            file.target.write(*address, bytes).unwrap();
        }
        file.table.mark_committed();
    }
    // All leaves but the first, two nodes above them, and the root above these.
    assert_eq!(nodes, 78 + 2 + 1, "leaves are full");
    assert!(most_bytes < 256, "{most_bytes} bytes");
    assert!(more_than_the_leaf <= 2 * nodes, "{more_than_the_leaf} commits");
}

#[test]
fn a_tree_that_leads_in_a_circle_is_an_error() {
    let mut file = File::new(1, 1);
    for number in 0..6 {
        file.commit(&[vec![number]], number);
    }
    let root = file.tree.as_ref().unwrap().root();
    let mut node = file.decode(root);
    assert!(node.header.level > 1);
    let last = node.len() - 1;
    node.replace(last, ChunkEntry { stored_bytes: 1, filter_mask: 0, address: Some(root) });
    file.target.write(root, &node.encode(1, Sizes::default()).unwrap()).unwrap();
    file.tree = Some(ChunkTree::at(file.kind.clone(), root));
    let place = ChunkPlace { address: 1, stored_bytes: 1, filter_mask: 0 };
    file.table.put(&[GRID], [(&[9][..], place)].into_iter());
    let tree = file.tree.as_mut().unwrap();
    let error = tree.update(&file.table, &file.target, &mut Changes::default()).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Structure(Error { address, .. }) if address == root));
}
