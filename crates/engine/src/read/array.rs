//! What a variable's elements can be read as.

use std::convert::Infallible;
use std::mem::MaybeUninit;

use isotach_model::convert::{Number, RangeReport, Rules, convert};
use isotach_model::selection::{Selection, SelectionError};
use isotach_model::stored::DecodeError;
use isotach_model::{Atomic, Heap, PartialFloat, StoredType, Values, shape};

use super::destination::Destination;
use super::reading::{Reading, target_strides};
use super::scatter::Target;
use super::strided::SHARED_FROM_BYTES;
use super::{Array, DynHeap, memory};
use crate::cache::{self, ChunkCache, read_ahead};
use crate::error::{Error, ErrorKind, Result};
use crate::plan::axis_runs::runs_of;
use crate::storage::uninit;

/// Elements converted at a time where numbers widen in place.
const BLOCK_ELEMENTS: usize = 1024;

/// How many states a request begins to read before it gives up: a writer commits faster than they can be read.
const MOST_STATES: usize = 100;

/// The heap of an array that may have none.
struct ArrayHeap<'a>(Option<&'a DynHeap>);

impl Heap for ArrayHeap<'_> {
    type Error = Error;

    fn look_up(&self, reference: &[u8], element_size: usize) -> Result<Option<(u64, Vec<u8>)>> {
        self.0.map_or(Ok(None), |heap| heap.look_up(reference, element_size))
    }

    fn size_bytes(&self) -> u64 {
        self.0.map_or(0, Heap::size_bytes)
    }
}

impl Array {
    /// The selected elements, of any type.
    ///
    /// # Errors
    /// [`ErrorKind::Selection`] where they do not lie within the shape, [`ErrorKind::Limit`] where
    /// there is no memory for them, and whatever is wrong with the file.
    pub fn read(&self, selection: &Selection) -> Result<Values> {
        let count = self.element_count(selection)?;
        macro_rules! numbers {
            ($type:ty) => {
                self.read_vec::<$type>(selection, count).map(<$type as Number>::into_values)
            };
        }
        if self.stored == StoredType::Char {
            return self.read_vec::<u8>(selection, count).map(Values::Char);
        }
        match self.stored.number() {
            Some(Atomic::Byte) => numbers!(i8),
            Some(Atomic::Short) => numbers!(i16),
            Some(Atomic::Int) => numbers!(i32),
            Some(Atomic::Int64) => numbers!(i64),
            Some(Atomic::UByte) => numbers!(u8),
            Some(Atomic::UShort) => numbers!(u16),
            Some(Atomic::UInt) => numbers!(u32),
            Some(Atomic::UInt64) => numbers!(u64),
            Some(Atomic::Float) if self.small_float().is_some() => {
                self.read_as::<f32>(selection).map(|(numbers, _)| Values::F32(numbers))
            }
            Some(Atomic::Float) => numbers!(f32),
            Some(Atomic::Double) => numbers!(f64),
            _ => {
                let bytes = self.stored_bytes(selection, count, false)?;
                let heap = ArrayHeap(self.heap.as_deref());
                self.stored.decode(&bytes, count, &heap).map_err(|error| self.decode_error(error))
            }
        }
    }

