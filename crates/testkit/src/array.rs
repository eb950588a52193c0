//! Arrays made up in memory, stored in every way there is, and a slow reader to compare with.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use isotach::Result;
use isotach::cache::FileNumber;
use isotach::plan::layout::{
    ArrayId, ArrayLayout, BeyondEnd, ChunkIndex, ChunkPlace, Chunked, DecodeCount, Placement,
};
use isotach::read::{Array, Live};
use isotach::storage::Storage;
use isotach_codec::{Filter, Pipeline};
use isotach_model::convert::Rules;
use isotach_model::selection::Selection;
use isotach_model::{StoredType, shape};

/// The elements of an array and the bytes of a "file" that holds them.
pub struct StoredArray {
    /// Extent of each axis.
    pub shape: Vec<u64>,
    /// Bytes of one element.
    pub element_size: usize,
    /// All elements, row by row.
    pub elements: Vec<u8>,
    /// One element that stands for what was never written.
    pub fill: Vec<u8>,
    /// The bytes of the file.
    pub file: Vec<u8>,
    /// Where in it the elements are.
    pub placement: Placement,
    /// Number of chunk look-ups so far, for chunked arrays.
    pub lookups: Arc<AtomicU64>,
    number: FileNumber,
}

/// Chunks in a map.
struct MapIndex {
    places: HashMap<Vec<u64>, ChunkPlace>,
    lookups: Arc<AtomicU64>,
}

impl ChunkIndex for MapIndex {
    fn locate(&self, coordinates: &[u64]) -> Result<Option<ChunkPlace>> {
        self.lookups.fetch_add(1, SeqCst);
        Ok(self.places.get(coordinates).copied())
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u64], ChunkPlace) -> Result<()>) -> Result<()> {
        self.places.iter().try_for_each(|(coordinates, place)| visit(coordinates, *place))
    }
}

impl StoredArray {
    /// An array of elements that are all different as far as their size allows. Nothing is stored.
    pub fn new(shape: &[u64], element_size: usize) -> Self {
        let count = shape::element_count(shape).unwrap_or(0);
        let number = |index: u64| (index.wrapping_mul(0x9e37_79b9) ^ index >> 3).to_le_bytes();
        let elements = (0..count)
            .flat_map(|index| number(index).into_iter().cycle().take(element_size))
            .collect();
        Self {
            shape: shape.to_vec(),
            element_size,
            elements,
            fill: (1..=element_size as u8).map(|byte| byte | 0x80).collect(),
            file: Vec::new(),
            placement: Placement::Unallocated,
            lookups: Arc::default(),
            number: FileNumber::new(),
        }
    }

    /// Stored row by row after `before` other bytes; along the first axis, `gap` other bytes stand
    /// behind each index (as records of other variables do).
    #[must_use]
    pub fn strided(mut self, before: usize, gap: usize) -> Self {
        let strides = shape::row_major_strides(&self.shape).unwrap_or_default();
        let mut strides: Vec<u64> =
            strides.iter().map(|stride| stride * self.element_size as u64).collect();
        let row = strides.first().map_or(self.elements.len(), |stride| *stride as usize).max(1);
        self.file = vec![0xee; before];
        for record in self.elements.chunks(row) {
            self.file.extend_from_slice(record);
            self.file.resize(self.file.len() + gap, 0xee);
        }
        if let Some(first) = strides.first_mut() {
            *first += gap as u64;
        }
        let beyond_end = BeyondEnd::Error;
        self.placement =
            Placement::Strided { address: before as u64, strides_bytes: strides, beyond_end };
        self
    }

    /// Stored in the object header.
    #[must_use]
    pub fn inline(mut self) -> Self {
        self.placement = Placement::Inline(self.elements.clone().into());
        self
    }

