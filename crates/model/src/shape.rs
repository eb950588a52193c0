//! Arithmetic on shapes, which come from files and from callers and may not fit anything.

/// The number of elements of an array of this shape: 1 for a scalar, 0 as soon as one dimension is
/// empty. `None` where it does not fit 64 bits.
pub fn element_count(shape: &[u64]) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1u64, |product, &len| product.checked_mul(len))
}

/// The bytes of an array of this shape with elements of `element_size` bytes. `None` where no
/// allocation of this machine could hold them.
pub fn byte_count(shape: &[u64], element_size: usize) -> Option<usize> {
    let bytes = element_count(shape)?.checked_mul(element_size as u64)?;
    isize::try_from(bytes).ok().map(isize::cast_unsigned)
}

/// For each axis, how many elements lie between neighbours along it in row-major order.
/// `None` where one of the numbers does not fit 64 bits.
pub fn row_major_strides(shape: &[u64]) -> Option<Vec<u64>> {
    let mut strides = vec![1u64; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].checked_mul(shape[axis])?;
    }
    Some(strides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_checked() {
        assert_eq!(element_count(&[]), Some(1));
        assert_eq!(element_count(&[3, 4]), Some(12));
        assert_eq!(element_count(&[u64::MAX, u64::MAX, 0]), Some(0));
        assert_eq!(element_count(&[1 << 32, 1 << 32]), None);
        assert_eq!(byte_count(&[1 << 40], 8), Some(1 << 43));
        assert_eq!(byte_count(&[1 << 60], 8), None);
        assert_eq!(row_major_strides(&[2, 3, 4]), Some(vec![12, 4, 1]));
        assert_eq!(row_major_strides(&[]), Some(vec![]));
        assert_eq!(row_major_strides(&[2, 1 << 33, 1 << 33]), None);
    }
}
