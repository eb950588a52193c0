//! Constants into columns of values of a type.

use isotach::model::convert::Cast;
use isotach::model::{Atomic, DataType, Field, Number, UserClass, UserType, Values, fill};

use super::chars;
use super::error::{CdlError, CdlFault};
use super::number;
use super::syntax::{Constant, Item, Reference, Scalar};

/// No text has values for more elements at a time; lengths alone could ask for any number.
pub(super) const MAX_ELEMENTS: usize = 1 << 30;

/// The constant of one element; `None` where the text has none.
pub(super) type Slot<'a> = Option<&'a Item>;

/// One element for each slot. Where there is no constant, it is netCDF's default fill value: of a
/// compound that of its members, of an opaque type zeros, of a sequence one element.
pub(super) fn column(data_type: &DataType, slots: &[Slot<'_>]) -> Result<Values, CdlError> {
    let user = match data_type {
        DataType::Atomic(Atomic::Char) => return single_chars(slots),
        DataType::Atomic(Atomic::String) => return strings(slots),
        DataType::Atomic(atomic) => {
            return numbers(*atomic, slots, &|item| number_or_text(item, *atomic));
        }
        DataType::SmallFloat(_) => {
            return numbers(Atomic::Float, slots, &|item| number_or_text(item, Atomic::Float));
        }
        DataType::Foreign(foreign) => {
            let none = Values::Bytes { size: foreign.size, bytes: Vec::new() };
            return match slots.iter().flatten().next() {
                Some(item) => Err(misplaced(item, &foreign.description)),
                None => Ok(none),
            };
        }
        DataType::User(user) => user,
    };
    match &user.class {
        UserClass::Enum { base, members } => {
            let member = |item: &Item| match &item.constant {
                Constant::Name(name) => member_value(user, members, name, *base),
                _ => number(item, *base),
            };
            numbers(*base, slots, &member)
        }
        UserClass::Opaque => opaque(user, slots),
        UserClass::Vlen(base) => {
            let sequence = |slot: &Slot<'_>| sequence(base, *slot);
            slots.iter().map(sequence).collect::<Result<_, _>>().map(Values::Sequence)
        }
        UserClass::Compound(fields) => compound(fields, slots),
    }
}

/// The integer that a constant is for a member of an enumeration; what does not fit its base has
/// the value of its bits, as ncgen has it.
pub(super) fn integer(item: &Item, base: Atomic) -> Result<i128, CdlError> {
    let number = number(item, base)?;
    let value = number.integer().ok_or_else(|| misplaced(item, base.name()))?;
    let Some(range) = base.integer_range() else { return Ok(value) };
    let modulus = 1_i128 << (8 * base.size());
    let wrapped = value.rem_euclid(modulus);
    Ok(if range.contains(&wrapped) { wrapped } else { wrapped - modulus })
}

fn misplaced(item: &Item, data_type: &str) -> CdlError {
    let fault = match item.constant {
        Constant::List(_) => CdlFault::Braces { wanted: false },
        Constant::Nil => CdlFault::NoFill,
        _ => CdlFault::Constant { data_type: data_type.to_owned() },
    };
    fault.at(item.at)
}

fn present<'a>(slot: Slot<'a>) -> Slot<'a> {
    slot.filter(|item| item.constant != Constant::Fill)
}

fn number(item: &Item, atomic: Atomic) -> Result<Scalar, CdlError> {
    match &item.constant {
        Constant::Number(number) => Ok(*number),
        Constant::Char(byte) => Ok(Scalar::I8(byte.cast_signed())),
        // The lowest 64 bits of it.
        Constant::Hex(digits) => {
            let low = &digits[digits.len().saturating_sub(16)..];
            let value = u64::from_str_radix(low, 16).map_err(|_| misplaced(item, atomic.name()))?;
            Ok(Scalar::U64(value))
        }
        _ => Err(misplaced(item, atomic.name())),
    }
}

/// A number, also one that stands in a text.
fn number_or_text(item: &Item, atomic: Atomic) -> Result<Scalar, CdlError> {
    let Constant::Text(text) = &item.constant else { return number(item, atomic) };
    let number = std::str::from_utf8(text).ok().and_then(|text| number::in_text(text, atomic));
    number.ok_or_else(|| misplaced(item, atomic.name()))
}

/// The member that a name stands for: `member`, `type.member`, or either with a path before it.
fn member_value(
    user: &UserType,
    members: &[(String, i128)],
    reference: &Reference,
    base: Atomic,
) -> Result<Scalar, CdlError> {
    let name = reference.name.as_str();
    let of_type = name.strip_prefix(user.name.as_str()).and_then(|rest| rest.strip_prefix('.'));
    let is =
        |sought: Option<&str>| members.iter().find(|(member, _)| Some(member.as_str()) == sought);
    let found = is(Some(name)).or_else(|| is(of_type));
    let unknown = || {
        let what = "member of the enumeration";
        CdlFault::Unknown { what, name: reference.name.clone() }.at(reference.at)
    };
    let (_, value) = found.ok_or_else(unknown)?;
    // The bits of the value: a type of 64 bits holds those of every base.
    Ok(match base {
        Atomic::UInt64 => Scalar::U64(*value as u64),
        _ => Scalar::I64(*value as i64),
    })
}

