//! Elements in words, as `nc_dump_data` has them.

use std::io::Write;

use isotach::model::{DataType, Field, UserClass, Values};

/// All elements, with a blank between them.
pub(super) fn dump(data_type: &DataType, values: &Values) -> Vec<u8> {
    let mut words = Vec::new();
    dump_all(data_type, values, 0..values.len(), &mut words);
    words
}

fn dump_all(
    data_type: &DataType,
    values: &Values,
    indexes: std::ops::Range<usize>,
    to: &mut Vec<u8>,
) {
    let first = indexes.start;
    for index in indexes {
        if index > first {
            to.push(b' ');
        }
        dump_one(data_type, values, index, to);
    }
}

/// Writing to a vector does not fail.
macro_rules! write_words {
    ($($part:tt)*) => { drop(write!($($part)*)) };
}

fn dump_one(data_type: &DataType, values: &Values, index: usize, to: &mut Vec<u8>) {
    let element = values.slice(index..index + 1);
    match (&element, data_type) {
        (Values::Char(chars), _) => to.extend([b"'", &chars[..], b"'"].concat()),
        (Values::I8(numbers), _) => write_words!(to, "{}", numbers[0]),
        (Values::U8(numbers), _) => write_words!(to, "{}", numbers[0]),
        (Values::I16(numbers), _) => write_words!(to, "{}", numbers[0]),
        (Values::U16(numbers), _) => write_words!(to, "{}", numbers[0]),
        (Values::I32(numbers), _) => write_words!(to, "{}", numbers[0]),
        // As netCDF-C prints them.
        (Values::U32(numbers), _) => write_words!(to, "{}", numbers[0].cast_signed()),
        (Values::I64(numbers), _) => write_words!(to, "{}", numbers[0]),
        (Values::U64(numbers), _) => write_words!(to, "{}", numbers[0]),
        (Values::F32(numbers), _) => dump_float(numbers[0].into(), to),
        (Values::F64(numbers), _) => dump_float(numbers[0], to),
        (Values::String(strings), _) => {
            to.extend([b"\"", strings[0].as_deref().unwrap_or_default(), b"\""].concat());
        }
        (Values::Bytes { bytes, .. }, _) => {
            to.push(b'|');
            bytes.iter().for_each(|byte| write_words!(to, "{byte:2x}"));
            to.push(b'|');
        }
        (Values::Sequence(sequences), DataType::User(user)) => {
            let UserClass::Vlen(base) = &user.class else { return };
            write_words!(to, "{{len={},p=(", sequences[0].len());
            dump_all(base, &sequences[0], 0..sequences[0].len(), to);
            to.extend(b")}");
        }
        (Values::Compound { members, .. }, DataType::User(user)) => {
            let UserClass::Compound(fields) = &user.class else { return };
            to.push(b'<');
            for (place, (field, (_, column))) in fields.iter().zip(members).enumerate() {
                if place > 0 {
                    to.push(b';');
                }
                dump_member(field, column, to);
            }
            to.push(b'>');
        }
        _ => {}
    }
}

fn dump_member(field: &Field, column: &Values, to: &mut Vec<u8>) {
    to.extend(field.name.as_bytes());
    field.shape.iter().for_each(|len| write_words!(to, "[{len}]"));
    match column {
        Values::Array { elements, .. } => {
            dump_all(&field.data_type, elements, 0..elements.len(), to);
        }
        _ => dump_all(&field.data_type, column, 0..1, to),
    }
}

/// As C's `%f`.
fn dump_float(number: f64, to: &mut Vec<u8>) {
    match number.is_nan() {
        true if number.is_sign_negative() => to.extend(b"-nan"),
        true => to.extend(b"nan"),
        false => write_words!(to, "{number:.6}"),
    }
}
