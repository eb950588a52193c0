//! The command line's way to write indices.

use std::fmt;

use super::Index;

/// Why a text is not a list of indices; each says which piece of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParseIndexError {
    /// Nothing stands between two commas.
    Empty,
    /// Not an integer, or one beyond 64 bits.
    Integer(String),
    /// More than two colons.
    Colons(String),
    /// A bracket that is not closed, or not opened.
    Brackets(String),
}

impl fmt::Display for ParseIndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("an index is missing beside a comma"),
            Self::Integer(piece) => write!(f, "\"{piece}\" is not an integer"),
            Self::Colons(piece) => write!(f, "\"{piece}\" has more than two colons"),
            Self::Brackets(piece) => write!(f, "\"{piece}\" has a bracket without its partner"),
        }
    }
}

impl std::error::Error for ParseIndexError {}

/// Reads what stands between the brackets in `variable[...]`: integers, slices `start:stop:step`
/// with any part left out, `...`, lists `[1,5,9]` and `newaxis`, separated by commas. An empty
/// text is an empty list, which selects everything.
///
/// # Errors
/// The first piece that is none of these.
pub fn parse_indices(text: &str) -> Result<Vec<Index>, ParseIndexError> {
    let mut indices = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (piece, tail) = split_piece(rest)?;
        indices.push(parse_index(piece)?);
        match tail {
            None => break,
            Some(tail) if tail.trim().is_empty() => return Err(ParseIndexError::Empty),
            Some(tail) => rest = tail.trim(),
        }
    }
    Ok(indices)
}

/// The text up to the next comma outside of a list, and what follows the comma.
fn split_piece(text: &str) -> Result<(&str, Option<&str>), ParseIndexError> {
    let search_from = if text.starts_with('[') {
        text.find(']').ok_or_else(|| ParseIndexError::Brackets(text.to_owned()))?
    } else {
        0
    };
    Ok(match text[search_from..].find(',') {
        Some(at) => {
            let (piece, tail) = text.split_at(search_from + at);
            (piece.trim(), Some(&tail[1..]))
        }
        None => (text, None),
    })
}

fn parse_index(piece: &str) -> Result<Index, ParseIndexError> {
    match piece {
        "" => Err(ParseIndexError::Empty),
        "..." => Ok(Index::Ellipsis),
        "newaxis" | "None" => Ok(Index::NewAxis),
        _ if piece.starts_with('[') => {
            let list = piece.strip_prefix('[').and_then(|list| list.strip_suffix(']'));
            let list = list.ok_or_else(|| ParseIndexError::Brackets(piece.to_owned()))?;
            if list.trim().is_empty() {
                return Ok(Index::Integers(Vec::new()));
            }
            Ok(Index::Integers(list.split(',').map(parse_integer).collect::<Result<_, _>>()?))
        }
        _ if piece.contains(':') => parse_slice(piece),
        _ => Ok(Index::Integer(parse_integer(piece)?)),
    }
}

fn parse_slice(piece: &str) -> Result<Index, ParseIndexError> {
    let mut parts = piece.split(':').map(|part| match part.trim() {
        "" => Ok(None),
        part => parse_integer(part).map(Some),
    });
    let mut part = || parts.next().unwrap_or(Ok(None));
    let slice = Index::Slice { start: part()?, stop: part()?, step: part()? };
    match parts.next() {
        None => Ok(slice),
        Some(_) => Err(ParseIndexError::Colons(piece.to_owned())),
    }
}

fn parse_integer(piece: &str) -> Result<i64, ParseIndexError> {
    let piece = piece.trim();
    piece.parse().map_err(|_| ParseIndexError::Integer(piece.to_owned()))
}
