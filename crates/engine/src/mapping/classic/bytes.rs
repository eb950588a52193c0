//! The bytes of a classic file whose values are read where the header that was read says.
//!
//! Values of classic files have one place only, and those of the last commit are read. A writer who moves them, or puts
//! others there, changes the state of the file: then the header is read again, and if it still says the same of them,
//! this goes on with the new state, and who was reading reads again ([`Storage::moved_to`]). Records that were added
//! change nothing of that.

use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};
use std::sync::{Arc, PoisonError};

use isotach_format::classic::{Header, RecordLayout};

use super::{Committed, end_of_values, read_header};
use crate::cache::FileNumber;
use crate::error::Result;
use crate::fault::Readable;
use crate::storage::{MetadataReader, Storage, state};
use crate::sync::RwLock;

/// How often a file is looked at whose writer publishes one state after the other.
const MOST_LOOKS: usize = 100;

/// See the module.
pub(super) struct ClassicBytes {
    file: Arc<str>,
    bytes: Arc<dyn Storage>,
    /// Where the values ended when the file was opened, without what stood behind them for a while. A file that is shorter
    /// is another one.
    len: u64,
    places: Places,
    /// The last state that says the same of all values; `None` for that of the opening.
    present: RwLock<Option<Arc<Present>>>,
    /// Whether there is one.
    has_present: AtomicBool,
}

/// A later state of the file.
struct Present {
    /// The file's bytes, by which the state is told.
    file: Arc<dyn Storage>,
    /// The values.
    values: Arc<dyn Storage>,
    /// By what these are known in the cache.
    number: FileNumber,
}

/// Where the values are: name, address, bytes from one element to the next, type and shape without the records.
#[derive(PartialEq)]
struct Places {
    records: u64,
    variables: Vec<Place>,
}

#[derive(PartialEq)]
struct Place {
    name: String,
    begin: u64,
    strides: Vec<u64>,
    element_bytes: u64,
    shape: Vec<u64>,
    is_record: bool,
}

impl Places {
    /// `None` where they cannot be told of some variable.
    fn new(header: &Header, records: &RecordLayout) -> Option<Self> {
        let place = |variable: &isotach_format::classic::Variable| {
            let layout = records.variable(header, variable).ok()?;
            let shape = layout.shape.get(usize::from(variable.is_record)..)?.to_vec();
            Some(Place {
                name: variable.name.clone(),
                begin: layout.begin,
                strides: layout.byte_strides,
                element_bytes: layout.external_type.size_bytes(),
                shape,
                is_record: variable.is_record,
            })
        };
        let variables = header.variables.iter().map(place).collect::<Option<_>>()?;
        Some(Self { records: records.record_count, variables })
    }

    /// Whether a later header says the same of these values.
    fn are_among(&self, later: &Self) -> bool {
        let mut rest = later.variables.iter();
        // In their order: others may have been added, or taken out.
        self.records <= later.records
            && self.variables.iter().all(|place| rest.any(|other| other == place))
    }
}

impl ClassicBytes {
    /// The bytes of the file that has this header.
    pub(super) fn new(
        file: &Arc<str>,
        bytes: Arc<dyn Storage>,
        header: &Header,
        records: &RecordLayout,
    ) -> io::Result<Self> {
        let len = bytes.len()?.min(end_of_values(header, records));
        let nothing = Places { records: u64::MAX, variables: Vec::new() };
        let places = Places::new(header, records).unwrap_or(nothing);
        let (present, has_present) = (RwLock::new(None), AtomicBool::new(false));
        Ok(Self { file: Arc::clone(file), bytes, len, places, present, has_present })
    }

    /// What `ensure` says of the last state that was found, or that there is another one which says the same of all values.
    fn ensured_by(&self, ensure: impl Fn(&dyn Storage) -> io::Result<()>) -> io::Result<()> {
        let still = self.in_present(|present| ensure(&*present.file));
        match still.unwrap_or_else(|| ensure(&*self.bytes)) {
            Err(error) if state::is_changed(&error) => self.look_again(),
            still => still,
        }
    }

    /// Looks whether the header of the present state says the same.
    fn look_again(&self) -> io::Result<()> {
        for _ in 0..MOST_LOOKS {
            let Some(present) = self.bytes.present()? else { break };
            if present.len()? < self.len {
                break;
            }
            let found = self.committed_in(&present);
            if present.ensure_state().is_err() {
                continue;
            }
            let Some(Committed { header, records, storage }) =
                found.readable().map_err(io::Error::other)?
            else {
                break;
            };
            let later = Places::new(&header, &records);
            if !later.is_some_and(|later| self.places.are_among(&later)) {
                break;
            }
            let number = FileNumber::new();
            let present = Some(Arc::new(Present { file: present, values: storage, number }));
            *self.present.write().unwrap_or_else(PoisonError::into_inner) = present;
            self.has_present.store(true, Release);
            return Ok(());
        }
        Err(state::changed())
    }

    fn committed_in(&self, present: &Arc<dyn Storage>) -> Result<Committed> {
        read_header(MetadataReader::new(Arc::clone(&self.file), Arc::clone(present))?)
    }

    /// What `look` finds in the later state; `None` while there is none.
    fn in_present<T>(&self, look: impl FnOnce(&Present) -> T) -> Option<T> {
        if !self.has_present.load(Acquire) {
            return None;
        }
        self.present.read().unwrap_or_else(PoisonError::into_inner).as_deref().map(look)
    }
}

impl Storage for ClassicBytes {
    fn len(&self) -> io::Result<u64> {
        let len = self.bytes.len()?;
        if len < self.len { Err(state::changed()) } else { Ok(len) }
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        match self.in_present(|present| Arc::clone(&present.values)) {
            Some(values) => values.read_at(offset, into),
            None => self.bytes.read_at(offset, into),
        }
    }

    fn as_slice(&self) -> Option<&[u8]> {
        self.bytes.as_slice()
    }

    fn call_cost_bytes(&self) -> u64 {
        self.bytes.call_cost_bytes()
    }

    fn ensure_state(&self) -> io::Result<()> {
        self.ensured_by(|bytes| bytes.ensure_state())
    }

    fn ensure_values(&self) -> io::Result<()> {
        self.ensured_by(|bytes| bytes.ensure_lately())
    }

    fn moved_to(&self) -> Option<u64> {
        self.in_present(|present| present.number.get())
    }

    fn has_writer(&self) -> bool {
        self.bytes.has_writer()
    }

    fn parallel(&self) -> bool {
        self.bytes.parallel()
    }
}
