//! Values out of bytes that stand in a header: attributes, fill values.

use std::sync::Arc;

use isotach_format::ErrorKind as FormatErrorKind;
use isotach_model::stored::DecodeError;
use isotach_model::{StoredType, Values};

use super::context::Context;
use super::global_heap::GlobalHeap;
use crate::error::{Error, ErrorKind, Result};

const STRUCTURE: &str = "value";

/// The `count` elements of form `stored` in `data`.
pub(super) fn decode_values(
    context: &Arc<Context>,
    stored: &StoredType,
    data: &[u8],
    count: u64,
) -> Result<Values> {
    let heap = GlobalHeap::new(context);
    // More than fits memory is more than there are bytes, which is what the error then says.
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    stored.decode(data, count, &heap).map_err(|error| decode_error(context, error))
}

fn decode_error(context: &Context, error: DecodeError<Error>) -> Error {
    let kind = match error {
        DecodeError::Heap(error) => return error,
        DecodeError::TooShort { needed_bytes, available_bytes } => FormatErrorKind::Truncated {
            needed_bytes: needed_bytes as u64,
            available_bytes: available_bytes as u64,
        },
        DecodeError::Type(_) => {
            FormatErrorKind::Unsupported { feature: "datatype of size", value: 0 }
        }
        DecodeError::Sequence { count, .. } => {
            FormatErrorKind::Field { field: "sequence length", value: count }
        }
        DecodeError::HeapLimit { limit_bytes } => {
            return context.error(ErrorKind::Limit {
                what: "bytes taken out of the global heap",
                value: limit_bytes.saturating_add(1),
                limit: limit_bytes,
            });
        }
    };
    context.structure_error(isotach_format::Error { structure: STRUCTURE, address: 0, kind })
}
