//! Parameters as users give them to parameters as files hold them.
//!
//! Some filters want to know what they are applied to: the size of an element, its type, the
//! chunk's shape, the fill value. Users do not say these; libhdf5 and its plugins add them when a
//! data set is created ("set local"), and so does [`Filter::complete`].

use crate::error::{ErrorKind, Result};
use crate::filter::{Encoder, encoder};
use crate::pipeline::Filter;
use crate::registry;

/// What filters are told of the chunks they are applied to.
#[derive(Debug, Clone, Copy)]
pub struct ChunkType<'a> {
    /// The type of the elements, as they lie in the file.
    pub element: &'a Element,
    /// The same as HDF5's datatype message has it, for filters from elsewhere.
    pub datatype: &'a [u8],
    /// Elements along each axis.
    pub shape: &'a [u64],
    /// The fill value, as it lies in the file; `None` where it is undefined.
    pub fill: Option<&'a [u8]>,
}

/// The type of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Element {
    /// An integer or a floating-point number.
    Number(Number),
    /// So many of another type.
    Array { base: Box<Element>, count: u32 },
    /// Members with their offsets in bytes.
    Compound { size: u32, members: Vec<(u32, Element)> },
    /// Bytes of some other meaning.
    Other { size: u32 },
}

/// A number's place in its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// In bytes.
    pub size: u32,
    /// Which kind of number.
    pub class: NumberClass,
    /// True where the most significant byte comes first.
    pub big_endian: bool,
    /// Significant bits.
    pub precision: u32,
    /// Bits below them.
    pub offset: u32,
}

/// Kinds of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberClass {
    /// Whole numbers without a sign.
    Unsigned,
    /// Whole numbers with a sign.
    Signed,
    /// Floating-point numbers.
    Float,
}

impl Number {
    /// A number all of whose bits are significant.
    pub fn whole(size: u32, class: NumberClass, big_endian: bool) -> Self {
        Self { size, class, big_endian, precision: size.saturating_mul(8), offset: 0 }
    }
}

impl Element {
    /// In bytes.
    pub fn size(&self) -> u32 {
        match self {
            Self::Number(number) => number.size,
            Self::Array { base, count } => base.size().saturating_mul(*count),
            Self::Compound { size, .. } | Self::Other { size } => *size,
        }
    }
}

impl ChunkType<'_> {
    /// The number of elements, as parameters hold it.
    fn elements(&self) -> Result<u32, ErrorKind> {
        let product = self.shape.iter().try_fold(1_u64, |product, &len| product.checked_mul(len));
        let elements = product.unwrap_or(u64::MAX);
        u32::try_from(elements).map_err(|_| too_large("elements in a chunk", elements))
    }

    fn bytes(&self) -> Result<u32, ErrorKind> {
        let bytes = u64::from(self.elements()?) * u64::from(self.element.size());
        u32::try_from(bytes).map_err(|_| too_large("bytes in a chunk", bytes))
    }

    fn number(&self, what: &'static str) -> Result<&Number, ErrorKind> {
        match self.element {
            Element::Number(number) => Ok(number),
            other => Err(too_large(what, other.size().into())),
        }
    }
}

fn too_large(what: &'static str, value: u64) -> ErrorKind {
    ErrorKind::Unsupported { what, value }
}

impl Filter {
    /// Holds the parameters that users give against what the filter knows.
    ///
    /// # Errors
    /// A level, a block or a coder that there is not.
    pub fn check(&self) -> Result<()> {
        let is_known = |index: usize, value: u32| match (self.id, index) {
            (registry::DEFLATE, 0) | (registry::BLOSC | registry::BLOSC2, 4) => value <= 9,
            (registry::SZIP, 1) => (2..=32).contains(&value) && value.is_multiple_of(2),
            (registry::BZIP2, 0) => (1..=9).contains(&value),
            (registry::ZSTD, 0) => (-131_072..=22).contains(&value.cast_signed()),
            (registry::BLOSC, 5) => value <= 2,
            (registry::BLOSC, 6) => value <= 5,
            // The fourth of its filters cuts off all digits.
            (registry::BLOSC2, 5) => value <= 3,
            (registry::BLOSC2, 6) => matches!(value, 0..=2 | 4..=5),
            _ => true,
        };
        let mut given = self.parameters.iter().copied().enumerate();
        match given.find(|&(index, value)| !is_known(index, value)) {
            Some((index, value)) => Err(self.error(ErrorKind::Parameter { index, value })),
            None => Ok(()),
        }
    }

