//! Filter 6, scale-offset: the differences from a chunk's least value, in as few bits as they need.
//!
//! ```text
//! 0   4  bits per element
//! 4   1  bytes of the least value (8)
//! 5  16  the least value, little-endian, its unused bytes zero
//! 21     the elements' bits, most significant first
//! ```
//! With a fill value, the number of all ones stands for it. Floating-point elements were multiplied
//! by a power of ten and rounded before ("D-scaling"); the least value is one of their own then.
//! Where the bits per element are all of an element's, the elements stand there little-endian.

use crate::bits::{BitReader, BitWriter};
use crate::error::ErrorKind;
use crate::uninit::{Output, reserve};

/// The parameters' places.
const SCALE_TYPE: usize = 0;
const SCALE_FACTOR: usize = 1;
const ELEMENTS: usize = 2;
const CLASS: usize = 3;
const SIZE: usize = 4;
const SIGNED: usize = 5;
const ORDER: usize = 6;
const HAS_FILL: usize = 7;
const FILL: usize = 8;

/// Scale types.
const FLOAT_DECIMAL: u32 = 0;
const INTEGER: u32 = 2;
/// Classes of elements.
const CLASS_INTEGER: u32 = 0;
const CLASS_FLOAT: u32 = 1;

/// Bytes in front of the elements.
const HEADER_LEN: usize = 21;

/// Restores the elements of a chunk.
pub(crate) fn decode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Output<'_>,
) -> Result<(), ErrorKind> {
    let layout = Layout::new(parameters)?;
    if layout.stored_as_is {
        return output.extend(input);
    }
    let header = Header::decode(input)?;
    let packed = &input[HEADER_LEN..];
    let element_bits = layout.size as u32 * 8;
    if header.bits > element_bits {
        return Err(ErrorKind::Corrupt { what: "more bits than an element has", at_byte: 0 });
    }
    if layout.elements as u64 * u64::from(header.bits) > packed.len() as u64 * 8 {
        return Err(ErrorKind::Corrupt { what: "the elements are cut off", at_byte: input.len() });
    }
    let len = layout.elements.checked_mul(layout.size).ok_or_else(|| output.overflow())?;
    let decoded = output.extend_zeroed(len)?;
    if header.bits == element_bits {
        decoded.copy_from_slice(&packed[..len]);
        if layout.big_endian {
            decoded.chunks_exact_mut(layout.size).for_each(<[u8]>::reverse);
        }
        return Ok(());
    }
    match layout.scale {
        Scale::None => {
            layout.unpack(&header, packed, decoded, |number| number.wrapping_add(header.least))
        }
        Scale::Float32 { decimals } => {
            let scale = 10_f32.powf(decimals as f32);
            let least = f32::from_bits(header.least as u32);
            let restore = |number| u64::from((number as i32 as f32 / scale + least).to_bits());
            layout.unpack(&header, packed, decoded, restore)
        }
        Scale::Float64 { decimals } => {
            let scale = 10_f64.powf(f64::from(decimals));
            let least = f64::from_bits(header.least);
            let restore = |number| (number as i64 as f64 / scale + least).to_bits();
            layout.unpack(&header, packed, decoded, restore)
        }
    }
}

/// Packs the elements of a chunk.
///
/// As in libhdf5, whole numbers lose what goes beyond the bits that the user asked for; and
/// floating-point numbers that are too far apart keep all of theirs. So do here any that are not
/// finite, unless they are the fill value.
pub(crate) fn encode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    let layout = Layout::new(parameters)?;
    reserve(output, HEADER_LEN + input.len() + 1)?;
    if layout.stored_as_is {
        output.extend_from_slice(input);
        return Ok(());
    }
    if layout.elements.checked_mul(layout.size) != Some(input.len()) {
        let expected_bytes = layout.elements.saturating_mul(layout.size);
        return Err(ErrorKind::Length { expected_bytes, decoded_bytes: input.len() });
    }
    match layout.scale {
        Scale::None => layout.pack_integers(parameters[SCALE_FACTOR], input, output),
        Scale::Float32 { decimals } => {
            let value = |bits| f64::from(f32::from_bits(bits as u32));
            let least_bits = |least| u64::from((least as f32).to_bits());
            layout.pack_floats(decimals, value, least_bits, input, output);
            Ok(())
        }
        Scale::Float64 { decimals } => {
            layout.pack_floats(decimals, f64::from_bits, f64::to_bits, input, output);
            Ok(())
        }
    }
}

