//! Signatures of CreateSession and ActivateSession, by which client and server prove that they have the keys of their
//! certificates (OPC 10000-4, 5.7.2, 5.7.3 and 7.37).

use std::ops::RangeInclusive;
use std::sync::Arc;

use takt_crypto::{
    ApplicationSecurity, Certificate, EphemeralKey, OwnCertificate, PolicyProfile, PublicKey,
    Thumbprint,
};
use takt_space::Channel;
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::{CreateSessionRequest, SignatureData};
use takt_ua::views::RequestHeaderRef;
use takt_ua::{ByteString, ExtensionObject, StatusCode, UaString};

use super::additional_header;

/// Length of a client's nonce in bytes (OPC 10000-4, 5.7.2.2).
const CLIENT_NONCE: RangeInclusive<usize> = 32..=128;

/// The security of Sessions on a channel with a SecurityPolicy other than None.
pub(crate) struct SessionSecurity {
    profile: &'static PolicyProfile,
    identity: Arc<OwnCertificate>,
    client: Certificate,
}

impl SessionSecurity {
    /// Returns the security of a channel; `None` with SecurityPolicy None.
    pub(crate) fn of(
        application: Option<&Arc<ApplicationSecurity>>,
        channel: &Channel,
    ) -> Result<Option<Self>, StatusCode> {
        let security = &channel.security;
        if security.mode == MessageSecurityMode::None {
            return Ok(None);
        }
        // The transport opens secured channels only with these.
        let internal = StatusCode::BadInternalError;
        let application = application.ok_or(internal)?;
        let profile = PolicyProfile::by_uri(&security.policy_uri).ok_or(internal)?;
        let own = Certificate::leaf_of(&security.server_certificate).ok_or(internal)?;
        let identity = application.identity_with(&Thumbprint::of(own).0);
        let client = security.client_certificate.leaf().ok_or(internal)?;
        Ok(Some(Self {
            profile,
            // The certificate was replaced more than once since the channel was opened.
            identity: identity.ok_or(StatusCode::BadSecureChannelClosed)?,
            client: client.clone(),
        }))
    }

    /// Checks the client's part of CreateSession, and returns the server's certificate and signature.
    pub(crate) fn answer(
        &self,
        create: &CreateSessionRequest,
    ) -> Result<(ByteString, SignatureData), StatusCode> {
        let sent = create.client_certificate.as_bytes();
        // Only the certificate of the channel is proved; another one could be copied from anywhere.
        if Certificate::leaf_of(sent) != Some(self.client.der()) {
            return Err(StatusCode::BadCertificateInvalid);
        }
        // TransferSubscriptions trusts the ApplicationUri, so the certificate has to contain it.
        let uri = self.client.application_uri.as_deref();
        if uri != Some(create.client_description.application_uri.as_str()) {
            return Err(StatusCode::BadCertificateUriInvalid);
        }
        let nonce = create.client_nonce.as_bytes();
        if !CLIENT_NONCE.contains(&nonce.len()) {
            return Err(StatusCode::BadNonceInvalid);
        }
        let key = self.identity.key();
        let algorithm = self.profile.asymmetric_signature;
        let mut signature = vec![0; key.size()];
        // Without the issuers, which nobody has checked: the client may have sent any bytes in their place.
        let signed = [self.client.der(), nonce].concat();
        key.sign(algorithm, &signed, &mut signature)
            .map_err(|_| StatusCode::BadInternalError)?;
        let signature = SignatureData {
            algorithm: named(algorithm.uri()),
            signature: ByteString::from(signature),
        };
        Ok((ByteString::from(self.identity.chain_der()), signature))
    }