    /// The filter with the parameters that a file holds for chunks of the type `chunk`, made of
    /// those that users give. Filters that need nothing of the kind stay as they are; those from elsewhere
    /// bring their names.
    ///
    /// # Errors
    /// The filter cannot be applied to such chunks, or lacks a parameter.
    pub fn complete(mut self, chunk: &ChunkType<'_>) -> Result<Self> {
        let given = &self.parameters;
        let completed = match self.id {
            registry::SHUFFLE => Ok(vec![chunk.element.size()]),
            registry::SZIP => szip(given, chunk),
            registry::NBIT => nbit(chunk),
            registry::SCALE_OFFSET => scale_offset(given, chunk),
            registry::LZF => lzf(chunk),
            registry::BLOSC => blosc(given, chunk),
            registry::BLOSC2 => blosc2(given, chunk),
            registry::BITSHUFFLE => Ok(bitshuffle(given, chunk)),
            id => match encoder(id) {
                Some(Encoder::Foreign(encoder)) => {
                    let completed = encoder.complete(given, chunk);
                    if let Some(name) = encoder.name() {
                        self.name = Some(name.to_owned());
                    }
                    completed
                }
                _ => return Ok(self),
            },
        };
        match completed {
            Ok(parameters) => Ok(Self { parameters, ..self }),
            Err(kind) => Err(self.error(kind)),
        }
    }
}

fn get(given: &[u32], index: usize) -> Result<u32, ErrorKind> {
    given.get(index).copied().ok_or(ErrorKind::MissingParameter { index })
}

/// Given: options, pixels in a block. Completed: options, these, bits of a pixel, pixels in a scan
/// line.
fn szip(given: &[u32], chunk: &ChunkType<'_>) -> Result<Vec<u32>, ErrorKind> {
    /// Options: longer codes are allowed, the other coder of old is not meant, byte orders, no
    /// header.
    const ALLOW_K13: u32 = 1;
    const CHIP: u32 = 2;
    const LSB: u32 = 8;
    const MSB: u32 = 16;
    const RAW: u32 = 128;
    /// Scan lines have at most so many blocks.
    const MAX_BLOCKS: u32 = 128;
    const MAX_PIXELS_PER_BLOCK: u32 = 32;

    let (options, block) = (get(given, 0)?, get(given, 1)?);
    let number = chunk.number("szip of no numbers, of bytes")?;
    if block == 0 || block > MAX_PIXELS_PER_BLOCK || block % 2 == 1 {
        return Err(ErrorKind::Parameter { index: 1, value: block });
    }
    let significant =
        if number.offset == 0 { number.precision } else { number.size.saturating_mul(8) };
    let bits = match significant {
        bits @ 1..=24 => bits,
        25..=32 => 32,
        33..=64 => 64,
        bits => return Err(too_large("szip of numbers of bits", bits.into())),
    };
    let last = chunk.shape.last().copied().unwrap_or(1);
    let line = if last < block.into() { chunk.elements()?.into() } else { last };
    if line < block.into() {
        return Err(ErrorKind::Parameter { index: 1, value: block });
    }
    let line = line.min((block * MAX_BLOCKS).into()) as u32;
    let order = if number.big_endian { MSB } else { LSB };
    let options = options & !(CHIP | LSB | MSB) | ALLOW_K13 | RAW | order;
    Ok(vec![options, block, bits, line])
}

/// Given: nothing. Completed: as [`crate::filter::nbit`] describes.
fn nbit(chunk: &ChunkType<'_>) -> Result<Vec<u32>, ErrorKind> {
    let mut parameters = vec![0, 0, chunk.elements()?];
    let gains = push_nbit_type(chunk.element, &mut parameters);
    parameters[0] = parameters.len() as u32;
    parameters[1] = u32::from(!gains);
    Ok(parameters)
}

