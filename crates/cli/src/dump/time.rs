//! `-t` and `-i`: times as dates.

use isotach::model::Values;
use isotach::{Readable, Variable};
use isotach_calendar::{Calendar, TimeUnits, parse_date};

use super::value::as_f64;

/// The meaning of a variable's numbers; `None` where its attributes do not make it one of times.
pub(super) fn units_of(variable: &Variable) -> isotach::Result<Option<TimeUnits>> {
    let Some(units) = char_attribute(variable, "units")? else { return Ok(None) };
    let calendar = match char_attribute(variable, "calendar")? {
        Some(name) if !name.is_empty() => Calendar::named(&name),
        _ => Calendar::Mixed,
    };
    let units = super::text::until_zero(&units);
    let units = std::str::from_utf8(units).ok();
    Ok(units.and_then(|units| TimeUnits::parse(units, calendar)))
}

/// The number at `index` as dumps show it.
pub(super) fn shown(
    units: &TimeUnits,
    values: &Values,
    index: usize,
    separator: char,
) -> Option<String> {
    let value = as_f64(values, index)?;
    Some(match () {
        () if value.is_nan() => "NaN".to_owned(),
        () if value == f64::INFINITY => "Infinity".to_owned(),
        () if value == f64::NEG_INFINITY => "-Infinity".to_owned(),
        () => format!("\"{}\"", units.text(value, separator).unwrap_or_default()),
    })
}

/// The text of a `char` attribute; a damaged one is none.
pub(super) fn char_attribute(variable: &Variable, name: &str) -> isotach::Result<Option<Vec<u8>>> {
    let Some(attribute) = variable.attribute(name).readable()?.flatten() else { return Ok(None) };
    Ok(match attribute.values().readable()? {
        Some(Values::Char(text)) => Some(text),
        _ => None,
    })
}

/// What `time("...")` stands for in CDL; `None` where the text is no date.
pub(crate) fn hours_since_1970(text: &str) -> Option<f64> {
    let date = parse_date(text, Calendar::Gregorian);
    let has_year = text.trim_start().starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c));
    let is_date = has_year && (1..=12).contains(&date.month) && (1..=31).contains(&date.day);
    is_date.then(|| Calendar::Gregorian.hours(date))
}
