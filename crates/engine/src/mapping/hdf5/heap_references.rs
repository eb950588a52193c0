//! Which collections of the global heap elements refer to, without looking at what is in them.

use isotach_format::hdf5::Sizes;
use isotach_format::hdf5::message::Datatype;
use isotach_format::hdf5::message::datatype::ReferenceKind;

/// The most references in an element that are followed.
const MOST_REFERENCES: usize = 1 << 16;
/// Bytes of the count in front of a sequence's address.
const COUNT_BYTES: usize = 4;

/// Where elements of a type have addresses of collections.
#[derive(Debug, Clone)]
pub(crate) struct HeapReferences {
    places: Vec<usize>,
    element_size: usize,
    address_bytes: usize,
}

impl HeapReferences {
    /// Those of elements of a type; `None` where what they refer to refers to more, or is written in
    /// a way that is not known.
    pub(crate) fn of(datatype: &Datatype, sizes: Sizes) -> Option<Self> {
        let mut places = Vec::new();
        find(datatype, 0, &mut places)?;
        let element_size = datatype.size().max(1) as usize;
        Some(Self { places, element_size, address_bytes: sizes.offset })
    }

    /// True where elements refer to nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The addresses of the collections that whole elements refer to, each as often as it occurs.
    pub(crate) fn collections<'a>(&'a self, elements: &'a [u8]) -> impl Iterator<Item = u64> + 'a {
        let elements = elements.chunks_exact(self.element_size);
        elements.flat_map(|element| self.places.iter().filter_map(|&at| self.address(element, at)))
    }

    fn address(&self, element: &[u8], at: usize) -> Option<u64> {
        let field = element.get(at..at + self.address_bytes)?;
        let is_nowhere = field.iter().all(|&byte| byte == 0xff);
        let address = field.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        (address != 0 && !is_nowhere).then_some(address)
    }
}

fn find(datatype: &Datatype, at: usize, places: &mut Vec<usize>) -> Option<()> {
    if !datatype.has_heap_data() {
        return Some(());
    }
    match datatype {
        Datatype::VariableString { .. } => places.push(at + COUNT_BYTES),
        Datatype::Sequence { base, .. } if !base.has_heap_data() => places.push(at + COUNT_BYTES),
        Datatype::Reference { kind: ReferenceKind::Region, .. } => places.push(at),
        Datatype::Compound { members, .. } => {
            for member in members.iter() {
                find(&member.datatype, at + member.offset as usize, places)?;
            }
        }
        Datatype::Array { base, size, .. } => {
            let base_size = base.size().max(1) as usize;
            for index in 0..*size as usize / base_size {
                find(base, at + index * base_size, places)?;
            }
        }
        _ => return None,
    }
    (places.len() <= MOST_REFERENCES).then_some(())
}
