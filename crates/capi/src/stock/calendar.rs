//! `nctime.h`: the part of the cdtime library that `ncdump -t` and `ncgen` use.
//!
//! Messages about text that is no time are left out; what is returned and stored is the same.

use std::ffi::{c_char, c_int, c_long, c_short};
use std::sync::atomic::{AtomicI32, Ordering};

use isotach_calendar::{Calendar, Date, TimeUnits, parse_date};

use super::bytes;
use crate::boundary::put;

/// A date.
#[repr(C)]
pub struct CompTime {
    year: c_long,
    month: c_short,
    day: c_short,
    hour: f64,
}

/// A date and the calendar that it is of.
#[repr(C)]
pub struct Time {
    year: c_long,
    month: c_short,
    day: c_short,
    hour: f64,
    base_year: c_long,
    time_type: c_int,
}

/// Parts of a calendar's number.
mod flag {
    pub(super) const HAS_YEARS: i32 = 0x1;
    pub(super) const BASE_1970: i32 = 0x10;
    pub(super) const HAS_LEAP_YEARS: i32 = 0x100;
    pub(super) const DAYS_365: i32 = 0x1000;
    pub(super) const DAYS_366: i32 = 0x2000;
    pub(super) const JULIAN: i32 = 0x1_0000;
    pub(super) const MIXED: i32 = 0x2_0000;
}

/// The calendar of a number; `None` for none of cdtime's, and for climatologies with leap years, which
/// `ncdump` has no name for.
fn calendar(number: c_int) -> Option<Calendar> {
    let has = |flag| number & flag != 0;
    let known = flag::HAS_YEARS
        | flag::BASE_1970
        | flag::HAS_LEAP_YEARS
        | flag::DAYS_365
        | flag::DAYS_366
        | flag::JULIAN
        | flag::MIXED;
    Some(match () {
        () if number & !known != 0 => return None,
        () if !has(flag::HAS_YEARS) => {
            return (!has(flag::HAS_LEAP_YEARS)).then_some(Calendar::Climatology);
        }
        () if has(flag::MIXED) => Calendar::Mixed,
        () if has(flag::DAYS_366) => Calendar::AllLeap,
        () if has(flag::JULIAN) => Calendar::Julian,
        () if has(flag::HAS_LEAP_YEARS) => Calendar::Gregorian,
        () if has(flag::DAYS_365) => Calendar::NoLeap,
        () => Calendar::Day360,
    })
}

fn comp_time(date: Date) -> CompTime {
    let Date { year, month, day, hour } = date;
    CompTime { year: year as c_long, month: month as c_short, day: day as c_short, hour }
}

/// The text of a C string, where it is UTF-8, as all text of times is.
///
/// # Safety
/// As for [`bytes`].
unsafe fn utf8<'a>(text: *const c_char) -> Option<&'a str> {
    // SAFETY: by this function's contract.
    std::str::from_utf8(unsafe { bytes(text) }?).ok()
}

/// Sets what is done about text that is no time, and gives what was set before.
#[unsafe(no_mangle)]
pub extern "C" fn cdSetErrOpts(options: c_int) -> c_int {
    static OPTIONS: AtomicI32 = AtomicI32::new(0);
    OPTIONS.swap(options, Ordering::Relaxed)
}

/// Reads units such as "days since 1970-01-01"; 1 where they are none, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdParseRelunits(
    time_type: c_int,
    units: *const c_char,
    unit: *mut c_int,
    origin: *mut CompTime,
) -> c_int {
    // SAFETY: the caller's string.
    let Some(text) = (unsafe { utf8(units) }) else { return 1 };
    let calendar = calendar(time_type).unwrap_or(Calendar::Gregorian);
    let Some(units) = TimeUnits::parse_leniently(text, calendar) else { return 1 };
    // SAFETY: the caller's places for one element each.
    unsafe {
        put(unit, units.unit as c_int);
        put(origin, comp_time(units.origin));
    }
    0
}

/// Writes a time as text of ISO 8601; leaves `text` as it is where it is none. Newer programs say how much
/// room there is in one more argument; the text has at most 47 bytes, which both kinds have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdRel2Iso(
    time_type: c_int,
    units: *const c_char,
    separator: c_int,
    time: f64,
    text: *mut c_char,
) {
    let shown = || {
        let calendar = calendar(time_type)?;
        // SAFETY: the caller's string.
        let units = TimeUnits::parse_leniently(unsafe { utf8(units) }?, calendar)?;
        let separator = u8::try_from(separator).ok()?;
        units.text(time, char::from(separator)).filter(|shown| shown.len() < MAX_TEXT)
    };
    if let Some(shown) = shown() {
        // SAFETY: the caller's room, of `MAX_TEXT` bytes at least.
        unsafe { crate::boundary::put_text(text, &shown) };
    }
}

/// Bytes that programs give a time as text, its zero with them.
const MAX_TEXT: usize = 48;

/// Reads a date as far as it goes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdChar2Comp(time_type: c_int, text: *const c_char, date: *mut CompTime) {
    let calendar = match time_type & flag::HAS_YEARS {
        0 => Calendar::Climatology,
        _ => Calendar::Gregorian,
    };
    // SAFETY: the caller's string, and its place for a date.
    unsafe { put(date, comp_time(parse_date(utf8(text).unwrap_or_default(), calendar))) };
}

/// The hours from the begin of 1970, or of the date's base year where its calendar counts from there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Cdh2e(time: *const Time, hours: *mut f64) {
    // SAFETY: NULL or the caller's date.
    let Some(time) = (unsafe { time.as_ref() }) else { return };
    let Some(calendar) = calendar(time.time_type) else { return };
    let (year, base) = match () {
        () if !calendar.has_years() => (0, 0),
        () if time.time_type & flag::BASE_1970 != 0 => (time.year, 1970),
        () => (time.year.saturating_add(time.base_year), time.base_year),
    };
    // Years beyond this are not dates of anything; bounded so that days stay in 64 bits.
    let year_of = |year: c_long| year.clamp(-1_000_000_000, 1_000_000_000);
    let (month, day) = (i64::from(time.month), i64::from(time.day));
    let date = Date { year: year_of(year), month, day, hour: time.hour };
    let begin = Date { year: year_of(base), month: 1, day: 1, hour: 0.0 };
    // SAFETY: the caller's place for a number.
    unsafe { put(hours, calendar.hours(date) - calendar.hours(begin)) };
}
