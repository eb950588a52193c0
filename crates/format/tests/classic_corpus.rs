//! Every classic file of the corpus, held against its golden answers: dimensions, attributes,
//! variables, and the values, picked one by one from where the layout says they stand.

use std::fs;
use std::path::{Path, PathBuf};

use isotach_format::classic::{
    Attribute, ExternalType, Header, RecordLayout, Spacing, VariableLayout, Version,
};
use isotach_format::{Error, ErrorKind};
use isotach_testkit::corpus;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Values larger than this are not in the golden answers.
const HASHED_BYTES: u64 = 256 << 20;

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The files that begin with "CDF", with their contents, in a fixed order.
fn classic_files(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut paths = Vec::new();
    files_below(root, &mut paths);
    paths.sort();
    let files = paths.into_iter().map(|path| {
        let bytes = fs::read(&path).unwrap();
        (path, bytes)
    });
    files.filter(|(_, bytes)| bytes.starts_with(b"CDF")).collect()
}

/// Decodes as a reader of the file would: a first piece, then as much as is asked for.
fn decode(file: &[u8]) -> Result<Header, Error> {
    let mut at_hand = file.len().min(512);
    loop {
        match Header::decode(&file[..at_hand], file.len() as u64) {
            Err(Error { kind: ErrorKind::NeedMore { bytes }, .. }) => {
                assert!(bytes > at_hand as u64 && bytes <= file.len() as u64);
                at_hand = bytes as usize;
            }
            decoded => return decoded,
        }
    }
}

fn type_name(external_type: ExternalType) -> &'static str {
    match external_type {
        ExternalType::Byte => "byte",
        ExternalType::Char => "char",
        ExternalType::Short => "short",
        ExternalType::Int => "int",
        ExternalType::Float => "float",
        ExternalType::Double => "double",
        ExternalType::UByte => "ubyte",
        ExternalType::UShort => "ushort",
        ExternalType::UInt => "uint",
        ExternalType::Int64 => "int64",
        ExternalType::UInt64 => "uint64",
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hash_values(hash: &mut Sha256, big_endian: &[u8], external_type: ExternalType) {
    for element in big_endian.chunks_exact(external_type.size_bytes() as usize) {
        let little_endian: Vec<u8> = element.iter().rev().copied().collect();
        hash.update(&little_endian);
    }
}

/// Hashes the elements at `address` and behind it along `axis` and those within it.
fn hash_axis(hash: &mut Sha256, file: &[u8], layout: &VariableLayout, axis: usize, address: u64) {
    if let Some(&length) = layout.shape.get(axis) {
        for index in 0..length {
            let below = address + index * layout.byte_strides[axis];
            hash_axis(hash, file, layout, axis + 1, below);
        }
        return;
    }
    let size = layout.external_type.size_bytes();
    let mut element = [0; 8];
    let element = &mut element[..size as usize];
    for (byte, at) in element.iter_mut().zip(address..) {
        *byte = file.get(at as usize).copied().unwrap_or(0);
    }
    hash_values(hash, element, layout.external_type);
}

fn check_attributes(found: &[Attribute], golden: &Value, place: &str) {
    let golden = golden.as_array().unwrap();
    assert_eq!(found.len(), golden.len(), "attributes of {place}");
    for (attribute, golden) in found.iter().zip(golden) {
        let place = format!("{place}, attribute {}", attribute.name);
        assert_eq!(attribute.name, golden["name"], "{place}");
        assert_eq!(type_name(attribute.external_type), golden["type"], "{place}");
        assert_eq!(attribute.value_count, golden["len"], "{place}");
        let mut hash = Sha256::new();
        hash_values(&mut hash, &attribute.value_bytes, attribute.external_type);
        assert_eq!(hex(hash), golden["sha256"], "{place}");
    }
}

fn check_dimensions(header: &Header, layout: &RecordLayout, golden: &Value, place: &str) {
    let golden = golden.as_array().unwrap();
    assert_eq!(header.dimensions.len(), golden.len(), "dimensions of {place}");
    for (id, (dimension, golden)) in header.dimensions.iter().zip(golden).enumerate() {
        let length = if dimension.is_record { layout.record_count } else { dimension.length };
        assert_eq!(dimension.name, golden["name"], "{place}");
        assert_eq!(length, golden["len"], "{place}, dimension {}", dimension.name);
        assert_eq!(header.record_dimension_id() == Some(id), golden["unlimited"], "{place}");
    }
}

/// Returns how many variables had their values compared.
fn check_variables(
    file: &[u8],
    header: &Header,
    layout: &RecordLayout,
    golden: &Value,
    place: &str,
) -> usize {
    let golden = golden.as_array().unwrap();
    assert_eq!(header.variables.len(), golden.len(), "variables of {place}");
    let mut compared_count = 0;
    for (variable, golden) in header.variables.iter().zip(golden) {
        let place = format!("{place}, variable {}", variable.name);
        assert_eq!(variable.name, golden["name"], "{place}");
        assert_eq!(type_name(variable.external_type), golden["type"], "{place}");
        let names = variable.dimension_ids.iter().map(|&id| &header.dimensions[id].name);
        let names: Value = names.map(|name| Value::from(format!("/{name}"))).collect();
        assert_eq!(names, golden["dims"], "{place}");
        check_attributes(&variable.attributes, &golden["atts"], &place);
        let placed = layout.variable(header, variable).unwrap();
        let shape: Value = placed.shape.iter().copied().map(Value::from).collect();
        assert_eq!(shape, golden["shape"], "{place}");
        if let Some(golden_hash) = golden["data_sha256"].as_str() {
            assert!(placed.end - placed.begin <= HASHED_BYTES.max(file.len() as u64), "{place}");
            let mut hash = Sha256::new();
            hash_axis(&mut hash, file, &placed, 0, placed.begin);
            assert_eq!(hex(hash), golden_hash, "values of {place}");
            compared_count += 1;
        }
    }
    compared_count
}

#[test]
fn classic_files_hold_what_the_golden_answers_say() {
    let Some(root) = corpus() else { return };
    let (mut file_count, mut compared_count) = (0, 0);
    for (path, file) in classic_files(&root) {
        let mut golden_path = path.clone().into_os_string();
        golden_path.push(".json");
        let Ok(golden) = fs::read(golden_path) else { continue };
        let golden: Value = serde_json::from_slice(&golden).unwrap();
        let golden = &golden["netcdf"];
        if golden["open_error"] == true {
            continue;
        }
        let place = path.strip_prefix(&root).unwrap().display().to_string();
        let header = decode(&file).unwrap_or_else(|error| panic!("{place}: {error}"));
        let format = match header.version {
            Version::Cdf1 => "CLASSIC",
            Version::Cdf2 => "64BIT_OFFSET",
            Version::Cdf5 => "64BIT_DATA",
        };
        assert_eq!(format, golden["format"], "{place}");
        let layout = RecordLayout::new(&header, file.len() as u64).unwrap();
        let root_group = &golden["root"];
        check_dimensions(&header, &layout, &root_group["dims"], &place);
        check_attributes(&header.attributes, &root_group["atts"], &place);
        compared_count += check_variables(&file, &header, &layout, &root_group["vars"], &place);
        file_count += 1;
    }
    println!("{file_count} files, values of {compared_count} variables");
    assert!(file_count >= 90 && compared_count >= 500, "{file_count}, {compared_count}");
}

/// Decodes and lays out whatever `file` is; true where it has a header.
fn survive(file: &[u8]) -> bool {
    let Ok(header) = decode(file) else { return false };
    assert!(header.size_bytes <= file.len() as u64);
    let Ok(layout) = RecordLayout::new(&header, file.len() as u64) else { return true };
    for variable in &header.variables {
        if let Ok(placed) = layout.variable(&header, variable) {
            assert!(placed.missing_bytes(file.len() as u64) <= placed.end - placed.begin);
        }
    }
    true
}

#[test]
fn broken_files_and_damaged_headers_are_survived() {
    let Some(root) = corpus() else { return };
    let (mut whole_count, mut damaged_count) = (0_u32, 0_u32);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for (_, mut file) in classic_files(&root) {
        survive(&file);
        let Ok(header) = decode(&file) else { continue };
        whole_count += 1;
        let size = header.size_bytes as usize;
        assert!(!survive(&file[..size - 1]));
        for _ in 0..200 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let at = (random >> 8) as usize % size;
            let kept = std::mem::replace(&mut file[at], random as u8);
            damaged_count += u32::from(!survive(&file));
            file[at] = kept;
        }
    }
    println!("{whole_count} headers, {damaged_count} damaged ones refused");
    assert!(whole_count >= 90 && damaged_count > 1000);
}