    /// Stored in chunks, deflated after a shuffle where `filtered`. Every `missing`-th chunk was
    /// never written (none where that is 0): its elements are fill.
    #[must_use]
    pub fn chunked(mut self, chunk_shape: &[u64], filtered: bool, missing: usize) -> Self {
        let grid: Vec<u64> =
            self.shape.iter().zip(chunk_shape).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
        let mut places = HashMap::new();
        self.file = vec![0xee; 16];
        for (index, coordinates) in positions(&grid).enumerate() {
            if missing > 0 && index % missing == missing - 1 {
                self.put_fill(&coordinates, chunk_shape);
                continue;
            }
            let chunk = self.chunk(&coordinates, chunk_shape);
            let stored = if filtered { self.filter(&chunk) } else { chunk };
            let address = self.file.len() as u64;
            let stored_bytes = stored.len() as u64;
            self.file.extend_from_slice(&stored);
            places.insert(coordinates, ChunkPlace { address, stored_bytes, filter_mask: 0 });
        }
        let filter =
            |id, parameter| Filter { id, name: None, optional: false, parameters: vec![parameter] };
        let filters = if filtered {
            vec![filter(2, self.element_size as u32), filter(1, 1)]
        } else {
            Vec::new()
        };
        self.placement = Placement::Chunked(Chunked {
            chunk_shape: chunk_shape.to_vec(),
            index: Arc::new(MapIndex { places, lookups: Arc::clone(&self.lookups) }),
            pipeline: Arc::new(Pipeline { filters }),
            edge_chunks_unfiltered: false,
            decoded: DecodeCount::default(),
        });
        self
    }

    /// The array over `storage`, which holds [`Self::file`] (or fails to), seen with `shape`.
    pub fn array(&self, storage: Arc<dyn Storage>, shape: &[u64]) -> Array {
        let layout = ArrayLayout {
            id: ArrayId { file: self.number.get(), address: 0 },
            file: "made up".into(),
            path: "/x".into(),
            storage,
            shape: self.shape.clone(),
            element_size: self.element_size,
            fill: self.fill.clone().into(),
            fill_beyond: None,
            placement: self.placement.clone(),
        };
        let stored = StoredType::Bytes { size: self.element_size, reversed: false };
        let (rules, live) = (Rules::NETCDF4, Live::default());
        Array { layout, shape: shape.to_vec(), stored, heap: None, rules, live }
    }

    fn filter(&self, chunk: &[u8]) -> Vec<u8> {
        use std::io::Write;
        let count = chunk.len() / self.element_size;
        let shuffled: Vec<u8> = (0..self.element_size)
            .flat_map(|byte| (0..count).map(move |at| chunk[at * self.element_size + byte]))
            .collect();
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&shuffled).and_then(|()| encoder.finish()).unwrap_or_default()
    }

    /// The chunk's elements; 0xdd where it reaches over the array's edge.
    fn chunk(&self, coordinates: &[u64], chunk_shape: &[u64]) -> Vec<u8> {
        let mut chunk = Vec::new();
        for within in positions(chunk_shape) {
            match self.element_range(&global(coordinates, chunk_shape, &within)) {
                Some(range) => chunk.extend_from_slice(&self.elements[range]),
                None => chunk.resize(chunk.len() + self.element_size, 0xdd),
            }
        }
        chunk
    }

    fn put_fill(&mut self, coordinates: &[u64], chunk_shape: &[u64]) {
        for within in positions(chunk_shape) {
            if let Some(range) = self.element_range(&global(coordinates, chunk_shape, &within)) {
                self.elements[range].copy_from_slice(&self.fill);
            }
        }
    }

    fn element_range(&self, position: &[u64]) -> Option<std::ops::Range<usize>> {
        let mut index = 0;
        for (at, len) in position.iter().zip(&self.shape) {
            if at >= len {
                return None;
            }
            index = index * len + at;
        }
        let start = index as usize * self.element_size;
        Some(start..start + self.element_size)
    }
}

fn global(coordinates: &[u64], chunk_shape: &[u64], within: &[u64]) -> Vec<u64> {
    let axes = coordinates.iter().zip(chunk_shape).zip(within);
    axes.map(|((at, len), within)| at * len + within).collect()
}

/// All positions of an array of this shape, row by row.
fn positions(shape: &[u64]) -> impl Iterator<Item = Vec<u64>> + use<> {
    let shape = shape.to_vec();
    (0..shape::element_count(&shape).unwrap_or(0)).map(move |mut index| {
        let mut position = vec![0; shape.len()];
        for (at, len) in position.iter_mut().zip(&shape).rev() {
            (*at, index) = (index % len, index / len);
        }
        position
    })
}

/// What reading `selection` must give: element by element, fill beyond the stored extent.
pub fn naive_read(array: &StoredArray, selection: &Selection) -> Vec<u8> {
    let mut bytes = Vec::new();
    for result in positions(&selection.shape()) {
        let axes = selection.axes.iter().zip(&result);
        let position: Vec<u64> =
            axes.map(|(axis, index)| axis.get(*index).unwrap_or(u64::MAX)).collect();
        match array.element_range(&position) {
            Some(range) => bytes.extend_from_slice(&array.elements[range]),
            None => bytes.extend_from_slice(&array.fill),
        }
    }
    bytes
}
