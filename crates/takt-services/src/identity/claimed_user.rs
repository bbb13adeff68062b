//! Names that users claim, and their tokens without secrets, for audit records.

use takt_crypto::{Certificate, claimed_subject};
use takt_ua::structures::{
    AnonymousIdentityToken, IssuedIdentityToken, UserNameIdentityToken, X509IdentityToken,
};
use takt_ua::{ByteString, ExtensionObject};

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
    use super::*;

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
