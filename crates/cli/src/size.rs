//! Bytes of variables, and how sizes are shown.

use isotach::Result;
use isotach::model::shape;
use isotach::plan::layout::Placement;
use isotach::read::Array;

/// Bytes of all elements, unfiltered; `None` where that is more than 64 bits count. Strings and
/// sequences count with their references only.
pub(crate) fn logical_bytes(array: &Array) -> Option<u64> {
    shape::element_count(&array.shape)?.checked_mul(array.layout.element_size as u64)
}

/// Bytes that the elements take in the file, as filtered; for chunks their sum.
pub(crate) fn stored_bytes(array: &Array) -> Result<u64> {
    let stored = shape::element_count(&array.layout.shape)
        .and_then(|count| count.checked_mul(array.layout.element_size as u64))
        .unwrap_or(u64::MAX);
    match &array.layout.placement {
        Placement::Unallocated | Placement::Virtual(_) => Ok(0),
        Placement::Inline(bytes) => Ok(bytes.len() as u64),
        Placement::Strided { .. } | Placement::External { .. } => Ok(stored),
        Placement::Chunked(chunked) => {
            let mut sum = 0u64;
            chunked.index.for_each(&mut |_, place| {
                sum = sum.saturating_add(place.stored_bytes);
                Ok(())
            })?;
            Ok(sum)
        }
    }
}

/// A size for people, such as "1.2 MB".
pub(crate) fn shown(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut size = bytes as f64;
    let mut unit = "B";
    for larger in UNITS {
        if size < 999.5 {
            break;
        }
        size /= 1000.0;
        unit = larger;
    }
    if size < 9.95 { format!("{size:.1} {unit}") } else { format!("{size:.0} {unit}") }
}

/// A shape for people, such as "12×64".
pub(crate) fn by(lengths: &[u64]) -> String {
    if lengths.is_empty() {
        return "scalar".to_owned();
    }
    lengths.iter().map(u64::to_string).collect::<Vec<_>>().join("×")
}

/// A number of things: "1 chunk", "2 chunks".
pub(crate) fn counted(count: u64, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn sizes() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (9_949, "9.9 kB"),
            (9_951, "10 kB"),
            (999_600, "1.0 MB"),
            (123_456_789, "123 MB"),
            (u64::MAX, "18 EB"),
        ] {
            assert_eq!(shown(bytes), text);
        }
    }
}
