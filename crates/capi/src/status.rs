//! netCDF's error numbers: the only place where the engine's errors become them.

use std::ffi::c_int;
use std::io;

use isotach::error::OtherFileReason;
use isotach::model::convert::ConvertError;
use isotach::model::names::NameFault;
use isotach::model::selection::SelectionError;
use isotach::{DefinitionFault, Error, ErrorKind};

use crate::moving;

/// What a call ends with: a value, or the number that it returns.
pub(crate) type Outcome<T = ()> = Result<T, Status>;

/// An error number: one of netCDF's, which are negative, or the operating system's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status(pub c_int);

macro_rules! statuses {
    ($($name:ident = $number:literal: $text:literal;)*) => {
        #[allow(missing_docs)]
        impl Status {
            $(pub const $name: Self = Self($number);)*
        }

        /// What `nc_strerror` says, with the zero that ends it; `None` for a number that is not
        /// netCDF's.
        pub(crate) fn text(status: c_int) -> Option<&'static str> {
            match status {
                $($number => Some(concat!($text, "\0")),)*
                _ => None,
            }
        }
    };
}

statuses! {
    EBADID = -33: "NetCDF: Not a valid ID";
    ENFILE = -34: "NetCDF: Too many files open";
    EEXIST = -35: "NetCDF: File exists && NC_NOCLOBBER";
    EINVAL = -36: "NetCDF: Invalid argument";
    EPERM = -37: "NetCDF: Write to read only";
    ENOTINDEFINE = -38: "NetCDF: Operation not allowed in data mode";
    EINDEFINE = -39: "NetCDF: Operation not allowed in define mode";
    EINVALCOORDS = -40: "NetCDF: Index exceeds dimension bound";
    EMAXDIMS = -41: "NetCDF: NC_MAX_DIMS exceeded";
    ENAMEINUSE = -42: "NetCDF: String match to name in use";
    ENOTATT = -43: "NetCDF: Attribute not found";
    EMAXATTS = -44: "NetCDF: NC_MAX_ATTRS exceeded";
    EBADTYPE = -45: "NetCDF: Not a valid data type or _FillValue type mismatch";
    EBADDIM = -46: "NetCDF: Invalid dimension ID or name";
    EUNLIMPOS = -47: "NetCDF: NC_UNLIMITED in the wrong index";
    EMAXVARS = -48: "NetCDF: NC_MAX_VARS exceeded";
    ENOTVAR = -49: "NetCDF: Variable not found";
    EGLOBAL = -50: "NetCDF: Action prohibited on NC_GLOBAL varid";
    ENOTNC = -51: "NetCDF: Unknown file format";
    ESTS = -52: "NetCDF: In Fortran, string too short";
    EMAXNAME = -53: "NetCDF: NC_MAX_NAME exceeded";
    EUNLIMIT = -54: "NetCDF: NC_UNLIMITED size already in use";
    ENORECVARS = -55: "NetCDF: nc_rec op when there are no record vars";
    ECHAR = -56: "NetCDF: Attempt to convert between text & numbers";
    EEDGE = -57: "NetCDF: Start+count exceeds dimension bound";
    ESTRIDE = -58: "NetCDF: Illegal stride";
    EBADNAME = -59: "NetCDF: Name contains illegal characters";
    ERANGE = -60: "NetCDF: Numeric conversion not representable";
    ENOMEM = -61: "NetCDF: Memory allocation (malloc) failure";
    EVARSIZE = -62: "NetCDF: One or more variable sizes violate format constraints";
    EDIMSIZE = -63: "NetCDF: Invalid dimension size";
    ETRUNC = -64: "NetCDF: File likely truncated or possibly corrupted";
    EAXISTYPE = -65: "NetCDF: Illegal axis type";
    EDAP = -66: "NetCDF: DAP failure";
    ECURL = -67: "NetCDF: libcurl failure";
    EIO = -68: "NetCDF: I/O failure";
    ENODATA = -69: "NetCDF: Variable has no data";
    EDAPSVC = -70: "NetCDF: DAP server error";
    EDAS = -71: "NetCDF: Malformed or inaccessible DAP DAS";
    EDDS = -72: "NetCDF: Malformed or inaccessible DAP2 DDS or DAP4 DMR response";
    EDATADDS = -73: "NetCDF: Malformed or inaccessible DAP2 DATADDS or DAP4 DAP response";
    EDAPURL = -74: "NetCDF: Malformed URL";
    EDAPCONSTRAINT = -75: "NetCDF: Malformed or unexpected Constraint";
    ETRANSLATION = -76: "NetCDF: Untranslatable construct";
    EACCESS = -77: "NetCDF: Access failure";
    EAUTH = -78: "NetCDF: Authorization failure";
    ENOTFOUND = -90: "NetCDF: file not found";
    ECANTREMOVE = -91: "NetCDF: cannot delete file";
    EINTERNAL = -92: "NetCDF: internal library error; Please contact Unidata support";
    EPNETCDF = -93: "NetCDF: PnetCDF error";
    EHDFERR = -101: "NetCDF: HDF error";
    ECANTREAD = -102: "NetCDF: Can't read file";
    ECANTWRITE = -103: "NetCDF: Can't write file";
    ECANTCREATE = -104: "NetCDF: Can't create file";
    EFILEMETA = -105: "NetCDF: Can't add HDF5 file metadata";
    EDIMMETA = -106: "NetCDF: Can't define dimensional metadata";
    EATTMETA = -107: "NetCDF: Can't open HDF5 attribute";
    EVARMETA = -108: "NetCDF: Problem with variable metadata.";
    ENOCOMPOUND = -109: "NetCDF: Can't create HDF5 compound type";
    EATTEXISTS = -110: "NetCDF: Attempt to create attribute that already exists";
    ENOTNC4 = -111: "NetCDF: Attempting netcdf-4 operation on netcdf-3 file";
    ESTRICTNC3 = -112: "NetCDF: Attempting netcdf-4 operation on strict nc3 netcdf-4 file";
    ENOTNC3 = -113: "NetCDF: Attempting netcdf-3 operation on netcdf-4 file";
    ENOPAR = -114: "NetCDF: Parallel operation on file opened for non-parallel access";
    EPARINIT = -115: "NetCDF: Error initializing for parallel access";
    EBADGRPID = -116: "NetCDF: Bad group ID";
    EBADTYPID = -117: "NetCDF: Bad type ID";
    ETYPDEFINED = -118: "NetCDF: Type has already been defined and may not be edited";
    EBADFIELD = -119: "NetCDF: Bad field ID";
    EBADCLASS = -120: "NetCDF: Bad class";
    EMAPTYPE = -121: "NetCDF: Mapped access for atomic types only";
    ELATEFILL = -122: "NetCDF: Attempt to define fill value when data already exists.";
    ELATEDEF = -123: "NetCDF: Attempt to define var properties, like deflate, after enddef.";
    EDIMSCALE = -124: "NetCDF: Problem with HDF5 dimscales.";
    ENOGRP = -125: "NetCDF: No group found.";
    ESTORAGE = -126: "NetCDF: Cannot specify both contiguous and chunking.";
    EBADCHUNK = -127: "NetCDF: Bad chunk sizes.";
    ENOTBUILT = -128: "NetCDF: Attempt to use feature that was not turned on when netCDF was built.";
    EDISKLESS = -129: "NetCDF: Error in using diskless access";
    ECANTEXTEND = -130: "NetCDF: Attempt to extend dataset during NC_INDEPENDENT I/O operation. Use nc_var_par_access to set mode NC_COLLECTIVE before extending variable.";
    EMPI = -131: "NetCDF: MPI operation failed.";
    EFILTER = -132: "NetCDF: Filter error: bad id or parameters or duplicate filter";
    ERCFILE = -133: "NetCDF: RC File Failure.";
    ENULLPAD = -134: "NetCDF: File fails strict Null-Byte Header check.";
    EINMEMORY = -135: "NetCDF: In-memory File operation failed.";
    ENOFILTER = -136: "NetCDF: Filter error: undefined filter encountered";
    ENCZARR = -137: "NetCDF: NCZarr error";
    ES3 = -138: "NetCDF: AWS S3 error";
    EEMPTY = -139: "NetCDF: Attempt to read empty NCZarr map key";
    EOBJECT = -140: "NetCDF: Some object exists when it should not";
    ENOOBJECT = -141: "NetCDF: Some object not found";
    EPLUGIN = -142: "NetCDF: Unclassified failure in accessing a dynamically loaded plugin";
}

