//! The object comment message.
//!
//! ```text
//!   0 comment \0
//! ```
//! Specification: IV.A.2.n "The Object Comment Message".

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

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

    fn encode_fields(&self, output: &mut Output, _encoding: Encoding) -> Result<()> {
        if self.0.contains(&0) {
            return Err(output.bad_field("byte of the comment", 0));
        }
        output.put(&self.0);
        output.u8(0);
        Ok(())
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
