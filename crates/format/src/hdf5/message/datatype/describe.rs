//! A [`Datatype`] as one line of text, such as `compound{"a":f8le,"b":array[2,3](i2be)}`.

use super::{
    ByteOrder, CharacterSet, Datatype, FixedPoint, Float, Normalization, ReferenceKind,
    StringPadding,
};
use crate::hdf5::text::{json_string, push_format, text};

impl Datatype {
    /// The type in words.
    ///
    /// Numbers are a letter (`i`, `u`, `f`, `b` bit field, `t` time), bytes and byte order, with
    /// the layout in braces where it is not the usual one; names are JSON strings of ASCII.
    /// Offsets of members are left out.
    pub fn describe(&self) -> String {
        let mut out = String::new();
        self.push_description(&mut out);
        out
    }

    // Nesting is bounded when a type is decoded, so this recursion is.
    fn push_description(&self, out: &mut String) {
        match self {
            Self::FixedPoint(FixedPoint { size, byte_order, signed, bit_offset, precision }) => {
                let letter = if *signed { 'i' } else { 'u' };
                push_bits(out, letter, *size, *byte_order, *bit_offset, *precision);
            }
            Self::Float(float) => push_float(out, float),
            Self::Time { size, byte_order, precision } => {
                push_bits(out, 't', *size, *byte_order, 0, *precision);
            }
            Self::BitField { size, byte_order, bit_offset, precision } => {
                push_bits(out, 'b', *size, *byte_order, *bit_offset, *precision);
            }
            Self::String { size, padding, charset } => {
                push_format(out, format_args!("str[{size},{},{}]", padding.name(), charset.name()));
            }
            Self::VariableString { padding, charset, .. } => {
                push_format(out, format_args!("vstr[{},{}]", padding.name(), charset.name()));
            }
            Self::Opaque { size, tag } => {
                push_format(out, format_args!("opaque[{size},{}]", json_string(&text(tag))));
            }
            Self::Compound { .. } => self.push_compound(out),
            Self::Reference { kind, .. } => out.push_str(match kind {
                ReferenceKind::Object => "ref[object]",
                ReferenceKind::Region => "ref[region]",
                ReferenceKind::Standard(_) => "ref[std]",
            }),
            Self::Enumeration { .. } => self.push_enumeration(out),
            Self::Sequence { base, .. } => push_wrapped(out, "vlen", base),
            Self::Array { dimensions, base, .. } => {
                let lengths: Vec<String> = dimensions.iter().map(u32::to_string).collect();
                push_wrapped(out, &format!("array[{}]", lengths.join(",")), base);
            }
            Self::Complex { base, .. } => push_wrapped(out, "complex", base),
        }
    }

    fn push_compound(&self, out: &mut String) {
        let Self::Compound { members, .. } = self else { return };
        out.push_str("compound{");
        for (index, member) in members.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(&json_string(&text(&member.name)));
            out.push(':');
            member.datatype.push_description(out);
        }
        out.push('}');
    }

    fn push_enumeration(&self, out: &mut String) {
        let Self::Enumeration { base, members } = self else { return };
        push_wrapped(out, "enum", base);
        out.push('{');
        for (index, member) in members.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let name = json_string(&text(&member.name));
            push_format(out, format_args!("{comma}{name}={}", member.value));
        }
        out.push('}');
    }
}

fn push_wrapped(out: &mut String, wrapper: &str, base: &Datatype) {
    out.push_str(wrapper);
    out.push('(');
    base.push_description(out);
    out.push(')');
}

fn push_bits(
    out: &mut String,
    letter: char,
    size: u32,
    byte_order: ByteOrder,
    bit_offset: u16,
    precision: u16,
) {
    push_format(out, format_args!("{letter}{size}{}", byte_order.name()));
    if u64::from(precision) != u64::from(size) * 8 || bit_offset != 0 {
        push_format(out, format_args!("{{prec={precision},off={bit_offset}}}"));
    }
}

fn push_float(out: &mut String, float: &Float) {
    push_format(out, format_args!("f{}{}", float.size, float.byte_order.name()));
    if !float.is_ieee_layout() {
        push_format(
            out,
            format_args!(
                "{{prec={},off={},sign={},exp={}+{},mant={}+{},bias={}}}",
                float.precision,
                float.bit_offset,
                float.sign_location,
                float.exponent_location,
                float.exponent_size,
                float.mantissa_location,
                float.mantissa_size,
                float.exponent_bias
            ),
        );
    }
}

impl Float {
    /// True where the bits are cut as those of an IEEE half, single or double are. (Whether the
    /// number is one also depends on byte order and bias.)
    pub fn is_ieee_layout(&self) -> bool {
        let (sign, exponent, exponent_size, mantissa_size) = match self.size {
            2 => (15, 10, 5, 10),
            4 => (31, 23, 8, 23),
            8 => (63, 52, 11, 52),
            _ => return false,
        };
        self.sign_location == sign
            && self.exponent_location == exponent
            && self.exponent_size == exponent_size
            && self.mantissa_location == 0
            && self.mantissa_size == mantissa_size
            && u32::from(self.precision) == self.size * 8
            && self.bit_offset == 0
    }

    /// True where the number is an IEEE half, single or double in little or big byte order.
    pub fn is_ieee(&self) -> bool {
        self.is_ieee_layout()
            && self.byte_order != ByteOrder::Vax
            && self.normalization == Normalization::HighestBitImplied
            && u64::from(self.exponent_bias) == (1_u64 << (self.exponent_size - 1)) - 1
    }
}

impl ByteOrder {
    /// `le`, `be` or `vax`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Little => "le",
            Self::Big => "be",
            Self::Vax => "vax",
        }
    }
}

impl StringPadding {
    /// The padding in a word.
    pub fn name(self) -> String {
        match self {
            Self::NullTerminated => "nullterm".to_owned(),
            Self::NullPadded => "nullpad".to_owned(),
            Self::SpacePadded => "spacepad".to_owned(),
            Self::Reserved(number) => format!("pad{number}"),
        }
    }
}

impl CharacterSet {
    /// The character set in a word.
    pub fn name(self) -> String {
        match self {
            Self::Ascii => "ascii".to_owned(),
            Self::Utf8 => "utf8".to_owned(),
            Self::Reserved(number) => format!("cset{number}"),
        }
    }
}
