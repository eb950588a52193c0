use std::io;
use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use isotach_model::{DataType, Values};

use super::*;
use crate::plan::layout::{BeyondEnd, Placement};
use crate::variable::StorageKind;

/// Bytes that count how many of them were read.
struct Counted {
    bytes: Vec<u8>,
    read_bytes: AtomicU64,
}

impl Storage for Counted {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        self.read_bytes.fetch_add(into.len() as u64, Ordering::Relaxed);
        let from = &self.bytes[offset as usize..][..into.len()];
        Ok(into.write_copy_of_slice(from))
    }
}

/// Writes the fields of a CDF-1 header.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn numbers(&mut self, numbers: &[u32]) -> &mut Self {
        numbers.iter().for_each(|number| self.0.extend(number.to_be_bytes()));
        self
    }

    fn name(&mut self, name: &str) -> &mut Self {
        self.numbers(&[name.len() as u32]).0.extend(name.bytes());
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }
}

/// Dimensions `time` (3 records) and `x` (2); the attribute `n\u{303}ame` = 7; variables
/// `t(time)` short with fill value 5, and `cafe\u{301}(time, x)` float with a fill value of the
/// wrong type. Behind the header stand `data_bytes` bytes of 1.
fn file(data_bytes: usize) -> Counted {
    let mut writer = Writer(b"CDF\x01".to_vec());
    writer.numbers(&[3]);
    writer.numbers(&[10, 2]).name("time").numbers(&[0]).name("x").numbers(&[2]);
    writer.numbers(&[12, 1]).name("n\u{303}ame").numbers(&[4, 1, 7]);
    writer.numbers(&[11, 2]);
    writer.name("t").numbers(&[1, 0, 12, 1]).name("_FillValue").numbers(&[3, 1, 5 << 16]);
    writer.numbers(&[3, 4, 1000]);
    writer.name("cafe\u{301}").numbers(&[2, 0, 1, 12, 1]).name("_FillValue");
    writer.numbers(&[3, 1, 5 << 16]).numbers(&[5, 8, 1004]);
    assert!(writer.0.len() < 1000);
    writer.0.resize(1000, 0);
    writer.0.resize(1000 + data_bytes, 1);
    Counted { bytes: writer.0, read_bytes: AtomicU64::new(0) }
}

fn reader(storage: Arc<dyn Storage>) -> MetadataReader {
    MetadataReader::new("test.nc".into(), storage).unwrap()
}

fn opened(storage: Arc<dyn Storage>) -> Arc<dyn FileMapping> {
    open(reader(storage), &OpenOptions::default()).unwrap()
}

#[test]
fn opening_reads_the_header_only() {
    let storage = Arc::new(file(1 << 20));
    let mapping = opened(Arc::clone(&storage) as Arc<dyn Storage>);
    // And where an interrupted writer's record would be.
    let limit = FIRST_HEADER_BYTES + Redo::TRAILER_BYTES;
    assert!(storage.read_bytes.load(Ordering::Relaxed) <= limit);
    assert_eq!(mapping.format().unwrap(), Format::Classic);
    let root = mapping.root();
    assert_eq!(root.variable_names().unwrap().len(), 2);
    let array = root.variable("t").unwrap().unwrap().array().unwrap();
    assert_eq!(array.shape, [3]);
    assert!(storage.read_bytes.load(Ordering::Relaxed) <= limit);
}

#[test]
fn names_are_found_in_any_form() {
    let root = opened(Arc::new(file(36))).root();
    for name in ["caf\u{e9}", "cafe\u{301}"] {
        assert_eq!(root.variable(name).unwrap().unwrap().name(), "cafe\u{301}");
    }
    for name in ["\u{f1}ame", "n\u{303}ame"] {
        let attribute = root.attribute(name).unwrap().unwrap();
        assert_eq!(attribute.values().unwrap(), Values::I32(vec![7]));
    }
    assert!(root.variable("cafe").unwrap().is_none());
    assert!(root.attribute("name").unwrap().is_none());
}

#[test]
fn variables_lie_in_records() {
    let root = opened(Arc::new(file(36))).root();
    let dimensions = root.dimensions().unwrap();
    assert_eq!((dimensions[0].len().unwrap(), dimensions[0].is_unlimited()), (3, true));
    assert_eq!((dimensions[1].len().unwrap(), dimensions[1].is_unlimited()), (2, false));
    let variable = root.variable("caf\u{e9}").unwrap().unwrap();
    assert_eq!(variable.data_type(), &DataType::Atomic(Atomic::Float));
    assert_eq!(variable.storage().unwrap().kind, StorageKind::Contiguous);
    let array = variable.array().unwrap();
    assert_eq!(array.shape, [3, 2]);
    let Placement::Strided { address, strides_bytes, beyond_end } = &array.layout.placement else {
        panic!("a classic variable is strided");
    };
    assert_eq!((*address, &strides_bytes[..]), (1004, &[12, 4][..]));
    assert_eq!(*beyond_end, BeyondEnd::Missing);
}

#[test]
fn a_fill_value_is_of_the_variables_type() {
    let root = opened(Arc::new(file(36))).root();
    let short = root.variable("t").unwrap().unwrap();
    assert_eq!(short.fill_value().unwrap().value, Values::I16(vec![5]));
    assert_eq!(short.array().unwrap().layout.fill[..], [0, 5]);
    let float = root.variable("caf\u{e9}").unwrap().unwrap();
    assert_eq!(float.fill_value().unwrap().value, Values::F32(vec![isotach_model::fill::FLOAT]));
    let fill = isotach_model::fill::FLOAT.to_be_bytes();
    assert_eq!(float.array().unwrap().layout.fill[..], fill);
}

/// A file that a writer makes longer between one question and the next.
struct Growing {
    bytes: Vec<u8>,
    /// What is said of the length, from the last.
    lengths: Mutex<Vec<u64>>,
}

impl Storage for Growing {
    fn len(&self) -> io::Result<u64> {
        Ok(self.lengths.lock().unwrap().pop().unwrap_or(self.bytes.len() as u64))
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        let from = &self.bytes[offset as usize..][..into.len()];
        Ok(into.write_copy_of_slice(from))
    }
}

#[test]
fn a_length_older_than_the_header_is_asked_for_again() {
    let bytes = file(100).bytes;
    let header_bytes = (bytes.len() - 100) as u64;
    for old in [32, header_bytes, header_bytes + 50] {
        let lengths = Mutex::new(vec![old]);
        let growing = Arc::new(Growing { bytes: bytes.clone(), lengths });
        let Committed { records, .. } = read_header(reader(growing)).unwrap();
        let whole = Growing { bytes: bytes.clone(), lengths: Mutex::default() };
        assert_eq!(records, read_header(reader(Arc::new(whole))).unwrap().records, "{old}");
    }
    // Who never stops does not keep the reader.
    let lengths = Mutex::new((0..200).map(|step| 32 + step % 2).collect());
    let growing = Arc::new(Growing { bytes, lengths });
    assert!(read_header(reader(Arc::clone(&growing) as Arc<dyn Storage>)).is_err());
    assert!(growing.lengths.lock().unwrap().len() > 150);
}
