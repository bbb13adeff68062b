//! User identity tokens of ActivateSession (OPC 10000-4, 7.40 and 7.41).

use std::sync::Arc;

use takt_crypto::{Certificate, EncryptedSecret, PeerCertificate, PolicyProfile, PublicKey};
use takt_ua::endpoint_url::has_scheme;
use takt_ua::enumerations::{MessageSecurityMode, UserTokenType};
use takt_ua::structures::*;
use takt_ua::{ByteString, ExtensionObject, SECURITY_POLICY_NONE, UaString};
use zeroize::Zeroizing;

use super::ephemeral_key;
use super::message::text;
use super::options::{ClientOptions, Identity};
use super::security::Secured;
use crate::endpoint::Endpoint;
use crate::error::ClientError;

/// IssuedTokenType of JSON Web Tokens (OPC 10000-6, Table 53).
const JWT_TYPE: &str = "http://opcfoundation.org/UA/UserToken#JWT";

/// The UserTokenPolicies of the endpoint that a session uses, and what protects the tokens.
pub(super) struct Tokens<'a> {
    endpoint: &'a Endpoint,
    policies: Vec<&'a UserTokenPolicy>,
    /// SecurityPolicy of the endpoint.
    channel: Option<&'static PolicyProfile>,
    encrypts: bool,
    /// True if nobody beyond this host can be the server.
    is_on_this_host: bool,
    /// The certificate of the server; empty if it has none.
    server: Arc<PeerCertificate>,
    server_nonce: &'a [u8],
    secured: Option<&'a Secured>,
    /// AdditionalHeader of the response to CreateSession, in which the server sends an EphemeralKey.
    additional_header: &'a ExtensionObject,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(
        endpoint: &'a Endpoint,
        options: &ClientOptions,
        secured: Option<&'a Secured>,
        created: &'a CreateSessionResponse,
    ) -> Self {
        let (uri, mode) = match secured {
            Some(secured) => (secured.profile.uri, secured.mode),
            None => (SECURITY_POLICY_NONE, MessageSecurityMode::None),
        };
        let offers: Vec<&EndpointDescription> = created
            .server_endpoints
            .iter()
            .filter(|offer| {
                offer.security_mode == mode
                    && offer.security_policy_uri.as_str() == uri
                    // A gateway may announce itself under a scheme of its own.
                    && (endpoint.is_shared_memory()
                        || !has_scheme(offer.endpoint_url.as_str(), "opc.iox2"))
            })
            .collect();
        let server = match secured {
            Some(secured) => Arc::clone(&secured.server_certificate),
            None => {
                let mut all = offers
                    .iter()
                    .map(|offer| offer.server_certificate.as_bytes());
                let found = all.find(|certificate| !certificate.is_empty());
                let leaf = found.and_then(Certificate::leaf_of).unwrap_or_default();
                Arc::new(PeerCertificate::parse(leaf.to_vec()))
            }
        };
        Self {
            endpoint,
            policies: offers
                .into_iter()
                .flat_map(|offer| &offer.user_identity_tokens)
                .collect(),
            channel: secured.map(|secured| secured.profile),
            is_on_this_host: endpoint
                .network()
                .is_none_or(|url| options.is_loopback(url)),
            encrypts: mode == MessageSecurityMode::SignAndEncrypt,
            server,
            server_nonce: created.server_nonce.as_bytes(),
            secured,
            additional_header: &created.response_header.additional_header,
        }
    }

    /// Returns the token for `identity`, with the PolicyId under which the server offers it, and its signature.
    pub(super) fn of(
        &self,
        identity: &Identity,
    ) -> Result<(ExtensionObject, SignatureData), ClientError> {
        let without = SignatureData::default();
        match identity {
            // The server listed no policies: a null token stands for Anonymous (OPC 10000-4, 5.7.3).
            Identity::Anonymous if self.policies.is_empty() => {
                Ok((ExtensionObject::default(), without))
            }
            Identity::Anonymous => {
                let mut offered = self.offered(UserTokenType::Anonymous);
                let policy = offered
                    .next()
                    .ok_or_else(|| self.refused(UserTokenType::Anonymous))?;
                let token = AnonymousIdentityToken {
                    policy_id: policy.policy_id.clone(),
                };
                Ok((ExtensionObject::from_structure(&token), without))
            }
            Identity::UserName { name, password } => Ok((self.user_name(name, password)?, without)),
            Identity::PasswordFile { name, file } => {
                let read = std::fs::read_to_string(file).map(Zeroizing::new);
                let text = read.map_err(|cause| ClientError::PasswordFile {
                    file: file.clone(),
                    cause,
                })?;
                let password = text.lines().next().unwrap_or_default();
                Ok((self.user_name(name, password)?, without))
            }
            Identity::Certificate { certificate, key } => {
                let user = takt_crypto::OwnCertificate::from_files(certificate, key);
                self.certificate(&user.map_err(ClientError::UserCertificate)?)
            }
            Identity::Issued { token } => Ok((self.issued(token)?, without)),
        }
    }

    fn offered(&self, kind: UserTokenType) -> impl Iterator<Item = &'a UserTokenPolicy> {
        let policies = self.policies.clone().into_iter();
        policies.filter(move |policy| policy.token_type == kind)
    }

    /// Returns the SecurityPolicy of a token; `None` stands for None.
    fn profile(&self, policy: &UserTokenPolicy) -> Option<Option<&'static PolicyProfile>> {
        match policy.security_policy_uri.as_str() {
            "" => Some(self.channel),
            SECURITY_POLICY_NONE => Some(None),
            uri => PolicyProfile::by_uri(uri).map(Some),
        }
    }

    fn user_name(&self, name: &str, password: &str) -> Result<ExtensionObject, ClientError> {
        let known = self
            .offered(UserTokenType::UserName)
            .filter_map(|policy| Some((policy, self.profile(policy)?)));
        // Encrypted, if possible.
        let best = known.max_by_key(|(_, profile)| profile.map_or(0, |profile| profile.rank));
        let (policy, profile) = best.ok_or_else(|| self.refused(UserTokenType::UserName))?;
        let (password, encryption_algorithm) = match profile {
            Some(profile) => {
                let encrypted = self.encrypt(profile, password.as_bytes());
                let encrypted =
                    encrypted.ok_or_else(|| self.failed("the password cannot be encrypted"))?;
                (ByteString::from(encrypted), encryption_of(profile))
            }
            None => {
                if !self.encrypts && !self.is_on_this_host {
                    return Err(self.failed("the password would cross the network unencrypted"));
                }
                (ByteString::from(password.as_bytes()), text(""))
            }
        };
        Ok(ExtensionObject::from_structure(&UserNameIdentityToken {
            policy_id: policy.policy_id.clone(),
            user_name: text(name),
            password,
            encryption_algorithm,
        }))
    }

    fn issued(&self, token: &str) -> Result<ExtensionObject, ClientError> {
        let known = self
            .offered(UserTokenType::IssuedToken)
            .filter(|policy| policy.issued_token_type.as_str() == JWT_TYPE)
            .filter_map(|policy| Some((policy, self.profile(policy)?)));
        // A token is long: where the channel encrypts, it need not be encrypted by itself.
        let best = known.min_by_key(|(_, profile)| profile.map_or(0, |profile| profile.rank));
        let (policy, profile) = best.ok_or_else(|| self.refused(UserTokenType::IssuedToken))?;
        let (token_data, encryption_algorithm) = match profile {
            Some(profile) => {
                let encrypted = self.encrypt(profile, token.as_bytes());
                let encrypted =
                    encrypted.ok_or_else(|| self.failed("the token cannot be encrypted"))?;
                (ByteString::from(encrypted), encryption_of(profile))
            }
            None if self.encrypts || self.endpoint.is_shared_memory() => {
                (ByteString::from(token.as_bytes()), text(""))
            }
            None => return Err(self.failed("the token would be sent unencrypted")),
        };
        Ok(ExtensionObject::from_structure(&IssuedIdentityToken {
            policy_id: policy.policy_id.clone(),
            token_data,
            encryption_algorithm,
        }))
    }

    /// Encrypts a secret in the form that the SecurityPolicy demands: EccEncryptedSecret (OPC 10000-4, 7.41.2.5), or that for RSA,
    /// which is length, secret, server nonce (OPC 10000-4, 7.41.2.2).
    fn encrypt(&self, profile: &PolicyProfile, secret: &[u8]) -> Option<Vec<u8>> {
        let Some(encryption) = profile.asymmetric_encryption() else {
            let secured = self.secured.filter(|secured| secured.profile == profile)?;
            let key =
                ephemeral_key::received(self.additional_header, profile, self.server.leaf()?)?;
            let nonce = self.server_nonce;
            return EncryptedSecret::seal(profile, secret, nonce, &key, &secured.identity).ok();
        };
        let key = PublicKey::from_spki(&self.server.leaf()?.public_key).ok()?;
        let length = u32::try_from(secret.len() + self.server_nonce.len()).ok()?;
        let plain = [&length.to_le_bytes(), secret, self.server_nonce].concat();
        let plain = Zeroizing::new(plain);
        key.encrypt(encryption, &plain).ok()
    }

    fn certificate(
        &self,
        user: &takt_crypto::OwnCertificate,
    ) -> Result<(ExtensionObject, SignatureData), ClientError> {
        let known = self
            .offered(UserTokenType::Certificate)
            .filter_map(|policy| Some((policy, self.profile(policy)??)));
        let best = known.max_by_key(|(_, profile)| profile.rank);
        let (policy, profile) = best.ok_or_else(|| self.refused(UserTokenType::Certificate))?;
        let token = X509IdentityToken {
            policy_id: policy.policy_id.clone(),
            certificate_data: ByteString::from(user.chain_der()),
        };
        let algorithm = profile.asymmetric_signature;
        if user.key().kind() != profile.key_kind() {
            return Err(self.failed(&format!(
                "the certificate of the user has a key of the kind {}, and SecurityPolicy {} needs {}",
                user.key().kind(),
                profile.name,
                profile.key_kind()
            )));
        }
        let mut signature = vec![0; user.key().size()];
        let certificate = self.server.leaf_der().unwrap_or_default();
        let data = [certificate, self.server_nonce].concat();
        let signed = user.key().sign(algorithm, &data, &mut signature);
        signed.map_err(|_| self.failed("the key of the user cannot sign"))?;
        let signature = SignatureData {
            algorithm: text(algorithm.uri()),
            signature: ByteString::from(signature),
        };
        Ok((ExtensionObject::from_structure(&token), signature))
    }

    fn failed(&self, reason: &str) -> ClientError {
        ClientError::Identity {
            endpoint: self.endpoint.to_string(),
            reason: reason.to_owned(),
        }
    }

    /// Returns the reason why no UserTokenPolicy can be used for a token of this kind.
    fn refused(&self, kind: UserTokenType) -> ClientError {
        let channel = self.channel.map_or("None", |profile| profile.name);
        let same: Vec<String> = self
            .offered(kind)
            .map(|policy| demand(policy, channel))
            .collect();
        match same.is_empty() {
            true => {
                let offered = list_of_tokens(&self.policies);
                self.failed(&format!(
                    "it offers {offered} with SecurityPolicy {channel}"
                ))
            }
            false => self.failed(&format!(
                "it takes tokens of the kind {} only with {}, which cannot be used here",
                name_of(kind),
                same.join(" or ")
            )),
        }
    }
}

