//! The endpoints that GetEndpoints and CreateSession announce (OPC 10000-4, 7.14).

use takt_crypto::PolicyProfile;
use takt_ua::endpoint_url::DEFAULT_PORT;
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::{ApplicationDescription, EndpointDescription};
use takt_ua::{ByteString, SECURITY_POLICY_NONE, UaString};

use super::requested_url::requested_url;
use crate::identity::token_policies::{Messages, OfferedTokens};

/// `opc.tcp` with the binary encoding (OPC 10000-7, profile "UA-TCP UA-SC UA-Binary").
pub const TCP_PROFILE: &str = "http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary";
/// `opc.iox2`: OPC UA Binary over shared memory. It is specific to Takt; the standard has no such profile.
pub const SHARED_MEMORY_PROFILE: &str = "urn:takt:Transport:iox2-uabinary";

/// Rule for the host in the EndpointUrl that a client gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnnouncedHost {
    /// The host that the client used if it used the port of the endpoint; otherwise the configured one. For an endpoint with one
    /// address.
    #[default]
    OfClientOnPort,
    /// The host that the client used, whatever port it used. For an endpoint at all addresses of the host.
    OfClient,
    /// The configured host, for every client.
    Configured,
}

/// Configuration of one endpoint of the server.
#[derive(Debug, Clone, PartialEq)]
pub struct EndpointConfig {
    /// EndpointUrl: `opc.tcp://host:port` or `opc.iox2://ApplicationName`.
    pub url: String,
    /// Rule for the host in the URL that a client gets.
    pub announced_host: AnnouncedHost,
    /// TransportProfileUri: [`TCP_PROFILE`] or [`SHARED_MEMORY_PROFILE`].
    pub transport_profile_uri: String,
    /// SecurityPolicyUri.
    pub security_policy_uri: String,
    /// MessageSecurityMode.
    pub security_mode: MessageSecurityMode,
    /// SecurityLevel: clients prefer the endpoint with the highest level.
    pub security_level: u8,
}

impl EndpointConfig {
    /// Creates an endpoint with SecurityPolicy None.
    pub fn without_security(
        url: impl Into<String>,
        transport_profile_uri: impl Into<String>,
    ) -> Self {
        Self {
            url: url.into(),
            announced_host: AnnouncedHost::default(),
            transport_profile_uri: transport_profile_uri.into(),
            security_policy_uri: SECURITY_POLICY_NONE.to_owned(),
            security_mode: MessageSecurityMode::None,
            security_level: 0,
        }
    }

    /// Creates an endpoint with a SecurityPolicy other than None. Its SecurityLevel grows with the rank of the policy, and
    /// with encryption.
    pub fn secured(
        url: impl Into<String>,
        profile: &PolicyProfile,
        security_mode: MessageSecurityMode,
    ) -> Self {
        let encrypts = security_mode == MessageSecurityMode::SignAndEncrypt;
        Self {
            url: url.into(),
            announced_host: AnnouncedHost::default(),
            transport_profile_uri: TCP_PROFILE.to_owned(),
            security_policy_uri: profile.uri.to_owned(),
            security_mode,
            // Any endpoint that encrypts is above all that only sign.
            security_level: profile.rank + if encrypts { 100 } else { 0 },
        }
    }

    /// Returns the same endpoint with another rule for its host.
    #[must_use]
    pub fn with_announced_host(mut self, rule: AnnouncedHost) -> Self {
        self.announced_host = rule;
        self
    }

    /// Returns the EndpointUrl for a client that reached the server as `requested`.
    ///
    /// A client that used another name of the same host gets the URL with that name: it is known to work for this client, and
    /// some clients insist on it. A URL that is not well-formed is never repeated.
    pub(crate) fn url_for(&self, requested: &str) -> String {
        let (Some(own), Some(requested)) = (requested_url(&self.url), requested_url(requested))
        else {
            return self.url.clone();
        };
        let port = own.port().unwrap_or(DEFAULT_PORT);
        match self.announced_host {
            AnnouncedHost::Configured => self.url.clone(),
            _ if port == requested.port().unwrap_or(DEFAULT_PORT) => requested.to_string(),
            AnnouncedHost::OfClient => {
                let of_client = own.with_host(requested.host()).with_port(Some(port));
                of_client.to_string()
            }
            AnnouncedHost::OfClientOnPort => self.url.clone(),
        }
    }

