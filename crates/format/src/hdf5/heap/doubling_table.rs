//! The doubling table of a fractal heap: arithmetic from an offset in the heap to a block.
//!
//! Blocks stand in rows of `width` blocks each. The first two rows have blocks of the starting
//! size, every later row blocks of twice the size of the row before. Rows whose blocks are larger
//! than a direct block may be hold indirect blocks, which are tables of the same kind.
//!
//! ```text
//! row 0   s s s s          offset 0
//! row 1   s s s s          offset     width s
//! row 2   2s 2s 2s 2s      offset   2 width s
//! row 3   4s 4s 4s 4s      offset   4 width s
//! ```
//! Section III.G, "Disk Format: Level 1G - Fractal Heap", "Doubling Table".

use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::limits;
use crate::output::Output;

/// The sizes that fix every block's place. All sizes are powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DoublingTable {
    width_bits: u32,
    start_bits: u32,
    max_direct_bits: u32,
    max_heap_bits: u32,
}

/// Where an offset lies in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TablePlace {
    /// Row of the block.
    pub row: u32,
    /// Column of the block.
    pub column: u64,
    /// Offset of the block's first byte from the table's.
    pub block_offset: u64,
}

impl DoublingTable {
    /// The table that libhdf5 gives the heaps of links: 4 columns, blocks from 512 bytes to 64 KiB,
    /// 4 GiB in all.
    pub const LINKS: Self =
        Self { width_bits: 2, start_bits: 9, max_direct_bits: 16, max_heap_bits: 32 };

    /// The table that libhdf5 gives the heaps of attributes: 4 columns, blocks from 1 KiB to
    /// 64 KiB, 1 TiB in all.
    pub const ATTRIBUTES: Self =
        Self { width_bits: 2, start_bits: 10, max_direct_bits: 16, max_heap_bits: 40 };