#[test]
fn headers_are_written_as_they_were() {
    let Some(root) = corpus() else { return };
    let (mut same_count, mut others) = (0, Vec::new());
    for (path, file) in classic_files(&root) {
        let Ok(header) = decode(&file) else { continue };
        let place = path.strip_prefix(&root).unwrap().display().to_string();
        let written = header.encode().unwrap();
        let again = Header { size_bytes: header.size_bytes, ..decode(&written).unwrap() };
        assert_eq!(again, header, "{place}");
        if file.starts_with(&written) {
            same_count += 1;
            continue;
        }
        // Padding that was not zero, or the tag of an empty list. In the one header that gets
        // shorter, a variable was given a shorter name in data mode: libnetcdf leaves its length.
        let differing = file.iter().zip(&written).filter(|(was, is)| was != is);
        let mut differing = differing.map(|(_, is)| is);
        assert!(
            place.starts_with("malformed")
                || differing.all(|is| *is == 0)
                || written.len() < header.size_bytes as usize,
            "{place}"
        );
        others.push(place);
    }
    println!("{same_count} the same; {others:#?}");
    assert!(same_count >= 90 && others.len() <= 14);
}

#[test]
fn laying_out_anew_finds_the_places_that_writers_chose() {
    let Some(root) = corpus() else { return };
    let (mut same_count, mut others) = (0, Vec::new());
    for (path, file) in classic_files(&root) {
        let Ok(header) = decode(&file) else { continue };
        let mut anew = header.clone();
        if anew.lay_out(None, &Spacing::default()).is_ok() && anew == header {
            same_count += 1;
            continue;
        }
        let mut kept = header.clone();
        if kept.lay_out(Some(&header), &Spacing::default()).is_ok() {
            let begins = |header: &Header| -> Vec<u64> {
                header.variables.iter().map(|variable| variable.begin).collect()
            };
            assert_eq!(begins(&kept), begins(&header), "{}", path.display());
        }
        others.push(path.strip_prefix(&root).unwrap().display().to_string());
    }
    println!("{same_count} the same; {others:#?}");
    assert!(same_count >= 90);
}
