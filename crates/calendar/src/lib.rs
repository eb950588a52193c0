//! Times of the CF conventions: hours since 1970 and dates, as `ncdump -t` computes them.
//!
//! The order of the floating-point operations is that of the cdtime library in `ncdump`, because
//! the seconds that are shown depend on it.

mod units;

pub use units::{TimeUnits, Unit, parse_date};

/// The calendars of the CF conventions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calendar {
    /// Julian until 4 October 1582, Gregorian from 15 October 1582 on.
    Mixed,
    Gregorian,
    Julian,
    /// 365 days in every year.
    NoLeap,
    /// 366 days in every year.
    AllLeap,
    /// 12 months of 30 days.
    Day360,
    /// One year of 365 days that comes again and again.
    Climatology,
}

/// A date and the hours of its day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Date {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: f64,
}

/// What text that is no date stands for.
const NO_DATE: Date = Date { year: 0, month: 1, day: 1, hour: 0.0 };
const BASE_YEAR: i64 = 1970;
/// Relative times go through hours since this year.
const MIDDLE: Date = Date { year: 1979, month: 1, day: 1, hour: 0.0 };
const LAST_JULIAN: Date = Date { year: 1582, month: 10, day: 5, hour: 0.0 };
const FIRST_GREGORIAN: Date = Date { year: 1582, month: 10, day: 15, hour: 0.0 };
const MONTH_DAYS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

impl Calendar {
    /// The calendar that an attribute names; [`Calendar::Mixed`] for any other text. Like `ncdump`
    /// it takes a beginning of a name for the name.
    pub fn named(attribute: &[u8]) -> Self {
        let names = [
            ("gregorian", Self::Mixed),
            ("standard", Self::Mixed),
            ("proleptic_gregorian", Self::Gregorian),
            ("noleap", Self::NoLeap),
            ("no_leap", Self::NoLeap),
            ("365_day", Self::NoLeap),
            ("allleap", Self::AllLeap),
            ("all_leap", Self::AllLeap),
            ("366_day", Self::AllLeap),
            ("360_day", Self::Day360),
            ("julian", Self::Julian),
            ("none", Self::Climatology),
        ];
        let text = attribute.split(|&byte| byte == 0).next().unwrap_or_default();
        let whole = text.len() < attribute.len();
        let named = names.iter().find(|(name, _)| {
            if whole { name.as_bytes() == text } else { name.as_bytes().starts_with(text) }
        });
        named.map_or(Self::Mixed, |(_, calendar)| *calendar)
    }

    /// False where dates are days of any year.
    pub fn has_years(self) -> bool {
        self != Self::Climatology
    }

    fn is_leap(self, year: i64) -> bool {
        match self {
            Self::AllLeap => true,
            Self::Julian => year.rem_euclid(4) == 0,
            Self::Gregorian | Self::Mixed => {
                year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0)
            }
            Self::NoLeap | Self::Day360 | Self::Climatology => false,
        }
    }

    /// The year that hours are counted from.
    fn base_year(self) -> i64 {
        if self.has_years() { BASE_YEAR } else { 0 }
    }

    /// Days from the begin of 1970 to that of `year`; of climatologies from year 0.
    fn days_to_year(self, year: i64) -> i64 {
        let leap_days = |year: i64| {
            let before = year - 1;
            let fourths = before.div_euclid(4);
            match self {
                Self::Julian => fourths,
                _ => fourths - before.div_euclid(100) + before.div_euclid(400),
            }
        };
        let years = year - self.base_year();
        match self {
            Self::NoLeap | Self::Climatology => 365 * years,
            Self::AllLeap => 366 * years,
            Self::Day360 => 360 * years,
            _ => 365 * years + leap_days(year) - leap_days(BASE_YEAR),
        }
    }

    fn day_of_year(self, date: Date) -> i64 {
        let month = if (1..=12).contains(&date.month) { date.month } else { 1 };
        let leap_day = i64::from(self.is_leap(date.year) && month > 2);
        if self == Self::Day360 {
            return 30 * (month - 1) + date.day;
        }
        MONTH_DAYS[..month as usize - 1].iter().sum::<i64>() + date.day + leap_day
    }

    /// Hours since 1970.
    pub fn hours(self, date: Date) -> f64 {
        let days = self.days_to_year(date.year) + self.day_of_year(date) - 1;
        days as f64 * 24.0 + date.hour
    }

    /// The date that is this many hours after the begin of 1970.
    fn date(self, hours: f64) -> Date {
        let mut day_of_year = low_32_bits((hours / 24.0).floor()) + 1;
        let mut hour = hours - (day_of_year - 1) as f64 * 24.0;
        if hour >= 24.0 {
            day_of_year += 1;
            hour -= 24.0;
        }
        let days = day_of_year - 1;
        let mut year = self.base_year() + days.div_euclid(366);
        while self.days_to_year(year + 1) <= days {
            year += ((days - self.days_to_year(year)) / 366).max(1);
        }
        while self.days_to_year(year) > days {
            year -= 1;
        }
        let (month, day) = self.month_and_day(year, days - self.days_to_year(year) + 1);
        let year = if self.has_years() { year } else { 0 };
        Date { year, month, day, hour }
    }

    fn month_and_day(self, year: i64, day_of_year: i64) -> (i64, i64) {
        let mut day = day_of_year;
        for (index, &days) in MONTH_DAYS.iter().enumerate() {
            let days = match self {
                Self::Day360 => 30,
                _ => days + i64::from(index == 1 && self.is_leap(year)),
            };
            if day <= days || index == 11 {
                return (index as i64 + 1, day);
            }
            day -= days;
        }
        (12, day)
    }

    /// The date `hours` after `date`.
    pub fn add_hours(self, date: Date, hours: f64) -> Date {
        if self != Self::Mixed {
            return self.date(self.hours(date) + hours);
        }
        if date.is_before(FIRST_GREGORIAN) {
            let left = Self::Julian.difference(LAST_JULIAN, date);
            if hours <= left {
                Self::Julian.add_by_middle(date, hours)
            } else {
                Self::Gregorian.add_by_middle(FIRST_GREGORIAN, hours - left)
            }
        } else {
            let since = Self::Gregorian.difference(FIRST_GREGORIAN, date);
            if hours > since {
                Self::Gregorian.add_by_middle(date, hours)
            } else {
                Self::Julian.add_by_middle(LAST_JULIAN, hours - since)
            }
        }
    }

    /// The begin of the month that is `months` after the one of `date`.
    pub fn add_months(self, date: Date, months: i64) -> Date {
        let calendar = if self == Self::Mixed { Self::Gregorian } else { self };
        let begin = calendar.date(calendar.hours(date));
        let months = months.saturating_add(begin.month - 1);
        // Years beyond this are not dates of anything; bounded so that days stay in 64 bits.
        let year = (begin.year + months.div_euclid(12)).clamp(-1_000_000_000, 1_000_000_000);
        let first = Date { year, month: months.rem_euclid(12) + 1, day: 1, hour: 0.0 };
        calendar.date(calendar.hours(first))
    }

    fn difference(self, later: Date, earlier: Date) -> f64 {
        let middle = self.hours(MIDDLE);
        (self.hours(later) - middle) - (self.hours(earlier) - middle)
    }

    fn add_by_middle(self, date: Date, hours: f64) -> Date {
        let middle = self.hours(MIDDLE);
        let relative = (self.hours(date) - middle) + hours;
        self.date(middle + relative)
    }
}

