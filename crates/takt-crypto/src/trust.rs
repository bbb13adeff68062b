//! The checks of a peer's certificate (OPC 10000-4, 6.1.3).

use crate::certificate::{Certificate, MAX_CHAIN_LENGTH};
use crate::certificate_error::CertificateError;
use crate::policy::{KeyKind, PolicyProfile};
use crate::revocation::RevocationList;

/// Trusted certificates, certificates of issuers, and revocation lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustList {
    /// Certificates that are trusted, of applications or of issuers.
    pub trusted: Vec<Certificate>,
    /// Certificates of issuers that complete chains but are not trusted by themselves.
    pub issuers: Vec<Certificate>,
    /// Revocation lists of issuers.
    pub revocation_lists: Vec<RevocationList>,
}

/// Facts that the certificate of an application has to agree with.
#[derive(Debug, Clone, Copy)]
pub struct Expectations<'a> {
    /// The SecurityPolicy that the certificate is used with, which limits the length of keys.
    pub profile: &'a PolicyProfile,
    /// Present time, in seconds since 1970.
    pub now: i64,
    /// True if the peer is a server.
    pub is_server: bool,
    /// The host that the client connects to; `None` for a server, which does not check it.
    pub host: Option<&'a str>,
    /// The ApplicationUri of the peer, if it is known already.
    pub application_uri: Option<&'a str>,
}

impl TrustList {
    /// Makes all checks on the certificate of an application, whose chain was sent with it, in the order of the standard.
    ///
    /// # Errors
    /// The first check that failed.
    pub fn check(
        &self,
        chain: &[Certificate],
        expected: &Expectations<'_>,
    ) -> Result<(), CertificateError> {
        self.check_at(chain, expected, Some(expected.now))
    }

    /// Makes the checks of [`check`](Self::check) but for those of times: of certificates, and of revocation lists.
    ///
    /// # Errors
    /// The first check that failed.
    pub fn check_without_times(
        &self,
        chain: &[Certificate],
        expected: &Expectations<'_>,
    ) -> Result<(), CertificateError> {
        self.check_at(chain, expected, None)
    }

    /// Makes all checks at a time, or without a time those that do not depend on it.
    fn check_at(
        &self,
        chain: &[Certificate],
        expected: &Expectations<'_>,
        at: Option<i64>,
    ) -> Result<(), CertificateError> {
        let [leaf, ..] = chain else {
            return Err(CertificateError::Structure);
        };
        let path = self.path(chain)?;
        check_signatures(&path)?;
        check_keys(&path, expected.profile)?;
        self.check_trust(&path)?;
        if let Some(at) = at {
            check_times(&path, at)?;
        }
        if expected.host.is_some_and(|host| !leaf.is_for_host(host)) {
            return Err(CertificateError::HostName);
        }
        let uri = expected.application_uri;
        if leaf.application_uri.is_none()
            || uri.is_some_and(|uri| leaf.application_uri.as_deref() != Some(uri))
        {
            return Err(CertificateError::Uri);
        }
        if !leaf.may_secure_channels() || !leaf.may_act(expected.is_server) {
            return Err(CertificateError::Use);
        }
        self.check_issuers(&path, at)
    }

    /// Makes all checks on the certificate of a user (OPC 10000-4, 7.40.5).
    ///
    /// # Errors
    /// The first check that failed.
    pub fn check_user(
        &self,
        chain: &[Certificate],
        profile: &PolicyProfile,
        now: i64,
    ) -> Result<(), CertificateError> {
        let path = self.path(chain)?;
        check_signatures(&path)?;
        check_keys(&path, profile)?;
        self.check_trust(&path)?;
        check_times(&path, now)?;
        match path.first() {
            Some(leaf) if leaf.may_sign() => self.check_issuers(&path, Some(now)),
            _ => Err(CertificateError::Use),
        }
    }

    /// Checks a certificate that a server is about to use as its own (OPC 10000-12, 7.10.5): everything but trust and revocation,
    /// which are the business of its peers. Returns the chain from the certificate to its root.
    ///
    /// # Errors
    /// The first check that failed.
    pub fn check_own(
        &self,
        chain: &[Certificate],
        application_uri: &str,
        now: i64,
    ) -> Result<Vec<Certificate>, CertificateError> {
        let leaf = chain.first().ok_or(CertificateError::Structure)?;
        let path = self.path(chain)?;
        check_signatures(&path)?;
        let mut profiles = PolicyProfile::ALL.iter();
        if !profiles.any(|profile| check_keys(&path, profile).is_ok()) {
            return Err(CertificateError::PolicyCheck);
        }
        check_times(&path, now)?;
        if leaf.application_uri.as_deref() != Some(application_uri) {
            return Err(CertificateError::Uri);
        }
        if !leaf.may_secure_channels() || !leaf.may_act(true) {
            return Err(CertificateError::Use);
        }
        check_uses_of_issuers(&path)?;
        Ok(path.into_iter().cloned().collect())
    }

    /// Returns the name of the issuer whose certificate is missing, after [`CertificateError::ChainIncomplete`].
    pub(crate) fn missing_issuer<'a>(&'a self, chain: &'a [Certificate]) -> Option<&'a str> {
        let mut path = Vec::new();
        self.extend(&mut path, chain).err()?;
        path.last().map(|last| &*last.issuer)
    }

