//! The endpoints that a server offers: the choice among them, and the reason against each of the others.

use std::fmt;

use takt_crypto::{Certificate, KeyKind, PolicyProfile};
use takt_ua::SECURITY_POLICY_NONE;
use takt_ua::endpoint_url::has_scheme;
use takt_ua::enumerations::{MessageSecurityMode, UserTokenType};
use takt_ua::structures::EndpointDescription;

use super::choice::SecurityChoice;
use super::options::{ClientOptions, Identity};

/// TransportProfileUri of `opc.tcp` (OPC 10000-7).
const TCP_PROFILE: &str = "http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary";

/// SecurityPolicies that the standard has withdrawn, because their algorithms are not safe any more (OPC 10000-7, 6.6).
const DEPRECATED: [&str; 2] = ["Basic128Rsa15", "Basic256"];

/// Reason against an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("its transport is not opc.tcp")]
    Transport,
    #[error("it has no security, which only the choice none accepts")]
    Unsecured,
    #[error("its SecurityPolicy is deprecated, and not supported")]
    Deprecated,
    #[error("its SecurityPolicy is unknown")]
    UnknownPolicy,
    #[error("its mode is not valid")]
    Mode,
    #[error("it has no certificate")]
    NoCertificate,
    #[error("another security is wanted")]
    NotWanted,
    #[error(
        "it needs a certificate of this application with a key of the kind {needed}, and that is {given}"
    )]
    KeyKind { needed: KeyKind, given: KeyKind },
    #[error("it does not accept {}", token_name(*.0))]
    Token(UserTokenType),
    #[error("it is less secure than the chosen one")]
    LessSecure,
}

/// Requirements of a client on an endpoint.
pub(super) struct Wanted {
    policy: Option<&'static str>,
    mode: Option<MessageSecurityMode>,
    /// Kind of key of the certificate that the user has given.
    given: Option<KeyKind>,
    /// Kind of token that the endpoint has to accept, if a session is wanted.
    token: Option<UserTokenType>,
}

impl Wanted {
    /// Returns the requirements of a client with these options. Without an identity, it opens no session.
    pub(super) fn new(options: &ClientOptions, identity: Option<&Identity>) -> Self {
        let (policy, mode) = match &options.security.choice {
            SecurityChoice::None | SecurityChoice::Automatic => (None, None),
            SecurityChoice::Secured { policy, mode } => (*policy, *mode),
        };
        // A file with a certificate fits the policies with keys of its kind only.
        let given = options.security.certificate.as_ref();
        let given = given.and_then(|(certificate, _)| Certificate::from_file(certificate).ok());
        Self {
            policy,
            mode,
            given: given.and_then(|certificate| certificate.key_kind),
            token: identity.map(token_of),
        }
    }

    /// Returns the SecurityPolicy of an endpoint that can be used.
    fn examine(&self, offer: &EndpointDescription) -> Result<&'static PolicyProfile, Refusal> {
        let profile = secured_profile(offer)?;
        if offer.server_certificate.as_bytes().is_empty() {
            return Err(Refusal::NoCertificate);
        }
        let is_wanted = self.policy.is_none_or(|name| name == profile.name)
            && self.mode.is_none_or(|mode| mode == offer.security_mode);
        if !is_wanted {
            return Err(Refusal::NotWanted);
        }
        // A policy that the user names is tried, and fails with the reason.
        if let (None, Some(given)) = (self.policy, self.given)
            && given != profile.key_kind()
        {
            let needed = profile.key_kind();
            return Err(Refusal::KeyKind { needed, given });
        }
        match self.token {
            Some(token) if !accepts(offer, token) => Err(Refusal::Token(token)),
            _ => Ok(profile),
        }
    }
}

/// The endpoints of a server, each with its SecurityPolicy or the reason against it.
pub(super) struct Offers<'a> {
    examined: Vec<(
        &'a EndpointDescription,
        Result<&'static PolicyProfile, Refusal>,
    )>,
}