/// netCDF's number for what the engine says.
pub(crate) fn status_of(error: &Error) -> Status {
    if error.kind.is_changed() {
        return moving::changed(&error.file);
    }
    match &error.kind {
        ErrorKind::Open(source) => status_of_opening(source),
        ErrorKind::InUse { .. } => Status(libc::EAGAIN),
        ErrorKind::Changed => moving::changed(&error.file),
        ErrorKind::OtherFormat { format: "HDF4" } => Status::ENOTBUILT,
        ErrorKind::UnknownFormat { .. } | ErrorKind::OtherFormat { .. } => Status::ENOTNC,
        ErrorKind::Storage { source, .. } | ErrorKind::Write { source, .. } => status_of_io(source),
        ErrorKind::Publish(source) => status_of_io(source),
        ErrorKind::NotCommitted { source, .. } => status_of(source),
        ErrorKind::Structure(fault) if fault.structure.starts_with("classic") => Status::ENOTNC,
        ErrorKind::Structure(_) => Status::EHDFERR,
        ErrorKind::Chunk { source, .. } | ErrorKind::Encode { source, .. } => {
            status_of_codec(source)
        }
        ErrorKind::Closed => Status::EBADID,
        ErrorKind::Definition(fault) => status_of_definition(fault),
        ErrorKind::Values(_) | ErrorKind::WrongType { .. } => Status::EBADTYPE,
        ErrorKind::NotFound { what, .. } => status_of_missing(what),
        ErrorKind::Selection(selection) => status_of_selection(selection),
        ErrorKind::Elements(_) => Status::EHDFERR,
        ErrorKind::Convert(ConvertError::CharAndNumber { .. }) => Status::ECHAR,
        ErrorKind::Convert(ConvertError::NotANumber) => Status::EBADTYPE,
        ErrorKind::Convert(ConvertError::Length { .. }) => Status::EINVAL,
        ErrorKind::Destination { .. } | ErrorKind::Source { .. } => Status::EINVAL,
        ErrorKind::OtherFile { reason: OtherFileReason::NotAllowed { .. }, .. } => {
            Status(libc::EACCES)
        }
        ErrorKind::OtherFile { .. } => Status::EHDFERR,
        ErrorKind::Setting { .. } => Status::EINVAL,
        ErrorKind::MissingBytes { .. } => Status::ETRUNC,
        ErrorKind::Limit { .. } => Status::ENOMEM,
        ErrorKind::Format(_) => Status::EVARSIZE,
    }
}

