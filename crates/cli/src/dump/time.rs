//! `-t` and `-i`: times as dates.

use isotach::Variable;
use isotach::model::Values;

use super::calendar::{Calendar, Date};
use super::number;
use super::value::as_f64;

/// The meaning of a time variable's numbers: `units` such as "days since 1970-01-01", `calendar`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TimeUnits {
    calendar: Calendar,
    unit: Unit,
    origin: Date,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Unit {
    Hours { count: f64, divide: bool },
    Months { count: f64 },
}

impl TimeUnits {
    /// That of a variable; `None` where its attributes do not make it one of times.
    pub(super) fn of(variable: &Variable) -> Option<Self> {
        let units = char_attribute(variable, "units")?;
        let calendar = match char_attribute(variable, "calendar") {
            Some(name) if !name.is_empty() => Calendar::named(&name)?,
            _ => Calendar::Mixed,
        };
        let units = super::text::until_zero(&units);
        Self::parse(std::str::from_utf8(units).ok()?, calendar)
    }

    fn parse(units: &str, calendar: Calendar) -> Option<Self> {
        let units = units.trim_start();
        let (unit, rest) = units.split_at(units.find(char::is_whitespace)?);
        let origin = rest.trim_start().strip_prefix("since")?.trim_start();
        if origin.is_empty() {
            return None;
        }
        // ISO 8601 has a T between day and hour.
        let origin = origin.replacen('T', " ", 1);
        Some(Self { calendar, unit: Unit::parse(unit)?, origin: parse_date(&origin) })
    }

    /// The time as text without quotes; empty where it is no date.
    pub(super) fn text(&self, value: f64, separator: char) -> String {
        let date = match self.unit {
            Unit::Hours { count, divide: true } => {
                self.calendar.add_hours(self.origin, value / count)
            }
            Unit::Hours { count, divide: false } => {
                self.calendar.add_hours(self.origin, count * value)
            }
            Unit::Months { .. } if value == 0.0 => self.origin,
            Unit::Months { count } => {
                let almost = if value < 0.0 { -1e-10 } else { 1e-10 };
                self.calendar.add_months(self.origin, (count * value + almost) as i64)
            }
        };
        iso(date, separator)
    }

    /// The number at `index` as dumps show it.
    pub(super) fn shown(&self, values: &Values, index: usize, separator: char) -> Option<String> {
        let value = as_f64(values, index)?;
        Some(match () {
            () if value.is_nan() => "NaN".to_owned(),
            () if value == f64::INFINITY => "Infinity".to_owned(),
            () if value == f64::NEG_INFINITY => "-Infinity".to_owned(),
            () => format!("\"{}\"", self.text(value, separator)),
        })
    }
}

impl Unit {
    fn parse(text: &str) -> Option<Self> {
        let hours = |count, divide| Some(Self::Hours { count, divide });
        let begins = |prefix: &str| {
            text.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
        };
        let is = |prefix: &str, short: &str| begins(prefix) || text.eq_ignore_ascii_case(short);
        match () {
            () if is("sec", "s") => hours(3600.0, true),
            () if is("min", "mn") => hours(60.0, true),
            () if is("hour", "hr") => hours(1.0, false),
            () if is("day", "dy") => hours(24.0, false),
            () if is("week", "wk") => hours(168.0, false),
            () if is("month", "mo") => Some(Self::Months { count: 1.0 }),
            () if begins("season") => Some(Self::Months { count: 3.0 }),
            () if is("year", "yr") => Some(Self::Months { count: 12.0 }),
            () => None,
        }
    }
}

/// The text of a `char` attribute.
pub(super) fn char_attribute(variable: &Variable, name: &str) -> Option<Vec<u8>> {
    match variable.attribute(name).ok()??.values().ok()? {
        Values::Char(text) => Some(text),
        _ => None,
    }
}

/// What `time("...")` stands for in CDL; `None` where the text is no date.
pub(crate) fn hours_since_1970(text: &str) -> Option<f64> {
    let date = parse_date(text);
    let has_year = text.trim_start().starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c));
    let is_date = has_year && (1..=12).contains(&date.month) && (1..=31).contains(&date.day);
    is_date.then(|| Calendar::Gregorian.hours(date))
}

