//! Data types as Python sees them: NumPy dtypes, and descriptions of user-defined types.

use isotach::model::{DataType, FloatFormat, StoredType, UserClass, UserType};
use numpy::PyArrayDescr;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// NumPy's dtype for one element as the engine hands it over, in native form. `None` for types with strings or sequences, which become Python objects.
pub(crate) fn dtype<'py>(
    py: Python<'py>,
    stored: &StoredType,
) -> PyResult<Option<Bound<'py, PyArrayDescr>>> {
    let native = stored.native();
    let plain = match native {
        StoredType::Int { size: 2, .. } => Some(numpy::dtype::<i16>(py)),
        StoredType::Int { size: 4, .. } => Some(numpy::dtype::<i32>(py)),
        StoredType::Float { size: 4, .. } => Some(numpy::dtype::<f32>(py)),
        StoredType::Float { size: 8, .. } => Some(numpy::dtype::<f64>(py)),
        _ => None,
    };
    if plain.is_some() {
        return Ok(plain);
    }
    match specification(py, &native)? {
        Some(specification) => PyArrayDescr::new(py, specification).map(Some),
        None => Ok(None),
    }
}

/// What `numpy.dtype` is called with.
fn specification<'py>(py: Python<'py>, stored: &StoredType) -> PyResult<Option<Bound<'py, PyAny>>> {
    let code = match stored {
        StoredType::Int { size, .. } => format!("=i{size}"),
        StoredType::UInt { size, .. } => format!("=u{size}"),
        StoredType::PartialInt(integer) => {
            format!("={}{}", if integer.signed { 'i' } else { 'u' }, integer.size)
        }
        StoredType::Float { size, .. } => format!("=f{size}"),
        StoredType::PartialFloat(float) => format!("=f{}", float.format.size),
        StoredType::Char => "S1".to_owned(),
        StoredType::Bytes { size, .. } => format!("V{size}"),
        StoredType::FixedString { .. }
        | StoredType::VarString { .. }
        | StoredType::Sequence { .. } => return Ok(None),
        StoredType::Array { len, base } => {
            let Some(base) = specification(py, base)? else { return Ok(None) };
            return Ok(Some(
                PyTuple::new(py, [base, (*len,).into_pyobject(py)?.into_any()])?.into_any(),
            ));
        }
        StoredType::Compound { size, members } => {
            let (names, formats, offsets) =
                (PyList::empty(py), PyList::empty(py), PyList::empty(py));
            for member in members {
                let Some(format) = specification(py, &member.stored)? else { return Ok(None) };
                names.append(&member.name)?;
                formats.append(format)?;
                offsets.append(member.offset)?;
            }
            let fields = PyDict::new(py);
            fields.set_item("names", names)?;
            fields.set_item("formats", formats)?;
            fields.set_item("offsets", offsets)?;
            fields.set_item("itemsize", *size)?;
            return Ok(Some(fields.into_any()));
        }
    };
    Ok(Some(code.into_pyobject(py)?.into_any()))
}

/// A data type for the Python classes: CDL's word for netCDF's own types, `float16`, a dict for others.
pub(crate) fn describe<'py>(py: Python<'py>, data_type: &DataType) -> PyResult<Bound<'py, PyAny>> {
    match data_type {
        DataType::Atomic(atomic) => Ok(atomic.name().into_pyobject(py)?.into_any()),
        // NumPy has one of them; the others are numbers of its single precision.
        DataType::SmallFloat(format) => {
            let word = if *format == FloatFormat::HALF { format.name() } else { data_type.name() };
            Ok(word.into_pyobject(py)?.into_any())
        }
        DataType::User(user) => Ok(describe_user(py, user)?.into_any()),
        DataType::Foreign(foreign) => {
            let out = PyDict::new(py);
            out.set_item("class", "foreign")?;
            out.set_item("name", &foreign.description)?;
            out.set_item("size", foreign.size)?;
            Ok(out.into_any())
        }
    }
}

/// A user-defined type as a dict of `class`, `name`, `group`, `size` and what the class adds.
pub(crate) fn describe_user<'py>(py: Python<'py>, user: &UserType) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("name", &user.name)?;
    out.set_item("group", &user.group)?;
    out.set_item("size", user.size)?;
    let class = match &user.class {
        UserClass::Opaque => "opaque",
        UserClass::Vlen(base) => {
            out.set_item("base", describe(py, base)?)?;
            "vlen"
        }
        UserClass::Enum { base, members } => {
            out.set_item("base", base.name())?;
            let values = PyDict::new(py);
            for (name, value) in members {
                values.set_item(name, value)?;
            }
            out.set_item("members", values)?;
            "enum"
        }
        UserClass::Compound(fields) => {
            let list = PyList::empty(py);
            for field in fields {
                list.append((
                    &field.name,
                    field.offset,
                    describe(py, &field.data_type)?,
                    field.shape.clone(),
                ))?;
            }
            out.set_item("fields", list)?;
            "compound"
        }
    };
    out.set_item("class", class)?;
    Ok(out)
}
