//! `units` such as "days since 1970-01-01", and dates as text.

use crate::{Calendar, Date, MIDDLE, NO_DATE};

/// The meaning of a time variable's numbers: its attributes `units` and `calendar`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeUnits {
    pub calendar: Calendar,
    pub unit: Unit,
    pub origin: Date,
}

/// What is counted; the numbers are those of the cdtime library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Minute = 1,
    Hour = 2,
    Day = 3,
    Week = 4,
    Month = 5,
    Season = 6,
    Year = 7,
    Second = 8,
}

/// What a count of units is turned into.
enum Step {
    Hours { count: f64, divide: bool },
    Months { count: f64 },
}

impl TimeUnits {
    /// Units with an origin; `None` for any other text.
    pub fn parse(units: &str, calendar: Calendar) -> Option<Self> {
        origin_of(units)?;
        Self::parse_leniently(units, calendar)
    }

    /// Units that may have no origin, as the cdtime library takes them: it is the begin of 1979 then, or
    /// that of a climatology's year.
    pub fn parse_leniently(units: &str, calendar: Calendar) -> Option<Self> {
        let unit = Unit::parse(units.split_whitespace().next()?)?;
        if unit == Unit::Year && !calendar.has_years() {
            return None;
        }
        let origin = match origin_of(units) {
            // ISO 8601 has a T between day and hour.
            Some(origin) => parse_date(&origin.replacen('T', " ", 1), calendar),
            None if calendar.has_years() => MIDDLE,
            None => NO_DATE,
        };
        Some(Self { calendar, unit, origin })
    }

    /// The time as text; `None` where it is no date.
    pub fn text(&self, value: f64, separator: char) -> Option<String> {
        let date = match self.unit.step() {
            Step::Hours { count, divide: true } => {
                self.calendar.add_hours(self.origin, value / count)
            }
            Step::Hours { count, divide: false } => {
                self.calendar.add_hours(self.origin, count * value)
            }
            Step::Months { .. } if value == 0.0 => self.origin,
            Step::Months { count } => {
                let almost = if value < 0.0 { -1e-10 } else { 1e-10 };
                self.calendar.add_months(self.origin, (count * value + almost) as i64)
            }
        };
        iso(self.calendar, date, separator)
    }
}

fn origin_of(units: &str) -> Option<&str> {
    let units = units.trim_start();
    let (_, rest) = units.split_at(units.find(char::is_whitespace)?);
    let origin = rest.trim_start().strip_prefix("since")?.trim_start();
    (!origin.is_empty()).then_some(origin)
}

impl Unit {
    fn parse(text: &str) -> Option<Self> {
        let begins = |prefix: &str| {
            text.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
        };
        let is = |prefix: &str, short: &str| begins(prefix) || text.eq_ignore_ascii_case(short);
        Some(match () {
            () if is("sec", "s") => Self::Second,
            () if is("min", "mn") => Self::Minute,
            () if is("hour", "hr") => Self::Hour,
            () if is("day", "dy") => Self::Day,
            () if is("week", "wk") => Self::Week,
            () if is("month", "mo") => Self::Month,
            () if begins("season") => Self::Season,
            () if is("year", "yr") => Self::Year,
            () => return None,
        })
    }

    fn step(self) -> Step {
        match self {
            Self::Second => Step::Hours { count: 3600.0, divide: true },
            Self::Minute => Step::Hours { count: 60.0, divide: true },
            Self::Hour => Step::Hours { count: 1.0, divide: false },
            Self::Day => Step::Hours { count: 24.0, divide: false },
            Self::Week => Step::Hours { count: 168.0, divide: false },
            Self::Month => Step::Months { count: 1.0 },
            Self::Season => Step::Months { count: 3.0 },
            Self::Year => Step::Months { count: 12.0 },
        }
    }
}

/// Reads `year-month-day hour:minute:second` as far as it goes; climatologies have no year.
pub fn parse_date(text: &str, calendar: Calendar) -> Date {
    let mut date = NO_DATE;
    let mut words = text.split_whitespace();
    let joined = [words.next().unwrap_or_default(), words.next().unwrap_or_default()].join(" ");
    let mut scanner = Scanner(&joined);
    let mut scan = || -> Option<()> {
        if calendar.has_years() {
            date.year = scanner.integer()?;
            scanner.literal('-')?;
        }
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

fn iso(calendar: Calendar, date: Date, separator: char) -> Option<String> {
    let Date { year, month, day, hour } = date;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(0.0..=24.0).contains(&hour) {
        return None;
    }
    let sign = if year < 0 { "-" } else { "" };
    let day = match calendar.has_years() {
        true => format!("{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs()),
        false => format!("{month:02}-{day:02}"),
    };
    // Half a microsecond: the times that ncdump takes for the same.
    let second_tolerance = 0.5e-6;
    let minute_tolerance = second_tolerance / 60.0;
    let hours = (hour + minute_tolerance / 60.0) as i64;
    let minutes = 60.0 * (hour - hours as f64);
    let whole_minutes = (minutes + minute_tolerance) as i64;
    let seconds = 60.0 * (minutes - whole_minutes as f64);
    let whole_seconds = (seconds + second_tolerance) as i64;
    let prefix = format!("{day}{separator}{hours:02}");
    Some(match () {
        () if seconds - whole_seconds as f64 >= second_tolerance => {
            format!("{prefix}:{whole_minutes:02}:{seconds:.6}")
        }
        () if whole_seconds != 0 => format!("{prefix}:{whole_minutes:02}:{whole_seconds:02}"),
        () if whole_minutes != 0 => format!("{prefix}:{whole_minutes:02}"),
        () if hours != 0 => prefix,
        () => day,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(units: &str, value: f64) -> String {
        TimeUnits::parse(units, Calendar::Mixed).unwrap().text(value, ' ').unwrap()
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
    fn climatologies_have_no_years() {
        let shown = |units, value| {
            TimeUnits::parse_leniently(units, Calendar::Climatology)?.text(value, 'T')
        };
        assert_eq!(shown("dy since 03-04 05:06:07", 1000.0).unwrap(), "11-29T05:06:07");
        assert_eq!(shown("days", 0.0).unwrap(), "01-01");
        assert_eq!(shown("years since 01-02", 0.0), None);
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
