//! One element as CDL.

use isotach::model::{DataType, Field, UserClass, UserType, Values};

use isotach_calendar::TimeUnits;

use super::number;
use super::printf::Format;
use super::text::{self, Place};
use super::time;

/// Significant digits of floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Digits {
    pub(super) float: usize,
    pub(super) double: usize,
}

impl Default for Digits {
    fn default() -> Self {
        Self { float: 7, double: 15 }
    }
}

/// How the elements of one variable are shown.
pub(super) struct Style {
    pub(super) digits: Digits,
    /// The attribute `C_format`.
    pub(super) format: Option<Format>,
    /// For `-t`.
    pub(super) time: Option<(TimeUnits, char)>,
    /// What is shown as `_`.
    pub(super) fill: Option<Values>,
}

impl Style {
    /// Appends the element at `index`.
    pub(super) fn push_element(
        &self,
        text: &mut Vec<u8>,
        values: &Values,
        index: usize,
        data_type: &DataType,
    ) {
        if self.fill.as_ref().is_some_and(|fill| same(fill, 0, values, index)) {
            return text.push(b'_');
        }
        if let Some((units, separator)) = &self.time
            && let Some(date) = time::shown(units, values, index, *separator)
        {
            return text.extend_from_slice(date.as_bytes());
        }
        if let Some(format) = &self.format
            && let Some(formatted) = formatted(format, values, index)
        {
            return text.extend_from_slice(formatted.as_bytes());
        }
        push_element(text, values, index, data_type, self.digits);
    }
}