/// A number that every scalar can be cast to.
trait FromScalar: Number {
    fn from_scalar(scalar: Scalar) -> Self;
}

macro_rules! from_scalar {
    ($($type:ty)*) => {$(
        impl FromScalar for $type {
            fn from_scalar(scalar: Scalar) -> Self {
                match scalar {
                    Scalar::I8(number) => Cast::<Self>::cast(number).0,
                    Scalar::U8(number) => Cast::<Self>::cast(number).0,
                    Scalar::I16(number) => Cast::<Self>::cast(number).0,
                    Scalar::U16(number) => Cast::<Self>::cast(number).0,
                    Scalar::I32(number) => Cast::<Self>::cast(number).0,
                    Scalar::U32(number) => Cast::<Self>::cast(number).0,
                    Scalar::I64(number) => Cast::<Self>::cast(number).0,
                    Scalar::U64(number) => Cast::<Self>::cast(number).0,
                    Scalar::F32(number) => Cast::<Self>::cast(number).0,
                    Scalar::F64(number) => Cast::<Self>::cast(number).0,
                    Scalar::NegativeZero => Cast::<Self>::cast(-0.0_f64).0,
                }
            }
        }
    )*};
}

from_scalar!(i8 u8 i16 u16 i32 u32 i64 u64 f32 f64);

type ToScalar<'a> = &'a dyn Fn(&Item) -> Result<Scalar, CdlError>;