/// Returns what a UserTokenPolicy demands of a token: its form if it is an issued one that is no JSON Web Token, or its SecurityPolicy.
/// `channel` is the name of that of the channel.
fn demand(policy: &UserTokenPolicy, channel: &str) -> String {
    let form = policy.issued_token_type.as_str();
    if policy.token_type == UserTokenType::IssuedToken && form != JWT_TYPE {
        return format!("the form {form:?}");
    }
    let uri = policy.security_policy_uri.as_str();
    let name = match uri.rsplit('#').next() {
        None | Some("") => channel,
        Some(name) => name,
    };
    format!("SecurityPolicy {}", name.escape_debug())
}

/// Returns the EncryptionAlgorithm of a token. It is empty for an EccEncryptedSecret, which names its SecurityPolicy itself.
fn encryption_of(profile: &PolicyProfile) -> UaString {
    let algorithm = profile.asymmetric_encryption();
    algorithm.map_or(UaString::null(), |algorithm| text(algorithm.uri()))
}

fn list_of_tokens(policies: &[&UserTokenPolicy]) -> String {
    if policies.is_empty() {
        return "nothing".to_owned();
    }
    let names: Vec<&str> = policies
        .iter()
        .map(|policy| name_of(policy.token_type))
        .collect();
    names.join(", ")
}