impl<'a> Offers<'a> {
    /// Examines the endpoints that GetEndpoints returned.
    pub(super) fn new(endpoints: &'a [EndpointDescription], wanted: &Wanted) -> Self {
        let examine = |offer| (offer, wanted.examine(offer));
        Self {
            examined: endpoints.iter().map(examine).collect(),
        }
    }

    /// Chooses the most secure endpoint of those that can be used.
    ///
    /// If none accepts the token of the user, the most secure one is tried nevertheless: the list has come without protection, and
    /// the session tells the kinds of tokens that the server accepts.
    pub(super) fn choose(&mut self) -> Option<(&'a EndpointDescription, &'static PolicyProfile)> {
        if self.examined.iter().all(|(_, found)| found.is_err()) {
            for (offer, found) in &mut self.examined {
                if let Err(Refusal::Token(_)) = found {
                    *found = secured_profile(offer);
                }
            }
        }
        let usable = self.examined.iter().enumerate();
        let usable = usable.filter_map(|(at, (offer, found))| Some((at, *offer, (*found).ok()?)));
        // The values of the modes ascend: encryption counts before the policy.
        let best = usable.max_by_key(|(_, offer, profile)| (offer.security_mode.0, profile.rank));
        let (chosen, offer, profile) = best?;
        for (at, (_, found)) in self.examined.iter_mut().enumerate() {
            if at != chosen && found.is_ok() {
                *found = Err(Refusal::LessSecure);
            }
        }
        Some((offer, profile))
    }

    /// Returns the endpoints that were refused because they do not accept a kind of token.
    pub(super) fn without_token(&self) -> Vec<(String, MessageSecurityMode, UserTokenType)> {
        let of = |(offer, found): &(&EndpointDescription, Result<_, Refusal>)| match found {
            Err(Refusal::Token(token)) => Some((
                offer.security_policy_uri.as_str().to_owned(),
                offer.security_mode,
                *token,
            )),
            _ => None,
        };
        self.examined.iter().filter_map(of).collect()
    }

    /// Reports each endpoint with the reason against it.
    pub(super) fn report(&self, server: &impl fmt::Display) {
        for (offer, found) in &self.examined {
            let name = name(offer);
            match found {
                Ok(_) => tracing::info!("{server}: endpoint {name} is used"),
                Err(reason) => tracing::info!("{server}: endpoint {name} is not used: {reason}"),
            }
        }
    }

    /// Returns the secured endpoints that another choice of the user would use, as `--security` names them.
    pub(super) fn others(&self) -> Vec<String> {
        let mut others = Vec::new();
        for (offer, found) in &self.examined {
            if let (Err(Refusal::NotWanted), Ok(profile)) = (found, secured_profile(offer)) {
                let other = SecurityChoice::Secured {
                    policy: Some(profile.name),
                    mode: Some(offer.security_mode),
                };
                let other = other.to_string();
                if !others.contains(&other) {
                    others.push(other);
                }
            }
        }
        others
    }

    /// Returns the refused endpoints, by the reasons. Endpoints of other transports are left out if there are any over TCP.
    pub(super) fn refusals(&self) -> String {
        let is_other = |found: &Result<_, Refusal>| *found == Err(Refusal::Transport);
        let all_are_other = self.examined.iter().all(|(_, found)| is_other(found));
        let mut reasons: Vec<(Refusal, Vec<String>)> = Vec::new();
        for (offer, found) in &self.examined {
            let (Err(reason), name) = (found, name(offer)) else {
                continue;
            };
            if is_other(found) && !all_are_other {
                continue;
            }
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, names)) if names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => reasons.push((*reason, vec![name])),
            }
        }
        let text =
            |(reason, names): &(Refusal, Vec<String>)| format!("{}: {reason}", names.join(", "));
        let texts: Vec<String> = reasons.iter().map(text).collect();
        match texts.is_empty() {
            true => "it offers nothing".to_owned(),
            false => texts.join("; "),
        }
    }
}

/// Returns true if an endpoint accepts this kind of token. A server may leave the list out: it accepts anonymous users then, and the
/// session shows whether it accepts others.
pub(super) fn accepts(offer: &EndpointDescription, token: UserTokenType) -> bool {
    let mut policies = offer.user_identity_tokens.iter();
    offer.user_identity_tokens.is_empty() || policies.any(|policy| policy.token_type == token)
}

