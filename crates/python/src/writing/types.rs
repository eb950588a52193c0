//! Data types as Python names them when it defines something.

use std::sync::Arc;

use isotach::model::{Atomic, DataType, Field, UserType};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::group::NativeGroupWriter;
use crate::error::to_python;

/// netCDF's own types, by CDL's words.
const ATOMIC: [Atomic; 12] = [
    Atomic::Byte,
    Atomic::Char,
    Atomic::Short,
    Atomic::Int,
    Atomic::Float,
    Atomic::Double,
    Atomic::UByte,
    Atomic::UShort,
    Atomic::UInt,
    Atomic::Int64,
    Atomic::UInt64,
    Atomic::String,
];

/// The type that Python means: CDL's word for one of netCDF's own, or `(group, name)`.
pub(super) fn data_type(given: &Bound<'_, PyAny>) -> PyResult<DataType> {
    if let Ok(word) = given.cast::<PyString>() {
        return atomic(word.to_str()?).map(DataType::Atomic);
    }
    let (group, name): (PyRef<'_, NativeGroupWriter>, String) = given.extract()?;
    let found = group.group.find_type(&name).map_err(|error| to_python(&error))?;
    found.ok_or_else(|| PyRuntimeError::new_err("NetCDF: Bad type ID"))
}

fn atomic(word: &str) -> PyResult<Atomic> {
    let found = ATOMIC.into_iter().find(|atomic| atomic.name() == word);
    found.ok_or_else(|| PyTypeError::new_err(format!("no type {word}")))
}

/// A new type as Python describes it: `class`, and `fields` of `(name, type, shape)`, the `base`, or
/// the `base` and `members`.
pub(super) fn user_type(name: &str, description: &Bound<'_, PyDict>) -> PyResult<UserType> {
    let part = |key: &str| {
        let found = description.get_item(key)?;
        found.ok_or_else(|| PyTypeError::new_err(format!("no {key}")))
    };
    let defined = match part("class")?.extract::<&str>()? {
        "compound" => {
            let mut fields = Vec::new();
            for field in part("fields")?.try_iter()? {
                let (name, of, shape): (String, Bound<'_, PyAny>, Vec<usize>) = field?.extract()?;
                fields.push(Field::new(&name, data_type(&of)?).with_shape(shape));
            }
            UserType::compound(name, fields)
        }
        "enum" => {
            let base = atomic(part("base")?.extract()?)?;
            let members: Vec<(String, i128)> = part("members")?.extract()?;
            UserType::enumeration(name, base, members)
        }
        "vlen" => UserType::vlen(name, data_type(&part("base")?)?),
        class => return Err(PyTypeError::new_err(format!("no class {class}"))),
    };
    defined.map_err(|fault| PyRuntimeError::new_err(format!("NetCDF: Invalid argument: {fault}")))
}

/// The number type that elements of a type are, for enumerations too.
pub(super) fn number_of(data_type: &DataType) -> Option<Atomic> {
    match data_type {
        DataType::Atomic(Atomic::Char | Atomic::String) | DataType::Foreign(_) => None,
        DataType::Atomic(atomic) => Some(*atomic),
        DataType::SmallFloat(_) => Some(Atomic::Float),
        DataType::User(user) => enum_base(user),
    }
}

fn enum_base(user: &Arc<UserType>) -> Option<Atomic> {
    match &user.class {
        isotach::model::UserClass::Enum { base, .. } => Some(*base),
        _ => None,
    }
}