/// Integers are cast, as ncgen does it: -1 for a `ubyte` is 255. Floats must be in the range of an integer, as
/// C says nothing of others.
fn numbers(atomic: Atomic, slots: &[Slot<'_>], scalar: ToScalar<'_>) -> Result<Values, CdlError> {
    fn cast<T: FromScalar>(slots: &[Slot<'_>], scalar: ToScalar<'_>) -> Result<Values, CdlError> {
        let number = |slot: &Slot<'_>| match present(*slot) {
            Some(item) => in_range(scalar(item)?, T::ATOMIC)
                .map(T::from_scalar)
                .map_err(|fault| fault.at(item.at)),
            None => Ok(T::DEFAULT_FILL),
        };
        slots.iter().map(number).collect::<Result<_, _>>().map(T::into_values)
    }
    match atomic {
        Atomic::Byte => cast::<i8>(slots, scalar),
        Atomic::UByte => cast::<u8>(slots, scalar),
        Atomic::Short => cast::<i16>(slots, scalar),
        Atomic::UShort => cast::<u16>(slots, scalar),
        Atomic::Int => cast::<i32>(slots, scalar),
        Atomic::UInt => cast::<u32>(slots, scalar),
        Atomic::Int64 => cast::<i64>(slots, scalar),
        Atomic::UInt64 => cast::<u64>(slots, scalar),
        Atomic::Float => cast::<f32>(slots, scalar),
        Atomic::Double => cast::<f64>(slots, scalar),
        Atomic::Char => single_chars(slots),
        Atomic::String => strings(slots),
    }
}

/// The number, unless it is a float and `atomic` has no integer before its point.
fn in_range(scalar: Scalar, atomic: Atomic) -> Result<Scalar, CdlFault> {
    let float = match scalar {
        Scalar::F32(float) => f64::from(float),
        Scalar::F64(float) => float,
        _ => return Ok(scalar),
    };
    let Some(range) = atomic.integer_range() else { return Ok(scalar) };
    let whole = float.trunc();
    // Floats of 2^127 and more become the largest integer, and NaN is refused by itself.
    if !float.is_nan() && range.contains(&(whole as i128)) {
        Ok(scalar)
    } else {
        Err(CdlFault::NumberRange { text: float.to_string() })
    }
}

fn single_chars(slots: &[Slot<'_>]) -> Result<Values, CdlError> {
    let mut bytes = Vec::with_capacity(slots.len());
    for slot in slots {
        let items = slot.map(std::slice::from_ref).unwrap_or_default();
        let char = chars::rows(items, 1, 1, fill::CHAR)?;
        bytes.push(char.first().copied().unwrap_or(fill::CHAR));
    }
    Ok(Values::Char(bytes))
}

fn strings(slots: &[Slot<'_>]) -> Result<Values, CdlError> {
    let string = |slot: &Slot<'_>| {
        let Some(item) = present(*slot) else { return Ok(Some(Box::default())) };
        let no_string = || misplaced(item, Atomic::String.name());
        match &item.constant {
            Constant::Text(text) => Ok(Some(text.clone())),
            Constant::Char(byte) => Ok(Some(Box::from([*byte]))),
            Constant::Number(number) => {
                let integer = number.integer().ok_or_else(no_string)?;
                Ok(Some(integer.to_string().into_bytes().into()))
            }
            Constant::Nil => Ok(None),
            _ => Err(no_string()),
        }
    };
    slots.iter().map(string).collect::<Result<_, _>>().map(Values::String)
}

/// Digits are cut or followed by zeros where they are not as many as the type has.
fn opaque(user: &UserType, slots: &[Slot<'_>]) -> Result<Values, CdlError> {
    let size = user.size;
    let mut bytes = room(slots.len(), size, slots)?;
    for slot in slots {
        let end = bytes.len() + size;
        if let Some(item) = present(*slot) {
            let Constant::Hex(digits) = &item.constant else {
                return Err(misplaced(item, &user.name));
            };
            let digit = |digit: &u8| char::from(*digit).to_digit(16).unwrap_or(0) as u8;
            let byte = |pair: &[u8]| digit(&pair[0]) << 4 | pair.get(1).map_or(0, digit);
            bytes.extend(digits.as_bytes().chunks(2).take(size).map(byte));
        }
        bytes.resize(end, 0);
    }
    Ok(Values::Bytes { size, bytes })
}

fn list(item: &Item) -> Result<&[Item], CdlError> {
    match &item.constant {
        Constant::List(items) => Ok(items),
        _ => Err(CdlFault::Braces { wanted: true }.at(item.at)),
    }
}

fn sequence(base: &DataType, slot: Slot<'_>) -> Result<Values, CdlError> {
    let Some(item) = present(slot) else { return column(base, &[None]) };
    match &item.constant {
        Constant::Text(text) if base.atomic() == Some(Atomic::Char) => {
            Ok(Values::Char(text.to_vec()))
        }
        _ if base.atomic() == Some(Atomic::Char) => chars::joined(list(item)?).map(Values::Char),
        _ => column(base, &list(item)?.iter().map(Some).collect::<Vec<_>>()),
    }
}

fn compound(fields: &[Field], slots: &[Slot<'_>]) -> Result<Values, CdlError> {
    let mut rows: Vec<&[Item]> = Vec::with_capacity(slots.len());
    for slot in slots {
        let items = present(*slot).map(list).transpose()?.unwrap_or_default();
        if let Some(extra) = items.get(fields.len()) {
            return Err(CdlFault::TooMany { room: fields.len() as u64 }.at(extra.at));
        }
        rows.push(items);
    }
    let member = |(index, field): (usize, &Field)| {
        let parts: Vec<Slot<'_>> = rows.iter().map(|row| row.get(index)).collect();
        let values = match field.shape[..] {
            [] => column(&field.data_type, &parts)?,
            _ => arrays(field, &parts)?,
        };
        Ok((field.name.clone(), values))
    };
    let members = fields.iter().enumerate().map(member).collect::<Result<_, CdlError>>()?;
    Ok(Values::Compound { count: slots.len(), members })
}

fn arrays(field: &Field, slots: &[Slot<'_>]) -> Result<Values, CdlError> {
    let len: usize = field.shape.iter().product();
    let count = slots.len();
    if field.data_type.atomic() == Some(Atomic::Char) {
        let row_len = field.shape.last().copied().filter(|_| field.shape.len() > 1).unwrap_or(1);
        let mut chars: Vec<u8> = room(count, len, slots)?;
        for slot in slots {
            let end = chars.len() + len;
            let items = match present(*slot) {
                // Braces around a text can be left out.
                Some(item) if matches!(item.constant, Constant::Text(_)) => {
                    std::slice::from_ref(item)
                }
                Some(item) => list(item)?,
                None => &[],
            };
            chars.extend(chars::rows(items, row_len, len, fill::CHAR)?);
            chars.resize(end, fill::CHAR);
        }
        return Ok(Values::Array { len, count, elements: Box::new(Values::Char(chars)) });
    }
    let mut elements: Vec<Slot<'_>> = room(count, len, slots)?;
    for slot in slots {
        let items = present(*slot).map(list).transpose()?.unwrap_or_default();
        if let Some(extra) = items.get(len) {
            return Err(CdlFault::TooMany { room: len as u64 }.at(extra.at));
        }
        let end = elements.len() + len;
        elements.extend(items.iter().map(Some));
        elements.resize(end, None);
    }
    let elements = Box::new(column(&field.data_type, &elements)?);
    Ok(Values::Array { len, count, elements })
}

/// Memory for `count` times `len`, which the text decides and may not be there.
fn room<T>(count: usize, len: usize, slots: &[Slot<'_>]) -> Result<Vec<T>, CdlError> {
    let mut room = Vec::new();
    let wanted = count.checked_mul(len).filter(|&wanted| wanted <= MAX_ELEMENTS);
    if wanted.is_none_or(|wanted| room.try_reserve_exact(wanted).is_err()) {
        let at = slots.iter().flatten().next().map(|item| item.at);
        let at = at.unwrap_or(super::Position { line: 1, column: 1 });
        return Err(CdlFault::TooLarge.at(at));
    }
    Ok(room)
}