fn formatted(format: &Format, values: &Values, index: usize) -> Option<String> {
    match values {
        Values::F32(numbers) => finite(f64::from(numbers[index])).and_then(|n| format.float(n)),
        Values::F64(numbers) => finite(numbers[index]).and_then(|n| format.float(n)),
        Values::Char(chars) => format.integer(i128::from(chars[index])),
        _ => format.integer(as_i128(values, index)?),
    }
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// The element at `index` without regard to its variable.
pub(super) fn push_element(
    text: &mut Vec<u8>,
    values: &Values,
    index: usize,
    data_type: &DataType,
    digits: Digits,
) {
    if let DataType::User(user) = data_type {
        return push_user(text, values, index, user, digits);
    }
    match values {
        Values::F32(numbers) => push_float(text, f64::from(numbers[index]), digits.float, "f"),
        Values::F64(numbers) => push_float(text, numbers[index], digits.double, ""),
        Values::Char(chars) => text.extend(text::quoted(&chars[index..=index], Place::Member)),
        Values::String(strings) => match &strings[index] {
            Some(string) => {
                text.extend(text::quoted(text::until_zero(string), Place::Element));
            }
            None => text.extend(b"NIL"),
        },
        Values::Bytes { size, bytes } => {
            push_hex(text, bytes.get(index * size..(index + 1) * size).unwrap_or_default());
        }
        // Shapes that only user-defined types have, in a type for which netCDF has no name.
        Values::Compound { members, .. } => push_list(text, members.len(), |text, at| {
            push_element(text, &members[at].1, index, data_type, digits);
        }),
        Values::Array { len, elements, .. } => push_list(text, *len, |text, at| {
            push_element(text, elements, index * len + at, data_type, digits);
        }),
        Values::Sequence(sequences) => push_list(text, sequences[index].len(), |text, at| {
            push_element(text, &sequences[index], at, data_type, digits);
        }),
        _ => {
            let Some(number) = as_i128(values, index) else { return };
            match i64::try_from(number) {
                Ok(number) => number::push_integer(text, number),
                Err(_) => text.extend_from_slice(number.to_string().as_bytes()),
            }
        }
    }
}

fn push_user(text: &mut Vec<u8>, values: &Values, index: usize, user: &UserType, digits: Digits) {
    match (&user.class, values) {
        (UserClass::Enum { members, .. }, _) => {
            let Some(value) = as_i128(values, index) else { return };
            text.extend(enum_name(members, value).bytes());
        }
        (UserClass::Compound(fields), Values::Compound { members, .. }) => {
            let count = fields.len().min(members.len());
            push_list(text, count, |text, at| {
                push_field(text, &members[at].1, index, &fields[at], digits);
            });
        }
        (UserClass::Vlen(base), Values::Sequence(sequences)) => {
            push_list(text, sequences[index].len(), |text, at| {
                push_element(text, &sequences[index], at, base, digits);
            });
        }
        // An opaque element, or one whose values came without the structure of their type.
        _ => match values {
            Values::Bytes { size, bytes } => {
                push_hex(text, bytes.get(index * size..(index + 1) * size).unwrap_or_default());
            }
            _ => {
                let plain = DataType::Atomic(isotach::model::Atomic::Byte);
                push_element(text, values, index, &plain, digits);
            }
        },
    }
}

/// The name of an enumeration's value; a value without a name stands as a number, except that
/// zero is `_UNDEFINED`.
pub(super) fn enum_name(members: &[(String, i128)], value: i128) -> String {
    let named = members.iter().find(|(_, member)| *member == value);
    match named {
        Some((name, _)) => name.clone(),
        None if value == 0 => "_UNDEFINED".to_owned(),
        None => value.to_string(),
    }
}

fn push_field(text: &mut Vec<u8>, column: &Values, index: usize, field: &Field, digits: Digits) {
    let Values::Array { len, elements, .. } = column else {
        return push_element(text, column, index, &field.data_type, digits);
    };
    let first = index * len;
    if let Values::Char(chars) = elements.as_ref() {
        let row_len = field.shape.last().copied().unwrap_or(*len).max(1);
        let chars = chars.get(first..first + len).unwrap_or_default();
        let rows: Vec<&[u8]> = chars.chunks(row_len).collect();
        return push_list(text, rows.len(), |text, at| {
            text.extend(text::quoted(rows[at], Place::Member));
        });
    }
    push_list(text, *len, |text, at| {
        push_element(text, elements, first + at, &field.data_type, digits);
    });
}

fn push_list(text: &mut Vec<u8>, count: usize, mut push: impl FnMut(&mut Vec<u8>, usize)) {
    text.push(b'{');
    for at in 0..count {
        if at > 0 {
            text.extend(b", ");
        }
        push(text, at);
    }
    text.push(b'}');
}

pub(super) fn push_hex(text: &mut Vec<u8>, bytes: &[u8]) {
    text.extend(b"0X");
    for byte in bytes {
        text.extend(format!("{byte:02X}").bytes());
    }
}

/// Appends a float; only words for what is no number have the suffix of its type.
fn push_float(text: &mut Vec<u8>, value: f64, digits: usize, suffix: &str) {
    let word = match () {
        () if value.is_finite() => return number::push_general(text, value, digits),
        () if value.is_nan() => "NaN",
        () if value < 0.0 => "-Infinity",
        () => "Infinity",
    };
    text.extend_from_slice(word.as_bytes());
    text.extend_from_slice(suffix.as_bytes());
}

/// The integer at `index`; `None` where it is none.
pub(super) fn as_i128(values: &Values, index: usize) -> Option<i128> {
    Some(match values {
        Values::I8(numbers) => numbers[index].into(),
        Values::U8(numbers) | Values::Char(numbers) => numbers[index].into(),
        Values::I16(numbers) => numbers[index].into(),
        Values::U16(numbers) => numbers[index].into(),
        Values::I32(numbers) => numbers[index].into(),
        Values::U32(numbers) => numbers[index].into(),
        Values::I64(numbers) => numbers[index].into(),
        Values::U64(numbers) => numbers[index].into(),
        _ => return None,
    })
}

/// The number at `index`; `None` where it is none.
pub(super) fn as_f64(values: &Values, index: usize) -> Option<f64> {
    match values {
        Values::F32(numbers) => Some(numbers[index].into()),
        Values::F64(numbers) => Some(numbers[index]),
        Values::Char(_) => None,
        _ => as_i128(values, index).map(|number| number as f64),
    }
}

/// Whether two elements of one type are the same: floats where they differ by no more than their
/// precision.
fn same(left: &Values, at_left: usize, right: &Values, at_right: usize) -> bool {
    match (left, right) {
        (Values::F32(left), Values::F32(right)) => {
            let (left, right) = (left[at_left], right[at_right]);
            let close = (left - right).abs() <= (f32::EPSILON * right).abs();
            same_float(left.into(), right.into(), close)
        }
        (Values::F64(left), Values::F64(right)) => {
            let (left, right) = (left[at_left], right[at_right]);
            let close = (left - right).abs() <= (f64::EPSILON * right).abs();
            same_float(left, right, close)
        }
        (Values::String(left), Values::String(right)) => match (&left[at_left], &right[at_right]) {
            (Some(left), Some(right)) => text::until_zero(left) == text::until_zero(right),
            (left, right) => left.is_none() && right.is_none(),
        },
        (Values::Bytes { size, bytes }, Values::Bytes { size: other_size, bytes: other }) => {
            let element = bytes.get(at_left * size..(at_left + 1) * size);
            element == other.get(at_right * other_size..(at_right + 1) * other_size)
        }
        (Values::Compound { members: left, .. }, Values::Compound { members: right, .. }) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|((_, l), (_, r))| same(l, at_left, r, at_right))
        }
        (
            Values::Array { len, elements: left, .. },
            Values::Array { len: other_len, elements: right, .. },
        ) => {
            len == other_len
                && (0..*len).all(|at| same(left, at_left * len + at, right, at_right * len + at))
        }
        (Values::Sequence(left), Values::Sequence(right)) => {
            let (left, right) = (&left[at_left], &right[at_right]);
            left.len() == right.len() && (0..left.len()).all(|at| same(left, at, right, at))
        }
        _ => match (as_i128(left, at_left), as_i128(right, at_right)) {
            (Some(left), Some(right)) => left == right,
            _ => false,
        },
    }
}