/// The operating system's own number where there is one.
fn status_of_opening(source: &io::Error) -> Status {
    match source.kind() {
        io::ErrorKind::AlreadyExists => Status::EEXIST,
        io::ErrorKind::IsADirectory => Status::ENOTNC,
        _ => source.raw_os_error().map_or(Status::EIO, Status),
    }
}

fn status_of_io(source: &io::Error) -> Status {
    source.raw_os_error().map_or(Status::EIO, Status)
}

fn status_of_codec(error: &isotach_codec::Error) -> Status {
    match error.kind {
        isotach_codec::ErrorKind::UnknownFilter | isotach_codec::ErrorKind::DecodesOnly => {
            Status::ENOFILTER
        }
        isotach_codec::ErrorKind::Parameter { .. }
        | isotach_codec::ErrorKind::MissingParameter { .. } => Status::EFILTER,
        isotach_codec::ErrorKind::OutOfMemory { .. } => Status::ENOMEM,
        isotach_codec::ErrorKind::Corrupt { .. }
        | isotach_codec::ErrorKind::Foreign
        | isotach_codec::ErrorKind::Checksum { .. }
        | isotach_codec::ErrorKind::Length { .. }
        | isotach_codec::ErrorKind::Unsupported { .. } => Status::EHDFERR,
    }
}

fn status_of_selection(error: &SelectionError) -> Status {
    match error {
        SelectionError::Edge { .. } => Status::EEDGE,
        SelectionError::Stride { .. } | SelectionError::Step { .. } => Status::ESTRIDE,
        SelectionError::Rank { .. }
        | SelectionError::Coordinates { .. }
        | SelectionError::Index { .. }
        | SelectionError::Mask { .. }
        | SelectionError::TooManyIndices { .. }
        | SelectionError::SeveralEllipses => Status::EINVALCOORDS,
    }
}

fn status_of_missing(what: &str) -> Status {
    match what {
        "attribute" => Status::ENOTATT,
        "variable" => Status::ENOTVAR,
        "dimension" => Status::EBADDIM,
        "group" => Status::ENOGRP,
        "type" => Status::EBADTYPE,
        _ => Status::EINVAL,
    }
}

/// netCDF's number for a name that cannot be.
pub(crate) fn status_of_name(fault: NameFault) -> Status {
    match fault {
        NameFault::TooLong { .. } => Status::EMAXNAME,
        _ => Status::EBADNAME,
    }
}

fn status_of_definition(fault: &DefinitionFault) -> Status {
    match fault {
        DefinitionFault::Name(fault) => status_of_name(*fault),
        DefinitionFault::NameInUse { .. } | DefinitionFault::Reserved { .. } => Status::ENAMEINUSE,
        DefinitionFault::NoRoom { .. } => Status::ENOTINDEFINE,
        DefinitionFault::NotFound { what, .. } => status_of_missing(what),
        DefinitionFault::Deleted { .. } => Status::EBADID,
        DefinitionFault::InUse { .. } => Status::EBADDIM,
        DefinitionFault::NotInFormat { .. } => Status::ESTRICTNC3,
        DefinitionFault::ForeignType { .. } => Status::EBADTYPE,
        DefinitionFault::SecondUnlimited => Status::EUNLIMIT,
        DefinitionFault::UnlimitedNotFirst => Status::EUNLIMPOS,
        DefinitionFault::DimensionLength { .. } => Status::EDIMSIZE,
        DefinitionFault::NeedsChunks => Status::EINVAL,
        DefinitionFault::ChunkShape { .. } | DefinitionFault::ChunkBytes { .. } => {
            Status::EBADCHUNK
        }
        DefinitionFault::Filter(_) => Status::EFILTER,
        DefinitionFault::FillValue => Status::EBADTYPE,
        DefinitionFault::Quantization(_) => Status::EINVAL,
        DefinitionFault::HasValues { .. } => Status::ELATEDEF,
        DefinitionFault::NotWritable { .. } => Status::EPERM,
        DefinitionFault::RootGroup => Status::EINVAL,
    }
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        status_of(&error)
    }
}