    /// Returns the EndpointDescription for a client that reached the server as `requested_url`.
    pub(crate) fn describe(
        &self,
        application: &ApplicationDescription,
        offered: &OfferedTokens,
        certificate: Option<&[u8]>,
        requested_url: &str,
    ) -> EndpointDescription {
        EndpointDescription {
            endpoint_url: UaString::from(self.url_for(requested_url)),
            server: application.clone(),
            // Tokens of users may be encrypted even if messages are not.
            server_certificate: match certificate {
                // Shared memory needs no certificate: the kernel names the peer.
                Some(certificate) if self.transport_profile_uri == TCP_PROFILE => {
                    ByteString::from(certificate)
                }
                _ => ByteString::null(),
            },
            security_mode: self.security_mode,
            security_policy_uri: UaString::from(self.security_policy_uri.as_str()),
            user_identity_tokens: offered.policies(Messages {
                security_mode: self.security_mode,
                is_private: self.transport_profile_uri == SHARED_MEMORY_PROFILE,
                has_certificate: certificate.is_some(),
            }),
            transport_profile_uri: UaString::from(self.transport_profile_uri.as_str()),
            security_level: self.security_level,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::authentication::AnonymousOnly;

    fn endpoint(url: &str, rule: AnnouncedHost) -> EndpointConfig {
        EndpointConfig::without_security(url, TCP_PROFILE).with_announced_host(rule)
    }

    #[test]
    fn endpoint_urls_keep_the_host_name_of_the_client() {
        let one = endpoint("opc.tcp://127.0.0.1:4841/", AnnouncedHost::OfClientOnPort);
        let url = |requested: &str| one.url_for(requested);
        assert_eq!(url("opc.tcp://localhost:4841"), "opc.tcp://localhost:4841");
        assert_eq!(url("opc.tcp://localhost:4840"), "opc.tcp://127.0.0.1:4841/");
        assert_eq!(url(""), "opc.tcp://127.0.0.1:4841/");
        assert_eq!(url("opc.iox2://Machine"), "opc.tcp://127.0.0.1:4841/");
        let description = one.describe(
            &ApplicationDescription::default(),
            &OfferedTokens::of(&AnonymousOnly, None),
            None,
            "opc.tcp://[::1]:4841",
        );
        assert_eq!(description.endpoint_url, "opc.tcp://[::1]:4841");
    }

    #[test]
    fn an_endpoint_at_all_addresses_keeps_the_host_behind_another_port() {
        let all = endpoint("opc.tcp://plc7:4840/line", AnnouncedHost::OfClient);
        for (requested, expected) in [
            ("opc.tcp://plant:14840", "opc.tcp://plant:4840/line"),
            (
                "opc.tcp://[fd00::7]:14840/x",
                "opc.tcp://[fd00::7]:4840/line",
            ),
            ("opc.tcp://10.0.0.7", "opc.tcp://10.0.0.7"),
        ] {
            assert_eq!(all.url_for(requested), expected);
        }
    }

    #[test]
    fn an_advertised_host_is_announced_to_every_client() {
        let advertised = endpoint("opc.tcp://plant.example:4841", AnnouncedHost::Configured);
        for requested in ["opc.tcp://127.0.0.1:4841", "opc.tcp://plc7:4840", ""] {
            assert_eq!(
                advertised.url_for(requested),
                "opc.tcp://plant.example:4841"
            );
        }
    }

    #[test]
    fn a_url_that_is_not_well_formed_is_not_repeated() {
        for rule in [AnnouncedHost::OfClient, AnnouncedHost::OfClientOnPort] {
            let own = endpoint("opc.tcp://plc7:4840", rule);
            for garbage in [
                "opc.tcp://<script>:4840",
                "opc.tcp://plc7 evil:4840",
                "opc.tcp://plc7\n:4840",
                "opc.tcp://user@plc7:4840",
                "opc.tcp://:4840",
                "opc.tcp://[::1:4840",
                "opc.tcp://[::g]:4840",
                "opc.tcp://plc7:4840:4840",
                "http://plc7:4840",
            ] {
                assert_eq!(own.url_for(garbage), "opc.tcp://plc7:4840", "{garbage:?}");
            }
        }
    }
}