fn same_float(left: f64, right: f64, close: bool) -> bool {
    if (left > 0.0) != (right > 0.0) {
        return false;
    }
    if left.is_finite() && right.is_finite() {
        return close;
    }
    (left.is_nan() && right.is_nan()) || (left.is_infinite() && right.is_infinite())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use isotach::model::Atomic;

    use super::*;

    const DIGITS: Digits = Digits { float: 7, double: 15 };

    fn shown(values: &Values, data_type: &DataType) -> String {
        let mut text = Vec::new();
        push_element(&mut text, values, 0, data_type, DIGITS);
        String::from_utf8(text).unwrap()
    }

    fn user(class: UserClass) -> DataType {
        let (name, group) = ("t".to_owned(), "/".to_owned());
        DataType::User(Arc::new(UserType { name, group, size: 8, class }))
    }

    #[test]
    fn user_defined_elements() {
        let field = |data_type, shape| Field { name: "m".into(), offset: 0, data_type, shape };
        let compound = user(UserClass::Compound(vec![
            field(Atomic::Float.into(), vec![]),
            field(Atomic::Char.into(), vec![2, 2]),
            field(Atomic::Int.into(), vec![2]),
        ]));
        let array = |len, elements| Values::Array { len, count: 1, elements: Box::new(elements) };
        let members = vec![
            ("m".to_owned(), Values::F32(vec![0.5])),
            ("m".to_owned(), array(4, Values::Char(b"abc\0".to_vec()))),
            ("m".to_owned(), array(2, Values::I32(vec![1, -1]))),
        ];
        let values = Values::Compound { count: 1, members };
        assert_eq!(shown(&values, &compound), "{0.5, {\"ab\", \"c\"}, {1, -1}}");
        let opaque = Values::Bytes { size: 3, bytes: vec![1, 0xab, 255] };
        assert_eq!(shown(&opaque, &user(UserClass::Opaque)), "0X01ABFF");
        let members = vec![("red".to_owned(), 1)];
        let color = user(UserClass::Enum { base: Atomic::Byte, members });
        assert_eq!(shown(&Values::I8(vec![1]), &color), "red");
        assert_eq!(shown(&Values::I8(vec![0]), &color), "_UNDEFINED");
        let vlen = user(UserClass::Vlen(Atomic::Double.into()));
        let values = Values::Sequence(vec![Values::F64(vec![1.0, f64::NAN])]);
        assert_eq!(shown(&values, &vlen), "{1, NaN}");
    }

    #[test]
    fn fill_is_what_is_close_to_it() {
        let fill = Values::F32(vec![9.96921e36]);
        assert!(same(&fill, 0, &Values::F32(vec![9.969_21e36, 1.0]), 0));
        assert!(!same(&fill, 0, &Values::F32(vec![1.0]), 0));
        assert!(same(&Values::F64(vec![f64::NAN]), 0, &Values::F64(vec![f64::NAN]), 0));
        let infinite = [f64::INFINITY, f64::NEG_INFINITY];
        assert!(!same(&Values::F64(infinite.into()), 0, &Values::F64(infinite.into()), 1));
    }
}
