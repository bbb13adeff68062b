//! User identity tokens of ActivateSession: decryption and proof of possession (OPC 10000-4, 7.40 and 7.41).

use std::sync::Arc;

use takt_crypto::{
    ApplicationSecurity, AsymmetricEncryption, Certificate, EncryptedSecret, EphemeralKey, KeyKind,
    OwnCertificate, PolicyProfile, PublicKey, Thumbprint,
};
use takt_space::{Channel, RoleSet, UserIdentity, UserRole};
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::{
    AnonymousIdentityToken, IssuedIdentityToken, SignatureData, UserNameIdentityToken,
    X509IdentityToken,
};
use takt_ua::{ExtensionObject, StatusCode, UaString};
use zeroize::Zeroizing;

use super::authentication::Authenticator;
use super::session_security::verify_challenge;
use super::token_policies::{
    ANONYMOUS_POLICY, CERTIFICATE_POLICY, JWT_POLICY, PROTECTED_CERTIFICATE_POLICY,
    PROTECTED_USER_NAME_POLICY, USER_NAME_POLICY, profile_of_token,
};
use super::users::Users;

/// Largest encrypted password in cipher text blocks, each of which takes half a millisecond or more.
const MAX_BLOCKS: usize = 8;

/// Largest EccEncryptedSecret in bytes: a token of 16 KiB with the certificates of its sender.
const MAX_ENCRYPTED_SECRET: usize = 64 << 10;

/// A user, or a password that is still to be checked.
pub(crate) enum Identified {
    /// The user, and what it may do.
    User(UserIdentity, RoleSet),
    /// The user of a token, and the end of the token in seconds since 1970.
    Issued(UserIdentity, RoleSet, i64),
    /// Name and password of a user of this server, if they are right: [`Users::user_name`] decides, which takes long.
    Password {
        name: String,
        password: Zeroizing<Vec<u8>>,
    },
}

/// Everything that the tokens of a Session on a channel are checked with.
pub(crate) struct UserTokens<'a> {
    pub(crate) authenticator: &'a dyn Authenticator,
    pub(crate) users: Option<&'a dyn Users>,
    pub(crate) security: Option<&'a Arc<ApplicationSecurity>>,
    pub(crate) channel: &'a Channel,
    /// The nonce that the server has sent last in the Session.
    pub(crate) server_nonce: &'a [u8],
    /// The EphemeralKey that the client has got with the nonce.
    pub(crate) ephemeral_key: Option<&'a EphemeralKey>,
}

