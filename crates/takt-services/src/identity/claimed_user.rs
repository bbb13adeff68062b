//! Names that users claim, their tokens without secrets, and the reason of a refused token, for log and audit records.

use takt_crypto::{Certificate, claimed_subject};
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::{
    AnonymousIdentityToken, IssuedIdentityToken, UserNameIdentityToken, X509IdentityToken,
};
use takt_ua::{ByteString, ExtensionObject, StatusCode, UaString};

use super::token_policies::{
    ANONYMOUS_POLICY, CERTIFICATE_POLICY, JWT_POLICY, PROTECTED_CERTIFICATE_POLICY,
    PROTECTED_USER_NAME_POLICY, USER_NAME_POLICY,
};
use super::user_tokens::UserTokens;

impl UserTokens<'_> {
    /// Returns the name that a token claims: of a user name, the subject of a certificate, or of a JSON Web Token. Nothing of it was
    /// checked.
    pub(crate) fn claimed_name(&self, token: &ExtensionObject) -> Option<String> {
        if let Ok(token) = token.decode_as::<UserNameIdentityToken>() {
            return Some(token.user_name.to_string());
        }
        if let Ok(token) = token.decode_as::<X509IdentityToken>() {
            let leaf = Certificate::leaf_of(token.certificate_data.as_bytes())?;
            return Some(Certificate::from_der(leaf).ok()?.subject);
        }
        let token: IssuedIdentityToken = token.decode_as().ok()?;
        let web_token = self.web_token(&token).ok()?;
        claimed_subject(std::str::from_utf8(&web_token).ok()?)
    }

    /// Returns the check that a token with BadIdentityTokenInvalid failed, in the words of an operator.
    pub(crate) fn refusal(
        &self,
        token: &ExtensionObject,
        status: StatusCode,
    ) -> Option<&'static str> {
        if status != StatusCode::BadIdentityTokenInvalid {
            return None;
        }
        let (policy_id, known) = policies_of(token)?;
        if !policy_id.is_empty() && !known.contains(&policy_id.as_str()) {
            return Some("the PolicyId of the token is none of those for tokens of its kind");
        }
        if let Ok(token) = token.decode_as::<X509IdentityToken>() {
            let chain = Certificate::chain_from_der(token.certificate_data.as_bytes());
            if !chain.is_ok_and(|chain| !chain.is_empty()) {
                return Some("the certificate of the user cannot be read");
            }
        }
        if let Ok(token) = token.decode_as::<IssuedIdentityToken>()
            && (self.channel.peer.is_local()
                || self.channel.security.mode == MessageSecurityMode::SignAndEncrypt)
            && self.web_token(&token).is_ok()
        {
            return Some("the JSON Web Token cannot be read");
        }
        Some("the token is not protected as its UserTokenPolicy demands")
    }
}

/// Returns the PolicyId of a token, and those of its kind; `None` for a token that cannot be decoded.
fn policies_of(token: &ExtensionObject) -> Option<(UaString, &'static [&'static str])> {
    if let Ok(token) = token.decode_as::<UserNameIdentityToken>() {
        return Some((
            token.policy_id,
            &[USER_NAME_POLICY, PROTECTED_USER_NAME_POLICY],
        ));
    }
    if let Ok(token) = token.decode_as::<X509IdentityToken>() {
        return Some((
            token.policy_id,
            &[CERTIFICATE_POLICY, PROTECTED_CERTIFICATE_POLICY],
        ));
    }
    if let Ok(token) = token.decode_as::<IssuedIdentityToken>() {
        return Some((token.policy_id, &[JWT_POLICY]));
    }
    let token: AnonymousIdentityToken = token.decode_as().ok()?;
    Some((token.policy_id, &[ANONYMOUS_POLICY]))
}

/// Returns a token without the password, or the JSON Web Token, for AuditActivateSessionEventType (OPC 10000-5, 6.4.10).
pub(crate) fn without_secrets(token: &ExtensionObject) -> ExtensionObject {
    if let Ok(token) = token.decode_as::<UserNameIdentityToken>() {
        return ExtensionObject::from_structure(&UserNameIdentityToken {
            password: ByteString::default(),
            ..token
        });
    }
    if let Ok(token) = token.decode_as::<IssuedIdentityToken>() {
        return ExtensionObject::from_structure(&IssuedIdentityToken {
            token_data: ByteString::default(),
            ..token
        });
    }
    if token.is::<X509IdentityToken>() || token.is::<AnonymousIdentityToken>() {
        return token.clone();
    }
    // What is not known may be secret.
    ExtensionObject::default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use takt_space::{Channel, ChannelSecurity, Peer};

    use super::*;
    use crate::identity::authentication::AnonymousOnly;

    #[test]
    fn a_refused_token_has_its_reason() {
        let channel = Arc::new(Channel {
            id: 1,
            peer: Peer::Tcp {
                address: "192.0.2.1:50000".parse().unwrap(),
                user: None,
            },
            security: ChannelSecurity::none(),
        });
        let tokens = UserTokens {
            authenticator: &AnonymousOnly,
            users: None,
            security: None,
            channel: &channel,
            server_nonce: &[],
            ephemeral_key: None,
        };
        let reason =
            |token: &ExtensionObject| tokens.refusal(token, StatusCode::BadIdentityTokenInvalid);
        let anonymous = |policy: &str| {
            ExtensionObject::from_structure(&AnonymousIdentityToken {
                policy_id: policy.into(),
            })
        };
        let foreign = anonymous("open62541-anonymous-policy");
        assert!(reason(&foreign).unwrap().contains("PolicyId"));
        let rejected = StatusCode::BadIdentityTokenRejected;
        assert_eq!(tokens.refusal(&foreign, rejected), None);
        let user = |policy: &str| {
            ExtensionObject::from_structure(&UserNameIdentityToken {
                policy_id: policy.into(),
                ..UserNameIdentityToken::default()
            })
        };
        assert!(reason(&user("other")).unwrap().contains("PolicyId"));
        let clear = reason(&user(PROTECTED_USER_NAME_POLICY)).unwrap();
        assert!(clear.contains("not protected"), "{clear}");
        let certificate = ExtensionObject::from_structure(&X509IdentityToken::default());
        assert!(reason(&certificate).unwrap().contains("certificate"));
        // It has no kind of token.
        assert_eq!(reason(&ExtensionObject::default()), None);
    }

    #[test]
    fn tokens_lose_their_secrets_only() {
        let secret = ByteString::from(&b"hammer"[..]);
        let password = ExtensionObject::from_structure(&UserNameIdentityToken {
            user_name: "anna".into(),
            password: secret.clone(),
            ..UserNameIdentityToken::default()
        });
        let shown: UserNameIdentityToken = without_secrets(&password).decode_as().unwrap();
        assert_eq!(shown.user_name.as_str(), "anna");
        assert!(shown.password.as_bytes().is_empty());
        let issued = ExtensionObject::from_structure(&IssuedIdentityToken {
            policy_id: "jwt".into(),
            token_data: secret.clone(),
            ..IssuedIdentityToken::default()
        });
        let shown: IssuedIdentityToken = without_secrets(&issued).decode_as().unwrap();
        assert_eq!(shown.policy_id.as_str(), "jwt");
        assert!(shown.token_data.as_bytes().is_empty());
        // A certificate is public.
        let certificate = ExtensionObject::from_structure(&X509IdentityToken {
            certificate_data: secret,
            ..X509IdentityToken::default()
        });
        assert_eq!(without_secrets(&certificate), certificate);
    }
}