/// What stands in front of a chunk's elements.
struct Header {
    /// Per element.
    bits: u32,
    /// The chunk's least value: a number, or the bits of one.
    least: u64,
}

impl Header {
    fn decode(input: &[u8]) -> Result<Self, ErrorKind> {
        let Some((header, _)) = input.split_first_chunk::<HEADER_LEN>() else {
            let what = "the header is cut off";
            return Err(ErrorKind::Corrupt { what, at_byte: input.len() });
        };
        let [b0, b1, b2, b3, least_len, least_bytes @ ..] = header;
        let mut least = [0; 8];
        let least_len = least.len().min(usize::from(*least_len));
        least[..least_len].copy_from_slice(&least_bytes[..least_len]);
        Ok(Self {
            bits: u32::from_le_bytes([*b0, *b1, *b2, *b3]),
            least: u64::from_le_bytes(least),
        })
    }

    fn encode(&self, output: &mut Vec<u8>) {
        let start = output.len();
        output.extend(self.bits.to_le_bytes());
        output.push(size_of_val(&self.least) as u8);
        output.extend(self.least.to_le_bytes());
        output.resize(start + HEADER_LEN, 0);
    }
}

/// How numbers were made of the elements.
enum Scale {
    /// Elements are whole numbers.
    None,
    Float32 {
        decimals: i32,
    },
    Float64 {
        decimals: i32,
    },
}

/// What the parameters say.
struct Layout {
    scale: Scale,
    elements: usize,
    /// Bytes of an element: 1, 2, 4 or 8.
    size: usize,
    signed: bool,
    big_endian: bool,
    /// The bits of the fill value.
    fill: Option<u64>,
    /// True where the user asked for all bits of whole numbers: then the filter does nothing.
    stored_as_is: bool,
}

impl Layout {
    fn new(parameters: &[u32]) -> Result<Self, ErrorKind> {
        let get =
            |index| parameters.get(index).copied().ok_or(ErrorKind::MissingParameter { index });
        let wrong = |index| Err(ErrorKind::Parameter { index, value: parameters[index] });
        let (scale_type, factor) = (get(SCALE_TYPE)?, get(SCALE_FACTOR)?);
        let (elements, class, size) = (get(ELEMENTS)?, get(CLASS)?, get(SIZE)?);
        let (order, has_fill) = (get(ORDER)?, get(HAS_FILL)?);
        let decimals = factor.cast_signed();
        let scale = match (class, scale_type, size) {
            (CLASS_INTEGER, INTEGER, 1 | 2 | 4 | 8) => Scale::None,
            (CLASS_FLOAT, FLOAT_DECIMAL, 4) => Scale::Float32 { decimals },
            (CLASS_FLOAT, FLOAT_DECIMAL, 8) => Scale::Float64 { decimals },
            (CLASS_INTEGER, INTEGER, _) | (CLASS_FLOAT, FLOAT_DECIMAL, _) => return wrong(SIZE),
            (CLASS_INTEGER | CLASS_FLOAT, _, _) => return wrong(SCALE_TYPE),
            _ => return wrong(CLASS),
        };
        let fill = match has_fill {
            0 => None,
            _ if size == 8 => Some(u64::from(get(FILL)?) | u64::from(get(FILL + 1)?) << 32),
            _ => Some(u64::from(get(FILL)?)),
        };
        Ok(Self {
            stored_as_is: matches!(scale, Scale::None) && factor == size * 8,
            scale,
            elements: elements as usize,
            size: size as usize,
            signed: parameters[SIGNED] == 1,
            big_endian: order == 1,
            fill,
        })
    }

