//! How files are created and opened for writing, and how variables are stored.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use isotach_codec::{Filter, registry};
use isotach_model::quantize::{self, Mode, QuantizeFault};
use isotach_model::{Atomic, DataType, Values};

use super::Writer;
use crate::error::Result as FileResult;
use crate::file::{Format, OpenOptions};
use crate::settings;
use crate::storage::{Durability, WritableStorage};

use crate::variable::{Endianness, StorageKind};
use crate::write::session::Session;

/// Which structures of HDF5 a new file is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// What HDF5 1.8 and everything after it reads.
    #[default]
    Compatible,
    /// The chunk indexes of HDF5 1.10: fixed arrays, extensible arrays, version-2 B-trees.
    Latest,
}

/// What happens to a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overwrite {
    /// An empty one takes its place at once, but not where this process reads it
    /// ([`User::OwnReader`](crate::User::OwnReader)). Other processes that read it go on to read what they
    /// opened, and other hard links keep it. Where no file can take its place, as in a folder that may
    /// not be written, it is emptied, if nobody has it open.
    #[default]
    Truncate,
    /// The same, also where this process reads it.
    Displace,
    /// It stays until [`Writer::close`], by which the new file takes its place.
    Replace,
    /// It stays, and creating fails.
    Never,
}

/// How to create a file.
#[derive(Debug, Clone)]
pub struct CreateOptions {
    /// Which of netCDF's formats.
    pub format: Format,
    /// Which structures, for HDF5.
    pub layout: Layout,
    /// What happens to a file that is there already.
    pub overwrite: Overwrite,
    /// Bytes kept for others before the HDF5 file begins: 0, 512, or twice that, and so on.
    pub user_block_bytes: u64,
    /// How long a classic file is at least until values are moved in it.
    pub least_bytes: u64,
    /// Memory that a file in memory takes at once, in bytes. It grows beyond it.
    pub reserved_bytes: u64,
    /// Whether what is never written reads as fill values, where a variable does not say.
    pub fill: bool,
    /// How it is written.
    pub edit: EditOptions,
}

/// How to write to a file.
#[derive(Debug, Clone)]
pub struct EditOptions {
    /// Against what commits protect.
    pub durability: Durability,
    /// How long a change waits for a commit at most, which then comes by itself; `None` for ever.
    /// Without effect where nobody else sees the file before it is closed.
    pub commit_interval: Option<Duration>,
    /// Whether a second writer is kept out.
    pub lock: bool,
    /// Whether new objects of HDF5 files say when they were made and last changed, and those that say so
    /// already are kept up to date. Without it, the same calls make the same bytes at any time. Classic
    /// files have no place for times.
    pub track_times: bool,
    /// Room in classic files for what is defined later.
    pub header_room: HeaderRoom,
    /// Where larger pieces of HDF5 files begin.
    pub alignment: Alignment,
    /// HDF5 files: structures take so many bytes of the file at once, which they share, and so lie together. 0 where
    /// each takes its own. What is left at the end is given back.
    pub structure_block_bytes: u64,
    /// Classic files: small writes gather in so much memory, in bytes, and go to the file in pieces of at most this.
    pub gathered_bytes: u64,
    /// How what is in the file is read meanwhile.
    pub read: OpenOptions,
}

/// `nc_set_alignment`'s addresses of what is in HDF5 files, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alignment {
    /// The smallest pieces that it is for.
    pub threshold: u64,
    /// They begin at multiples of this.
    pub multiple: u64,
}

impl Default for Alignment {
    fn default() -> Self {
        Self { threshold: 1, multiple: 1 }
    }
}

impl Alignment {
    /// What the address of a piece is a multiple of.
    pub(crate) fn of(self, bytes: u64) -> u64 {
        if bytes >= self.threshold { self.multiple.max(1) } else { 1 }
    }
}

/// `nc__enddef`'s room and alignment in classic files, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderRoom {
    /// Free behind the header.
    pub header_free: u64,
    /// Alignment of the values that do not belong to records.
    pub fixed_alignment: u64,
    /// Free behind them.
    pub fixed_free: u64,
    /// Alignment of the records.
    pub record_alignment: u64,
}

