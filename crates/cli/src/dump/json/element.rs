//! One element as JSON.

use isotach::model::{Atomic, DataType, Field, UserClass, UserType, Values};

use super::nested::Nested;
use super::string::push_string;
use crate::dump::number;
use crate::dump::text::until_zero;
use crate::dump::value::{Digits, as_i128, push_hex};

/// Larger doubles, rounded to fewer digits than they have, may be larger than any double.
const ROUNDED_TO_INFINITY: f64 = 1e308;
/// Digits that tell each double from the others.
const EXACT_DIGITS: usize = 17;

/// Appends the element at `index`.
pub(super) fn push_element(
    json: &mut Vec<u8>,
    values: &Values,
    index: usize,
    data_type: &DataType,
    digits: Digits,
) {
    if let DataType::User(user) = data_type {
        return push_user(json, values, index, user, digits);
    }
    match values {
        Values::F32(numbers) => push_float(json, numbers[index].into(), digits.float),
        Values::F64(numbers) => push_float(json, numbers[index], digits.double),
        Values::Char(chars) => push_string(json, &chars[index..=index]),
        Values::String(strings) => match &strings[index] {
            Some(string) => push_string(json, until_zero(string)),
            None => json.extend_from_slice(b"null"),
        },
        Values::Bytes { size, bytes } => {
            json.push(b'"');
            push_hex(json, bytes.get(index * size..(index + 1) * size).unwrap_or_default());
            json.push(b'"');
        }
        // Shapes that only user-defined types have, in a type for which netCDF has no name.
        Values::Compound { members, .. } => {
            let members = members.iter().map(|(name, column)| (name.as_str(), column));
            push_object(json, members, |json, column| {
                push_element(json, column, index, data_type, digits);
            });
        }
        Values::Array { len, elements, .. } => {
            push_array(json, elements, index * len, &[*len], data_type, digits);
        }
        Values::Sequence(sequences) => push_sequence(json, &sequences[index], data_type, digits),
        _ => json.extend(as_i128(values, index).unwrap_or_default().to_string().bytes()),
    }
}

fn push_user(json: &mut Vec<u8>, values: &Values, index: usize, user: &UserType, digits: Digits) {
    match (&user.class, values) {
        (UserClass::Enum { members, .. }, _) if as_i128(values, index).is_some() => {
            let value = as_i128(values, index).unwrap_or_default();
            match members.iter().find(|(_, member)| *member == value) {
                Some((name, _)) => push_string(json, name.as_bytes()),
                None => json.extend(value.to_string().bytes()),
            }
        }
        (UserClass::Compound(fields), Values::Compound { members, .. }) => {
            let members = fields.iter().zip(members);
            let members = members.map(|(field, (_, column))| (&*field.name, (field, column)));
            push_object(json, members, |json, (field, column)| {
                push_field(json, column, index, field, digits);
            });
        }
        (UserClass::Vlen(base), Values::Sequence(sequences)) => {
            push_sequence(json, &sequences[index], base, digits);
        }
        // An opaque element, or one whose values came without the structure of their type.
        _ => push_element(json, values, index, &DataType::Atomic(Atomic::Byte), digits),
    }
}

fn push_field(json: &mut Vec<u8>, column: &Values, index: usize, field: &Field, digits: Digits) {
    let Values::Array { len, elements, .. } = column else {
        return push_element(json, column, index, &field.data_type, digits);
    };
    let product = field.shape.iter().try_fold(1usize, |product, &len| product.checked_mul(len));
    let shape = if product == Some(*len) { &field.shape[..] } else { &[*len] };
    push_array(json, elements, index * len, shape, &field.data_type, digits);
}

/// Appends as many elements as the shape says; rows of chars as strings.
fn push_array(
    json: &mut Vec<u8>,
    elements: &Values,
    first: usize,
    shape: &[usize],
    data_type: &DataType,
    digits: Digits,
) {
    if shape.contains(&0) {
        return json.extend_from_slice(b"[]");
    }
    let (outer, columns) = match (elements, shape.split_last()) {
        (Values::Char(_), Some((columns, outer))) => (outer, *columns),
        _ => (shape, 1),
    };
    let mut nested = Nested::new(outer.iter().map(|&len| len as u64).collect());
    let count: usize = outer.iter().product();
    for at in 0..count {
        nested.begin(json);
        let begin = first + at * columns;
        match elements {
            Values::Char(chars) => {
                push_string(json, chars.get(begin..begin + columns).unwrap_or_default());
            }
            _ => push_element(json, elements, begin, data_type, digits),
        }
        nested.end(json);
    }
}

