//! `netcdf_aux.h`: the text by which command lines name filters, `id,parameter,...|id,parameter,...`.
//!
//! A parameter is a number; a letter behind it says what it is in C: `b` and `s` are 8 and 16 bits, `u`
//! or nothing 32, `l` 64 (two parameters), `f` a float, `d` a double (two parameters), and `u` before
//! a letter changes nothing that is stored. Numbers that are too large lose their high bits, as C's do.

use std::ffi::{c_char, c_int, c_uchar};

use super::free;
use crate::boundary::{answer, put, put_list, text};
use crate::status::{Outcome, Status};

/// A filter as programs see it.
#[repr(C)]
pub struct FilterSpec {
    id: u32,
    parameter_count: usize,
    parameters: *mut u32,
}

/// Number of the format of the parameters: HDF5's.
const FORMAT_HDF5: c_int = 0;

/// The integer that text begins with, in two's complement.
fn integer(text: &str) -> Option<u64> {
    let digits = text.trim_start_matches(['+', '-']);
    if text.len() > digits.len() + 1 {
        return None;
    }
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let digits = digits.get(..end).filter(|digits| !digits.is_empty())?;
    let add = |sum: u64, digit: u8| sum.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
    let sum = digits.bytes().fold(0, add);
    Some(if text.starts_with('-') { sum.wrapping_neg() } else { sum })
}

fn halves(bits: u64) -> Vec<u32> {
    vec![bits as u32, (bits >> 32) as u32]
}

/// The parameters that one number is stored as.
fn parameter(text: &str) -> Option<Vec<u32>> {
    let whole = integer(text)?;
    let last = text.chars().next_back()?;
    let real = || text[..text.len() - last.len_utf8()].parse::<f64>().ok();
    Some(match last.to_ascii_lowercase() {
        'b' => vec![whole as u32 & 0xff],
        's' => vec![whole as u32 & 0xffff],
        'u' | '.' | '0'..='9' => vec![whole as u32],
        'l' => halves(whole),
        'f' => vec![(real()? as f32).to_bits()],
        'd' => halves(real()?.to_bits()),
        _ => return None,
    })
}

/// The id of a filter and its parameters.
fn filter(text: &str) -> Option<(u32, Vec<u32>)> {
    let mut parts = text.split(',');
    let id = integer(parts.next()?)? as u32;
    let parameters = parts.map(parameter).collect::<Option<Vec<_>>>()?;
    Some((id, parameters.concat()))
}

/// All filters of a list; one that is empty at the end is none.
fn filters(text: &str) -> Option<Vec<(u32, Vec<u32>)>> {
    let text = text.strip_suffix('|').filter(|begin| !begin.is_empty()).unwrap_or(text);
    if text.is_empty() { Some(Vec::new()) } else { text.split('|').map(filter).collect() }
}

/// Memory of a copy of `list`, for the caller to free; NULL for an empty one.
///
/// # Errors
/// `NC_ENOMEM`.
fn allocate<T: Copy>(list: &[T]) -> Outcome<*mut T> {
    if list.is_empty() {
        return Ok(std::ptr::null_mut());
    }
    // SAFETY: as many bytes as the list has.
    let memory = unsafe { libc::malloc(size_of_val(list)) }.cast::<T>();
    if memory.is_null() {
        return Err(Status::ENOMEM);
    }
    // SAFETY: room for the list was just given out.
    unsafe { put_list(memory, list) };
    Ok(memory)
}

/// Reads the text of one filter; the parameters are for the caller to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_parse(
    spec: *const c_char,
    id: *mut u32,
    count: *mut usize,
    parameters: *mut *mut u32,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's string.
        let spec = unsafe { text(spec) }?;
        let (number, values) = spec.split('|').next().and_then(filter).ok_or(Status::EINVAL)?;
        // SAFETY: the caller's places for one element each.
        unsafe {
            if !parameters.is_null() {
                parameters.write(allocate(&values)?);
            }
            put(id, number);
            put(count, values.len());
        }
        Ok(())
    })
}

/// Reads the text of a list of filters. The vector is for the caller to free, and each of its elements for
/// `ncaux_h5filterspec_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_parselist(
    specs: *const c_char,
    format: *mut c_int,
    count: *mut usize,
    vector: *mut *mut *mut FilterSpec,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's string.
        let found = filters(unsafe { text(specs) }?).ok_or(Status::EINVAL)?;
        // SAFETY: the caller's places for one element each.
        unsafe {
            if !vector.is_null() {
                vector.write(allocate_specs(&found)?);
            }
            put(format, FORMAT_HDF5);
            put(count, found.len());
        }
        Ok(())
    })
}

