//! DateTime (OPC 10000-6, 5.2.2.5).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::binary::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};

/// An instant: 100 ns ticks since 1601-01-01T00:00:00 UTC. 0 is the earliest, and stands for "none".
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(transparent)]
pub struct DateTime(pub i64);

/// Ticks of 9999-12-31T23:59:59: this instant and later ones are equal to [`DateTime::MAX`] (OPC 10000-6, 5.2.2.5).
const LAST_TICKS: i64 = 2_650_467_743_990_000_000;

/// Text of [`DateTime::MIN`] (OPC 10000-6, 5.4.2.6).
const MIN_TEXT: &str = "0001-01-01T00:00:00Z";

/// Ticks from 1601-01-01 to 1970-01-01.
const UNIX_EPOCH_TICKS: i64 = 116_444_736_000_000_000;
const TICKS_PER_SECOND: i64 = 10_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

impl DateTime {
    /// The earliest instant, which stands for "no time".
    pub const MIN: DateTime = DateTime(0);
    /// The latest instant, which stands for "forever".
    pub const MAX: DateTime = DateTime(i64::MAX);

    /// Returns the system clock's present time.
    #[inline]
    pub fn now() -> Self {
        Self::from(SystemTime::now())
    }

    /// Converts nanoseconds since 1970-01-01T00:00:00 UTC; rounds down to 100 ns.
    #[inline]
    pub const fn from_unix_nanos(nanos: i64) -> Self {
        Self(nanos.div_euclid(100) + UNIX_EPOCH_TICKS)
    }

    /// Returns the nanoseconds since 1970-01-01T00:00:00 UTC. Saturates before 1677 and after 2262.
    #[inline]
    pub const fn to_unix_nanos(self) -> i64 {
        self.0.saturating_sub(UNIX_EPOCH_TICKS).saturating_mul(100)
    }

    /// Returns the text in ISO 8601 (RFC 3339) for programs: in JSON and XML (OPC 10000-6, 5.4.2.6 and 5.3.1.6), and in tables.
    /// [`MIN`](Self::MIN) and earlier instants are `0001-01-01T00:00:00Z`, [`MAX`](Self::MAX) and those from the last second of the
    /// year 9999 on are `9999-12-31T23:59:59Z`.
    pub fn to_iso8601(self) -> String {
        Iso8601(self).to_string()
    }

    /// Returns whether this is [`MIN`](Self::MIN), "no time".
    #[inline]
    pub const fn is_null(self) -> bool {
        self.0 == 0
    }
}

impl From<SystemTime> for DateTime {
    #[inline]
    fn from(time: SystemTime) -> Self {
        // A division of 128 bits is avoided, because every response takes the time.
        let ticks = |duration: Duration| {
            i64::try_from(duration.as_secs())
                .unwrap_or(i64::MAX)
                .saturating_mul(TICKS_PER_SECOND)
                .saturating_add(i64::from(duration.subsec_nanos() / 100))
        };
        match time.duration_since(UNIX_EPOCH) {
            Ok(after) => Self(ticks(after).saturating_add(UNIX_EPOCH_TICKS)),
            Err(before) => Self(UNIX_EPOCH_TICKS.saturating_sub(ticks(before.duration()))),
        }
    }
}

impl From<DateTime> for SystemTime {
    fn from(time: DateTime) -> Self {
        let ticks = time.0.saturating_sub(UNIX_EPOCH_TICKS);
        let magnitude = ticks.unsigned_abs();
        let seconds = magnitude / TICKS_PER_SECOND.unsigned_abs();
        let nanos = (magnitude % TICKS_PER_SECOND.unsigned_abs()) * 100;
        let duration = Duration::from_secs(seconds) + Duration::from_nanos(nanos);
        let time = if ticks < 0 {
            UNIX_EPOCH.checked_sub(duration)
        } else {
            UNIX_EPOCH.checked_add(duration)
        };
        time.unwrap_or(UNIX_EPOCH)
    }
}

/// Returns year, month and day of a day count since 1970-01-01 in the proleptic Gregorian calendar.
///
/// The year is taken to begin in March, so that the leap day is its last one.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    // Between 0000-03-01 and 1970-01-01 there are 719 468 days; 400 years have 146 097.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    // Without their leap days, all years have 365 days.
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // From March on, five months together have 153 days: 31, 30, 31, 30 and 31.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Returns the inverse of [`civil_from_days`].
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// A DateTime as ISO 8601 in UTC (RFC 3339), without trailing zeros of the second.
struct Iso8601(DateTime);