    /// Answers a client that asks for an EphemeralKey, with which it will encrypt a secret of ActivateSession (OPC 10000-6, 6.8.2):
    /// returns the AdditionalHeader of the response, and the key. `None` if it does not ask, or the channel has RSA.
    ///
    /// `had_one` tells that the client has got one before in the Session. Then it gets the next one: not all clients ask again, and
    /// they need it when they activate the Session for another channel.
    pub(crate) fn ephemeral_key(
        &self,
        request: &RequestHeaderRef<'_>,
        had_one: bool,
    ) -> Result<Option<(ExtensionObject, Option<EphemeralKey>)>, StatusCode> {
        let Some(curve) = self.profile.curve() else {
            return Ok(None);
        };
        let uri = match additional_header::requested_policy(request.additional_header) {
            Some(uri) => uri,
            None if had_one => self.profile.uri.to_owned(),
            None => return Ok(None),
        };
        if uri != self.profile.uri {
            let rejected = StatusCode::BadSecurityPolicyRejected;
            return Ok(Some((additional_header::refusal(&uri, rejected), None)));
        }
        let internal = |_| StatusCode::BadInternalError;
        let key = EphemeralKey::generate(curve).map_err(internal)?;
        let own = self.identity.key();
        let mut signature = vec![0; own.size()];
        own.sign(
            self.profile.asymmetric_signature,
            key.public(),
            &mut signature,
        )
        .map_err(internal)?;
        let header = additional_header::key(&uri, key.public(), &signature);
        Ok(Some((header, Some(key))))
    }

    /// Checks the client's signature of ActivateSession.
    pub(crate) fn verify(
        &self,
        server_nonce: &[u8],
        signature: &SignatureData,
    ) -> Result<(), StatusCode> {
        let key = &self.client.public_key;
        verify_challenge(self.profile, key, &self.identity, server_nonce, signature)
            .map_err(|()| StatusCode::BadApplicationSignatureInvalid)
    }
}

/// Checks a signature of the server's certificate and nonce.
pub(crate) fn verify_challenge(
    profile: &PolicyProfile,
    public_key: &[u8],
    own: &OwnCertificate,
    server_nonce: &[u8],
    signature: &SignatureData,
) -> Result<(), ()> {
    let algorithm = profile.asymmetric_signature;
    if !algorithm.is_named(signature.algorithm.as_str()) {
        return Err(());
    }
    let key = PublicKey::from_spki(public_key).map_err(drop)?;
    let signature = signature.signature.as_bytes();
    own.verify_proof(&key, algorithm, server_nonce, signature)
        .map_err(drop)
}

/// Returns the URI of an algorithm: null if the SecurityPolicy alone names it.
fn named(uri: &str) -> UaString {
    match uri {
        "" => UaString::null(),
        uri => UaString::from(uri),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use takt_crypto::{KeyKind, NewCertificate};
    use takt_ua::structures::ApplicationDescription;

    use super::*;

    fn created(name: &str, profile: &PolicyProfile) -> OwnCertificate {
        let new = NewCertificate {
            application_name: name.to_owned(),
            application_uri: format!("urn:{name}"),
            host_names: Vec::new(),
            addresses: Vec::new(),
            validity: Duration::from_secs(3600),
            key_bits: 2048,
        };
        new.create(profile.key_kind()).unwrap()
    }

    #[test]
    fn only_the_certificate_of_the_client_is_signed() {
        let mut profiles = PolicyProfile::ALL.into_iter();
        let profile = profiles.find(|one| one.key_kind() != KeyKind::Rsa).unwrap();
        let server = Arc::new(created("server", profile));
        let client = created("client", profile).certificate().clone();
        let security = SessionSecurity {
            profile,
            identity: Arc::clone(&server),
            client: client.clone(),
        };
        let key = PublicKey::from_spki(&server.certificate().public_key).unwrap();
        let answer = |sent: &[&[u8]], nonce: &[u8]| {
            security.answer(&CreateSessionRequest {
                client_description: ApplicationDescription {
                    application_uri: "urn:client".into(),
                    ..ApplicationDescription::default()
                },
                client_certificate: ByteString::from(sent.concat()),
                client_nonce: ByteString::from(nonce),
                ..CreateSessionRequest::default()
            })
        };
        let issuer = created("issuer", profile);
        let behind: [&[u8]; 3] = [b"", issuer.certificate().der(), b"bytes of the client"];
        for behind in behind {
            let (_, proof) = answer(&[client.der(), behind], &[7; 32]).unwrap();
            let signature = proof.signature.as_bytes();
            let signed = [client.der(), &[7; 32]].concat();
            let verified = key.verify(profile.asymmetric_signature, &signed, signature);
            assert_eq!(verified, Ok(()));
        }
        for (length, status) in [
            (31, Some(StatusCode::BadNonceInvalid)),
            (128, None),
            (129, Some(StatusCode::BadNonceInvalid)),
        ] {
            let answer = answer(&[client.der()], &vec![7; length]);
            assert_eq!(answer.err(), status, "{length}");
        }
    }
}
