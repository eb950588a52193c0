//! The object comment message.
//!
//! ```text
//!   0 comment \0
//! ```
//! Specification: IV.A.2.n "The Object Comment Message".

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::hdf5::Sizes;

pub(super) const NAME: &str = "object comment message";

/// What somebody wrote about the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment(pub Vec<u8>);

impl Message for Comment {
    const TYPE: MessageType = MessageType::COMMENT;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, _sizes: Sizes) -> Result<Self> {
        cursor.nul_terminated().map(|comment| Self(comment.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_at_the_zero() {
        let decode = |bytes: &[u8]| Comment::decode(bytes, 0, Sizes::default());
        assert_eq!(decode(b"why\0\0\0"), Ok(Comment(b"why".to_vec())));
        assert!(decode(b"why").is_err());
    }
}
