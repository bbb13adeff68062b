//! Checks of the validity of a server's own certificates, also if it has no clients.

use std::time::{Duration, Instant};

use takt_crypto::ApplicationSecurity;

/// Time between two looks.
const PAUSE: Duration = Duration::from_secs(3600);

/// Time of the next look.
#[derive(Debug, Default)]
pub(super) struct Validity {
    next: Option<Instant>,
}

impl Validity {
    /// Looks at the certificates if it is time: a look logs a warning before they expire.
    pub(super) fn look(&mut self, now: Instant, security: &ApplicationSecurity) {
        if self.next.is_none_or(|next| next <= now) {
            for kind in security.kinds() {
                // Only for its warning: the certificate is not used here.
                let _ = security.identity_of(kind);
            }
            self.next = Some(now + PAUSE);
        }
    }

    /// Returns the time of the next look; `None` before the first one.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use takt_crypto::{CertificateStore, EllipticCurve, KeyKind};

    use super::*;
    use takt_client::certificates::describe;

    #[test]
    fn certificates_are_looked_at_once_an_hour() {
        let folder = tempfile::tempdir().unwrap();
        let new = describe("Idle", "urn:idle", Vec::new());
        let store = CertificateStore::open(folder.path()).unwrap();
        let kind = KeyKind::Ec(EllipticCurve::NistP256);
        let security = ApplicationSecurity::open_with(store, &new, kind, &[]).unwrap();
        let mut validity = Validity::default();
        let now = Instant::now();
        assert_eq!(validity.next(), None);
        let next = now + PAUSE;
        let soon = next - Duration::from_millis(1);
        for (at, expected) in [(now, next), (soon, next), (next, next + PAUSE)] {
            validity.look(at, &security);
            assert_eq!(validity.next(), Some(expected));
        }
    }
}
