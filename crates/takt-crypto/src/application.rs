//! The security of an application: its own certificates, which can be replaced while it runs, and the checks of peers.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use zeroize::Zeroizing;

use crate::certificate::{Certificate, MAX_CHAIN_LENGTH, MAX_CHAIN_SIZE, Thumbprint};
use crate::certificate_error::CertificateError;
use crate::changes::{self, OwnFiles, StoredLists};
use crate::creation::NewCertificate;
use crate::creation_error::CreationError;
use crate::expiry;
use crate::folder::{MAX_REJECTED, StoreError, write_file};
use crate::identity::OwnCertificate;
use crate::peer_certificate::PeerCertificate;
use crate::policy::{KeyKind, PolicyProfile};
use crate::private_key::PrivateKey;
use crate::remedy::Remedy;
use crate::signing_request::signing_request;
use crate::store::CertificateStore;
use crate::trust::{Expectations, TrustList};

/// Occasion of the checks of a peer's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occasion {
    /// A channel opens.
    Opening,
    /// The token of an open channel is renewed.
    Renewal,
    /// The trust list has changed while a channel is open.
    ListChange,
}

/// Shortest time between two certificates of strangers that are kept for an administrator: anybody can send new ones, and each
/// takes some milliseconds.
const PAUSE: Duration = Duration::from_secs(1);

/// Number of them that are kept at once after a rest.
const BURST: u32 = 8;

/// Own certificates and folders of an application.
#[derive(Debug)]
pub struct ApplicationSecurity {
    store: CertificateStore,
    first: Slot,
    /// Certificates of other kinds.
    others: Vec<Slot>,
    /// Time up to which kept certificates have been paid for.
    paid: Mutex<Instant>,
    /// Strangers that the log has named already; the newest ones.
    named: Mutex<VecDeque<Thumbprint>>,
}

/// The own certificate of one kind.
#[derive(Debug)]
struct Slot {
    kind: KeyKind,
    /// Files of the certificate and its key.
    files: (PathBuf, PathBuf),
    /// Command that renews the certificate, or advice.
    renewal: String,
    own: Mutex<Own>,
}

#[derive(Debug)]
struct Own {
    current: Arc<OwnCertificate>,
    /// The identity before the last renewal: channels that were opened with it renew their tokens with it.
    previous: Option<Arc<OwnCertificate>>,
    /// Times of modification of the two files.
    modified: [Option<SystemTime>; 2],
}

/// A certificate, perhaps with a new key, that has been checked and is to replace the own one of its kind.
#[derive(Debug, Clone)]
pub struct OwnUpdate {
    kind: KeyKind,
    files: OwnFiles,
}

impl OwnUpdate {
    /// Returns the kind of the certificate.
    #[must_use]
    pub const fn kind(&self) -> KeyKind {
        self.kind
    }
}

/// Reason for which a certificate cannot replace the own one.
#[derive(Debug, thiserror::Error)]
pub enum OwnUpdateError {
    /// A check of the certificate or of an issuer failed.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The certificate is for another key than the own one, that of the last signing request, and the given one.
    #[error("the certificate is for another key")]
    Key,
    /// The key that was made for the last signing request cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The application has no certificate of this kind.
    #[error("the application has no certificate for {0}")]
    Kind(KeyKind),
    /// The files of the own certificate are not in the folders.
    #[error("the certificate is not in the folders of certificates")]
    Elsewhere,
}

