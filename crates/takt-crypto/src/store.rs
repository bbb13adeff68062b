//! Folders of certificates (OPC 10000-12, Annex F): `own`, `trusted`, `issuer` and `rejected`.
//!
//! Each change of the folders takes effect with the next check, and a file that is replaced in place within 200 ms: no application
//! has to be restarted.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::certificate::{Certificate, Thumbprint};
use crate::certificate_error::CertificateError;
use crate::changes::{self, OwnFiles, StoredLists};
use crate::creation::NewCertificate;
use crate::creation_error::CreationError;
use crate::exposure;
use crate::file_state::FileState;
use crate::folder::{
    ISSUER_LISTS, ISSUERS, MAX_REJECTED, OWN, PRIVATE, REJECTED, StoreError, TRUSTED,
    TRUSTED_LISTS, decoded, file_name, files, name_of, write_file, write_file_in,
};
use crate::identity::OwnCertificate;
use crate::policy::KeyKind;
use crate::private_key::PrivateKey;
use crate::replaced::OwnHistory;
use crate::revocation::RevocationList;
use crate::trust::TrustList;

/// Coarsest resolution of the time stamps of a file system.
const RESOLUTION: Duration = Duration::from_secs(2);

/// Shortest time between two looks at all files of the folders: thousands of trusted certificates would slow down each connection. A
/// file that is added, removed or renamed is seen at once, because its folder changes.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// The trust list, as it was read last, and the states of its folders and files then.
#[derive(Debug)]
struct ReadTrustList {
    folders: Vec<FileState>,
    files: Vec<FileState>,
    looked_at: Instant,
    /// True if each later change of a file gets another state: a file that has just changed can change again within the resolution
    /// of its time stamp.
    is_settled: bool,
    list: Arc<TrustList>,
}

/// A certificate in a folder.
#[derive(Debug, Clone)]
pub struct StoredCertificate {
    /// The file.
    pub path: PathBuf,
    /// The certificate.
    pub certificate: Certificate,
}

/// A revocation list in a folder.
#[derive(Debug, Clone)]
pub struct StoredRevocationList {
    /// The file.
    pub path: PathBuf,
    /// The list.
    pub list: RevocationList,
}

/// The folders of certificates below one root. All applications of a Unix user share them.
#[derive(Debug)]
pub struct CertificateStore {
    root: PathBuf,
    cache: Mutex<Option<ReadTrustList>>,
    own_history: Mutex<OwnHistory>,
}

