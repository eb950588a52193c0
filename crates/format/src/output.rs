//! The bytes of a structure that is being encoded: the counterpart of [`crate::Cursor`].

/// Writes the fields of one structure in their order.
///
/// Integers are little-endian unless the name says otherwise.
#[derive(Debug, Clone, Default)]
pub struct Output {
    bytes: Vec<u8>,
}

impl Output {
    /// No bytes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// No bytes yet, with room for `capacity` of them.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity) }
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True where there is none yet.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What was written.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What was written, to keep.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// `bytes` as they are.
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// One byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// 2 bytes.
    pub fn u16(&mut self, value: u16) {
        self.put(&value.to_le_bytes());
    }

    /// 4 bytes.
    pub fn u32(&mut self, value: u32) {
        self.put(&value.to_le_bytes());
    }

    /// 8 bytes.
    pub fn u64(&mut self, value: u64) {
        self.put(&value.to_le_bytes());
    }

    /// The low `width` bytes of `value`; what is wider than 8 bytes is filled up with zeros.
    pub fn uint(&mut self, value: u64, width: usize) {
        let low = width.min(8);
        debug_assert!(low == 8 || value >> (8 * low) == 0, "{value} does not fit {width} bytes");
        self.put(&value.to_le_bytes()[..low]);
        self.zeros(width - low);
    }

    /// An address of `width` bytes; `None`, which means "undefined", is all ones.
    pub fn address(&mut self, address: Option<u64>, width: usize) {
        match address {
            Some(address) => self.uint(address, width),
            None => self.bytes.resize(self.bytes.len() + width, 0xff),
        }
    }

    /// `count` zero bytes.
    pub fn zeros(&mut self, count: usize) {
        self.bytes.resize(self.bytes.len() + count, 0);
    }

    /// Zero bytes up to a length that is a multiple of `alignment`.
    pub fn pad_to(&mut self, alignment: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(alignment), 0);
    }

    /// The checksum of all bytes so far.
    pub fn checksum(&mut self) {
        let checksum = crate::checksum::lookup3(&self.bytes);
        self.u32(checksum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cursor;

    #[test]
    fn what_is_put_is_what_a_cursor_takes() {
        let mut output = Output::new();
        output.put(b"TEST");
        output.u8(7);
        output.u16(0x0102);
        output.uint(0x01_0203, 3);
        output.address(Some(99), 4);
        output.address(None, 8);
        output.uint(5, 10);
        output.pad_to(8);
        output.checksum();
        let bytes = output.into_bytes();
        let mut cursor = Cursor::new(&bytes, "test", 0);
        cursor.signature(b"TEST").unwrap();
        assert_eq!((cursor.u8(), cursor.u16()), (Ok(7), Ok(0x0102)));
        assert_eq!(cursor.uint(3), Ok(0x01_0203));
        assert_eq!(cursor.address_field(4), Ok(Some(99)));
        assert_eq!(cursor.address_field(8), Ok(None));
        assert_eq!(cursor.uint(10), Ok(5));
        cursor.skip(bytes.len() - 4 - cursor.position()).unwrap();
        cursor.verify_checksum().unwrap();
    }
}