fn push_sequence(json: &mut Vec<u8>, sequence: &Values, base: &DataType, digits: Digits) {
    push_array(json, sequence, 0, &[sequence.len()], base, digits);
}

fn push_object<'n, T>(
    json: &mut Vec<u8>,
    members: impl Iterator<Item = (&'n str, T)>,
    mut push: impl FnMut(&mut Vec<u8>, T),
) {
    json.push(b'{');
    for (at, (name, member)) in members.enumerate() {
        if at > 0 {
            json.extend_from_slice(b", ");
        }
        push_string(json, name.as_bytes());
        json.extend_from_slice(b": ");
        push(json, member);
    }
    json.push(b'}');
}

/// JSON has no word for what is no finite number, nor may rounding lead there.
fn push_float(json: &mut Vec<u8>, value: f64, digits: usize) {
    match value.abs() {
        abs if !abs.is_finite() => json.extend_from_slice(b"null"),
        abs if abs > ROUNDED_TO_INFINITY => number::push_general(json, value, EXACT_DIGITS),
        _ => number::push_general(json, value, digits),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn shown(values: &Values, data_type: &DataType) -> String {
        let mut json = Vec::new();
        push_element(&mut json, values, 0, data_type, Digits { float: 7, double: 15 });
        String::from_utf8(json).unwrap()
    }

    fn user(class: UserClass) -> DataType {
        let (name, group) = ("t".to_owned(), "/".to_owned());
        DataType::User(Arc::new(UserType { name, group, size: 8, class }))
    }

    #[test]
    fn user_defined_elements() {
        let members = vec![("red".to_owned(), 1)];
        let color = user(UserClass::Enum { base: Atomic::Byte, members });
        assert_eq!(shown(&Values::I8(vec![1]), &color), "\"red\"");
        assert_eq!(shown(&Values::I8(vec![2]), &color), "2");
        let field = |name: &str, data_type, shape| {
            let name = name.to_owned();
            Field { name, offset: 0, data_type, shape }
        };
        let compound = user(UserClass::Compound(vec![
            field("f", Atomic::Float.into(), vec![]),
            field("c", Atomic::Char.into(), vec![2, 2]),
            field("e", color, vec![2, 1]),
        ]));
        let array = |len, elements| Values::Array { len, count: 1, elements: Box::new(elements) };
        let members = vec![
            ("f".to_owned(), Values::F32(vec![f32::NAN])),
            ("c".to_owned(), array(4, Values::Char(b"abc\0".to_vec()))),
            ("e".to_owned(), array(2, Values::I8(vec![1, 1]))),
        ];
        let values = Values::Compound { count: 1, members };
        let expected = r#"{"f": null, "c": ["ab", "c"], "e": [["red"], ["red"]]}"#;
        assert_eq!(shown(&values, &compound), expected);
        let largest = shown(&Values::F64(vec![f64::MAX]), &Atomic::Double.into());
        assert_eq!(largest.parse(), Ok(f64::MAX));
        let opaque = Values::Bytes { size: 3, bytes: vec![1, 0xab, 255] };
        assert_eq!(shown(&opaque, &user(UserClass::Opaque)), "\"0X01ABFF\"");
        let vlen = user(UserClass::Vlen(Atomic::UInt64.into()));
        let values = Values::Sequence(vec![Values::U64(vec![u64::MAX, 0])]);
        assert_eq!(shown(&values, &vlen), "[18446744073709551615, 0]");
        assert_eq!(shown(&Values::Sequence(vec![Values::U64(vec![])]), &vlen), "[]");
        assert_eq!(shown(&Values::String(vec![None]), &Atomic::String.into()), "null");
    }
}