    /// Reads width, starting block size, maximum direct block size and maximum heap size.
    ///
    /// # Errors
    /// A size that is no power of two, a maximum smaller than the start, or beyond
    /// [`limits`].
    pub(super) fn decode(cursor: &mut Cursor<'_>, length_bytes: usize) -> Result<Self> {
        let power = |cursor: &Cursor<'_>, field, value: u64| {
            if value.is_power_of_two() {
                Ok(value.trailing_zeros())
            } else {
                Err(cursor.bad_field(field, value))
            }
        };
        let width = u64::from(cursor.u16()?);
        let width = cursor.limited("table width", width, limits::HEAP_TABLE_WIDTH)?;
        let start = cursor.uint(length_bytes)?;
        let max_direct = cursor.uint(length_bytes)?;
        cursor.limited("maximum direct block size", max_direct, limits::HEAP_BLOCK_BYTES)?;
        let max_heap_bits = u32::from(cursor.u16()?);
        let table = Self {
            width_bits: power(cursor, "table width", width)?,
            start_bits: power(cursor, "starting block size", start)?,
            max_direct_bits: power(cursor, "maximum direct block size", max_direct)?,
            max_heap_bits,
        };
        if table.max_direct_bits < table.start_bits {
            return Err(cursor.bad_field("maximum direct block size", max_direct));
        }
        if max_heap_bits > 64 || max_heap_bits < table.first_row_bits() {
            return Err(cursor.bad_field("maximum heap size", u64::from(max_heap_bits)));
        }
        // Else the first row of indirect blocks would have blocks smaller than a row of theirs.
        if table.max_direct_bits + 1 < table.first_row_bits() {
            return Err(cursor.error(ErrorKind::Unsupported {
                feature: "fractal heap table width",
                value: width,
            }));
        }
        Ok(table)
    }

    /// Writes what [`Self::decode`] reads.
    pub(super) fn encode(&self, output: &mut Output, length_bytes: usize) {
        // Decoding bounds the width to 15 bits; it and the heap's bits fit their fields.
        output.uint(self.width(), 2);
        output.uint(self.start_block_bytes(), length_bytes);
        output.uint(self.max_direct_bytes(), length_bytes);
        output.uint(u64::from(self.max_heap_bits), 2);
    }

    /// Blocks in a row.
    pub fn width(&self) -> u64 {
        1 << self.width_bits
    }

    /// Bytes of the blocks in the first two rows.
    pub fn start_block_bytes(&self) -> u64 {
        1 << self.start_bits
    }

    /// Bytes of the largest direct block.
    pub fn max_direct_bytes(&self) -> u64 {
        1 << self.max_direct_bits
    }

    /// Bits of an offset in the heap.
    pub fn max_heap_bits(&self) -> u32 {
        self.max_heap_bits
    }

    /// Rows, from the first, that hold direct blocks.
    pub fn direct_rows(&self) -> u32 {
        self.max_direct_bits - self.start_bits + 2
    }

    /// Rows that the root indirect block can have.
    pub fn max_rows(&self) -> u32 {
        self.max_heap_bits - self.first_row_bits() + 1
    }

    /// Bytes of a block in `row`; `None` beyond 64 bits.
    pub fn block_bytes(&self, row: u32) -> Option<u64> {
        let bits = self.start_bits + row.saturating_sub(1);
        1_u64.checked_shl(bits)
    }

    /// Rows of an indirect block that stands in `row` of another; 0 where direct blocks stand.
    pub fn indirect_rows(&self, row: u32) -> u32 {
        if row < self.direct_rows() { 0 } else { row - self.width_bits }
    }

    /// The block that holds `offset`, counted from the table's first byte.
    pub fn locate(&self, offset: u64) -> TablePlace {
        let first_row_bits = self.first_row_bits();
        let (row, row_offset) = match offset.checked_ilog2() {
            Some(bits) if bits >= first_row_bits => (bits - first_row_bits + 1, 1_u64 << bits),
            _ => (0, 0),
        };
        // Never beyond 63: the row is derived from the 64 bits of the offset.
        let block_bits = self.start_bits + row.saturating_sub(1);
        let column = (offset - row_offset) >> block_bits;
        TablePlace { row, column, block_offset: row_offset + (column << block_bits) }
    }

    /// Offset of the block at `row` and `column` from the table's first byte.
    pub fn block_offset(&self, row: u32, column: u64) -> Option<u64> {
        let row_offset = match row {
            0 => 0,
            _ => 1_u64.checked_shl(self.first_row_bits() + row - 1)?,
        };
        row_offset.checked_add(column.checked_mul(self.block_bytes(row)?)?)
    }

    /// Bytes of the direct block that begins at `offset` of the heap, or `None` where no direct
    /// block begins there, or none that the heap's bits can address.
    pub fn direct_block_bytes(&self, offset: u64) -> Option<u64> {
        let mut local = offset;
        loop {
            let place = self.locate(local);
            if place.row >= self.max_rows() {
                return None;
            }
            if self.indirect_rows(place.row) == 0 {
                return self.block_bytes(place.row).filter(|_| place.block_offset == local);
            }
            local -= place.block_offset;
        }
    }

    /// log2 of the bytes of the first row.
    fn first_row_bits(&self) -> u32 {
        self.start_bits + self.width_bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(width: u16, start: u64, max_direct: u64, bits: u16) -> Result<DoublingTable> {
        let mut bytes = width.to_le_bytes().to_vec();
        bytes.extend(start.to_le_bytes());
        bytes.extend(max_direct.to_le_bytes());
        bytes.extend(bits.to_le_bytes());
        DoublingTable::decode(&mut Cursor::new(&bytes, "fractal heap", 0), 8)
    }

    #[test]
    fn rows_and_columns() {
        let table = table(4, 512, 65_536, 32).unwrap();
        assert_eq!(table.direct_rows(), 9);
        assert_eq!(table.max_rows(), 22);
        let place = |offset| {
            let place = table.locate(offset);
            (place.row, place.column, place.block_offset)
        };
        assert_eq!(place(0), (0, 0, 0));
        assert_eq!(place(2047), (0, 3, 1536));
        assert_eq!(place(2048), (1, 0, 2048));
        assert_eq!(place(4096), (2, 0, 4096));
        assert_eq!(place(4096 + 1024), (2, 1, 5120));
        assert_eq!(place(u64::MAX).0, 64 - 11);
        // An indirect block in the first indirect row covers 128 KiB: rows 0 to 6 of its own.
        assert_eq!(table.block_bytes(9), Some(131_072));
        assert_eq!(table.indirect_rows(9), 7);
        assert_eq!(table.block_offset(7, 0), Some(131_072));
    }

    #[test]
    fn every_block_holds_its_own_bytes() {
        let table = table(8, 64, 1024, 40).unwrap();
        for row in 0..20 {
            for column in 0..8 {
                let start = table.block_offset(row, column).unwrap();
                let last = start + table.block_bytes(row).unwrap() - 1;
                for offset in [start, last] {
                    assert_eq!(
                        table.locate(offset),
                        TablePlace { row, column, block_offset: start }
                    );
                }
            }
        }
    }

    #[test]
    fn encoded_tables_and_direct_blocks() {
        for known in [DoublingTable::LINKS, DoublingTable::ATTRIBUTES] {
            let mut output = Output::new();
            known.encode(&mut output, 8);
            let decoded = DoublingTable::decode(&mut Cursor::new(output.bytes(), "table", 0), 8);
            assert_eq!(decoded, Ok(known));
        }
        let links = DoublingTable::LINKS;
        assert_eq!(links.direct_block_bytes(0), Some(512));
        assert_eq!(links.direct_block_bytes(4096 + 1024), Some(1024));
        assert_eq!(links.direct_block_bytes(100), None);
        // The first indirect row begins behind 512 KiB, with a table of its own.
        assert_eq!(links.direct_block_bytes((1 << 19) - (1 << 16)), Some(1 << 16));
        assert_eq!(links.direct_block_bytes((1 << 19) + 512), Some(512));
        assert_eq!(links.direct_block_bytes((1 << 19) + (1 << 17)), Some(512));
        assert_eq!(links.direct_block_bytes(1 << 32), None);
    }

    #[test]
    fn impossible_sizes() {
        assert!(table(3, 512, 65_536, 32).is_err());
        assert!(table(4, 500, 65_536, 32).is_err());
        assert!(table(4, 0, 65_536, 32).is_err());
        assert!(table(4, 1024, 512, 32).is_err());
        assert!(table(4, 512, 65_536, 65).is_err());
        assert!(table(4, 512, 65_536, 8).is_err());
        assert!(table(4, 512, 1 << 40, 64).is_err());
        assert!(table(64, 512, 512, 32).is_err());
    }
}