/// Returns the beginning of a name that a peer has chosen, as a log shows it.
fn printable(name: &str) -> String {
    name.chars().take(200).collect()
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

impl Slot {
    fn new(files: (PathBuf, PathBuf), renewal: String, current: OwnCertificate) -> Self {
        let modified = modified(&files);
        let slot = Self {
            renewal,
            kind: current.key().kind(),
            own: Mutex::new(Own {
                current: Arc::new(current),
                previous: None,
                modified,
            }),
            files,
        };
        // Warns at the start if the certificate expires soon.
        let _ = slot.identity();
        slot
    }

    fn lock(&self) -> MutexGuard<'_, Own> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the file of the key of the last signing request with a new key.
    fn requested_key(&self) -> PathBuf {
        self.files.1.with_extension("request")
    }

    fn read_requested_key(&self) -> Option<PrivateKey> {
        let pem = fs::read_to_string(self.requested_key()).ok()?;
        PrivateKey::from_pem(&Zeroizing::new(pem)).ok()
    }

    /// Returns certificate and key. Files that were replaced are read again.
    fn identity(&self) -> Arc<OwnCertificate> {
        // Before the files are read: a change meanwhile is seen by the next call.
        let modified = modified(&self.files);
        let mut own = self.lock();
        if own.modified != modified {
            // While the two files are being replaced they do not fit: then the old ones stay in use.
            let replacement = OwnCertificate::from_files(&self.files.0, &self.files.1);
            if let Ok(identity) = replacement
                && identity.key().kind() == self.kind
            {
                // Noted only now: files that do not fit yet are read again by the next call.
                own.modified = modified;
                if identity.thumbprint() != own.current.thumbprint() {
                    tracing::info!(thumbprint = %identity.thumbprint(), "the own certificate was replaced");
                    let replaced = std::mem::replace(&mut own.current, Arc::new(identity));
                    own.previous = Some(replaced);
                }
            }
        }
        expiry::warn(&own.current, &self.renewal, now());
        Arc::clone(&own.current)
    }
}

impl ApplicationSecurity {
    /// Opens the folders; the own RSA certificate is created if it is missing.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open(store: CertificateStore, new: &NewCertificate) -> Result<Self, StoreError> {
        Self::open_with(store, new, KeyKind::Rsa, &[])
    }

    /// Opens the folders; own certificates of these kinds are created if they are missing.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open_with(
        store: CertificateStore,
        new: &NewCertificate,
        first: KeyKind,
        others: &[KeyKind],
    ) -> Result<Self, StoreError> {
        let slot = |kind| {
            let current = store.own(new, kind)?;
            let name = &new.application_name;
            let renewal = format!(
                "renew it in {}{}",
                store.root().display(),
                Remedy::Renew {
                    application: name,
                    folder: Some(store.root())
                }
            );
            Ok::<Slot, StoreError>(Slot::new(store.own_files(name, kind), renewal, current))
        };
        let first = slot(first)?;
        let others = others.iter().map(|kind| slot(*kind));
        Ok(Self {
            first,
            others: others.collect::<Result<_, _>>()?,
            store,
            paid: Mutex::new(Instant::now()),
            named: Mutex::default(),
        })
    }

    /// Opens the folders; the own certificate and its key are in files elsewhere.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn with_files(
        store: CertificateStore,
        certificate: &Path,
        key: &Path,
    ) -> Result<Self, StoreError> {
        let current = OwnCertificate::from_files(certificate, key)?;
        let files = (certificate.to_owned(), key.to_owned());
        let renewal = format!("replace the file {}", certificate.display());
        Ok(Self {
            first: Slot::new(files, renewal, current),
            others: Vec::new(),
            store,
            paid: Mutex::new(Instant::now()),
            named: Mutex::default(),
        })
    }

    fn slots(&self) -> impl Iterator<Item = &Slot> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Returns the folders.
    #[must_use]
    pub const fn store(&self) -> &CertificateStore {
        &self.store
    }

    /// Returns the first own certificate and key. Files that were replaced are read again.
    #[must_use]
    pub fn identity(&self) -> Arc<OwnCertificate> {
        self.first.identity()
    }

    /// Returns the own certificate of this kind.
    #[must_use]
    pub fn identity_of(&self, kind: KeyKind) -> Option<Arc<OwnCertificate>> {
        let mut slots = self.slots();
        slots.find(|slot| slot.kind == kind).map(Slot::identity)
    }

    /// Returns the kinds of the own certificates.
    pub fn kinds(&self) -> impl Iterator<Item = KeyKind> {
        self.slots().map(|slot| slot.kind)
    }

    /// Returns the identity whose certificate has this thumbprint: a current one, or that before its last renewal.
    #[must_use]
    pub fn identity_with(&self, thumbprint: &[u8]) -> Option<Arc<OwnCertificate>> {
        let mut known = self.slots().flat_map(|slot| {
            // First, because this call may make the current one the previous one.
            let current = slot.identity();
            let previous = slot.lock().previous.clone();
            std::iter::once(current).chain(previous)
        });
        known.find(|identity| identity.thumbprint().0 == thumbprint)
    }

    /// Returns the trust list as the folders are now. It is another object if they have changed.
    #[must_use]
    pub fn trust_list(&self) -> Arc<TrustList> {
        self.store.trust_list()
    }

    /// Decides whether a channel may be opened with a peer: checks its certificate, with those of its issuers. One that is refused
    /// because it is not trusted is kept in the rejected folder.
    ///
    /// # Errors
    /// The check that failed.
    pub fn accept_peer(
        &self,
        peer: &PeerCertificate,
        expected: &PeerExpectations<'_>,
    ) -> Result<(), CertificateError> {
        self.check(peer, expected, Occasion::Opening)
    }

    /// Decides whether the token of a channel may be renewed: checks the certificate of the peer again. An own certificate that was
    /// replaced since is accepted: the applications of this user keep their channels.
    ///
    /// # Errors
    /// The check that failed.
    pub fn keep_peer(
        &self,
        peer: &PeerCertificate,
        expected: &PeerExpectations<'_>,
    ) -> Result<(), CertificateError> {
        self.check(peer, expected, Occasion::Renewal)
    }

    /// Decides whether an open channel may live on after a change of the trust list: makes the checks of
    /// [`keep_peer`](Self::keep_peer) but for those of times. A channel whose certificate has expired, or whose server's clock was
    /// set, ends at its next renewal; a change of the list in between is no reason.
    ///
    /// # Errors
    /// The check that failed.
    pub fn reconsider_peer(
        &self,
        peer: &PeerCertificate,
        expected: &PeerExpectations<'_>,
    ) -> Result<(), CertificateError> {
        self.check(peer, expected, Occasion::ListChange)
    }

    fn check(
        &self,
        peer: &PeerCertificate,
        expected: &PeerExpectations<'_>,
        occasion: Occasion,
    ) -> Result<(), CertificateError> {
        let leaf = peer.leaf().ok_or(CertificateError::Structure)?;
        let list = self.store.trust_list();
        let expected = Expectations {
            profile: expected.profile,
            now: now(),
            is_server: expected.is_server,
            host: expected.host,
            application_uri: expected.application_uri,
        };
        let check = |list: &TrustList| match occasion {
            Occasion::ListChange => list.check_without_times(peer.chain(), &expected),
            Occasion::Opening | Occasion::Renewal => list.check(peer.chain(), &expected),
        };
        let mut checked = check(&list);
        let is_untrusted = checked == Err(CertificateError::Untrusted);
        let is_replaced = is_untrusted && self.store.is_replaced(leaf);
        if is_replaced && occasion != Occasion::Opening {
            // A copy: only channels that are open may go on with the certificate before.
            let mut list = TrustList::clone(&list);
            list.trusted.push(leaf.clone());
            checked = check(&list);
        }
        match checked {
            Ok(()) => {}
            // Its owner has a new certificate: there is nothing that an administrator has to decide.
            Err(error) if is_replaced => {
                tracing::debug!(thumbprint = %leaf.thumbprint, "{error}: it was replaced");
            }
            Err(error @ CertificateError::ChainIncomplete) => {
                self.note_refused(leaf, error, list.missing_issuer(peer.chain()));
            }
            Err(error) => self.note_refused(leaf, error, None),
        }
        checked
    }

    /// Reports a refused certificate with what helps. `missing_issuer` is the issuer whose certificate is unknown.
    fn note_refused(
        &self,
        leaf: &Certificate,
        error: CertificateError,
        missing_issuer: Option<&str>,
    ) {
        let needs_list = matches!(
            error,
            CertificateError::RevocationUnknown | CertificateError::IssuerRevocationUnknown
        );
        // Strangers cause these lines too, so they share the limit.
        if needs_list && self.may_keep(Instant::now()) {
            tracing::warn!(
                subject = %printable(&leaf.subject),
                issuer = %printable(&leaf.issuer),
                "{error}: add one{}",
                Remedy::AddRevocationList {
                    folder: Some(self.store.root())
                }
            );
        }
        let needs_trust = matches!(
            error,
            CertificateError::Untrusted | CertificateError::ChainIncomplete
        );
        // The log of each process names it, even if an earlier one has kept its certificate.
        let is_new = || !self.store.is_rejected(leaf) || !self.is_named(leaf.thumbprint);
        if needs_trust && is_new() && self.may_keep(Instant::now()) {
            self.name(leaf.thumbprint);
            let root = self.store.root();
            let folder = root.display();
            match missing_issuer {
                // An entry of the certificate itself would not help: its chain has no end.
                Some(issuer) => tracing::warn!(
                    subject = %printable(&leaf.subject),
                    issuer = %printable(issuer),
                    "{error}: trust the issuer and add its revocation list, in {folder}{}",
                    Remedy::TrustIssuer { folder: Some(root) }
                ),
                None => tracing::warn!(
                    subject = %printable(&leaf.subject),
                    thumbprint = %leaf.thumbprint,
                    "{error}: trust it, in {folder}{}",
                    Remedy::Trust {
                        thumbprint: &leaf.thumbprint.to_string(),
                        folder: Some(root)
                    }
                ),
            }
            if !self.store.is_rejected(leaf)
                && let Err(error) = self.store.keep_refused(leaf)
            {
                tracing::warn!(%error, "the rejected certificate could not be kept");
            }
        }
    }

    fn named(&self) -> MutexGuard<'_, VecDeque<Thumbprint>> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the log has named this certificate lately.
    fn is_named(&self, certificate: Thumbprint) -> bool {
        self.named().contains(&certificate)
    }

    /// Notes that the log names a certificate.
    fn name(&self, certificate: Thumbprint) {
        let mut named = self.named();
        named.retain(|other| *other != certificate);
        if named.len() >= MAX_REJECTED {
            named.pop_front();
        }
        named.push_back(certificate);
    }

    /// Returns whether a certificate of a stranger may be kept now. Its owner will come again.
    fn may_keep(&self, at: Instant) -> bool {
        let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        // A token bucket as one point in time: at most BURST pauses behind the present, each certificate moves it on
        // by one.
        let rested = at.checked_sub(PAUSE * BURST).unwrap_or(at);
        let next = paid.max(rested) + PAUSE;
        let may = next <= at + PAUSE;
        if may {
            *paid = next;
        }
        may
    }

    fn slot(&self, kind: KeyKind) -> Result<&Slot, OwnUpdateError> {
        let mut slots = self.slots();
        slots
            .find(|slot| slot.kind == kind)
            .ok_or(OwnUpdateError::Kind(kind))
    }

    /// Returns a signing request (PKCS #10, DER) for the own key of this kind, or for a new one, which is kept until a certificate
    /// for it comes. `subject` is as in [`signing_request`].
    ///
    /// # Errors
    /// [`OwnUpdateError::Kind`] and [`OwnUpdateError::Store`].
    pub fn signing_request(
        &self,
        kind: KeyKind,
        subject: Option<&str>,
        with_new_key: bool,
    ) -> Result<Vec<u8>, OwnUpdateError> {
        let slot = self.slot(kind)?;
        let own = slot.identity();
        let request = |key: &PrivateKey| signing_request(key, own.certificate(), subject);
        if !with_new_key {
            return Ok(request(own.key()).map_err(StoreError::from)?);
        }
        let new_key = own.key().generate_like().map_err(CreationError::from);
        let new_key = new_key.map_err(StoreError::from)?;
        let request = request(&new_key).map_err(StoreError::from)?;
        let pem = new_key.to_pem().map_err(CreationError::from);
        let pem = pem.map_err(StoreError::from)?;
        // In a file, because the certificate may come after a restart.
        write_file(&slot.requested_key(), pem.as_bytes())?;
        Ok(request)
    }

    /// Checks a certificate that is to replace the own one of its kind: key, chain, times, uses, and ApplicationUri. `chain` is the
    /// certificate, and those of issuers that complete its chain; other ones are taken from the folders. `key` is its key (PEM),
    /// unless the application has it.
    ///
    /// # Errors
    /// [`OwnUpdateError`].
    pub fn check_update(
        &self,
        chain: &[Certificate],
        application_uri: &str,
        key: Option<PrivateKey>,
    ) -> Result<OwnUpdate, OwnUpdateError> {
        let trust = self.store.trust_list();
        let checked = trust.check_own(chain, application_uri, now())?;
        let chain: Vec<u8> = checked.iter().flat_map(Certificate::der).copied().collect();
        if checked.len() > MAX_CHAIN_LENGTH || chain.len() > MAX_CHAIN_SIZE {
            return Err(CertificateError::Structure.into());
        }
        let leaf = checked.first().ok_or(CertificateError::Structure)?;
        let kind = leaf.key_kind.ok_or(CertificateError::PolicyCheck)?;
        let slot = self.slot(kind)?;
        let is_of = |key: &PrivateKey| key.public_spki().is_ok_and(|key| key == leaf.public_key);
        let key = match key {
            Some(key) if is_of(&key) => Some(key),
            Some(_) => return Err(OwnUpdateError::Key),
            None => match slot.read_requested_key().filter(is_of) {
                Some(key) => Some(key),
                // The key in use: its file stays as it is.
                None if is_of(slot.identity().key()) => None,
                None => return Err(OwnUpdateError::Key),
            },
        };
        // Only files below the root of the store can change together.
        let below = |path: &Path| {
            let below = path.strip_prefix(self.store.root());
            below
                .map(Path::to_owned)
                .map_err(|_| OwnUpdateError::Elsewhere)
        };
        let mut files = OwnFiles::default();
        if let Some(key) = key {
            let pem = key.to_pem().map_err(|_| OwnUpdateError::Key)?;
            let pem = Zeroizing::new(pem.as_bytes().to_vec());
            files.written.push((below(&slot.files.1)?, pem));
            // In the same change, because the request has got its certificate.
            files.removed.push(below(&slot.requested_key())?);
        }
        files.written.push((below(&slot.files.0)?, chain.into()));
        Ok(OwnUpdate { kind, files })
    }

    /// Changes the lists of the folders and own certificates: either all of it, or nothing, also if the process is killed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn apply(&self, lists: &StoredLists, updates: &[OwnUpdate]) -> Result<(), StoreError> {
        let mut own = OwnFiles::default();
        for OwnUpdate { files, .. } in updates {
            own.written.extend(files.written.iter().cloned());
            own.removed.extend(files.removed.iter().cloned());
        }
        changes::apply(self.store.root(), lists, &own)?;
        // The new certificates are in use from now on, not only from the next peer on.
        for slot in self.slots() {
            let _ = slot.identity();
        }
        Ok(())
    }

    /// Returns true if `thumbprint` is that of the current certificate.
    #[must_use]
    pub fn is_current(&self, thumbprint: Thumbprint) -> bool {
        self.identity().thumbprint() == thumbprint
    }
}

fn modified(files: &(PathBuf, PathBuf)) -> [Option<SystemTime>; 2] {
    let time = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
    [time(&files.0), time(&files.1)]
}

/// Returns the present time in seconds since 1970.
#[must_use]
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_strangers_is_kept_slowly() {
        let folder = tempfile::tempdir().unwrap();
        let store = CertificateStore::open(folder.path()).unwrap();
        let new = NewCertificate {
            application_name: "Server".to_owned(),
            application_uri: "urn:server".to_owned(),
            host_names: vec!["localhost".to_owned()],
            addresses: Vec::new(),
            validity: Duration::from_secs(3600),
            key_bits: 2048,
        };
        let application = ApplicationSecurity::open(store, &new).unwrap();
        let at = Instant::now() + Duration::from_secs(60);
        let kept = (0..100).filter(|_| application.may_keep(at)).count();
        assert_eq!(kept, BURST as usize + 1);
        assert!(application.may_keep(at + PAUSE));
        assert!(!application.may_keep(at + PAUSE));
    }
}
