//! Times of certificates and revocation lists (RFC 5280, 4.1.2.5).

use std::time::{SystemTime, UNIX_EPOCH};

use der::Encode;
use der::asn1::{GeneralizedTime, UtcTime};

use super::element::{Element, tag};
use crate::certificate_error::CertificateError;

/// Reads a UTCTime or GeneralizedTime; returns seconds since 1970.
///
/// Forms that RFC 5280 does not allow are read too, because certificates have them: without seconds, with a fraction of a second, and
/// UTCTime with an offset.
pub(crate) fn read(element: &Element<'_>) -> Result<i64, CertificateError> {
    let seconds = match element.tag {
        tag::UTC_TIME => utc_time(element.content),
        tag::GENERALIZED_TIME => generalized_time(element.content),
        _ => None,
    };
    seconds.ok_or(CertificateError::Structure)
}

/// Returns true if the element is a time.
pub(crate) const fn is_time(identifier: u8) -> bool {
    matches!(identifier, tag::UTC_TIME | tag::GENERALIZED_TIME)
}

/// X.680, 47.
fn utc_time(mut text: &[u8]) -> Option<i64> {
    let year = pair(&mut text)?;
    // RFC 5280, 4.1.2.5.1.
    let century = if year >= 50 { 1900 } else { 2000 };
    let local = date_and_time(century + year, &mut text)?;
    Some(local - offset(text)?)
}

/// X.680, 46; X.690, 11.7: in UTC.
fn generalized_time(mut text: &[u8]) -> Option<i64> {
    let year = pair(&mut text)? * 100 + pair(&mut text)?;
    let time = date_and_time(year, &mut text)?;
    if let [b'.', fraction @ ..] = text {
        let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit());
        let digits = digits.count();
        if !(1..=3).contains(&digits) {
            return None;
        }
        text = fraction.get(digits..)?;
    }
    (text == b"Z").then_some(time)
}

/// Reads month, day, hour, minute and, if they are there, seconds.
fn date_and_time(year: i64, text: &mut &[u8]) -> Option<i64> {
    let (month, day) = (pair(text)?, pair(text)?);
    let (hour, minute) = (pair(text)?, pair(text)?);
    let second = match text.len() {
        0 => return None,
        1 => 0,
        _ => pair(text)?,
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_of_month = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => return None,
    };
    if !(1..=days_of_month).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // The year is taken to begin in March, so that the leap day is its last one.
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // (153 m + 2) / 5 days precede month m of such a year; 719 468 days lie between 0000-03-01 and 1970-01-01.
    let days = 365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

/// Reads the offset from UTC, in seconds.
fn offset(zone: &[u8]) -> Option<i64> {
    let (sign, mut digits) = match zone {
        [b'Z'] => return Some(0),
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = (pair(&mut digits)?, pair(&mut digits)?);
    let is_offset = digits.is_empty() && hours <= 25 && minutes <= 59;
    is_offset.then_some(sign * (hours * 60 + minutes) * 60)
}

/// Reads two digits.
fn pair(text: &mut &[u8]) -> Option<i64> {
    let [high @ b'0'..=b'9', low @ b'0'..=b'9', rest @ ..] = *text else {
        return None;
    };
    *text = rest;
    Some(i64::from(high - b'0') * 10 + i64::from(low - b'0'))
}

/// Returns a time as RFC 5280 demands: UTCTime until 2049, then GeneralizedTime. `None` before 1970 and after 9999.
pub(crate) fn write(time: SystemTime) -> Option<Vec<u8>> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    let encoded = match UtcTime::from_unix_duration(since) {
        Ok(time) => time.to_der(),
        Err(_) => GeneralizedTime::from_unix_duration(since).ok()?.to_der(),
    };
    encoded.ok()
}