/// Returns true for an endpoint over TCP. Some servers leave its TransportProfileUri out: the URL tells the transport then.
pub(super) fn is_over_tcp(offer: &EndpointDescription) -> bool {
    let url = offer.endpoint_url.as_str();
    match offer.transport_profile_uri.as_str() {
        "" => url.is_empty() || has_scheme(url, "opc.tcp"),
        profile => profile == TCP_PROFILE,
    }
}

/// Returns the SecurityPolicy of a secured endpoint over TCP.
pub(super) fn secured_profile(
    offer: &EndpointDescription,
) -> Result<&'static PolicyProfile, Refusal> {
    if !is_over_tcp(offer) {
        return Err(Refusal::Transport);
    }
    let uri = offer.security_policy_uri.as_str();
    match offer.security_mode {
        MessageSecurityMode::Sign | MessageSecurityMode::SignAndEncrypt => {}
        _ if uri == SECURITY_POLICY_NONE => return Err(Refusal::Unsecured),
        _ => return Err(Refusal::Mode),
    }
    PolicyProfile::by_uri(uri).ok_or(match DEPRECATED.contains(&policy_name(uri)) {
        true => Refusal::Deprecated,
        false => Refusal::UnknownPolicy,
    })
}

/// Returns the name of a SecurityPolicy: the end of its URI.
pub(super) fn policy_name(uri: &str) -> &str {
    uri.rsplit_once('#').map_or(uri, |(_, name)| name)
}

/// Returns the name of an endpoint: its SecurityPolicy and mode. A stranger has written it.
fn name(offer: &EndpointDescription) -> String {
    let policy = policy_name(offer.security_policy_uri.as_str());
    let policy: String = policy.chars().filter(|one| !one.is_control()).collect();
    match offer.security_mode {
        MessageSecurityMode::Sign => format!("{policy} sign"),
        MessageSecurityMode::SignAndEncrypt => format!("{policy} encrypt"),
        _ => policy,
    }
}

fn token_of(identity: &Identity) -> UserTokenType {
    match identity {
        Identity::Anonymous => UserTokenType::Anonymous,
        Identity::UserName { .. } | Identity::PasswordFile { .. } => UserTokenType::UserName,
        Identity::Certificate { .. } => UserTokenType::Certificate,
        Identity::Issued { .. } => UserTokenType::IssuedToken,
    }
}

fn token_name(token: UserTokenType) -> &'static str {
    match token {
        UserTokenType::Anonymous => "anonymous users",
        UserTokenType::UserName => "users with a password",
        UserTokenType::Certificate => "users with a certificate",
        _ => "users with a token",
    }
}

#[cfg(test)]
mod tests {
    use takt_ua::ByteString;
    use takt_ua::structures::UserTokenPolicy;

    use super::*;

    fn offer(
        policy: &str,
        mode: MessageSecurityMode,
        tokens: &[UserTokenType],
    ) -> EndpointDescription {
        let uri = format!("http://opcfoundation.org/UA/SecurityPolicy#{policy}");
        EndpointDescription {
            transport_profile_uri: TCP_PROFILE.into(),
            security_policy_uri: uri.as_str().into(),
            security_mode: mode,
            server_certificate: ByteString::from(&b"certificate"[..]),
            user_identity_tokens: tokens
                .iter()
                .map(|token| UserTokenPolicy {
                    token_type: *token,
                    ..UserTokenPolicy::default()
                })
                .collect(),
            ..EndpointDescription::default()
        }
    }

    fn options(choice: &str) -> ClientOptions {
        let mut options = ClientOptions::default();
        options.security.choice = choice.parse().unwrap();
        options
    }

    const SIGN: MessageSecurityMode = MessageSecurityMode::Sign;
    const ENCRYPT: MessageSecurityMode = MessageSecurityMode::SignAndEncrypt;
    const ANYONE: &[UserTokenType] = &[UserTokenType::Anonymous, UserTokenType::UserName];