/// Reads `year-month-day hour:minute:second` as far as it goes.
fn parse_date(text: &str) -> Date {
    let mut date = Date { year: 0, month: 1, day: 1, hour: 0.0 };
    let mut words = text.split_whitespace();
    let joined = [words.next().unwrap_or_default(), words.next().unwrap_or_default()].join(" ");
    let mut scanner = Scanner(&joined);
    let mut scan = || -> Option<()> {
        date.year = scanner.integer()?;
        scanner.literal('-')?;
        date.month = i64::from(scanner.integer()? as i16);
        scanner.literal('-')?;
        date.day = i64::from(scanner.integer()? as i16);
        let hour = scanner.integer().filter(|hour| (0..24).contains(hour))?;
        date.hour = hour as f64;
        scanner.literal(':')?;
        let minute = scanner.integer().filter(|minute| (0..60).contains(minute))?;
        date.hour += minute as f64 / 60.0;
        scanner.literal(':')?;
        let second = scanner.float().filter(|second| (0.0..=60.0).contains(second))?;
        date.hour += second / 3600.0;
        Some(())
    };
    // What is missing keeps its default.
    let _complete = scan();
    date.year = date.year.clamp(-1_000_000_000, 1_000_000_000);
    date
}

/// Reads as C's `scanf`.
struct Scanner<'t>(&'t str);

impl Scanner<'_> {
    fn literal(&mut self, wanted: char) -> Option<()> {
        self.0 = self.0.strip_prefix(wanted)?;
        Some(())
    }

    fn integer(&mut self) -> Option<i64> {
        let text = self.0.trim_start();
        let sign = usize::from(text.starts_with(['-', '+']));
        let digits = text[sign..].find(|c: char| !c.is_ascii_digit());
        let end = digits.map_or(text.len(), |end| end + sign);
        let number = text[..end].parse().ok()?;
        self.0 = &text[end..];
        Some(number)
    }

    fn float(&mut self) -> Option<f64> {
        let text = self.0.trim_start();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let number = text[..end].parse().ok()?;
        self.0 = &text[end..];
        Some(number)
    }
}

fn iso(date: Date, separator: char) -> String {
    let Date { year, month, day, hour } = date;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(0.0..=24.0).contains(&hour) {
        return String::new();
    }
    let sign = if year < 0 { "-" } else { "" };
    let day = format!("{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs());
    // Half a microsecond: the times that ncdump takes for the same.
    let second_tolerance = 0.5e-6;
    let minute_tolerance = second_tolerance / 60.0;
    let hours = (hour + minute_tolerance / 60.0) as i64;
    let minutes = 60.0 * (hour - hours as f64);
    let whole_minutes = (minutes + minute_tolerance) as i64;
    let seconds = 60.0 * (minutes - whole_minutes as f64);
    let whole_seconds = (seconds + second_tolerance) as i64;
    let prefix = format!("{day}{separator}{hours:02}");
    match () {
        () if seconds - whole_seconds as f64 >= second_tolerance => {
            format!("{prefix}:{whole_minutes:02}:{}", number::fixed(seconds, 6, false))
        }
        () if whole_seconds != 0 => format!("{prefix}:{whole_minutes:02}:{whole_seconds:02}"),
        () if whole_minutes != 0 => format!("{prefix}:{whole_minutes:02}"),
        () if hours != 0 => prefix,
        () => day,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(units: &str, value: f64) -> String {
        TimeUnits::parse(units, Calendar::Mixed).unwrap().text(value, ' ')
    }

    #[test]
    fn times_are_dates() {
        assert_eq!(shown("days since 1970-01-01", 1.5), "1970-01-02 12");
        assert_eq!(shown("hours since 2000-1-1 06:30:15", 1.0), "2000-01-01 07:30:15");
        assert_eq!(shown("months since 2000-01-15", 1.0), "2000-02-01");
        assert_eq!(shown("s since 2011-05-20T10:54:16Z", 1.0), "2011-05-20 10:54:17");
        assert_eq!(shown("days since -5-1-1", 0.0), "-0005-01-01");
        assert_eq!(shown("DAY since 1970-1-1", 1.0), "1970-01-02");
        assert_eq!(shown("s since 1970-1-1", 1.25), "1970-01-01 00:00:1.250000");
    }

    #[test]
    fn other_units_are_no_times() {
        for units in
            ["days", "K since 1970-01-01", "days since", "days before 2000", "days SINCE 2000", ""]
        {
            assert_eq!(TimeUnits::parse(units, Calendar::Mixed), None, "{units}");
        }
    }
}
