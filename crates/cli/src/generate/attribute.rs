//! Values of attributes, and their type where the text does not say it.

use isotach::model::{Atomic, DataType, Values};

use super::error::{CdlError, CdlFault};
use super::syntax::{Attribute, Constant, Item, Scalar};
use super::{chars, column};

/// The type that ncgen gives to an attribute with such values: chars for text; the widest of
/// floats; of integers the widest, the last where several are as wide. Single chars are bytes.
pub(super) fn inferred_type(stated: &Attribute) -> Result<Atomic, CdlError> {
    let is_text = |item: &Item| matches!(item.constant, Constant::Text(_) | Constant::Char(_));
    let has_text = |item: &Item| matches!(item.constant, Constant::Text(_));
    if stated.items.is_empty() || stated.items.iter().any(has_text) {
        return match stated.items.iter().find(|item| !is_text(item)) {
            None => Ok(Atomic::Char),
            Some(item) => Err(CdlFault::MixedAttribute.at(item.at)),
        };
    }
    let number = |item: &Item| match item.constant {
        Constant::Number(number) => Ok(number),
        Constant::Char(byte) => Ok(Scalar::I8(byte.cast_signed())),
        _ => Err(CdlFault::MixedAttribute.at(item.at)),
    };
    let mut widest: Option<Atomic> = None;
    for item in &stated.items {
        let number = number(item)?;
        let next = match number {
            // No signed type has it.
            Scalar::U64(value) if i64::try_from(value).is_err() => return Ok(Atomic::UInt64),
            _ => number.atomic(),
        };
        if widest.is_none_or(|widest| width(widest) <= width(next)) {
            widest = Some(next);
        }
    }
    // There is at least one.
    Ok(widest.unwrap_or(Atomic::Char))
}

/// Doubles before floats before all integers.
fn width(atomic: Atomic) -> usize {
    match atomic {
        Atomic::Double => 32,
        Atomic::Float => 16,
        _ => atomic.size(),
    }
}

/// The values of an attribute of that type. Text without a byte becomes one zero byte, as ncgen
/// has it.
pub(super) fn values(data_type: &DataType, items: &[Item]) -> Result<Values, CdlError> {
    if let Some(fill) = items.iter().find(|item| has_fill(item)) {
        return Err(CdlFault::NoFill.at(fill.at));
    }
    if data_type.atomic() == Some(Atomic::Char) {
        let mut text = chars::joined(items)?;
        if text.is_empty() {
            text.push(0);
        }
        return Ok(Values::Char(text));
    }
    let slots: Vec<_> = items.iter().map(Some).collect();
    column::column(data_type, &slots)
}

fn has_fill(item: &Item) -> bool {
    match &item.constant {
        Constant::Fill => true,
        Constant::List(items) => items.iter().any(has_fill),
        _ => false,
    }
}
