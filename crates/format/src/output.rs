//! The bytes of a structure that is being encoded: the counterpart of [`crate::Cursor`].

use crate::error::{Error, ErrorKind, Result};

/// Room that most messages do with: grown byte by byte they would be moved four times.
const USUAL_BYTES: usize = 64;

/// Writes the fields of one structure in their order.
///
/// Integers are little-endian unless the name says otherwise.
#[derive(Debug, Clone, Default)]
pub struct Output {
    bytes: Vec<u8>,
    structure: &'static str,
}

impl Output {
    /// No bytes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// No bytes yet, with room for `capacity` of them.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity), structure: "" }
    }

    /// No bytes yet, of what errors call a `structure`.
    pub fn of(structure: &'static str) -> Self {
        Self { bytes: Vec::with_capacity(USUAL_BYTES), structure }
    }

    /// Makes room for `additional` bytes more.
    pub fn reserve(&mut self, additional: usize) {
        self.bytes.reserve(additional);
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

    /// Puts `bytes` in the place of those that begin at `start`.
    ///
    /// # Panics
    /// Where there are not as many.
    pub fn replace(&mut self, start: usize, bytes: &[u8]) {
        self.bytes[start..][..bytes.len()].copy_from_slice(bytes);
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

    /// The low `width` bytes of `value`, which may be too great for them.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] where it is.
    pub fn sized(&mut self, field: &'static str, value: u64, width: usize) -> Result<()> {
        let limit = if width < 8 { (1 << (8 * width)) - 1 } else { u64::MAX };
        let value = self.limited(field, value, limit)?;
        self.uint(value, width);
        Ok(())
    }

    /// An address (or another field where all ones means "none") of `width` bytes, which may be
    /// too great for them.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] where it is, or where it would read as `None`.
    pub fn sized_address(
        &mut self,
        field: &'static str,
        address: Option<u64>,
        width: usize,
    ) -> Result<()> {
        if let Some(address) = address {
            let limit = if width < 8 { (1 << (8 * width)) - 2 } else { u64::MAX - 1 };
            self.limited(field, address, limit)?;
        }
        self.address(address, width);
        Ok(())
    }

    /// `bytes` behind their number, which takes 2 bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] where there are too many.
    pub fn counted(&mut self, field: &'static str, bytes: &[u8]) -> Result<()> {
        self.sized(field, bytes.len() as u64, 2)?;
        self.put(bytes);
        Ok(())
    }

    /// `value` where it is no larger than `limit`, else the error that says so.
    pub fn limited(&self, field: &'static str, value: u64, limit: u64) -> Result<u64> {
        if value <= limit {
            Ok(value)
        } else {
            Err(self.error(ErrorKind::Limit { field, value, limit }))
        }
    }

    /// The error that `field` cannot have `value`.
    pub fn bad_field(&self, field: &'static str, value: u64) -> Error {
        self.error(ErrorKind::Field { field, value })
    }

    /// An error of `kind` about this structure.
    pub fn error(&self, kind: ErrorKind) -> Error {
        Error { structure: self.structure, address: Error::UNPLACED, kind }
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

    #[test]
    fn what_does_not_fit_is_said() {
        let mut output = Output::of("test");
        output.sized("count", 0xffff, 2).unwrap();
        output.sized("length", u64::MAX, 8).unwrap();
        output.sized_address("address", Some(0xfffe), 2).unwrap();
        output.sized_address("address", None, 2).unwrap();
        output.counted("name", b"n").unwrap();
        assert_eq!(output.len(), 2 + 8 + 2 + 2 + 3);
        let error = output.sized("count", 0x1_0000, 2).unwrap_err();
        assert_eq!(error.to_string(), "test to be written: count is 65536, the limit is 65535");
        assert!(output.sized_address("address", Some(0xffff), 2).is_err());
        assert!(output.sized_address("address", Some(u64::MAX), 8).is_err());
        assert!(output.counted("name", &[0; 0x1_0000]).is_err());
    }
}