    /// The selected elements into `into`, each as this machine has it: of type [`StoredType::native`], which is
    /// [`StoredType::native_size`] bytes each. Only for types without strings or sequences. Gives `into` back, written.
    pub fn read_native_into<'m>(
        &self,
        selection: &Selection,
        into: &'m mut [MaybeUninit<u8>],
    ) -> Result<&'m mut [u8]> {
        if !self.stored.is_flat() {
            return Err(self.wrong_type("bytes"));
        }
        if self.stored.is_resized() {
            return self.resize(selection, into);
        }
        self.fill(selection, into, true, cache::global())
    }

    /// Elements whose native form has another size than the stored one.
    fn resize<'m>(
        &self,
        selection: &Selection,
        into: &'m mut [MaybeUninit<u8>],
    ) -> Result<&'m mut [u8]> {
        let count = self.element_count(selection)?;
        let (needed_bytes, given_bytes) =
            (count.saturating_mul(self.stored.native_size()) as u64, into.len() as u64);
        if needed_bytes != given_bytes {
            return Err(self.error(ErrorKind::Destination { needed_bytes, given_bytes }));
        }
        let stored = self.stored_bytes(selection, count, false)?;
        let into = uninit::zeroed(into);
        self.stored.to_native(&stored, into);
        Ok(into)
    }

    /// The selected elements in memory of their own, as they are stored or in the machine's byte order.
    fn stored_bytes(&self, selection: &Selection, count: usize, native: bool) -> Result<Vec<u8>> {
        let len = self.byte_count(count)?;
        let stored = memory::filled_vec::<u8, _>(len, |into| {
            self.fill(selection, into, native, cache::global())
        });
        stored.ok_or_else(|| self.no_memory(len))?
    }

    /// Where the elements are floats of one or two bytes.
    fn small_float(&self) -> Option<PartialFloat> {
        match self.stored {
            StoredType::PartialFloat(float) if float.format.is_small() => Some(float),
            _ => None,
        }
    }

    /// The selected elements into `into`, each byte as it is stored; references into heaps too.
    /// Gives `into` back, written.
    pub fn read_stored_into<'m>(
        &self,
        selection: &Selection,
        into: &'m mut [MaybeUninit<u8>],
    ) -> Result<&'m mut [u8]> {
        self.fill(selection, into, false, cache::global())
    }

    /// The selected numbers as `T`, converted by netCDF's rules; the report says how many were
    /// out of `T`'s range. On success every element of `into` is initialised.
    ///
    /// Beside `into`, memory for the stored elements is taken only where they are larger than `T`.
    pub fn read_as_into<T: Number>(
        &self,
        selection: &Selection,
        into: &mut [MaybeUninit<T>],
    ) -> Result<RangeReport> {
        let bytes = memory::as_bytes_mut(into);
        self.read_converted_into(selection, T::ATOMIC, self.rules, bytes).map(|(_, report)| report)
    }

    /// As [`Array::read_as_into`], by other rules and into bytes, aligned or not: the numbers in this
    /// machine's byte order. Gives `into` back, written.
    pub fn read_converted_into<'m>(
        &self,
        selection: &Selection,
        to: Atomic,
        rules: Rules,
        into: &'m mut [MaybeUninit<u8>],
    ) -> Result<(&'m mut [u8], RangeReport)> {
        let from = self.stored.number().ok_or_else(|| self.wrong_type("numbers"))?;
        let count = self.element_count(selection)?;
        let (needed_bytes, given_bytes) =
            (count.saturating_mul(to.size()) as u64, into.len() as u64);
        if needed_bytes != given_bytes {
            return Err(self.error(ErrorKind::Destination { needed_bytes, given_bytes }));
        }
        if let Some(float) = self.small_float() {
            let stored = self.stored_bytes(selection, count, false)?;
            let into = uninit::zeroed(into);
            if from == to {
                float.unpack_into(&stored, into);
                let report = RangeReport { element_count: count as u64, out_of_range_count: 0 };
                return Ok((into, report));
            }
            let report = convert(&float.unpacked(&stored), from, into, to, rules)
                .map_err(|error| self.error(ErrorKind::Convert(error)))?;
            return Ok((into, report));
        }
        if from == to {
            let written = self.fill(selection, into, true, cache::global())?;
            let report = RangeReport { element_count: count as u64, out_of_range_count: 0 };
            return Ok((written, report));
        }
        if from.size() <= to.size() {
            return self.widen(selection, (from, to), rules, into);
        }
        let stored = self.stored_bytes(selection, count, true)?;
        let into = uninit::zeroed(into);
        let report = convert(&stored, from, into, to, rules)
            .map_err(|error| self.error(ErrorKind::Convert(error)))?;
        Ok((into, report))
    }

    /// The selected numbers as `T`; see [`Array::read_as_into`].
    pub fn read_as<T: Number>(&self, selection: &Selection) -> Result<(Vec<T>, RangeReport)> {
        let count = self.element_count(selection)?;
        let mut report = RangeReport::default();
        let numbers = memory::filled_numbers::<T, _>(count, |into| {
            let bytes = memory::as_bytes_mut(into);
            let (written, converted) =
                self.read_converted_into(selection, T::ATOMIC, self.rules, bytes)?;
            report = converted;
            Ok(written)
        });
        let numbers =
            numbers.ok_or_else(|| self.no_memory(count.saturating_mul(size_of::<T>())))??;
        Ok((numbers, report))
    }

    /// How many elements are selected, where they lie within the shape and can be counted.
    pub(crate) fn element_count(&self, selection: &Selection) -> Result<usize> {
        self.check(selection)?;
        let count = selection.element_count().and_then(|count| usize::try_from(count).ok());
        count.ok_or_else(|| self.no_memory(usize::MAX))
    }

    /// An error about this array.
    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.layout.file, kind).at(&self.layout.path)
    }

    /// Fills `into` with the selected elements, and gives it back written.
    pub(super) fn fill<'m>(
        &self,
        selection: &Selection,
        into: &'m mut [MaybeUninit<u8>],
        native: bool,
        cache: &'static ChunkCache,
    ) -> Result<&'m mut [u8]> {
        let given_bytes = into.len() as u64;
        let needed = self.byte_count(self.element_count(selection)?)?;
        if needed as u64 != given_bytes {
            let needed_bytes = needed as u64;
            return Err(self.error(ErrorKind::Destination { needed_bytes, given_bytes }));
        }
        let size = self.layout.element_size;
        let order = native.then(|| self.stored.native_order()).filter(|order| !order.is_native());
        // Plain numbers are reversed on their way, whatever else there is when all is there.
        let reverse = matches!(size, 2 | 4 | 8)
            && order.as_ref().and_then(|order| order.plain_width()) == Some(size);
        let mut destination = Destination::new(into);
        if needed > 0 {
            destination = self.read_into(selection, destination, reverse, cache)?;
        }
        let bytes = destination.into_written().ok_or_else(|| {
            self.error(ErrorKind::Destination { needed_bytes: needed as u64, given_bytes })
        })?;
        if let Some(order) = order.filter(|_| !reverse) {
            order.apply(bytes);
        }
        Ok(bytes)
    }

    /// Reads the selected elements, which are as many as `destination` has room for: again where they moved
    /// meanwhile, or another thread wrote some of them.
    fn read_into<'d>(
        &self,
        selection: &Selection,
        mut destination: Destination<'d>,
        reverse: bool,
        cache: &'static ChunkCache,
    ) -> Result<Destination<'d>> {
        if self.live.is_fixed() {
            return self.read_committed(selection, destination, reverse, cache);
        }
        let mut tries = 0;
        loop {
            let this = self.live.begin(selection, tries)?;
            let array = this.anew.as_ref().unwrap_or(self);
            array.check(selection)?;
            if array.layout.element_size != self.layout.element_size {
                return Err(array.wrong_type("elements of the same size"));
            }
            let read = array.read_once(selection, &destination, reverse, cache);
            if this.is_whole(array) {
                return read.map(|()| destination);
            }
            destination = destination.anew();
            tries = tries.saturating_add(1);
        }
    }

    /// Reads elements of a file that is not written here: again where its storage went on to another state meanwhile.
    fn read_committed<'d>(
        &self,
        selection: &Selection,
        mut destination: Destination<'d>,
        reverse: bool,
        cache: &'static ChunkCache,
    ) -> Result<Destination<'d>> {
        let storage = &self.layout.storage;
        for _ in 0..MOST_STATES {
            let state = storage.moved_to();
            let read = match state {
                None => self.read_once(selection, &destination, reverse, cache),
                Some(file) => {
                    let mut later = self.clone();
                    later.layout.id.file = file;
                    later.read_once(selection, &destination, reverse, cache)
                }
            };
            if storage.moved_to() == state {
                return read.map(|()| destination);
            }
            destination = destination.anew();
        }
        Err(self.error(ErrorKind::Changed))
    }

    /// Reads the selected elements from where they are.
    fn read_once(
        &self,
        selection: &Selection,
        destination: &Destination<'_>,
        reverse: bool,
        cache: &'static ChunkCache,
    ) -> Result<()> {
        let size = self.layout.element_size;
        // Who reads one run asks for no strides.
        let run = Target::whole(destination, &[], size, reverse);
        if self.read_one_run(selection, destination.len(), &run) {
            return Ok(());
        }
        let strides = target_strides(&selection.shape(), size);
        let target = Target::whole(destination, &strides, size, reverse);
        self.read_planned(selection, &target, cache)
    }

    /// Reads elements that lie in one run, which needs no plan. False where they do not, where
    /// several threads would be faster, or where reading fails: the plan tells why, or what else
    /// is there.
    fn read_one_run(&self, selection: &Selection, bytes: usize, target: &Target<'_, '_>) -> bool {
        let run = self.layout.one_run(selection).filter(|_| (bytes as u64) < SHARED_FROM_BYTES);
        run.is_some_and(|address| {
            let storage = self.layout.storage.as_ref();
            let read =
                target.write_run(0, bytes, |memory| uninit::read_at(storage, address, memory));
            read.is_ok() && storage.ensure_values().is_ok()
        })
    }

    fn read_planned(
        &self,
        selection: &Selection,
        target: &Target<'_, '_>,
        cache: &'static ChunkCache,
    ) -> Result<()> {
        let ahead = read_ahead::notice(cache, &self.layout, selection);
        let reading = Reading { layout: &self.layout, cache, ahead: ahead.as_ref(), depth: 0 };
        reading.read(selection.axes.iter().map(runs_of).collect(), target)?;
        if let Some(ahead) = ahead {
            ahead.later();
        }
        Ok(())
    }

    fn read_vec<T: Number>(&self, selection: &Selection, count: usize) -> Result<Vec<T>> {
        if self.layout.element_size != size_of::<T>() {
            return Err(self.wrong_type("numbers"));
        }
        memory::filled_vec(count, |into| self.fill(selection, into, true, cache::global()))
            .ok_or_else(|| self.no_memory(count.saturating_mul(size_of::<T>())))?
    }

    /// Numbers that become larger: read to the end of `into`, then converted from the front. What
    /// is written never overtakes what is still to be read.
    fn widen<'m>(
        &self,
        selection: &Selection,
        (from, to): (Atomic, Atomic),
        rules: Rules,
        into: &'m mut [MaybeUninit<u8>],
    ) -> Result<(&'m mut [u8], RangeReport)> {
        let count = into.len() / to.size();
        let start = into.len() - count * from.size();
        let bytes = memory::fill_tail(into, start, |tail| {
            self.fill(selection, tail, true, cache::global())
        })?;
        let mut report = RangeReport::default();
        let mut block = [0u8; BLOCK_ELEMENTS * 8];
        for first in (0..count).step_by(BLOCK_ELEMENTS) {
            let taken = BLOCK_ELEMENTS.min(count - first);
            let source = &mut block[..taken * from.size()];
            source.copy_from_slice(&bytes[start + first * from.size()..][..source.len()]);
            let target = &mut bytes[first * to.size()..][..taken * to.size()];
            let converted = convert(source, from, target, to, rules)
                .map_err(|error| self.error(ErrorKind::Convert(error)))?;
            report.add(converted);
        }
        Ok((bytes, report))
    }

    fn byte_count(&self, count: usize) -> Result<usize> {
        shape::byte_count(&[count as u64], self.layout.element_size)
            .ok_or_else(|| self.no_memory(usize::MAX))
    }

    fn check(&self, selection: &Selection) -> Result<()> {
        let rank = self.shape.len();
        let given = selection.axes.len();
        if given != rank || self.layout.shape.len() != rank {
            return Err(self.error(ErrorKind::Selection(SelectionError::Rank { given, rank })));
        }
        selection.check(&self.shape).map_err(|error| self.error(ErrorKind::Selection(error)))
    }

    fn wrong_type(&self, wanted: &'static str) -> Error {
        self.error(ErrorKind::WrongType { stored: format!("{:?}", self.stored), wanted })
    }

    fn no_memory(&self, bytes: usize) -> Error {
        let limit = isize::MAX as u64;
        self.error(ErrorKind::Limit { what: "bytes of the result", value: bytes as u64, limit })
    }

    fn decode_error(&self, error: DecodeError<Error>) -> Error {
        let kind: DecodeError<Infallible> = match error {
            DecodeError::Heap(error) => return error.at(&self.layout.path),
            DecodeError::TooShort { needed_bytes, available_bytes } => {
                DecodeError::TooShort { needed_bytes, available_bytes }
            }
            DecodeError::Type(fault) => DecodeError::Type(fault),
            DecodeError::Sequence { count, element_size, available_bytes } => {
                DecodeError::Sequence { count, element_size, available_bytes }
            }
            DecodeError::HeapLimit { limit_bytes } => DecodeError::HeapLimit { limit_bytes },
        };
        self.error(ErrorKind::Elements(kind))
    }
}
