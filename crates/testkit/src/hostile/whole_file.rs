//! A whole file: opened, everything in it listed, everything read, from storages of several costs.

use std::collections::HashSet;
use std::sync::Arc;

use isotach::hdf5::{self, Object};
use isotach::model::{Axis, Selection, Values};
use isotach::read::Array;
use isotach::storage::{Memory, Storage};
use isotach::{AllowExternal, ErrorKind, Group, OpenOptions, Result, Variable};
use isotach_format::ErrorKind as FormatErrorKind;

use super::sparse::replace;
use crate::CountingStorage;

/// Wrong checksums that are put right in one file.
const SEALS: usize = 6;
/// Groups, variables and objects that are looked at, together.
const OBJECTS: usize = 400;
/// Elements of one request.
const ELEMENTS: u64 = 1 << 12;
/// Bytes of one element, beyond which it is not asked for: what is asked for may be allocated.
const ELEMENT_BYTES: u64 = 1 << 16;

/// What calls cost: as a local file's, and as an object store's. Other reads are made for each.
const CALL_COSTS: [u64; 2] = [16 << 10, 512 << 10];

/// A file from its first byte, whose references to other files are not followed. Where the bytes
/// come from makes no difference.
///
/// # Panics
/// Where one of the promises that every reader relies on is broken.
pub fn open_and_read(data: &[u8]) {
    let mut bytes = data.to_vec();
    let mut walk = Walk::over(Arc::new(Memory::new(bytes.clone())));
    for _ in 0..SEALS {
        let Some((stored, computed)) = walk.wrong_checksum else { break };
        if !replace(&mut bytes, stored, computed) {
            break;
        }
        walk = Walk::over(Arc::new(Memory::new(bytes.clone())));
    }
    for cost in CALL_COSTS {
        let storage = Arc::new(CountingStorage::new(bytes.clone(), cost));
        walk.assert_same(&Walk::over(storage), cost);
    }
}

#[derive(Default)]
struct Walk {
    objects_left: usize,
    /// Addresses of HDF5 objects that have been seen: the links of a file may go in circles.
    seen: HashSet<u64>,
    /// The first wrong checksum: the stored one, and the right one.
    wrong_checksum: Option<(u32, u32)>,
    /// What arrays gave, or why they did not.
    values: Vec<std::result::Result<Values, String>>,
}

impl Walk {
    fn over(storage: Arc<dyn Storage>) -> Self {
        let mut walk = Self { objects_left: OBJECTS, ..Self::default() };
        let options =
            OpenOptions { allow_external: Some(AllowExternal::No), ..OpenOptions::default() };
        if let Some(file) = walk.note(options.open_storage("fuzzed", storage)) {
            walk.note(file.format());
            walk.group(&file.root());
            if let Some(objects) = file.hdf5() {
                walk.hdf5_group(objects.root());
            }
        }
        walk
    }

    fn assert_same(&self, other: &Self, cost: u64) {
        assert_eq!(self.values.len(), other.values.len(), "arrays read where a call costs {cost}");
        for (ours, theirs) in self.values.iter().zip(&other.values) {
            let same = match (ours, theirs) {
                // What is no number is not equal to itself, and is written the same.
                (Ok(ours), Ok(theirs)) => {
                    ours == theirs || format!("{ours:?}") == format!("{theirs:?}")
                }
                (Err(_), Err(_)) => true,
                _ => false,
            };
            assert!(same, "{ours:?} is {theirs:?} where a call costs {cost}");
        }
    }

    /// The value of a result; of an error what is said about it, and a wrong checksum kept.
    fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        let error = match result {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        assert!(!error.to_string().is_empty());
        if let ErrorKind::Structure(source) = &error.kind {
            assert!(!source.is_need_more(), "an open question was given to the caller: {error}");
            if let FormatErrorKind::Checksum { stored, computed } = source.kind {
                self.wrong_checksum.get_or_insert((stored, computed));
            }
        }
        None
    }

    fn group(&mut self, group: &Group) {
        if self.objects_left == 0 {
            return;
        }
        self.objects_left -= 1;
        for dimension in self.note(group.dimensions()).iter().flat_map(|all| all.iter()) {
            let found = group.find_dimension(dimension.name()).expect("dimensions were listed");
            assert!(found.is_some(), "{} is listed and not found", dimension.path());
        }
        self.note(group.types());
        self.attributes(group.attributes());
        for name in ["_NCProperties", "_IsNetcdf4", "title"] {
            self.note(group.attribute(name));
        }
        for left_out in self.note(group.left_out()).iter().flat_map(|all| all.iter()) {
            self.note::<()>(Err(left_out.reason.clone()));
        }
        for name in self.note(group.variable_names()).iter().flat_map(|all| all.iter()) {
            if let Some(Some(variable)) = self.note(group.variable(name)) {
                assert_eq!(variable.name(), &**name);
                self.variable(&variable);
            }
        }
        for name in self.note(group.group_names()).iter().flat_map(|all| all.iter()) {
            if let Some(Some(group)) = self.note(group.group(name)) {
                self.group(&group);
            }
        }
    }

