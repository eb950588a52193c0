//! Bringing flat elements to the machine's byte order where they stand.

use super::{FloatFormat, PartialFloat, PartialInt, StoredType};
use crate::byte_order;

/// What to do with the bytes of an element so that its numbers are in the machine's byte order and
/// use all their bits, and numbers without a Rust type have their lowest byte first. References
/// into heaps stay as they are, and so do small floats that become larger ([`StoredType::is_resized`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeOrder {
    element_size: usize,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// `count` numbers of `width` bytes, one after the other.
    Swap { offset: usize, width: usize, count: usize },
    /// A number that does not use all its bits.
    Unpack { offset: usize, number: Partial },
    /// `count` elements of `order`, one after the other.
    Each { offset: usize, count: usize, order: NativeOrder },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Partial {
    Int(PartialInt),
    Float(PartialFloat),
}

/// To this machine's numbers, or back to the stored ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    ToNative,
    ToStored,
}

impl Partial {
    fn size(&self) -> usize {
        match self {
            Self::Int(integer) => integer.size,
            Self::Float(float) => float.format.size,
        }
    }

    /// How many did not fit.
    fn bring(&self, bytes: &mut [u8], way: Way) -> u64 {
        match (self, way) {
            (Self::Int(integer), Way::ToNative) => integer.unpack(bytes),
            (Self::Float(float), Way::ToNative) => float.unpack_in_place(bytes),
            (Self::Int(integer), Way::ToStored) => return integer.pack(bytes),
            (Self::Float(float), Way::ToStored) => float.pack_in_place(bytes),
        }
        0
    }
}

impl StoredType {
    /// What is to be done with an element of this type.
    pub fn native_order(&self) -> NativeOrder {
        let mut order = NativeOrder { element_size: self.size(), steps: Vec::new() };
        order.collect(self, 0);
        order
    }
}

impl NativeOrder {
    /// True where nothing is to be done.
    pub fn is_native(&self) -> bool {
        self.steps.is_empty()
    }

    /// The width of the numbers where an element is nothing but numbers that are all reversed: a
    /// copy can then reverse on its way ([`byte_order::swap_copy`]).
    pub fn plain_width(&self) -> Option<usize> {
        match self.steps[..] {
            [Step::Swap { offset: 0, width, count }] if width * count == self.element_size => {
                Some(width)
            }
            _ => None,
        }
    }

    /// Does it to all whole elements of `bytes`.
    pub fn apply(&self, bytes: &mut [u8]) {
        self.bring(bytes, Way::ToNative);
    }

    /// Brings native elements back to how they are stored. Integers of more bits than those have become the
    /// nearest that has not, as libhdf5 has it; returns how many those were.
    pub fn undo(&self, bytes: &mut [u8]) -> u64 {
        self.bring(bytes, Way::ToStored)
    }

    fn bring(&self, bytes: &mut [u8], way: Way) -> u64 {
        if let Some(width) = self.plain_width() {
            let whole = bytes.len() - bytes.len() % self.element_size.max(1);
            byte_order::swap_in_place(&mut bytes[..whole], width);
            return 0;
        }
        if self.is_native() || self.element_size == 0 {
            return 0;
        }
        if let [Step::Unpack { offset: 0, number }] = self.steps[..]
            && number.size() == self.element_size
        {
            return number.bring(bytes, way);
        }
        let elements = bytes.chunks_exact_mut(self.element_size);
        let steps = |element: &mut [u8]| {
            self.steps.iter().map(|step| step.bring(element, way)).sum::<u64>()
        };
        elements.map(steps).sum()
    }

    fn collect(&mut self, stored: &StoredType, offset: usize) {
        let foreign = |big_endian: bool| big_endian != cfg!(target_endian = "big");
        match stored {
            StoredType::Int { size, big_endian }
            | StoredType::UInt { size, big_endian }
            | StoredType::Float { size, big_endian } => {
                self.push_swap(offset, *size, foreign(*big_endian));
            }
            StoredType::PartialInt(integer) => {
                self.steps.push(Step::Unpack { offset, number: Partial::Int(*integer) });
            }
            StoredType::PartialFloat(float) if float.format == FloatFormat::HALF => {
                self.push_swap(offset, float.format.size, foreign(float.big_endian));
            }
            StoredType::PartialFloat(float) if float.format.is_small() => {}
            StoredType::PartialFloat(float) => {
                self.steps.push(Step::Unpack { offset, number: Partial::Float(*float) });
            }
            StoredType::Bytes { size, reversed } => self.push_swap(offset, *size, *reversed),
            StoredType::Compound { members, .. } => {
                for member in members {
                    self.collect(&member.stored, offset.saturating_add(member.offset));
                }
            }
            StoredType::Array { len, base } => self.push_array(offset, *len, base.native_order()),
            StoredType::Char
            | StoredType::FixedString { .. }
            | StoredType::VarString { .. }
            | StoredType::Sequence { .. } => {}
        }
    }

    fn push_swap(&mut self, offset: usize, width: usize, swaps: bool) {
        if swaps && width > 1 {
            self.steps.push(Step::Swap { offset, width, count: 1 });
        }
    }

    fn push_array(&mut self, offset: usize, len: usize, order: NativeOrder) {
        if order.is_native() || len == 0 {
            return;
        }
        self.steps.push(match order.plain_width() {
            Some(width) => {
                let count = (order.element_size / width).saturating_mul(len);
                Step::Swap { offset, width, count }
            }
            None => Step::Each { offset, count: len, order },
        });
    }
}

impl Step {
    /// Does nothing where the step reaches beyond the element, as in a type that lies about
    /// its size; decoding refuses such a type.
    fn bring(&self, element: &mut [u8], way: Way) -> u64 {
        let (offset, len) = match self {
            Self::Swap { offset, width, count } => (*offset, width.saturating_mul(*count)),
            Self::Unpack { offset, number } => (*offset, number.size()),
            Self::Each { offset, count, order } => {
                (*offset, order.element_size.saturating_mul(*count))
            }
        };
        let end = offset.saturating_add(len);
        let Some(bytes) = element.get_mut(offset..end) else { return 0 };
        match self {
            Self::Swap { width, .. } => {
                byte_order::swap_in_place(bytes, *width);
                0
            }
            Self::Unpack { number, .. } => number.bring(bytes, way),
            Self::Each { order, .. } => order.bring(bytes, way),
        }
    }
}
