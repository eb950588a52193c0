//! Fill values: the attribute `_FillValue`, else the default of the type.

use isotach_format::classic::{ExternalType, Variable};
use isotach_model::{NoHeap, Values, byte_order, fill};

use super::atomic;
use super::variable::stored_type;

/// One element as it would stand in the file. An attribute of another type, or of more than one
/// value, is not a fill value.
pub(crate) fn stored(variable: &Variable) -> Vec<u8> {
    let own = variable.attributes.iter().find(|attribute| {
        attribute.name == "_FillValue"
            && attribute.external_type == variable.external_type
            && attribute.value_count == 1
    });
    own.map_or_else(|| default(variable.external_type), |own| own.value_bytes.clone())
}

/// One element as a value.
pub(super) fn value(variable: &Variable) -> Values {
    let decoded = stored_type(variable.external_type).decode(&stored(variable), 1, &NoHeap);
    decoded.unwrap_or_else(|_| fill::default_fill(atomic(variable.external_type)))
}

fn default(external_type: ExternalType) -> Vec<u8> {
    let values = fill::default_fill(atomic(external_type));
    let mut bytes = values.native_bytes().unwrap_or_default().to_vec();
    if cfg!(target_endian = "little") {
        byte_order::swap_in_place(&mut bytes, external_type.size_bytes() as usize);
    }
    bytes
}
