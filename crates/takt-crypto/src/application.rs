//! The security of an application: its own certificate, which can be replaced while it runs, and the checks of peers.

use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::certificate::{Certificate, Thumbprint};
use crate::certificate_error::CertificateError;
use crate::creation::NewCertificate;
use crate::identity::Identity;
use crate::policy::PolicyProfile;
use crate::store::{CertificateStore, StoreError};
use crate::trust::Expectations;

/// Seconds before its expiry from which on a certificate is reported: 30 days.
const EXPIRES_SOON: i64 = 30 * 24 * 3600;

/// Own certificate and folders of an application.
#[derive(Debug)]
pub struct ApplicationSecurity {
    store: CertificateStore,
    new: NewCertificate,
    own: Mutex<Own>,
}

#[derive(Debug)]
struct Own {
    current: Arc<Identity>,
    /// The identity before the last renewal: channels that were opened with it renew their tokens with it.
    previous: Option<Arc<Identity>>,
    /// Times of modification of the two files.
    modified: [Option<SystemTime>; 2],
}

/// Expectations of the peer of a SecureChannel, apart from the present time.
#[derive(Debug, Clone, Copy)]
pub struct PeerExpectations<'a> {
    /// The SecurityPolicy.
    pub profile: &'a PolicyProfile,
    /// True if the peer is a server.
    pub is_server: bool,
    /// The host that the client connects to, if that is to be checked.
    pub host: Option<&'a str>,
    /// The ApplicationUri of the peer, if it is known already.
    pub application_uri: Option<&'a str>,
}

impl ApplicationSecurity {
    /// Opens the folders; the own certificate is created if it is missing.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open(store: CertificateStore, new: NewCertificate) -> Result<Self, StoreError> {
        let current = Arc::new(store.own(&new)?);
        let application = Self {
            own: Mutex::new(Own {
                current,
                previous: None,
                modified: [None; 2],
            }),
            store,
            new,
        };
        let modified = application.modified();
        application.lock().modified = modified;
        application.warn_of_expiry();
        Ok(application)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Own> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn modified(&self) -> [Option<SystemTime>; 2] {
        let (certificate, key) = self.store.own_files(&self.new.application_name);
        [certificate, key].map(|path| fs::metadata(path).and_then(|file| file.modified()).ok())
    }

    /// Returns the folders.
    #[must_use]
    pub const fn store(&self) -> &CertificateStore {
        &self.store
    }

    /// Returns the own certificate and key. Files that were replaced are read again.
    #[must_use]
    pub fn identity(&self) -> Arc<Identity> {
        let modified = self.modified();
        let mut own = self.lock();
        if own.modified != modified {
            // While the two files are being replaced they do not fit: then the old ones stay in use.
            if let Ok(Some(identity)) = self.store.existing(&self.new.application_name) {
                own.modified = modified;
                if identity.thumbprint() != own.current.thumbprint() {
                    tracing::info!(thumbprint = %identity.thumbprint(), "the own certificate was replaced");
                    let replaced = std::mem::replace(&mut own.current, Arc::new(identity));
                    own.previous = Some(replaced);
                }
            }
        }
        Arc::clone(&own.current)
    }

    /// Returns the identity whose certificate has this thumbprint: the current one, or that before the last renewal.
    #[must_use]
    pub fn identity_with(&self, thumbprint: &[u8]) -> Option<Arc<Identity>> {
        let current = self.identity();
        let previous = self.lock().previous.clone();
        let mut known = std::iter::once(current).chain(previous);
        known.find(|identity| identity.thumbprint().0 == thumbprint)
    }

    /// Checks the certificate of a peer, with those of its issuers, and returns it. One that is refused because it is not
    /// trusted is kept in the rejected folder.
    ///
    /// # Errors
    /// The check that failed.
    pub fn check_peer(
        &self,
        chain: &[u8],
        expected: &PeerExpectations<'_>,
    ) -> Result<Certificate, CertificateError> {
        let chain = Certificate::chain_from_der(chain)?;
        let checked = self.store.trust_list().check(
            &chain,
            &Expectations {
                profile: expected.profile,
                now: now(),
                is_server: expected.is_server,
                host: expected.host,
                application_uri: expected.application_uri,
            },
        );
        let leaf = chain
            .into_iter()
            .next()
            .ok_or(CertificateError::Structure)?;
        match checked {
            Ok(()) => Ok(leaf),
            Err(error) => {
                self.note_refused(&leaf, error);
                Err(error)
            }
        }
    }

    fn note_refused(&self, leaf: &Certificate, error: CertificateError) {
        let needs_trust = matches!(
            error,
            CertificateError::Untrusted | CertificateError::ChainIncomplete
        );
        if needs_trust && !self.store.is_rejected(leaf) {
            let subject: String = leaf.subject.chars().take(200).collect();
            tracing::warn!(
                %subject,
                thumbprint = %leaf.thumbprint,
                "{error}: `takt trust add {}` trusts it", leaf.thumbprint
            );
            if let Err(error) = self.store.reject(leaf) {
                tracing::warn!(%error, "the rejected certificate could not be kept");
            }
        }
    }

    /// Logs a warning if the own certificate expires within 30 days or has expired; returns the seconds that are left.
    pub fn warn_of_expiry(&self) -> i64 {
        let identity = self.identity();
        let left = identity.certificate().not_after.saturating_sub(now());
        if left < EXPIRES_SOON {
            let name = &self.new.application_name;
            tracing::warn!(
                days = left / (24 * 3600),
                "the own certificate expires soon: `takt trust renew {name}` replaces it"
            );
        }
        left
    }

    /// Returns true if `thumbprint` is that of the current certificate.
    #[must_use]
    pub fn is_current(&self, thumbprint: Thumbprint) -> bool {
        self.identity().thumbprint() == thumbprint
    }
}

/// Returns the present time in seconds since 1970.
#[must_use]
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}
