//! Section `netcdf`: the file as the netCDF model shows it.

use isotach::model::selection::Selection;
use isotach::model::shape::element_count;
use isotach::model::{Atomic, DataType, UserClass, UserType};
use isotach::{
    Attribute, Dimension, Endianness, File, FilterUse, Format, Group, Result, StorageKind, Variable,
};
use serde_json::{Value, json};

use crate::digest;

const DEFLATE: u16 = 1;
const SHUFFLE: u16 = 2;
const FLETCHER32: u16 = 3;
const SZIP: u16 = 4;
/// The bits of szip's first parameter that netCDF shows: nearest neighbour, entropy coding.
const SZIP_CODING: u32 = 32 | 4;

pub fn section(file: &File) -> Result<Value> {
    let (format, is_netcdf4) = match file.format()? {
        Format::Classic => ("CLASSIC", false),
        Format::Offset64Bit => ("64BIT_OFFSET", false),
        Format::Data64Bit => ("64BIT_DATA", false),
        Format::NetCdf4 => ("NETCDF4", true),
        Format::NetCdf4Classic => ("NETCDF4_CLASSIC", true),
    };
    let root = group(&file.root(), is_netcdf4).unwrap_or_else(|error| failed(&error));
    Ok(json!({ "format": format, "root": root }))
}

fn failed(error: &isotach::Error) -> Value {
    json!({ "error": true, "_msg": error.to_string() })
}

fn group(group: &Group, is_netcdf4: bool) -> Result<Value> {
    let dims = group.dimensions()?.iter().map(dimension).collect::<Result<Vec<Value>>>()?;
    let types: Vec<Value> = group.types()?.iter().map(|user| user_type(user)).collect();
    let atts = attributes(&group.attributes()?);
    let vars: Vec<Value> = group
        .variables()?
        .iter()
        .map(|one| variable(one, is_netcdf4).unwrap_or_else(|error| failed(&error)))
        .collect();
    let groups: Vec<Value> = group
        .groups()?
        .iter()
        .map(|child| self::group(child, is_netcdf4).unwrap_or_else(|error| failed(&error)))
        .collect();
    let left_out: Vec<String> =
        group.left_out()?.iter().map(|left| format!("{}: {}", left.path, left.reason)).collect();
    let name = group.name();
    Ok(json!({
        "name": name, "dims": dims, "types": types, "atts": atts, "vars": vars, "groups": groups,
        "_left_out": left_out,
    }))
}

fn dimension(dimension: &Dimension) -> Result<Value> {
    Ok(json!({
        "name": dimension.name(),
        "len": dimension.len()?,
        "unlimited": dimension.is_unlimited(),
        "_id": dimension.id()?,
    }))
}

fn user_type(user: &UserType) -> Value {
    match &user.class {
        UserClass::Compound(fields) => {
            let fields: Vec<Value> = fields
                .iter()
                .map(|field| {
                    let path = field.data_type.path();
                    json!({
                        "name": field.name, "type": path, "shape": field.shape,
                        "_offset": field.offset,
                    })
                })
                .collect();
            json!({ "name": user.name, "class": "compound", "fields": fields, "_size": user.size })
        }
        UserClass::Enum { base, members } => {
            let member = |(name, value): &(String, i128)| {
                let value =
                    i64::try_from(*value).map_or_else(|_| json!(*value as u64), Value::from);
                json!([name, value])
            };
            let members: Vec<Value> = members.iter().map(member).collect();
            json!({ "name": user.name, "class": "enum", "base": base.name(), "members": members })
        }
        UserClass::Opaque => json!({ "name": user.name, "class": "opaque", "size": user.size }),
        UserClass::Vlen(base) => {
            json!({ "name": user.name, "class": "vlen", "base": base.path() })
        }
    }
}

fn attributes(attributes: &[Attribute]) -> Vec<Value> {
    let show = |attribute: &Attribute| {
        let (name, path) = (attribute.name(), attribute.data_type().path());
        let mut shown = json!({ "name": name, "type": path, "len": attribute.len() });
        match attribute.values() {
            Ok(values) => shown["sha256"] = digest::of_values(&values).into(),
            Err(error) => {
                shown["error"] = true.into();
                shown["_msg"] = error.to_string().into();
            }
        }
        shown
    };
    attributes.iter().map(show).collect()
}

