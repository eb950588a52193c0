//! Attributes that are none: they say how the file and its variables are to be stored.

use isotach::model::quantize::Mode;
use isotach::{Endianness, Format, Quantization, StorageKind};

use super::chars;
use super::definitions::{Definitions, Settings};
use super::error::{CdlError, CdlFault};
use super::syntax::{Attribute, Constant, Item};

/// Of the file. Those that tell who wrote a file and what its superblock is are left to the writer.
pub(super) fn is_of_file(name: &str) -> bool {
    matches!(name, "_Format" | "_NCProperties" | "_IsNetcdf4" | "_SuperblockVersion")
}

/// Of a variable.
pub(super) fn is_of_variable(name: &str) -> bool {
    matches!(
        name,
        "_Storage"
            | "_ChunkSizes"
            | "_DeflateLevel"
            | "_Shuffle"
            | "_Fletcher32"
            | "_Endianness"
            | "_NoFill"
            | "_Filter"
            | "_Codecs"
    ) || mode_of(name).is_some()
}

/// The way of rounding of which the attribute's value counts the digits or bits.
fn mode_of(name: &str) -> Option<Mode> {
    Mode::ALL.into_iter().find(|mode| mode.attribute_name() == name)
}

/// Takes what the attribute says of the file.
pub(super) fn apply_to_file(
    stated: &Attribute,
    definitions: &mut Definitions,
) -> Result<(), CdlError> {
    if stated.name.text != "_Format" {
        definitions.has_specials = true;
        return Ok(());
    }
    definitions.format = Some(match text(stated)?.as_str() {
        "classic" => Format::Classic,
        "64-bit offset" => Format::Offset64Bit,
        "64-bit data" | "cdf5" => Format::Data64Bit,
        "netCDF-4" => Format::NetCdf4,
        "netCDF-4 classic model" => Format::NetCdf4Classic,
        _ => return Err(refused(stated)),
    });
    Ok(())
}

/// Takes what the attribute says of its variable.
pub(super) fn apply_to_variable(
    stated: &Attribute,
    settings: &mut Settings,
) -> Result<(), CdlError> {
    match stated.name.text.as_str() {
        "_Storage" => {
            settings.storage = Some(match text(stated)?.as_str() {
                "contiguous" => StorageKind::Contiguous,
                "chunked" => StorageKind::Chunked,
                "compact" => StorageKind::Compact,
                _ => return Err(refused(stated)),
            });
        }
        "_ChunkSizes" => {
            let sizes = stated.items.iter().map(|item| integer(stated, item));
            settings.chunk_shape = Some(sizes.collect::<Result<_, _>>()?);
            settings.storage = Some(StorageKind::Chunked);
        }
        "_DeflateLevel" => {
            let level = integer(stated, only(stated)?)?;
            let level = u32::try_from(level).ok().filter(|level| *level <= 9);
            settings.deflate_level = Some(level.ok_or_else(|| refused(stated))?);
        }
        "_Shuffle" => settings.shuffle = Some(truth(stated)?),
        "_Fletcher32" => settings.fletcher32 = Some(truth(stated)?),
        "_NoFill" => settings.no_fill = Some(truth(stated)?),
        "_Endianness" => {
            settings.endianness = Some(match text(stated)?.as_str() {
                "little" => Endianness::Little,
                "big" => Endianness::Big,
                _ => return Err(refused(stated)),
            });
        }
        "_Filter" => {
            settings.filters = filters(&text(stated)?).ok_or_else(|| refused(stated))?;
        }
        // `_Codecs` is about Zarr.
        name => {
            if let Some(mode) = mode_of(name) {
                let significant = u32::try_from(integer(stated, only(stated)?)?);
                let significant = significant.map_err(|_| refused(stated))?;
                settings.quantization = Some(Quantization::new(mode, significant));
            }
        }
    }
    Ok(())
}

fn refused(stated: &Attribute) -> CdlError {
    CdlFault::Special { name: stated.name.text.clone() }.at(stated.name.at)
}

fn only(stated: &Attribute) -> Result<&Item, CdlError> {
    match &stated.items[..] {
        [item] => Ok(item),
        _ => Err(refused(stated)),
    }
}

fn text(stated: &Attribute) -> Result<String, CdlError> {
    let bytes = chars::joined(&stated.items)?;
    String::from_utf8(bytes).map_err(|_| refused(stated))
}

fn integer(stated: &Attribute, item: &Item) -> Result<u64, CdlError> {
    let number = match item.constant {
        Constant::Number(number) => number.integer(),
        _ => None,
    };
    number.and_then(|number| u64::try_from(number).ok()).ok_or_else(|| refused(stated))
}

fn truth(stated: &Attribute) -> Result<bool, CdlError> {
    match &only(stated)?.constant {
        Constant::Text(text) if matches!(&text[..], b"true" | b"1") => Ok(true),
        Constant::Text(text) if matches!(&text[..], b"false" | b"0") => Ok(false),
        Constant::Number(number) if number.integer() == Some(1) => Ok(true),
        Constant::Number(number) if number.integer() == Some(0) => Ok(false),
        _ => Err(refused(stated)),
    }
}

/// `307,9|40000`: numbers of filters, each with its parameters behind it.
fn filters(text: &str) -> Option<Vec<(u16, Vec<u32>)>> {
    let filter = |text: &str| {
        let mut numbers = text.split(',').map(str::trim);
        let id = numbers.next()?.parse().ok()?;
        Some((id, numbers.map(|number| number.parse().ok()).collect::<Option<_>>()?))
    };
    text.split('|').map(filter).collect()
}