impl Default for HeaderRoom {
    fn default() -> Self {
        Self { header_free: 0, fixed_alignment: 4, fixed_free: 0, record_alignment: 4 }
    }
}

impl Default for EditOptions {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            commit_interval: Some(settings::USUAL_COMMIT_INTERVAL),
            lock: true,
            track_times: false,
            header_room: HeaderRoom::default(),
            alignment: Alignment::default(),
            structure_block_bytes: 0,
            gathered_bytes: 4 << 20,
            read: OpenOptions::default(),
        }
    }
}

impl Default for CreateOptions {
    fn default() -> Self {
        Self {
            format: Format::NetCdf4,
            layout: Layout::default(),
            overwrite: Overwrite::default(),
            user_block_bytes: 0,
            least_bytes: 0,
            reserved_bytes: 0,
            fill: true,
            edit: EditOptions::default(),
        }
    }
}

impl CreateOptions {
    /// The defaults, for a format.
    pub fn new(format: Format) -> Self {
        Self { format, ..Self::default() }
    }

    /// Creates a local file.
    pub fn create(&self, path: impl AsRef<Path>) -> FileResult<Writer> {
        Session::create(path.as_ref(), self).map(|session| Writer::new(Arc::new(session)))
    }

    /// Creates a file in memory; `name` stands in errors.
    pub fn create_in_memory(&self, name: &str) -> FileResult<Writer> {
        Session::create_in_memory(name, self).map(|session| Writer::new(Arc::new(session)))
    }

    /// Creates a file in any storage, which is emptied; `name` stands in errors. The options on locks
    /// and on files that are there already do not count.
    pub fn create_in(&self, name: &str, storage: Arc<dyn WritableStorage>) -> FileResult<Writer> {
        let session = Session::create_in_storage(name, storage, self)?;
        Ok(Writer::new(Arc::new(session)))
    }
}

impl EditOptions {
    /// The defaults, but for what the environment says: [`COMMIT_INTERVAL`](crate::COMMIT_INTERVAL) is a
    /// number of seconds, or `off`; [`TRACK_TIMES`](crate::TRACK_TIMES) is `0` or `1`. For programs that
    /// have no other way to say so, as those on the C interface.
    ///
    /// # Errors
    /// It says something else.
    pub fn of_environment() -> FileResult<Self> {
        Ok(Self {
            commit_interval: settings::commit_interval_of_environment()?,
            track_times: settings::track_times_of_environment()?,
            ..Self::default()
        })
    }

    /// Opens an existing local file for changing it.
    pub fn open(&self, path: impl AsRef<Path>) -> FileResult<Writer> {
        Session::open(path.as_ref(), self).map(|session| Writer::new(Arc::new(session)))
    }

    /// Changes a copy in memory of a file's bytes; `name` stands in errors.
    pub fn open_bytes(&self, name: &str, bytes: Vec<u8>) -> FileResult<Writer> {
        Session::open_bytes(name, bytes, self).map(|session| Writer::new(Arc::new(session)))
    }

    /// Opens the file that any storage holds for changing it; `name` stands in errors. Nobody
    /// else is kept out.
    pub fn open_in(&self, name: &str, storage: Arc<dyn WritableStorage>) -> FileResult<Writer> {
        let session = Session::open_in_storage(name, storage, self)?;
        Ok(Writer::new(Arc::new(session)))
    }
}

/// How a variable is stored; what is not said is chosen by the rules of `docs/decisions`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VariableOptions {
    /// Contiguous, chunked or compact.
    pub layout: Option<StorageKind>,
    /// Elements of a chunk along each dimension.
    pub chunk_shape: Option<Vec<u64>>,
    /// Filters in the order in which they are applied.
    pub filters: Vec<FilterRequest>,
    /// Byte order of numbers.
    pub endianness: Option<Endianness>,
    /// What elements that are never written read as.
    pub fill: Fill,
    /// Rounding before values are stored.
    pub quantization: Option<Quantization>,
}

