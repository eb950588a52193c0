//! Values out of bytes that stand in a header: attributes, fill values.

use std::sync::Arc;

use isotach_model::stored::DecodeError;
use isotach_model::{StoredType, Values};

use super::context::Context;
use super::global_heap::GlobalHeap;
use crate::error::{Error, ErrorKind, Result};

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
    context.error(ErrorKind::Elements(match error {
        DecodeError::Heap(error) => return error,
        DecodeError::TooShort { needed_bytes, available_bytes } => {
            DecodeError::TooShort { needed_bytes, available_bytes }
        }
        DecodeError::Type(fault) => DecodeError::Type(fault),
        DecodeError::Sequence { count, element_size, available_bytes } => {
            DecodeError::Sequence { count, element_size, available_bytes }
        }
        DecodeError::HeapLimit { limit_bytes } => DecodeError::HeapLimit { limit_bytes },
    }))
}