impl UserTokens<'_> {
    /// Determines the user.
    pub(crate) fn identify(
        &self,
        token: &ExtensionObject,
        signature: &SignatureData,
    ) -> Result<Identified, StatusCode> {
        let invalid = |_| StatusCode::BadIdentityTokenInvalid;
        if token.is::<UserNameIdentityToken>() {
            return self.user_name(&token.decode_as().map_err(invalid)?);
        }
        if token.is::<X509IdentityToken>() {
            let token = token.decode_as().map_err(invalid)?;
            let (user, roles) = self.certificate(&token, signature)?;
            return Ok(Identified::User(user, roles));
        }
        if token.is::<IssuedIdentityToken>() {
            return self.issued(&token.decode_as().map_err(invalid)?);
        }
        // A null token stands for an anonymous user (OPC 10000-4, 5.7.3).
        if !token.is_null() {
            let anonymous: AnonymousIdentityToken = token.decode_as().map_err(invalid)?;
            expect_policy(&anonymous.policy_id, &[ANONYMOUS_POLICY])?;
        }
        if self.authenticator.allows_anonymous() {
            let roles = self.roles_of_peer();
            Ok(Identified::User(UserIdentity::Anonymous, roles))
        } else {
            Err(StatusCode::BadIdentityTokenRejected)
        }
    }

    /// Returns the Roles of a peer that is no authenticated user.
    fn roles_of_peer(&self) -> RoleSet {
        let peer = &self.channel.peer;
        self.users
            .map_or_else(|| peer.roles(), |users| users.anonymous(peer))
    }

    /// Distinguishes users and applications with a secret. A name that belongs to neither is checked as that of a user is, so
    /// that the time does not tell which names are known.
    fn check(&self, name: &str, secret: &[u8]) -> Result<Identified, StatusCode> {
        let Some(users) = self.users.filter(|users| users.allows_user_names()) else {
            return self.check_application(name, secret);
        };
        if self.authenticator.allows_user_names() && !users.has_password(name) {
            let application = self.application(name, secret);
            if application.is_ok() {
                return application;
            }
        }
        Ok(Identified::Password {
            name: name.to_owned(),
            password: Zeroizing::new(secret.to_vec()),
        })
    }

    /// Accepts applications only. It takes the same time whoever has the name.
    fn check_application(&self, name: &str, secret: &[u8]) -> Result<Identified, StatusCode> {
        let application = self.application(name, secret);
        application.inspect_err(|_| self.authenticator.refused(self.channel, name))
    }

    fn application(&self, name: &str, secret: &[u8]) -> Result<Identified, StatusCode> {
        let user = self.authenticator.user_name(self.channel, name, secret)?;
        let roles = match &user {
            UserIdentity::Application { .. } => self.roles_of_peer(),
            // Authenticators of applications decide themselves whom they admit.
            _ => RoleSet::from(UserRole::Operator).authenticated(),
        };
        Ok(Identified::User(user, roles))
    }

    fn user_name(&self, token: &UserNameIdentityToken) -> Result<Identified, StatusCode> {
        let has_users = self.users.is_some_and(Users::allows_user_names);
        if !has_users && !self.authenticator.allows_user_names() {
            return Err(StatusCode::BadIdentityTokenRejected);
        }
        let known = [USER_NAME_POLICY, PROTECTED_USER_NAME_POLICY];
        expect_policy(&token.policy_id, &known)?;
        let algorithm = token.encryption_algorithm.as_str();
        let sent = token.password.as_bytes();
        let (channel, name) = (self.channel, token.user_name.as_str());
        let profile = profile_of_token(&token.policy_id, &channel.security.policy_uri);
        let Some(profile) = profile else {
            // Shared memory is private to two processes; a network is not.
            let is_private = channel.peer.is_local();
            let may = is_private
                || channel.peer.is_on_loopback() && self.authenticator.allows_clear_text();
            if !algorithm.is_empty() || !may {
                return Err(StatusCode::BadIdentityTokenInvalid);
            }
            // The password of a user in clear text is refused like a wrong one, right or not.
            return match is_private {
                true => self.check(name, sent),
                false => self.check_application(name, sent),
            };
        };
        let secret = self.secret(profile, algorithm, sent)?;
        self.check(name, &secret)
    }

    /// Decrypts a secret in the form that the SecurityPolicy demands. All failures of cryptography look alike.
    fn secret(
        &self,
        profile: &PolicyProfile,
        algorithm: &str,
        sent: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, StatusCode> {
        match profile.asymmetric_encryption() {
            Some(encryption) if algorithm == encryption.uri() => self.decrypt(encryption, sent),
            Some(_) => Err(StatusCode::BadIdentityTokenInvalid),
            // The secret names its SecurityPolicy itself.
            None => self.open(profile, sent),
        }
    }

    /// Decrypts an EccEncryptedSecret. Its sender is the owner of the client's certificate.
    fn open(&self, profile: &PolicyProfile, sent: &[u8]) -> Result<Zeroizing<Vec<u8>>, StatusCode> {
        let rejected = StatusCode::BadIdentityTokenRejected;
        if sent.len() > MAX_ENCRYPTED_SECRET {
            return Err(rejected);
        }
        let secret = EncryptedSecret::parse(sent).map_err(|_| rejected)?;
        let client = self.channel.security.client_certificate.leaf();
        let client = client.ok_or(rejected)?;
        if !secret.certificate.is_empty()
            && Certificate::leaf_of(secret.certificate) != Some(client.der())
        {
            return Err(rejected);
        }
        let key = self.ephemeral_key.ok_or(rejected)?;
        let client = PublicKey::from_spki(&client.public_key).map_err(|_| rejected)?;
        let opened = secret.open(profile, key, &client, self.server_nonce);
        opened.map_err(|_| rejected)
    }

    /// Decrypts a secret in the form for RSA: length, secret, server nonce (OPC 10000-4, 7.41.2.2). All failures look alike.
    fn decrypt(
        &self,
        encryption: AsymmetricEncryption,
        cipher: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, StatusCode> {
        let rejected = StatusCode::BadIdentityTokenRejected;
        let identity = self.identity()?;
        if cipher.len() > MAX_BLOCKS * identity.key().size() {
            return Err(rejected);
        }
        let mut bytes = Zeroizing::new(cipher.to_vec());
        let decrypted = identity.key().decrypt(encryption, &mut bytes);
        let plain = bytes.get(..decrypted.map_err(|_| rejected)?);
        let (length, content) = plain
            .and_then(|plain| plain.split_first_chunk::<4>())
            .ok_or(rejected)?;
        let length = u32::from_le_bytes(*length) as usize;
        let content = content.get(..length).ok_or(rejected)?;
        // The nonce is no secret, so the comparison need not take constant time.
        match content.strip_suffix(self.server_nonce) {
            Some(secret) => Ok(Zeroizing::new(secret.to_vec())),
            None => Err(rejected),
        }
    }

    fn certificate(
        &self,
        token: &X509IdentityToken,
        signature: &SignatureData,
    ) -> Result<(UserIdentity, RoleSet), StatusCode> {
        let users = self.users.filter(|users| users.allows_certificates());
        let users = users.ok_or(StatusCode::BadIdentityTokenRejected)?;
        let known = [CERTIFICATE_POLICY, PROTECTED_CERTIFICATE_POLICY];
        expect_policy(&token.policy_id, &known)?;
        let policy_uri = &self.channel.security.policy_uri;
        let profile = profile_of_token(&token.policy_id, policy_uri);
        let profile = profile.ok_or(StatusCode::BadIdentityTokenInvalid)?;
        let chain = Certificate::chain_from_der(token.certificate_data.as_bytes());
        let chain = chain.map_err(|_| StatusCode::BadIdentityTokenInvalid)?;
        let leaf = chain.first().ok_or(StatusCode::BadIdentityTokenInvalid)?;
        let own = self.identity()?;
        verify_challenge(
            profile,
            &leaf.public_key,
            &own,
            self.server_nonce,
            signature,
        )
        .map_err(|()| StatusCode::BadUserSignatureInvalid)?;
        let (name, roles) = users.certificate(leaf, profile)?;
        let identity = UserIdentity::Certificate {
            subject: name,
            thumbprint: leaf.thumbprint.0,
        };
        Ok((identity, roles.authenticated()))
    }

    /// Determines the user of a JSON Web Token. It is sent encrypted: by the channel, or by itself.
    fn issued(&self, token: &IssuedIdentityToken) -> Result<Identified, StatusCode> {
        let users = self.users.ok_or(StatusCode::BadIdentityTokenRejected)?;
        expect_policy(&token.policy_id, &[JWT_POLICY])?;
        let channel = self.channel;
        let is_encrypted = channel.security.mode == MessageSecurityMode::SignAndEncrypt;
        if !is_encrypted && !channel.peer.is_local() {
            return Err(StatusCode::BadIdentityTokenInvalid);
        }
        let issued = users.issued(&self.web_token(token)?)?;
        let user = UserIdentity::Issued {
            issuer: issued.issuer,
            subject: issued.subject,
        };
        let roles = issued.roles.authenticated();
        Ok(Identified::Issued(user, roles, issued.expires))
    }

    /// Returns the JSON Web Token, decrypted if it was encrypted by itself.
    pub(crate) fn web_token(
        &self,
        token: &IssuedIdentityToken,
    ) -> Result<Zeroizing<Vec<u8>>, StatusCode> {
        let sent = token.token_data.as_bytes();
        let algorithm = token.encryption_algorithm.as_str();
        match PolicyProfile::by_uri(&self.channel.security.policy_uri) {
            // An EccEncryptedSecret comes without an encryptionAlgorithm, too.
            _ if algorithm.is_empty() && !EncryptedSecret::is_one(sent) => {
                Ok(Zeroizing::new(sent.to_vec()))
            }
            Some(profile) => self.secret(profile, algorithm, sent),
            None => Err(StatusCode::BadIdentityTokenInvalid),
        }
    }

    /// Returns the identity whose certificate the client knows.
    fn identity(&self) -> Result<Arc<OwnCertificate>, StatusCode> {
        let security = self.security.ok_or(StatusCode::BadIdentityTokenInvalid)?;
        if self.channel.security.mode == MessageSecurityMode::None {
            // Tokens are protected with RSA there.
            let identity = security.identity_of(KeyKind::Rsa);
            return identity.ok_or(StatusCode::BadIdentityTokenInvalid);
        }
        let used = Certificate::leaf_of(&self.channel.security.server_certificate);
        let used = used.map(Thumbprint::of);
        // The key of an older certificate is gone. The client needs a new channel to learn the current one.
        used.and_then(|thumbprint| security.identity_with(&thumbprint.0))
            .ok_or(StatusCode::BadSecureChannelClosed)
    }
}

/// Checks that a PolicyId is one of `policies`. Clients that did not read the endpoints leave it empty.
fn expect_policy(policy_id: &UaString, policies: &[&str]) -> Result<(), StatusCode> {
    match policy_id.is_empty() || policies.contains(&policy_id.as_str()) {
        true => Ok(()),
        false => Err(StatusCode::BadIdentityTokenInvalid),
    }
}
