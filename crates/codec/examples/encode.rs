//! Encodes one chunk from standard input to standard output, for tests against other libraries.
//!
//! ```text
//! in    count of filters; for each its identifier, whether it is optional, count of parameters,
//!       parameters; the chunk's bytes
//! out   the filter mask; the stored bytes
//! ```
//! All numbers are little-endian and of 4 bytes.

use std::error::Error;
use std::io::{Read, Write, stdin, stdout};

use isotach_codec::{Filter, Pipeline, Scratch};

fn main() -> Result<(), Box<dyn Error>> {
    let mut input = Vec::new();
    stdin().read_to_end(&mut input)?;
    let mut rest = &input[..];
    let mut number = || {
        let (number, behind) = rest.split_first_chunk().ok_or("the filters are cut off")?;
        rest = behind;
        Ok::<_, Box<dyn Error>>(u32::from_le_bytes(*number))
    };
    let mut filters = Vec::new();
    for _ in 0..number()? {
        let (id, optional, count) = (number()?.try_into()?, number()? != 0, number()?);
        let parameters = (0..count).map(|_| number()).collect::<Result<_, _>>()?;
        filters.push(Filter { id, name: None, optional, parameters });
    }
    let mut stored = Vec::new();
    let mask = Pipeline { filters }.encode(rest, &mut Scratch::default(), &mut stored)?;
    stdout().write_all(&mask.to_le_bytes())?;
    stdout().write_all(&stored)?;
    Ok(())
}