    #[test]
    fn each_refused_endpoint_has_its_reason() {
        let mut bare = offer("Basic256Sha256", SIGN, ANYONE);
        bare.server_certificate = ByteString::null();
        let mut https = offer("Basic256Sha256", SIGN, ANYONE);
        https.transport_profile_uri =
            "http://opcfoundation.org/UA-Profile/Transport/https-uabinary".into();
        let endpoints = [
            offer("None", MessageSecurityMode::None, ANYONE),
            offer("Basic256", ENCRYPT, ANYONE),
            offer("Basic4096", ENCRYPT, ANYONE),
            offer("Basic256Sha256", ENCRYPT, ANYONE),
            offer("Basic256Sha256", SIGN, ANYONE),
            bare,
            https,
        ];
        let wanted = Wanted::new(
            &options("Aes128_Sha256_RsaOaep"),
            Some(&Identity::Anonymous),
        );
        let mut offers = Offers::new(&endpoints, &wanted);
        assert!(offers.choose().is_none());
        assert_eq!(
            offers.refusals(),
            "None: it has no security, which only the choice none accepts; \
             Basic256 encrypt: its SecurityPolicy is deprecated, and not supported; \
             Basic4096 encrypt: its SecurityPolicy is unknown; \
             Basic256Sha256 encrypt, Basic256Sha256 sign: another security is wanted; \
             Basic256Sha256 sign: it has no certificate"
        );
        assert_eq!(
            offers.others(),
            ["Basic256Sha256,encrypt", "Basic256Sha256,sign"]
        );
        let https = &endpoints[6..];
        assert_eq!(
            Offers::new(https, &wanted).refusals(),
            "Basic256Sha256 sign: its transport is not opc.tcp"
        );
        let wanted = Wanted::new(&options("auto"), None);
        assert_eq!(Offers::new(&[], &wanted).refusals(), "it offers nothing");
    }

    #[test]
    fn an_endpoint_without_a_transport_profile_is_that_of_its_url() {
        for (url, is_usable) in [
            ("", true),
            ("opc.tcp://plc:4840", true),
            ("OPC.TCP://plc:4840", true),
            ("https://plc", false),
            ("opc.https://plc", false),
        ] {
            let mut found = offer("Basic256Sha256", SIGN, ANYONE);
            found.transport_profile_uri = takt_ua::UaString::null();
            found.endpoint_url = url.into();
            assert_eq!(is_over_tcp(&found), is_usable, "{url}");
            assert_eq!(secured_profile(&found).is_ok(), is_usable, "{url}");
        }
    }

    #[test]
    fn the_most_secure_endpoint_that_accepts_the_user_is_chosen() {
        let endpoints = [
            offer("Basic256Sha256", ENCRYPT, &[UserTokenType::Certificate]),
            offer("Basic256Sha256", SIGN, ANYONE),
            offer("Aes128_Sha256_RsaOaep", SIGN, ANYONE),
        ];
        let wanted = Wanted::new(&options("auto"), Some(&Identity::Anonymous));
        let mut offers = Offers::new(&endpoints, &wanted);
        let (chosen, profile) = offers.choose().unwrap();
        assert_eq!(
            (chosen.security_mode, profile.name),
            (SIGN, "Basic256Sha256")
        );
        assert_eq!(
            offers.refusals(),
            "Basic256Sha256 encrypt: it does not accept anonymous users; \
             Aes128_Sha256_RsaOaep sign: it is less secure than the chosen one"
        );
        let refused = offers.without_token();
        assert_eq!(refused.len(), 1);
        assert_eq!(refused[0].2, UserTokenType::Anonymous);

        // Without a session no user is needed; and a user that no endpoint accepts is tried.
        let wanted = Wanted::new(&options("auto"), None);
        let chosen = Offers::new(&endpoints, &wanted).choose().unwrap();
        assert_eq!(chosen.0.security_mode, ENCRYPT);
        let token = Identity::Issued {
            token: "token".to_owned(),
        };
        let wanted = Wanted::new(&options("auto"), Some(&token));
        let mut offers = Offers::new(&endpoints, &wanted);
        assert_eq!(offers.choose().unwrap().0.security_mode, ENCRYPT);
        assert!(offers.without_token().is_empty());
    }
}