fn allocate_specs(filters: &[(u32, Vec<u32>)]) -> Outcome<*mut *mut FilterSpec> {
    let mut specs: Vec<*mut FilterSpec> = Vec::with_capacity(filters.len());
    let filled = filters.iter().try_for_each(|(id, values)| {
        // SAFETY: memory for one filter; zeros are one without parameters.
        let spec = unsafe { libc::calloc(1, size_of::<FilterSpec>()) }.cast::<FilterSpec>();
        if spec.is_null() {
            return Err(Status::ENOMEM);
        }
        specs.push(spec);
        let parameters = allocate(values)?;
        // SAFETY: memory for a filter that nobody else has yet.
        unsafe { spec.write(FilterSpec { id: *id, parameter_count: values.len(), parameters }) };
        Ok(())
    });
    filled.and_then(|()| allocate(&specs)).inspect_err(|_| {
        // SAFETY: nobody else has the filters made so far.
        specs.iter().for_each(|&spec| unsafe { ncaux_h5filterspec_free(spec) });
    })
}

/// Reads the text of one parameter, which may take two places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_parse_parameter(
    value: *const c_char,
    count: *mut usize,
    parameters: *mut u32,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's string.
        let value = unsafe { text(value) }?;
        let values = value.split(',').next().and_then(parameter).ok_or(Status::EINVAL)?;
        // SAFETY: the caller's place for a count, and its room for two parameters.
        unsafe {
            put(count, values.len());
            put_list(parameters, &values);
        }
        Ok(())
    })
}

/// Frees a filter of a list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_free(spec: *mut FilterSpec) {
    // SAFETY: NULL or a filter from `ncaux_h5filterspec_parselist`, which nobody uses afterwards.
    unsafe {
        if let Some(spec) = spec.as_ref() {
            free(spec.parameters);
        }
        free(spec);
    }
}

/// Turns 8 bytes of two parameters around where the machine's order is not that of HDF5's filters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_fix8(bytes: *mut c_uchar, _decode: c_int) {
    if cfg!(target_endian = "big") && !bytes.is_null() {
        // SAFETY: the caller's 8 bytes.
        unsafe { std::slice::from_raw_parts_mut(bytes, 8) }.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbers_of_c() {
        for (text, stored) in [
            ("2", vec![2]),
            ("2.5", vec![2]),
            ("1e3", vec![1]),
            ("0x10", vec![0]),
            ("+5", vec![5]),
            ("-1", vec![u32::MAX]),
            ("-1b", vec![255]),
            ("300ub", vec![44]),
            ("-3s", vec![65533]),
            ("70000us", vec![4464]),
            ("4294967296", vec![0]),
            ("5ull", vec![5, 0]),
            ("-1L", vec![u32::MAX, u32::MAX]),
            ("3lu", vec![3]),
            ("2.5f", vec![1_075_838_976]),
            ("1.0D", vec![0, 1_072_693_248]),
            ("1e3d", vec![0, 1_083_129_856]),
        ] {
            assert_eq!(parameter(text), Some(stored), "{text}");
        }
        for text in ["", "a", "'a'", "NaN", "1.5e", " 2", "--2", "-", "1x", "1é"] {
            assert_eq!(parameter(text), None, "{text}");
        }
    }

    #[test]
    fn lists_are_filters() {
        assert_eq!(filters(""), Some(vec![]));
        assert_eq!(filters("1|"), Some(vec![(1, vec![])]));
        assert_eq!(
            filters("307,9|32015,1,-2"),
            Some(vec![(307, vec![9]), (32015, vec![1, 4_294_967_294]),])
        );
        for text in ["|", "|1", "1||2", "1,", "1,,2", "zstd,3", "(4)1", "[1]1", "none", "*,1"] {
            assert_eq!(filters(text), None, "{text}");
        }
    }

    #[test]
    fn what_a_list_allocates_is_freed() {
        let (mut format, mut count, mut vector) = (-1, 0, std::ptr::null_mut());
        // SAFETY: a string, places of this test, and memory that only it has.
        unsafe {
            let text = c"4,7|5".as_ptr();
            assert_eq!(ncaux_h5filterspec_parselist(text, &mut format, &mut count, &mut vector), 0);
            assert_eq!((format, count), (0, 2));
            let first = &**vector;
            assert_eq!((first.id, first.parameter_count, *first.parameters), (4, 1, 7));
            assert!((**vector.add(1)).parameters.is_null());
            (0..count).for_each(|index| ncaux_h5filterspec_free(*vector.add(index)));
            free(vector);
        }
    }
}
