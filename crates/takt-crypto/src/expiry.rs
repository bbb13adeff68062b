//! Warnings before the own certificates expire, and before they are valid.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::certificate::Thumbprint;
use crate::identity::OwnCertificate;
use crate::remedy::Remedy;

/// Seconds before its expiry from which on a certificate is reported: 30 days.
const EXPIRES_SOON: i64 = 30 * DAY;

/// Seconds of a day.
const DAY: i64 = 24 * 3600;

/// Times of the last warnings in seconds since 1970. A process opens the files of one certificate for each of its connections, and
/// warns once a day.
static WARNED: Mutex<BTreeMap<Thumbprint, i64>> = Mutex::new(BTreeMap::new());

/// Logs a warning if an own certificate expires soon, has expired or is not valid yet, at most once a day. `renewal` tells how it is
/// renewed.
pub(crate) fn warn(own: &OwnCertificate, renewal: &str, now: i64) {
    let certificate = own.certificate();
    let Some(state) = state(certificate.not_before, certificate.not_after, now) else {
        return;
    };
    let thumbprint = own.thumbprint();
    if !is_due(thumbprint, now) {
        return;
    }
    match certificate.is_self_issued() {
        true => tracing::warn!(%thumbprint, "the own certificate {state}: {renewal}"),
        false => tracing::warn!(
            %thumbprint,
            issuer = certificate.issuer,
            "the own certificate {state}: its issuer (CA) has to sign a new one{}",
            Remedy::SignAgain
        ),
    }
}

/// Returns what is to be said about the validity of a certificate, from its times in seconds since 1970; `None` if it is valid for
/// long.
fn state(not_before: i64, not_after: i64, now: i64) -> Option<String> {
    let left = not_after.saturating_sub(now);
    match not_before > now {
        true => Some(
            "is not valid yet, and peers refuse it (is the clock of this host right?)".to_owned(),
        ),
        false => (left < EXPIRES_SOON).then(|| expiry(left)),
    }
}

/// Returns the time of expiry as text, from the seconds that are left.
fn expiry(left: i64) -> String {
    let days = (left / DAY).unsigned_abs();
    let unit = if days == 1 { "day" } else { "days" };
    match (left < 0, days) {
        (true, 0) => "expired today".to_owned(),
        (false, 0) => "expires within a day".to_owned(),
        (true, days) => format!("expired {days} {unit} ago"),
        (false, days) => format!("expires in {days} {unit}"),
    }
}

/// Returns true if there was no warning of this certificate within a day, and notes one.
fn is_due(certificate: Thumbprint, now: i64) -> bool {
    let mut warned = WARNED.lock().unwrap_or_else(PoisonError::into_inner);
    match warned.get(&certificate) {
        // A clock that was set back by more than a day may have changed the state.
        Some(last) if now.abs_diff(*last) < DAY.unsigned_abs() => false,
        _ => {
            warned.insert(certificate, now);
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_tells_past_from_future() {
        assert_eq!(expiry(-696 * DAY), "expired 696 days ago");
        assert_eq!(expiry(-DAY), "expired 1 day ago");
        assert_eq!(expiry(-1), "expired today");
        assert_eq!(expiry(DAY - 1), "expires within a day");
        assert_eq!(expiry(2 * DAY), "expires in 2 days");
    }

    #[test]
    fn a_certificate_that_is_not_valid_yet_is_reported() {
        let state = |before, after| state(before, after, 1000);
        let early = state(1001, 1001 + DAY).unwrap();
        assert!(
            early.contains("not valid yet") && early.contains("clock"),
            "{early}"
        );
        assert!(state(1001, 1000 * DAY).is_some());
        assert_eq!(state(1000, 1000 * DAY), None);
        assert!(state(1000, DAY).unwrap().starts_with("expires"));
    }

    #[test]
    fn a_warning_comes_once_a_day_for_each_certificate() {
        let [one, other] = [b"one".as_slice(), b"two"].map(Thumbprint::of);
        let now = 1_000_000;
        assert!(is_due(one, now) && is_due(other, now));
        assert!(!is_due(one, now + DAY - 1));
        assert!(is_due(one, now + DAY) && !is_due(one, now + DAY + 1));
        assert!(is_due(one, now - DAY) && !is_due(one, now - DAY + 1));
    }
}