fn variable(variable: &Variable, is_netcdf4: bool) -> Result<Value> {
    let dimensions = variable.dimensions()?;
    let paths: Vec<String> = dimensions.iter().map(Dimension::path).collect();
    let shape = variable.shape()?;
    let mut shown = json!({
        "name": variable.name(), "type": variable.data_type().path(), "dims": paths,
        "shape": shape,
        "atts": attributes(&variable.attributes()?),
    });
    if is_netcdf4 {
        add_storage(&mut shown, variable)?;
    }
    match variable.fill_value() {
        Ok(fill) => {
            shown["fill_mode"] = if fill.fill { "fill" } else { "nofill" }.into();
            if fill.fill && is_flat(variable.data_type()) {
                shown["fill"] = digest::hex(&fill.value.canonical_bytes()).into();
            }
        }
        Err(error) => shown["_fill_error"] = error.to_string().into(),
    }
    add_data(&mut shown, variable, &shape);
    Ok(shown)
}

fn add_storage(shown: &mut Value, variable: &Variable) -> Result<()> {
    let storage = variable.storage()?;
    shown["storage"] = match storage.kind {
        StorageKind::Contiguous => "contiguous",
        StorageKind::Chunked => "chunked",
        StorageKind::Compact => "compact",
        StorageKind::Virtual => "virtual",
        StorageKind::Unknown => "unknown",
    }
    .into();
    if let Some(chunks) = &storage.chunk_shape {
        shown["chunks"] = chunks.as_slice().into();
    }
    let find = |id: u16| storage.filters.iter().find(|filter| filter.id == id);
    shown["shuffle"] = find(SHUFFLE).is_some().into();
    shown["fletcher32"] = find(FLETCHER32).is_some().into();
    shown["deflate"] = find(DEFLATE).and_then(|deflate| deflate.parameters.first().copied()).into();
    shown["endian"] = match storage.endianness {
        Endianness::Native => "native",
        Endianness::Little => "little",
        Endianness::Big => "big",
    }
    .into();
    shown["filters"] = filters(&storage.filters);
    Ok(())
}

/// As `nc_inq_var_filter_ids` lists them: each once, checksum and shuffle before the others, and
/// szip with the parameters that `nc_def_var_szip` was given.
fn filters(filters: &[FilterUse]) -> Value {
    let mut listed: Vec<(u16, Vec<u32>)> = Vec::new();
    for filter in filters {
        let mut parameters = filter.parameters.clone();
        if let (SZIP, [options, ..]) = (filter.id, &mut parameters[..]) {
            *options &= SZIP_CODING;
            parameters.truncate(2);
        }
        if !listed.iter().any(|(id, _)| *id == filter.id) {
            listed.push((filter.id, parameters));
        }
    }
    listed.sort_by_key(|(id, _)| match *id {
        FLETCHER32 => 0,
        SHUFFLE => 1,
        _ => 2,
    });
    json!(listed)
}

fn add_data(shown: &mut Value, variable: &Variable, shape: &[u64]) {
    let element_bytes = memory_bytes(variable.data_type()) as u64;
    let bytes = element_count(shape).and_then(|count| count.checked_mul(element_bytes));
    if bytes.is_none_or(|bytes| bytes > digest::MAX_DATA_BYTES) {
        shown["data_sha256"] = Value::Null;
        shown["data_skipped"] = "size".into();
        return;
    }
    match variable.read(&Selection::all(shape)) {
        Ok(values) => shown["data_sha256"] = digest::of_values(&values).into(),
        Err(error) => {
            shown["data_sha256"] = Value::Null;
            shown["data_error"] = true.into();
            shown["_msg"] = error.to_string().into();
        }
    }
}

/// Bytes of an element in a C program's memory.
fn memory_bytes(data_type: &DataType) -> usize {
    match data_type {
        DataType::Atomic(Atomic::String) => 8,
        DataType::Atomic(atomic) => atomic.size(),
        DataType::SmallFloat(_) => Atomic::Float.size(),
        DataType::User(user) => user.size,
        DataType::Foreign(foreign) => foreign.size,
    }
}

fn is_flat(data_type: &DataType) -> bool {
    match data_type {
        DataType::Atomic(atomic) => *atomic != Atomic::String,
        DataType::SmallFloat(_) | DataType::Foreign(_) => true,
        DataType::User(user) => match &user.class {
            UserClass::Compound(fields) => fields.iter().all(|field| is_flat(&field.data_type)),
            UserClass::Enum { .. } | UserClass::Opaque => true,
            UserClass::Vlen(_) => false,
        },
    }
}
