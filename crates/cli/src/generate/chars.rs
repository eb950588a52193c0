//! Chars out of texts and single chars: rules that ncgen has since its first version.

use super::error::{CdlError, CdlFault};
use super::syntax::{Constant, Item, Position, Scalar};

/// All of the texts and chars, one after the other.
pub(super) fn joined(items: &[Item]) -> Result<Vec<u8>, CdlError> {
    let mut text = Vec::new();
    for item in items {
        push(item, 0, &mut text)?;
    }
    Ok(text)
}

/// How many chars the items are as rows of `row_len` chars; no text is no char here where rows have
/// one.
pub(super) fn count(items: &[Item], row_len: usize) -> Result<usize, CdlError> {
    let pieces = pieces(items, 0)?;
    let rounded = |(_, piece): &(Position, Vec<u8>)| match piece.len() {
        0 if row_len == 1 => 0,
        len => len.max(1).next_multiple_of(row_len.max(1)),
    };
    Ok(pieces.iter().map(rounded).sum())
}

/// The chars of the items, at most `expected`. Each text is filled up to whole rows, chars one after
/// the other are a text.
pub(super) fn rows(
    items: &[Item],
    row_len: usize,
    expected: usize,
    fill: u8,
) -> Result<Vec<u8>, CdlError> {
    let row_len = row_len.max(1);
    let mut pieces = pieces(items, fill)?;
    if pieces.len() > expected.div_ceil(row_len) {
        pieces = with_lines_joined(pieces, row_len);
    }
    let mut chars = Vec::new();
    for (at, piece) in pieces {
        let filled_len = piece.len().max(1).next_multiple_of(row_len);
        chars.extend_from_slice(&piece);
        let end = chars.len() + filled_len - piece.len();
        match end > expected {
            // A text without a char is a whole row, and none where there is no room for one.
            true if piece.is_empty() && expected == 0 => {}
            // The last row is cut by the end of the chars.
            true if chars.len() <= expected && end - expected < row_len => {
                chars.resize(expected, fill);
            }
            true => return Err(CdlFault::TooMany { room: expected as u64 }.at(at)),
            false => chars.resize(end, fill),
        }
    }
    Ok(chars)
}

/// ncdump begins a new text behind each line, also within a row.
fn with_lines_joined(pieces: Vec<(Position, Vec<u8>)>, row_len: usize) -> Vec<(Position, Vec<u8>)> {
    let mut joined: Vec<(Position, Vec<u8>)> = Vec::with_capacity(pieces.len());
    for (at, piece) in pieces {
        match joined.last_mut() {
            Some((_, last)) if last.ends_with(b"\n") && last.len() + piece.len() <= row_len => {
                last.extend(piece);
            }
            _ => joined.push((at, piece)),
        }
    }
    joined
}

/// The texts; chars that follow one another are one.
fn pieces(items: &[Item], fill: u8) -> Result<Vec<(Position, Vec<u8>)>, CdlError> {
    let mut pieces: Vec<(Position, Vec<u8>)> = Vec::with_capacity(items.len());
    let mut in_chars = false;
    for item in items {
        let is_char = !matches!(item.constant, Constant::Text(_));
        match pieces.last_mut() {
            Some((_, last)) if is_char && in_chars => push(item, fill, last)?,
            _ => {
                let mut piece = Vec::new();
                push(item, fill, &mut piece)?;
                pieces.push((item.at, piece));
            }
        }
        in_chars = is_char;
    }
    Ok(pieces)
}

fn push(item: &Item, fill: u8, into: &mut Vec<u8>) -> Result<(), CdlError> {
    match &item.constant {
        Constant::Text(text) => into.extend_from_slice(text),
        Constant::Char(byte) | Constant::Number(Scalar::U8(byte)) => into.push(*byte),
        Constant::Number(Scalar::I8(byte)) => into.push(byte.cast_unsigned()),
        Constant::Hex(digits) if digits.len() <= 2 => {
            into.extend(u8::from_str_radix(digits, 16).ok());
        }
        Constant::Fill => into.push(fill),
        _ => return Err(CdlFault::Constant { data_type: "char".to_owned() }.at(item.at)),
    }
    Ok(())
}