impl Date {
    fn is_before(self, other: Self) -> bool {
        let key = |date: Self| (date.year, date.month, date.day);
        key(self) < key(other) || (key(self) == key(other) && self.hour < other.hour)
    }
}

/// The number as C's conversion to 64 and then to 32 bits leaves it.
fn low_32_bits(number: f64) -> i64 {
    let wide = if number.abs() < 9.2e18 { number as i64 } else { i64::MIN };
    i64::from(wide as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(year: i64, month: i64, day: i64) -> Date {
        Date { year, month, day, hour: 0.0 }
    }

    #[test]
    fn days_are_added() {
        for (calendar, from, days, to) in [
            (Calendar::Gregorian, date(2000, 2, 28), 2.0, date(2000, 3, 1)),
            (Calendar::Gregorian, date(1900, 2, 28), 1.0, date(1900, 3, 1)),
            (Calendar::Julian, date(1900, 2, 28), 1.0, date(1900, 2, 29)),
            (Calendar::Mixed, date(1582, 10, 4), 2.0, date(1582, 10, 16)),
            // As cdtime has it: the day that did not take place.
            (Calendar::Mixed, date(1582, 10, 4), 1.0, date(1582, 10, 5)),
            (Calendar::Mixed, date(1582, 10, 16), -2.0, date(1582, 10, 4)),
            (Calendar::NoLeap, date(2000, 2, 28), 1.0, date(2000, 3, 1)),
            (Calendar::Day360, date(2000, 2, 28), 3.0, date(2000, 3, 1)),
            (Calendar::Climatology, date(0, 12, 31), 1.0, date(0, 1, 1)),
            (Calendar::Climatology, date(0, 3, 4), -365.0 * 5.0, date(0, 3, 4)),
            (Calendar::NoLeap, date(1, 1, 1), 365.0 * 3000.0, date(3001, 1, 1)),
            (Calendar::Gregorian, date(1970, 1, 1), -1.0, date(1969, 12, 31)),
            (Calendar::Gregorian, date(1970, 1, 1), -719_528.0, date(0, 1, 1)),
        ] {
            assert_eq!(calendar.add_hours(from, 24.0 * days), to, "{calendar:?} {from:?}");
        }
    }

    #[test]
    fn months_are_added() {
        let from = Date { year: 2000, month: 11, day: 30, hour: 5.0 };
        assert_eq!(Calendar::Mixed.add_months(from, 2), date(2001, 1, 1));
        assert_eq!(Calendar::Day360.add_months(from, -11), date(1999, 12, 1));
    }

    #[test]
    fn any_number_of_hours_is_some_date() {
        for hours in [f64::MAX, f64::MIN, 1e15, -1e15, 5e10] {
            for calendar in [Calendar::Mixed, Calendar::Julian, Calendar::Day360] {
                calendar.add_hours(date(1970, 1, 1), hours);
            }
        }
    }
}