    fn attributes(&mut self, attributes: Result<Arc<[isotach::Attribute]>>) {
        for attribute in self.note(attributes).iter().flat_map(|all| all.iter()) {
            self.note(attribute.values());
        }
    }

    fn variable(&mut self, variable: &Variable) {
        if self.objects_left == 0 {
            return;
        }
        self.objects_left -= 1;
        self.attributes(variable.attributes());
        self.note(variable.storage());
        self.note(variable.fill_value());
        let shape = self.note(variable.shape());
        if let Some(array) = self.note(variable.array()) {
            assert!(shape.is_none_or(|shape| shape == array.shape), "{}", variable.path());
            self.array(&array);
        }
    }

    /// Elements from the start, from the end backwards, and one of each step, again and again.
    fn array(&mut self, array: &Array) {
        let element_bytes = array.stored.size() as u64;
        if element_bytes > ELEMENT_BYTES {
            return;
        }
        let most = ELEMENTS.min((1 << 20) / element_bytes.max(1));
        let series = series(&array.shape, most);
        let selections = [
            clipped(&array.shape, most, 1),
            clipped(&array.shape, most / 8 + 1, -3),
            series.clone(),
            series.clone(),
            series,
        ];
        for selection in selections {
            let count = selection.element_count().expect("the selection was bounded");
            let read = array.read(&selection);
            if let Ok(values) = &read {
                assert_eq!(values.len() as u64, count, "{selection} of {array:?}");
            }
            self.values.push(read.clone().map_err(|error| error.to_string()));
            self.note(read);
        }
    }

    fn hdf5_group(&mut self, group: &hdf5::Group) {
        for error in self.note(group.link_errors()).iter().flat_map(|all| all.iter()) {
            self.note::<()>(Err(error.clone()));
        }
        self.note(group.links_by_creation_order());
        for link in self.note(group.links()).iter().flat_map(|all| all.iter()) {
            let found = self.note(group.link_by_bytes(link.name_bytes()));
            assert!(found.is_none_or(|found| found.is_some()), "{} is not found", link.name());
            if let Some(object) = self.note(group.resolve(link)) {
                self.hdf5_object(&object);
            }
        }
    }

    fn hdf5_object(&mut self, object: &Object) {
        if self.objects_left == 0 || !self.seen.insert(object.address()) {
            return;
        }
        self.objects_left -= 1;
        if let Some(node) = object.node()
            && let Some(attributes) = self.note(node.attributes()).cloned()
        {
            for error in attributes.errors.iter() {
                self.note::<()>(Err(error.clone()));
            }
            for attribute in attributes.iter() {
                self.note(attribute.values());
            }
        }
        match object {
            Object::Group(group) => self.hdf5_group(group),
            Object::Dataset(dataset) => self.dataset(dataset),
            _ => {}
        }
    }

    fn dataset(&mut self, dataset: &hdf5::Dataset) {
        self.note(dataset.datatype().map(|datatype| datatype.describe()));
        self.note(dataset.dataspace().map(|_| ()));
        self.note(dataset.fill());
        self.note(dataset.filters().map(|_| ()));
        self.note(dataset.external_files());
        self.note(dataset.virtual_sources());
        self.note(dataset.storage_size());
        if let Some(array) = self.note(dataset.array()).cloned() {
            self.array(&array);
        }
    }
}

/// The middle one of each step along the outermost axis, at most `most` of them.
fn series(shape: &[u64], most: u64) -> Selection {
    let steps = shape.first().map(|&len| Axis::range(0, len.min(most.max(1)), 1));
    let middle = |&len: &u64| Axis::range(len / 2, len.min(1), 1);
    Selection { axes: steps.into_iter().chain(shape.iter().skip(1).map(middle)).collect() }
}

/// At most `most` elements of an array: along each axis from its start, or with a negative stride
/// from its end.
pub(super) fn clipped(shape: &[u64], most: u64, stride: i64) -> Selection {
    let mut left = most.max(1);
    let mut axes: Vec<Axis> = Vec::with_capacity(shape.len());
    for &len in shape.iter().rev() {
        let step = stride.unsigned_abs();
        let count = len.div_ceil(step).min(left);
        left = (left / count.max(1)).max(1);
        let start = if stride < 0 { len.saturating_sub(1) } else { 0 };
        axes.push(Axis::range(start, count, stride));
    }
    axes.reverse();
    Selection { axes }
}