impl std::fmt::Display for Iso8601 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 <= DateTime::MIN {
            return f.write_str(MIN_TEXT);
        }
        let ticks = self.0.0.min(LAST_TICKS);
        let seconds = ticks.div_euclid(TICKS_PER_SECOND);
        let mut fraction = ticks.rem_euclid(TICKS_PER_SECOND);
        let unix_seconds = seconds - UNIX_EPOCH_TICKS / TICKS_PER_SECOND;
        let (year, month, day) = civil_from_days(unix_seconds.div_euclid(SECONDS_PER_DAY));
        let time = unix_seconds.rem_euclid(SECONDS_PER_DAY);
        let (hour, minute, second) = (time / 3_600, time / 60 % 60, time % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        )?;
        if fraction != 0 {
            let mut digits = 7;
            while fraction % 10 == 0 {
                fraction /= 10;
                digits -= 1;
            }
            write!(f, ".{fraction:0digits$}")?;
        }
        f.write_str("Z")
    }
}

impl std::fmt::Display for DateTime {
    /// Writes RFC 3339 in UTC, without trailing zeros of the second; `MinValue` and `MaxValue` for the instants that
    /// stand for "none" and "forever".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            time if time <= Self::MIN => f.write_str("MinValue"),
            time if time.0 > LAST_TICKS => f.write_str("MaxValue"),
            time => Iso8601(time).fmt(f),
        }
    }
}

impl std::fmt::Debug for DateTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Error of a text that is not a date and time in the form `2024-05-06T07:08:09.1234567Z`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a date and time; expected for example 2024-05-06T07:08:09.5Z")]
pub struct ParseDateTimeError(String);

impl std::str::FromStr for DateTime {
    type Err = ParseDateTimeError;

    /// Reads ISO 8601: date, `T` or a space, time with optional seconds and fraction, and `Z`, an offset such as
    /// `+02:00`, or nothing for UTC. A date without a time stands for its midnight. `MinValue` and `MaxValue` are read too.
    /// Instants before 1601 are [`MIN`](Self::MIN), and those from the last second of the year 9999 on are [`MAX`](Self::MAX).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            "MinValue" => Ok(Self::MIN),
            "MaxValue" => Ok(Self::MAX),
            trimmed => parse(trimmed).ok_or_else(|| ParseDateTimeError(text.to_owned())),
        }
    }
}

fn number(digits: &str, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let value = plain.then(|| digits.parse().ok()).flatten()?;
    range.contains(&value).then_some(value)
}

fn parse(text: &str) -> Option<DateTime> {
    let (date, time) = text.split_once(['T', 't', ' ']).unwrap_or((text, "00:00Z"));
    let mut date = date.splitn(3, '-');
    // Years above 9999 are valid; they become `MAX`.
    let year = number(date.next()?, 0..=99_999)?;
    let month = number(date.next()?, 1..=12)?;
    let day = number(date.next()?, 1..=31)?;
    let days = days_from_civil(year, month, day);
    // A day that the month does not have becomes one of the next month.
    if civil_from_days(days) != (year, month, day) {
        return None;
    }
    let (time, offset) = match time.find(['Z', 'z', '+', '-']) {
        Some(at) => time.split_at(at),
        None => (time, "Z"),
    };
    let offset_minutes = match offset {
        "Z" | "z" => 0,
        // Nothing follows the `Z`.
        _ if offset.starts_with(['Z', 'z']) => return None,
        _ => {
            let (hours, minutes) = offset.get(1..)?.split_once(':')?;
            let minutes = number(hours, 0..=23)? * 60 + number(minutes, 0..=59)?;
            if offset.starts_with('-') {
                -minutes
            } else {
                minutes
            }
        }
    };
    let mut time = time.splitn(3, ':');
    let hour = number(time.next()?, 0..=23)?;
    let minute = number(time.next()?, 0..=59)?;
    let (second, digits) = {
        let seconds = time.next().unwrap_or("0");
        seconds.split_once('.').unwrap_or((seconds, "0"))
    };
    let second = number(second, 0..=59)?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Digits beyond 100 ns are cut off.
    let fraction = number(
        &format!("{:0<7}", digits.get(..digits.len().min(7))?),
        0..=9_999_999,
    )?;
    let seconds = days * SECONDS_PER_DAY + (hour * 60 + minute - offset_minutes) * 60 + second;
    let ticks = seconds
        .checked_mul(TICKS_PER_SECOND)?
        .checked_add(fraction)?
        .checked_add(UNIX_EPOCH_TICKS)?;
    Some(match ticks >= LAST_TICKS {
        true => DateTime::MAX,
        false => DateTime(ticks).max(DateTime::MIN),
    })
}

impl Encode for DateTime {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encoder.i64(self.0)
    }
}

impl<'a> Decode<'a> for DateTime {
    const MIN_SIZE: usize = 8;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        decoder.i64().map(Self)
    }
}