/// True where some bits are not significant.
fn push_nbit_type(element: &Element, to: &mut Vec<u32>) -> bool {
    match element {
        Element::Number(number) => {
            let Number { size, precision, offset, .. } = *number;
            to.extend([1, size, number.big_endian.into(), precision, offset]);
            offset != 0 || precision != size.saturating_mul(8)
        }
        Element::Array { base, .. } => {
            to.extend([2, element.size()]);
            push_nbit_type(base, to)
        }
        Element::Compound { size, members } => {
            to.extend([3, *size, members.len() as u32]);
            let mut gains = false;
            for (offset, member) in members {
                to.push(*offset);
                gains |= push_nbit_type(member, to);
            }
            gains
        }
        Element::Other { size } => {
            to.extend([4, *size]);
            false
        }
    }
}

/// Given: scale type (0 decimal, 2 whole numbers), scale factor. Completed: these, elements, class
/// (0 whole, 1 floating), size, sign, byte order, whether there is a fill value, that in 12 words.
fn scale_offset(given: &[u32], chunk: &ChunkType<'_>) -> Result<Vec<u32>, ErrorKind> {
    const LEN: usize = 20;
    let number = chunk.number("scale-offset of no numbers, of bytes")?;
    let float = number.class == NumberClass::Float;
    let signed = number.class == NumberClass::Signed;
    let mut parameters = vec![
        get(given, 0)?,
        get(given, 1)?,
        chunk.elements()?,
        float.into(),
        number.size,
        signed.into(),
        number.big_endian.into(),
        chunk.fill.is_some().into(),
    ];
    let mut fill = chunk.fill.unwrap_or_default().to_vec();
    if number.big_endian {
        fill.reverse();
    }
    for word in fill.chunks(4) {
        let mut bytes = [0; 4];
        bytes[..word.len()].copy_from_slice(word);
        parameters.push(u32::from_le_bytes(bytes));
    }
    parameters.resize(LEN, 0);
    Ok(parameters)
}

/// Given: nothing. Completed: versions of the filter and the library, bytes in a chunk.
fn lzf(chunk: &ChunkType<'_>) -> Result<Vec<u32>, ErrorKind> {
    Ok(vec![4, 0x0105, chunk.bytes()?])
}

/// Given: four places, then as they are. Completed: versions of the filter and the format, bytes of
/// an element and of a chunk in those.
fn blosc(given: &[u32], chunk: &ChunkType<'_>) -> Result<Vec<u32>, ErrorKind> {
    const MAX_ELEMENT_SIZE: u32 = 255;
    let size = match scalar_size(chunk.element) {
        size @ 0..=MAX_ELEMENT_SIZE => size,
        _ => 1,
    };
    let mut parameters = vec![2, 2, size, chunk.bytes()?];
    parameters.extend(given.iter().skip(4));
    Ok(parameters)
}

/// Given: four places, then level, filter, codec. Completed: the filter's version, nothing, bytes of an
/// element and of a chunk in those places, behind all the shape of chunks of several dimensions.
fn blosc2(given: &[u32], chunk: &ChunkType<'_>) -> Result<Vec<u32>, ErrorKind> {
    /// Arrays of Blosc 2 have at most so many dimensions.
    const MAX_RANK: usize = 16;
    const DEFAULTS: [u32; 3] = [5, 1, 0];
    let mut parameters = vec![1, 0, scalar_size(chunk.element), chunk.bytes()?];
    let value = |(index, &default)| given.get(4 + index).copied().unwrap_or(default);
    parameters.extend(DEFAULTS.iter().enumerate().map(value));
    let rank = chunk.shape.len();
    if (2..=MAX_RANK).contains(&rank) {
        parameters.push(rank as u32);
        // The product is a `u32`, and no factor 0.
        parameters.extend(chunk.shape.iter().map(|&len| len as u32));
    }
    Ok(parameters)
}

/// Bytes of an element, in an array of one of its elements.
fn scalar_size(element: &Element) -> u32 {
    match element {
        Element::Array { base, .. } => base.size(),
        other => other.size(),
    }
}

/// Given: elements in a block, codec, level. Completed: the filter's version in two parts, bytes of
/// an element, then these.
fn bitshuffle(given: &[u32], chunk: &ChunkType<'_>) -> Vec<u32> {
    let mut parameters = vec![0, 4, chunk.element.size()];
    parameters.extend(given);
    parameters
}