    /// The bits of each element of `bytes`, as a number without a sign.
    fn bits_of<'b>(&self, bytes: &'b [u8]) -> impl Iterator<Item = u64> + use<'b> {
        let (size, big_endian) = (self.size, self.big_endian);
        bytes.chunks_exact(size).map(move |element| {
            let mut bits = [0; 8];
            bits[..size].copy_from_slice(element);
            if big_endian {
                bits[..size].reverse();
            }
            u64::from_le_bytes(bits)
        })
    }

    /// Writes whole numbers in `asked_bits` bits each; 0 asks for as many as they need.
    fn pack_integers(
        &self,
        asked_bits: u32,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(), ErrorKind> {
        let element_bits = self.size as u32 * 8;
        if asked_bits > element_bits {
            return Err(ErrorKind::Parameter { index: SCALE_FACTOR, value: asked_bits });
        }
        let value = |bits: u64| match self.signed {
            true => i128::from((bits << (64 - element_bits)).cast_signed() >> (64 - element_bits)),
            false => i128::from(bits),
        };
        let values = self.bits_of(input).filter(|&bits| Some(bits) != self.fill).map(value);
        let range = values.fold(None, |range: Option<(i128, i128)>, value| {
            Some(range.map_or((value, value), |(least, most)| (least.min(value), most.max(value))))
        });
        let (least, most) = range.unwrap_or((0, 0));
        let needed_bits = self.number_bits((most - least).cast_unsigned());
        let bits = if asked_bits > 0 { asked_bits } else { needed_bits };
        let header = Header { bits, least: least as u64 };
        self.pack(header, input, output, |bits| {
            (Some(bits) != self.fill).then(|| value(bits) - least)
        });
        Ok(())
    }

    /// Writes floating-point numbers as whole numbers of `10^-decimals`.
    fn pack_floats(
        &self,
        decimals: i32,
        value: impl Fn(u64) -> f64,
        least_bits: impl Fn(f64) -> u64,
        input: &[u8],
        output: &mut Vec<u8>,
    ) {
        let scale = 10_f64.powi(decimals);
        let fill = self.fill.map(&value);
        let is_fill =
            |value: f64| fill.is_some_and(|fill| value == fill || value.is_nan() && fill.is_nan());
        let values = self.bits_of(input).map(&value).filter(|&value| !is_fill(value));
        let (mut least, mut most, mut finite) = (f64::INFINITY, f64::NEG_INFINITY, true);
        for value in values {
            (least, most) = (least.min(value), most.max(value));
            finite &= value.is_finite();
        }
        if least > most {
            (least, most) = (0.0, 0.0);
        }
        let largest = ((most - least) * scale).round();
        // A number has a sign where it is restored.
        let limit = 2_f64.powi(self.size as i32 * 8 - 1);
        let bits = match finite && scale.is_finite() && largest < limit {
            true => self.number_bits(largest as u128),
            false => self.size as u32 * 8,
        };
        let header = Header { bits, least: least_bits(least) };
        self.pack(header, input, output, |bits| {
            let value = value(bits);
            (!is_fill(value)).then(|| ((value - least) * scale).round() as i128)
        });
    }

    /// The bits of numbers up to `largest`, and beside them of the one that stands for the fill
    /// value; at most those of an element.
    fn number_bits(&self, largest: u128) -> u32 {
        let last = largest + u128::from(self.fill.is_some());
        (128 - last.leading_zeros()).min(self.size as u32 * 8)
    }

    /// Writes `header`, then the number of each element, which is `None` for the fill value; or the
    /// elements themselves where numbers have as many bits.
    fn pack(
        &self,
        header: Header,
        input: &[u8],
        output: &mut Vec<u8>,
        number: impl Fn(u64) -> Option<i128>,
    ) {
        header.encode(output);
        if header.bits == self.size as u32 * 8 {
            let start = output.len();
            output.extend_from_slice(input);
            if self.big_endian {
                output[start..].chunks_exact_mut(self.size).for_each(<[u8]>::reverse);
            }
            return;
        }
        let mut bits = BitWriter::new(output);
        for element in self.bits_of(input) {
            bits.put(number(element).map_or(u64::MAX, |number| number as u64), header.bits);
        }
        // libhdf5 always has a byte behind the last whole one.
        bits.put(0, 8);
        bits.finish();
    }

    /// Takes a number per element from `packed` and writes what `restore` makes of it.
    fn unpack(
        &self,
        header: &Header,
        packed: &[u8],
        decoded: &mut [u8],
        restore: impl Fn(u64) -> u64,
    ) -> Result<(), ErrorKind> {
        // All ones, as many as an element has bits.
        let fill_number = (1_u64 << header.bits) - 1;
        let mut bits = BitReader::new(packed);
        for element in decoded.chunks_exact_mut(self.size) {
            let at_byte = HEADER_LEN + bits.at_byte();
            let cut_off = ErrorKind::Corrupt { what: "the elements are cut off", at_byte };
            let number = bits.take(header.bits).ok_or(cut_off)?;
            let value = match self.fill {
                Some(fill) if number == fill_number => fill,
                _ => restore(number),
            };
            if self.big_endian {
                element.copy_from_slice(&value.to_be_bytes()[8 - self.size..]);
            } else {
                element.copy_from_slice(&value.to_le_bytes()[..self.size]);
            }
        }
        Ok(())
    }
}