/// What elements that are never written read as.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Fill {
    /// The type's default fill value.
    #[default]
    Default,
    /// Nothing in particular: no values are written ahead.
    None,
    /// This one element; it stands in the attribute `_FillValue` too.
    Value(Values),
    /// This one element, which no attribute tells.
    Unstated(Values),
}

/// A filter as a user asks for it. What the file says of it also depends on the variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterRequest {
    /// Bytes of equal significance together.
    Shuffle,
    /// zlib's format, levels 0 to 9.
    Deflate { level: u32 },
    /// A checksum.
    Fletcher32,
    /// Szip: option mask (4 entropy coding, 32 nearest neighbour) and pixels of a block.
    Szip { option_mask: u32, pixels_per_block: u32 },
    /// Integers and floats in as many bits as they need.
    ScaleOffset { scale_type: u32, scale_factor: i32 },
    /// Only the significant bits of numbers.
    NBit,
    /// Any other, by its registered number, with the parameters that its documentation names. Those
    /// which follow from the variable are filled in for filters that are known.
    Registered { id: u16, parameters: Vec<u32> },
    /// Exactly this filter.
    Exact(Filter),
}

impl Quantization {
    /// That way, with so many significant digits or, of [`Mode::BitRound`], bits.
    pub fn new(mode: Mode, significant: u32) -> Self {
        match mode {
            Mode::BitGroom => Self::BitGroom(significant),
            Mode::GranularBitRound => Self::GranularBitRound(significant),
            Mode::BitRound => Self::BitRound(significant),
        }
    }

    /// The way, and the significant digits or bits.
    pub fn parts(self) -> (Mode, u32) {
        match self {
            Self::BitGroom(digits) => (Mode::BitGroom, digits),
            Self::GranularBitRound(digits) => (Mode::GranularBitRound, digits),
            Self::BitRound(bits) => (Mode::BitRound, bits),
        }
    }

    /// The same for numbers of a type.
    ///
    /// # Errors
    /// They are no floats, or do not have so many digits or bits.
    pub(crate) fn of(self, data_type: &DataType) -> Result<quantize::Quantization, QuantizeFault> {
        let (mode, significant) = self.parts();
        // Types that are not atomic are as little floats as chars are; small ones have no bits to spare.
        let atomic = match data_type {
            DataType::Atomic(atomic) => *atomic,
            _ => Atomic::Char,
        };
        quantize::Quantization::new(mode, significant.into(), atomic)
    }
}

impl FilterRequest {
    /// The filter as netCDF-4 and h5py ask HDF5 for it, with no more parameters than the user gives.
    /// What a chunk can do without is optional, a checksum is not.
    pub(crate) fn filter(&self) -> Filter {
        let (id, parameters) = match self {
            Self::Shuffle => (registry::SHUFFLE, Vec::new()),
            Self::Deflate { level } => (registry::DEFLATE, vec![*level]),
            Self::Fletcher32 => (registry::FLETCHER32, Vec::new()),
            Self::Szip { option_mask, pixels_per_block } => {
                (registry::SZIP, vec![*option_mask, *pixels_per_block])
            }
            Self::ScaleOffset { scale_type, scale_factor } => {
                (registry::SCALE_OFFSET, vec![*scale_type, scale_factor.cast_unsigned()])
            }
            Self::NBit => (registry::NBIT, Vec::new()),
            Self::Registered { id, parameters } => (*id, parameters.clone()),
            Self::Exact(exact) => return exact.clone(),
        };
        Filter { id, name: None, optional: id != registry::FLETCHER32, parameters }
    }
}

/// netCDF's ways of rounding floats so that they compress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantization {
    /// BitGroom: that many significant decimal digits.
    BitGroom(u32),
    /// Granular BitRound: that many significant decimal digits.
    GranularBitRound(u32),
    /// BitRound: that many significant bits.
    BitRound(u32),
}