const fn name_of(kind: UserTokenType) -> &'static str {
    match kind {
        UserTokenType::Anonymous => "Anonymous",
        UserTokenType::UserName => "UserName",
        UserTokenType::Certificate => "Certificate",
        UserTokenType::IssuedToken => "IssuedToken",
        _ => "an unknown kind",
    }
}

#[cfg(test)]
mod tests {
    use takt_ua::structures::{CreateSessionResponse, EndpointDescription, UserTokenPolicy};

    use super::*;

    /// Returns the error for a token at a server over SecurityPolicy None with one UserTokenPolicy.
    fn error(policy: UserTokenPolicy, identity: &Identity) -> String {
        let created = CreateSessionResponse {
            server_endpoints: vec![EndpointDescription {
                security_mode: MessageSecurityMode::None,
                security_policy_uri: SECURITY_POLICY_NONE.into(),
                user_identity_tokens: vec![policy],
                ..EndpointDescription::default()
            }],
            ..CreateSessionResponse::default()
        };
        let endpoint: Endpoint = "opc.tcp://127.0.0.1:4840".parse().unwrap();
        let options = ClientOptions::named("test");
        let tokens = Tokens::new(&endpoint, &options, None, &created);
        tokens.of(identity).unwrap_err().to_string()
    }

    fn policy(token_type: UserTokenType, security_policy_uri: &str) -> UserTokenPolicy {
        UserTokenPolicy {
            token_type,
            security_policy_uri: security_policy_uri.into(),
            ..UserTokenPolicy::default()
        }
    }

    #[test]
    fn the_reason_why_no_policy_can_be_used_is_told() {
        let anna = Identity::UserName {
            name: "anna".to_owned(),
            password: "hammer".to_owned(),
        };
        let old = "http://opcfoundation.org/UA/SecurityPolicy#Basic999";
        let text = error(policy(UserTokenType::UserName, old), &anna);
        assert!(
            text.contains("UserName only with SecurityPolicy Basic999"),
            "{text}"
        );
        let text = error(policy(UserTokenType::Anonymous, ""), &anna);
        assert!(
            text.contains("offers Anonymous with SecurityPolicy None"),
            "{text}"
        );
        let issued = Identity::Issued {
            token: "token".to_owned(),
        };
        let kerberos = UserTokenPolicy {
            issued_token_type: "urn:kerberos".into(),
            ..policy(UserTokenType::IssuedToken, "")
        };
        let text = error(kerberos, &issued);
        assert!(text.contains("urn:kerberos"), "{text}");
    }
}