impl CertificateStore {
    /// Opens the folders below `root`; missing ones are created for this user only.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        for folder in [
            OWN,
            PRIVATE,
            TRUSTED,
            TRUSTED_LISTS,
            ISSUERS,
            ISSUER_LISTS,
            REJECTED,
        ] {
            let path = root.join(folder);
            let mut builder = DirBuilder::new();
            let made = builder.recursive(true).mode(0o700).create(&path);
            made.map_err(|source| StoreError::Io { path, source })?;
        }
        changes::recover(root)?;
        Ok(Self::at(root))
    }

    /// Opens the folders below `root` to read them: missing ones are not created.
    ///
    /// # Errors
    /// [`StoreError::Io`] if a change that was interrupted cannot be completed.
    pub fn open_to_read(root: &Path) -> Result<Self, StoreError> {
        changes::recover(root)?;
        Ok(Self::at(root))
    }

    fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            cache: Mutex::new(None),
            own_history: Mutex::default(),
        }
    }

    /// Returns the root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the file of an own certificate of an application, and the file of its key. The name of the curve is in brackets,
    /// which names of applications do not have here.
    #[must_use]
    pub fn own_files(&self, application_name: &str, kind: KeyKind) -> (PathBuf, PathBuf) {
        let mut name = file_name(application_name);
        if let KeyKind::Ec(curve) = kind {
            name = format!("{name} [{}]", curve.name());
        }
        (
            self.root.join(OWN).join(format!("{name}.der")),
            self.root.join(PRIVATE).join(format!("{name}.pem")),
        )
    }

    /// Returns the own certificate and key of an application, which are created if they are missing.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn own(&self, new: &NewCertificate, kind: KeyKind) -> Result<OwnCertificate, StoreError> {
        match self.existing(&new.application_name, kind)? {
            Some(identity) => Ok(identity),
            None => self.renew(new, kind),
        }
    }

    /// Returns the own certificate and key of an application if they exist.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn existing(
        &self,
        application_name: &str,
        kind: KeyKind,
    ) -> Result<Option<OwnCertificate>, StoreError> {
        let (certificate, key) = self.own_files(application_name, kind);
        if !certificate.exists() || !key.exists() {
            return Ok(None);
        }
        let identity = read_identity(&certificate, &key)?;
        match identity.key().kind() == kind {
            true => Ok(Some(identity)),
            false => Err(StoreError::Certificate {
                path: certificate,
                source: CertificateError::PolicyCheck,
            }),
        }
    }

    /// Returns the own certificate of an application without its key, which may be missing or belong to another one.
    ///
    /// # Errors
    /// [`StoreError::Certificate`].
    pub fn own_certificate(
        &self,
        application_name: &str,
        kind: KeyKind,
    ) -> Result<Option<Certificate>, StoreError> {
        let (path, _) = self.own_files(application_name, kind);
        if !path.exists() {
            return Ok(None);
        }
        let chain = decoded(&path).unwrap_or_default();
        let certificate = Certificate::leaf_of(&chain).ok_or(CertificateError::Structure);
        let certificate = certificate.and_then(Certificate::from_der);
        match certificate {
            Ok(certificate) if certificate.key_kind == Some(kind) => Ok(Some(certificate)),
            Ok(_) => Err(CertificateError::PolicyCheck),
            Err(error) => Err(error),
        }
        .map_err(|source| StoreError::Certificate { path, source })
    }

    /// Creates a new certificate and key for an application, in place of older ones. After an error the older ones are still there,
    /// or the change is completed when the folders are opened the next time.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn renew(&self, new: &NewCertificate, kind: KeyKind) -> Result<OwnCertificate, StoreError> {
        let identity = new.create(kind)?;
        let (certificate, key) = self.own_files(&new.application_name, kind);
        let pem = identity.key().to_pem().map_err(CreationError::from)?;
        let below = |path: &Path| path.strip_prefix(&self.root).unwrap_or(path).to_owned();
        let files = OwnFiles {
            written: vec![
                (below(&key), pem.as_bytes().to_vec().into()),
                (below(&certificate), identity.chain_der().to_vec().into()),
            ],
            removed: Vec::new(),
        };
        changes::apply(&self.root, &StoredLists::default(), &files)?;
        Ok(identity)
    }

    /// Returns the trust list as the folders are now: the same object while its content is the same. The own certificates are trusted: who can write them controls this
    /// user's applications already.
    #[must_use]
    pub fn trust_list(&self) -> Arc<TrustList> {
        const FOLDERS: [&str; 5] = [OWN, TRUSTED, TRUSTED_LISTS, ISSUERS, ISSUER_LISTS];
        // Before the files are read: a change meanwhile makes the next look differ.
        let folders = self.folder_states(&FOLDERS);
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = &*cache
            && read.is_settled
            && read.looked_at.elapsed() < LOOK_AGAIN
            && read.folders == folders
        {
            return Arc::clone(&read.list);
        }
        let files = self.file_states(&FOLDERS);
        let looked_at = Instant::now();
        if let Some(read) = &mut *cache
            && read.is_settled
            && read.folders == folders
            && read.files == files
        {
            read.looked_at = looked_at;
            return Arc::clone(&read.list);
        }
        let list = self.read_trust_list();
        let list = match &*cache {
            Some(read) if *read.list == list => Arc::clone(&read.list),
            _ => Arc::new(list),
        };
        let mut all = folders.iter().chain(&files);
        *cache = Some(ReadTrustList {
            is_settled: all.all(|state| state.has_passed(RESOLUTION)),
            folders,
            files,
            looked_at,
            list: Arc::clone(&list),
        });
        list
    }

    fn own_history(&self) -> MutexGuard<'_, OwnHistory> {
        let history = self.own_history.lock();
        history.unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if this was an own certificate until a newer one of the same application has replaced it, while this process
    /// runs. It is not trusted any more, but nobody has rejected it.
    pub(crate) fn is_replaced(&self, certificate: &Certificate) -> bool {
        self.own_history().has_replaced(certificate) && !self.is_rejected(certificate)
    }

    /// Returns the time of the last change of the trust list.
    #[must_use]
    pub fn last_change(&self) -> SystemTime {
        let folders = [TRUSTED, TRUSTED_LISTS, ISSUERS, ISSUER_LISTS];
        let folder_states = self.folder_states(&folders).into_iter();
        let times = folder_states
            .chain(self.file_states(&folders))
            .map(|state| state.changed());
        times.max().unwrap_or(SystemTime::UNIX_EPOCH)
    }

    fn folder_states(&self, folders: &[&str]) -> Vec<FileState> {
        let folders = folders.iter().map(|folder| self.root.join(folder));
        folders
            .filter_map(|folder| FileState::of(&folder))
            .collect()
    }

    /// Returns the states of the files of these folders: a file may be replaced in place, which does not change its folder.
    fn file_states(&self, folders: &[&str]) -> Vec<FileState> {
        let folders = folders.iter().map(|folder| self.root.join(folder));
        let files = folders.flat_map(|folder| files(&folder));
        files.filter_map(|file| FileState::of(&file)).collect()
    }

    fn read_trust_list(&self) -> TrustList {
        let certificates = |folder| {
            let stored = self.list(folder).into_iter();
            stored.map(|stored| stored.certificate)
        };
        let [trusted_lists, issuer_lists] = self.revocation_lists();
        let own = self.list(OWN);
        let files = own
            .iter()
            .map(|own| (own.path.clone(), own.certificate.clone()));
        self.own_history().note(files);
        let own = own.into_iter().map(|own| own.certificate);
        TrustList {
            trusted: certificates(TRUSTED).chain(own).collect(),
            issuers: certificates(ISSUERS).collect(),
            revocation_lists: [trusted_lists, issuer_lists].concat(),
        }
    }

    /// Returns the own certificates.
    #[must_use]
    pub fn own_certificates(&self) -> Vec<StoredCertificate> {
        self.list(OWN)
    }

    /// Returns the trusted certificates of others.
    #[must_use]
    pub fn trusted(&self) -> Vec<StoredCertificate> {
        self.list(TRUSTED)
    }

    /// Returns the certificates of issuers.
    #[must_use]
    pub fn issuers(&self) -> Vec<StoredCertificate> {
        self.list(ISSUERS)
    }

    /// Returns the rejected certificates.
    #[must_use]
    pub fn rejected(&self) -> Vec<StoredCertificate> {
        self.list(REJECTED)
    }

    /// Returns the revocation lists of trusted issuers, and those of other issuers.
    #[must_use]
    pub fn revocation_lists(&self) -> [Vec<RevocationList>; 2] {
        let lists = |one: Vec<StoredRevocationList>| one.into_iter().map(|one| one.list).collect();
        self.stored_revocation_lists().map(lists)
    }

    /// Returns the same lists with their files.
    #[must_use]
    pub fn stored_revocation_lists(&self) -> [Vec<StoredRevocationList>; 2] {
        [TRUSTED_LISTS, ISSUER_LISTS].map(|folder| self.lists(folder))
    }

    fn lists(&self, folder: &str) -> Vec<StoredRevocationList> {
        let files = files(&self.root.join(folder)).into_iter();
        let read = files.filter_map(|path| {
            let list = RevocationList::from_der(&decoded(&path)?).ok()?;
            Some(StoredRevocationList { path, list })
        });
        read.collect()
    }

    fn list(&self, folder: &str) -> Vec<StoredCertificate> {
        let files = files(&self.root.join(folder)).into_iter();
        let read = files.filter_map(|path| {
            // Certificates of issuers follow an own one.
            let chain = decoded(&path)?;
            let certificate = Certificate::from_der(Certificate::leaf_of(&chain)?).ok()?;
            Some(StoredCertificate { path, certificate })
        });
        read.collect()
    }

    /// Trusts a certificate: writes it to the trusted folder and removes it from the rejected one.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn trust(&self, certificate: &Certificate) -> Result<PathBuf, StoreError> {
        self.place(TRUSTED, certificate)
    }

    /// Adds the certificate of an issuer, which completes chains.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn add_issuer(&self, certificate: &Certificate) -> Result<PathBuf, StoreError> {
        self.place(ISSUERS, certificate)
    }

    /// Adds a revocation list, in place of an older one of its issuer.
    ///
    /// # Errors
    /// [`StoreError::OlderList`] if there is a newer one, [`StoreError::Certificate`] if an issuer with this name is known and has not
    /// signed it, [`StoreError::Io`].
    pub fn add_revocation_list(&self, list: &RevocationList) -> Result<PathBuf, StoreError> {
        let path = self.list_path(list);
        let trust = self.trust_list();
        let known = trust.trusted.iter().chain(&trust.issuers);
        let mut known = known.filter(|one| list.names_issuer(one)).peekable();
        // The issuer may be added later: `is_of` checks the signature again before the list is used.
        if known.peek().is_some() && !known.any(|issuer| list.verify_signed_by(issuer).is_ok()) {
            return Err(StoreError::Certificate {
                path,
                source: CertificateError::Signature,
            });
        }
        let present = RevocationList::from_file(&path);
        if present.is_ok_and(|present| present.this_update > list.this_update) {
            return Err(StoreError::OlderList { path });
        }
        write_file(&path, list.der())?;
        Ok(path)
    }

    /// Removes the revocation list of the same issuer. Returns false if there is none.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn remove_revocation_list(&self, list: &RevocationList) -> Result<bool, StoreError> {
        let path = self.list_path(list);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(StoreError::Io { path, source }),
        }
    }

    fn list_path(&self, list: &RevocationList) -> PathBuf {
        let thumbprint = Thumbprint::of(list.issuer.as_bytes());
        let folder = self.root.join(TRUSTED_LISTS);
        folder.join(format!("{thumbprint}.crl"))
    }

    /// Moves a certificate to the rejected folder. Only the newest 64 are kept.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn reject(&self, certificate: &Certificate) -> Result<PathBuf, StoreError> {
        self.make_room_for_rejected();
        self.place(REJECTED, certificate)
    }

    /// Keeps a copy of a certificate that was refused in the rejected folder, unless it is trusted by now: an administrator may
    /// have trusted it after the check. Only the newest 64 are kept.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn keep_refused(&self, certificate: &Certificate) -> Result<(), StoreError> {
        self.make_room_for_rejected();
        let path = self.root.join(REJECTED).join(name_of(certificate));
        write_file_in(REJECTED, &path, certificate.der())?;
        // After the copy: `trust` removes the copy if it comes later.
        let known = [TRUSTED, ISSUERS].map(|folder| self.list(folder)).concat();
        let is_known = |it: &StoredCertificate| it.certificate.thumbprint == certificate.thumbprint;
        if known.iter().any(is_known) {
            // It may be removed already.
            let _ = fs::remove_file(path);
        }
        Ok(())
    }

    fn make_room_for_rejected(&self) {
        let mut kept: Vec<(SystemTime, PathBuf)> = files(&self.root.join(REJECTED))
            .into_iter()
            .map(|path| {
                let modified = fs::metadata(&path).and_then(|metadata| metadata.modified());
                (modified.unwrap_or(SystemTime::UNIX_EPOCH), path)
            })
            .collect();
        kept.sort();
        while kept.len() >= MAX_REJECTED {
            let _ = fs::remove_file(kept.remove(0).1);
        }
    }

    /// Returns true if a certificate is in the rejected folder.
    #[must_use]
    pub fn is_rejected(&self, certificate: &Certificate) -> bool {
        self.root.join(REJECTED).join(name_of(certificate)).exists()
    }

    fn place(&self, folder: &str, certificate: &Certificate) -> Result<PathBuf, StoreError> {
        let path = self.root.join(folder).join(name_of(certificate));
        // Written first: after a crash it is in two folders, not in none.
        write_file_in(folder, &path, certificate.der())?;
        for other in [TRUSTED, ISSUERS, REJECTED] {
            if other != folder {
                for stored in self.list(other) {
                    if stored.certificate.thumbprint == certificate.thumbprint {
                        match fs::remove_file(&stored.path) {
                            // Another process has removed it meanwhile.
                            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                                let path = stored.path;
                                return Err(StoreError::Io { path, source });
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
        Ok(path)
    }
}

/// Reads a certificate chain and its key from files, in DER or PEM.
pub(crate) fn read_identity(certificate: &Path, key: &Path) -> Result<OwnCertificate, StoreError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| StoreError::Io { path, source }
    };
    fs::File::open(certificate).map_err(io(certificate))?;
    let der = decoded(certificate).ok_or_else(|| StoreError::Content {
        path: certificate.to_owned(),
        content: "no certificate in DER or PEM".to_owned(),
    })?;
    let refused = |source| StoreError::Certificate {
        path: certificate.to_owned(),
        source,
    };
    let chain = Certificate::chain_from_der(&der).map_err(refused)?;
    let pem = zeroize::Zeroizing::new(fs::read_to_string(key).map_err(io(key))?);
    exposure::warn(key);
    let private = PrivateKey::from_pem(&pem).map_err(|source| StoreError::Key {
        path: key.to_owned(),
        source,
    })?;
    // The chain has been parsed: no other error is possible.
    OwnCertificate::new(chain, private).map_err(|_| StoreError::OtherKey {
        certificate: certificate.to_owned(),
        key: key.to_owned(),
    })
}

impl OwnCertificate {
    /// Reads a certificate (DER or PEM; followed by those of its issuers) and its key (PEM) from files.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn from_files(certificate: &Path, key: &Path) -> Result<Self, StoreError> {
        read_identity(certificate, key)
    }
}