    /// Builds the chain from the certificate to its root.
    fn path<'a>(
        &'a self,
        chain: &'a [Certificate],
    ) -> Result<Vec<&'a Certificate>, CertificateError> {
        let mut path = Vec::new();
        self.extend(&mut path, chain)?;
        Ok(path)
    }

    /// Adds the certificate and those of its issuers to an empty path, as far as they are known.
    fn extend<'a>(
        &'a self,
        path: &mut Vec<&'a Certificate>,
        chain: &'a [Certificate],
    ) -> Result<(), CertificateError> {
        let mut last = chain.first().ok_or(CertificateError::Structure)?;
        path.push(last);
        while !last.is_self_issued() {
            // Certificates may name each other in a circle.
            if path.len() == MAX_CHAIN_LENGTH {
                return Err(CertificateError::ChainIncomplete);
            }
            let sent = chain.iter().skip(1);
            // Stored certificates go first: those that were sent are chosen by the peer.
            let known = self.trusted.iter().chain(&self.issuers);
            // Certificates of two issuers can have one name; the one that has signed is taken.
            let mut candidates = known.chain(sent).filter(|issuer| last.names_issuer(issuer));
            let first = candidates.next().ok_or(CertificateError::ChainIncomplete)?;
            let signs = |issuer: &&Certificate| last.verify_signed_by(issuer).is_ok();
            last = match signs(&first) {
                true => first,
                // If none has signed, the check of signatures reports the first one.
                false => candidates.find(signs).unwrap_or(first),
            };
            path.push(last);
        }
        Ok(())
    }

    fn check_trust(&self, path: &[&Certificate]) -> Result<(), CertificateError> {
        let is_trusted = |one: &&Certificate| {
            let mut trusted = self.trusted.iter();
            trusted.any(|trusted| trusted.der() == one.der())
        };
        // One trusted certificate of the chain suffices (OPC 10000-4, 6.1.3): trusting an issuer trusts what it signs.
        match path.iter().any(is_trusted) {
            true => Ok(()),
            false => Err(CertificateError::Untrusted),
        }
    }

    /// Checks the uses of issuers, and revocation; without a time by lists of any time.
    fn check_issuers(
        &self,
        path: &[&Certificate],
        at: Option<i64>,
    ) -> Result<(), CertificateError> {
        check_uses_of_issuers(path)?;
        for (index, pair) in path.windows(2).enumerate() {
            let [certificate, issuer] = pair else {
                continue;
            };
            let lists = self.revocation_lists.iter();
            let mut lists = lists.filter(|list| list.is_of(issuer, at)).peekable();
            let is_leaf = index == 0;
            if lists.peek().is_none() {
                return Err(match is_leaf {
                    true => CertificateError::RevocationUnknown,
                    false => CertificateError::IssuerRevocationUnknown,
                });
            }
            if lists.any(|list| list.revokes(certificate)) {
                return Err(match is_leaf {
                    true => CertificateError::Revoked,
                    false => CertificateError::IssuerRevoked,
                });
            }
        }
        Ok(())
    }
}

fn check_signatures(path: &[&Certificate]) -> Result<(), CertificateError> {
    // Long keys make signatures slow; they are refused before their use. Signatures of short ones cannot be verified at all.
    let is_usable = |one: &&Certificate| match one.key_kind {
        Some(KeyKind::Rsa) => (2048..=8192).contains(&one.key_bits),
        _ => one.key_bits <= 8192,
    };
    if !path.iter().all(is_usable) {
        return Err(CertificateError::PolicyCheck);
    }
    for (index, certificate) in path.iter().enumerate() {
        // The last one of the chain has signed itself.
        let issuer = path.get(index + 1).unwrap_or(certificate);
        certificate.verify_signed_by(issuer)?;
    }
    Ok(())
}

fn check_keys(path: &[&Certificate], profile: &PolicyProfile) -> Result<(), CertificateError> {
    let mut all = path.iter().enumerate();
    let fits = all.all(|(index, one)| match index {
        0 => one.has_key_for(profile),
        _ => one.has_issuing_key_for(profile),
    });
    match fits {
        true => Ok(()),
        false => Err(CertificateError::PolicyCheck),
    }
}

fn check_uses_of_issuers(path: &[&Certificate]) -> Result<(), CertificateError> {
    let mut issuers = path.iter().skip(1).enumerate();
    match issuers.all(|(below, issuer)| issuer.may_issue(below)) {
        true => Ok(()),
        false => Err(CertificateError::IssuerUse),
    }
}

fn check_times(path: &[&Certificate], now: i64) -> Result<(), CertificateError> {
    match path.iter().position(|one| !one.is_valid_at(now)) {
        None => Ok(()),
        Some(0) => Err(CertificateError::Time),
        Some(_) => Err(CertificateError::IssuerTime),
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

    use super::*;

    #[test]
    fn the_issuer_whose_certificate_is_missing_is_named() {
        let key = KeyPair::generate().unwrap();
        let params = |name: &str| {
            let mut params = CertificateParams::default();
            params.distinguished_name.push(DnType::CommonName, name);
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params
        };
        let signed = |name, issuer| {
            let issuer = params(issuer);
            let signed = params(name).signed_by(&key, &Issuer::from_params(&issuer, &key));
            Certificate::from_der(signed.unwrap().der()).unwrap()
        };
        let press = signed("Press", "Line CA");
        let line = signed("Line CA", "Plant CA");
        let chain = [press, line];
        let missing = |issuers: &[Certificate], sent: &[Certificate]| {
            let list = TrustList {
                issuers: issuers.to_vec(),
                ..TrustList::default()
            };
            list.missing_issuer(sent).map(str::to_owned)
        };
        let (leaf, above) = chain.split_at(1);
        assert!(missing(&[], leaf).unwrap().contains("Line CA"));
        assert!(missing(&[], &chain).unwrap().contains("Plant CA"));
        assert!(missing(above, leaf).unwrap().contains("Plant CA"));
        assert_eq!(missing(&[signed("Plant CA", "Plant CA")], &chain), None);
    }
}
