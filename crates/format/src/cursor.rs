//! The place in a structure's bytes up to which it has been decoded.

use crate::error::{Error, ErrorKind, Result};

/// Reads the fields of one structure in their order.
///
/// Running over the end is [`ErrorKind::NeedMore`] with the count of bytes, from the structure's
/// first byte, that the field needs. Integers are little-endian unless the name says otherwise.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
    structure: &'static str,
    address: u64,
}

impl<'a> Cursor<'a> {
    /// A cursor on the first of `bytes`, which stand at `address` and are a `structure`.
    pub fn new(bytes: &'a [u8], structure: &'static str, address: u64) -> Self {
        Self { bytes, position: 0, structure, address }
    }

    /// Bytes consumed so far.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Bytes that are left.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// The address the structure stands at.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// An error of `kind` about this structure.
    pub fn error(&self, kind: ErrorKind) -> Error {
        Error { structure: self.structure, address: self.address, kind }
    }

    /// The error that `field` cannot have `value`.
    pub fn bad_field(&self, field: &'static str, value: u64) -> Error {
        self.error(ErrorKind::Field { field, value })
    }

    /// `value` where it is no larger than `limit`, else the error that says so.
    pub fn limited(&self, field: &'static str, value: u64, limit: u64) -> Result<u64> {
        if value <= limit {
            Ok(value)
        } else {
            Err(self.error(ErrorKind::Limit { field, value, limit }))
        }
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let end = self.position.saturating_add(count);
        let taken = self
            .bytes
            .get(self.position..end)
            .ok_or_else(|| self.error(ErrorKind::NeedMore { bytes: end as u64 }))?;
        self.position = end;
        Ok(taken)
    }

    /// Everything that is left.
    pub fn take_rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.position..];
        self.position = self.bytes.len();
        rest
    }

    /// Passes over `count` bytes.
    pub fn skip(&mut self, count: usize) -> Result<()> {
        self.take(count).map(|_| ())
    }

    /// The next byte.
    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// The next 2 bytes as an integer.
    pub fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// The next 4 bytes as an integer.
    pub fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// The next 8 bytes as an integer.
    pub fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    /// The next `width` bytes (0 to 8, or a wider one whose excess is zero) as an integer.
    pub fn uint(&mut self, width: usize) -> Result<u64> {
        let bytes = self.take(width)?;
        // Most are as wide as one of Rust's integers.
        match *bytes {
            [byte] => return Ok(byte.into()),
            [a, b] => return Ok(u16::from_le_bytes([a, b]).into()),
            [a, b, c, d] => return Ok(u32::from_le_bytes([a, b, c, d]).into()),
            [a, b, c, d, e, f, g, h] => return Ok(u64::from_le_bytes([a, b, c, d, e, f, g, h])),
            _ => {}
        }
        let (low, high) = bytes.split_at(width.min(8));
        if high.iter().any(|&b| b != 0) {
            return Err(self.error(ErrorKind::Unsupported {
                feature: "integer of bytes",
                value: width as u64,
            }));
        }
        Ok(low.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    /// The next `width` bytes as an address; all ones means "undefined", which is `None`.
    pub fn address_field(&mut self, width: usize) -> Result<Option<u64>> {
        if width > 8 {
            let rest = self.bytes.get(self.position..).unwrap_or_default();
            if rest.get(..width).is_some_and(|field| field.iter().all(|&byte| byte == 0xff)) {
                self.skip(width)?;
                return Ok(None);
            }
        }
        let all_ones = u64::MAX.checked_shr(64 - 8 * width.min(8) as u32).unwrap_or(0);
        self.uint(width).map(|value| (width == 0 || value != all_ones).then_some(value))
    }

    /// The bytes up to the next zero byte, which is passed over.
    pub fn nul_terminated(&mut self) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.position..];
        let Some(len) = rest.iter().position(|&byte| byte == 0) else {
            let bytes = self.bytes.len() as u64 + 1;
            return Err(self.error(ErrorKind::NeedMore { bytes }));
        };
        self.position += len + 1;
        Ok(&rest[..len])
    }

    /// Checks the four bytes that a structure begins with.
    pub fn signature(&mut self, expected: &[u8; 4]) -> Result<()> {
        let found = self.array::<4>()?;
        if found == *expected {
            Ok(())
        } else {
            Err(self.error(ErrorKind::Signature { expected: *expected, found }))
        }
    }

    /// Fails with [`ErrorKind::NeedMore`] for all of them where fewer than `count` bytes are left.
    ///
    /// Decoders call it before they make room for what a count promises: one request for the rest
    /// of the structure instead of many, and no allocation that the bytes do not bear out.
    pub fn require(&self, count: u64) -> Result<()> {
        if count <= self.remaining() as u64 {
            return Ok(());
        }
        Err(self.error(ErrorKind::NeedMore { bytes: (self.position as u64).saturating_add(count) }))
    }

    /// Reads the checksum that ends the structure and holds it against all bytes before it.
    pub fn verify_checksum(&mut self) -> Result<()> {
        let computed = crate::checksum::lookup3(&self.bytes[..self.position]);
        let stored = self.u32()?;
        if stored == computed {
            Ok(())
        } else {
            Err(self.error(ErrorKind::Checksum { stored, computed }))
        }
    }

    /// Checks the one byte of a version that has only ever been `expected`.
    pub fn version(&mut self, expected: u8) -> Result<()> {
        let found = self.u8()?;
        if found == expected {
            Ok(())
        } else {
            Err(self.error(ErrorKind::Version { found: u64::from(found) }))
        }
    }
}
