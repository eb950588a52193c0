//! `-s`: what is not stored as attributes and shown as such.

use isotach::model::{Atomic, DataType, Values};
use isotach::{Endianness, FilterUse, Format, Group, Readable, StorageKind, Variable};

use super::text::until_zero;
use super::value::as_i128;
use super::{Dump, name};
use crate::error::Result;

const DEFLATE: u16 = 1;
const SHUFFLE: u16 = 2;
const FLETCHER32: u16 = 3;
const SZIP: u16 = 4;
/// The bits of szip's options that choose entropy coding (4) or nearest neighbour (32).
const SZIP_CODERS: u32 = 4 | 32;

impl Dump<'_, '_> {
    /// Storage, filters, byte order and fill mode of a variable. Classic files have one way of
    /// storage only, and none is shown.
    pub(super) fn special_attributes(&mut self, variable: &Variable, rank: usize) -> Result<()> {
        if !matches!(self.format, Format::NetCdf4 | Format::NetCdf4Classic) {
            return Ok(());
        }
        let name = variable.name();
        let storage = variable.storage()?;
        let storage_kind = match storage.kind {
            StorageKind::Contiguous => "contiguous",
            StorageKind::Chunked => "chunked",
            StorageKind::Compact => "compact",
            StorageKind::Virtual => "virtual",
            StorageKind::Unknown => "unknown",
        };
        self.special(name, "_Storage", &quoted(storage_kind))?;
        if rank > 0
            && storage.kind == StorageKind::Chunked
            && let Some(chunk_shape) = &storage.chunk_shape
        {
            let lengths: Vec<String> = chunk_shape.iter().map(u64::to_string).collect();
            self.special(name, "_ChunkSizes", &lengths.join(", "))?;
        }
        self.filters(name, &storage.filters)?;
        let order = match storage.endianness {
            Endianness::Native => None,
            Endianness::Little => Some("little"),
            Endianness::Big => Some("big"),
        };
        if let Some(order) = order
            && size(variable.data_type()) > 1
        {
            self.special(name, "_Endianness", &quoted(order))?;
        }
        if !variable.fill_value()?.fill {
            self.special(name, "_NoFill", &quoted("true"))?;
        }
        Ok(())
    }

    fn filters(&mut self, name: &str, filters: &[FilterUse]) -> Result<()> {
        let has_own_name = |filter: &&FilterUse| {
            !self.options.filters && matches!(filter.id, DEFLATE | SHUFFLE | FLETCHER32)
        };
        let (named, others): (Vec<_>, Vec<_>) =
            as_netcdf_lists(filters).into_iter().partition(has_own_name);
        let find = |id| named.iter().find(|filter| filter.id == id);
        if find(FLETCHER32).is_some() {
            self.special(name, "_Fletcher32", &quoted("true"))?;
        }
        if find(SHUFFLE).is_some() {
            self.special(name, "_Shuffle", &quoted("true"))?;
        }
        if let Some(deflate) = find(DEFLATE) {
            let level = deflate.parameters.first().copied().unwrap_or_default();
            self.special(name, "_DeflateLevel", &level.to_string())?;
        }
        if !others.is_empty() {
            let texts: Vec<String> = others.iter().map(|filter| filter_text(filter)).collect();
            self.special(name, "_Filter", &quoted(&texts.join("|")))?;
        }
        Ok(())
    }

    /// The file's own properties and its kind.
    pub(super) fn special_global_attributes(&mut self, root: &Group) -> Result<()> {
        if let Some(Values::Char(text)) = value(root, "_NCProperties")? {
            self.special(
                "",
                "_NCProperties",
                &quoted(&String::from_utf8_lossy(until_zero(&text))),
            )?;
        } else if let Some(Values::String(texts)) = value(root, "_NCProperties")?
            && let [Some(text)] = &texts[..]
        {
            self.special("", "_NCProperties", &quoted(&String::from_utf8_lossy(until_zero(text))))?;
        }
        for name in ["_SuperblockVersion", "_IsNetcdf4"] {
            if let Some(values) = value(root, name)?
                && let (1, Some(number)) = (values.len(), as_i128(&values, 0))
            {
                self.special("", name, &number.to_string())?;
            }
        }
        self.special("", "_Format", &quoted(&self.format.to_string()))
    }

    fn special(&mut self, variable: &str, attribute: &str, value: &str) -> Result<()> {
        self.out.begin_line()?;
        self.out.put("\t\t")?;
        self.out.put(name::escaped(variable))?;
        Ok(self.out.put(format!(":{attribute} = {value} ;\n"))?)
    }
}

fn value(root: &Group, name: &str) -> Result<Option<Values>> {
    match root.attribute(name)? {
        Some(attribute) => Ok(attribute.values().readable()?),
        None => Ok(None),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

/// The filters as netCDF-C has them, whatever their order in the file: each once, as it stands last; first
/// the checksum, then the shuffle, then the others.
fn as_netcdf_lists(filters: &[FilterUse]) -> Vec<&FilterUse> {
    let mut listed: Vec<&FilterUse> = Vec::new();
    for filter in filters {
        match listed.iter_mut().find(|known| known.id == filter.id) {
            Some(known) => *known = filter,
            None => listed.push(filter),
        }
    }
    listed.sort_by_key(|filter| match filter.id {
        FLETCHER32 => 0,
        SHUFFLE => 1,
        _ => 2,
    });
    listed
}

fn filter_text(filter: &FilterUse) -> String {
    let parameters = match filter.parameters[..] {
        // libhdf5 adds to szip's parameters; netCDF shows those that its caller gave.
        [options, block_len, _, _] if filter.id == SZIP => vec![options & SZIP_CODERS, block_len],
        _ => filter.parameters.clone(),
    };
    let parameters = parameters.iter().map(|parameter| format!(",{parameter}"));
    format!("{}{}", filter.id, parameters.collect::<String>())
}

/// Bytes of an element in memory, where byte order matters.
fn size(data_type: &DataType) -> usize {
    match data_type {
        DataType::Atomic(Atomic::String) => size_of::<usize>(),
        DataType::Atomic(atomic) => atomic.size(),
        DataType::SmallFloat(format) => format.size,
        DataType::User(user) => user.size,
        DataType::Foreign(foreign) => foreign.size,
    }
}
