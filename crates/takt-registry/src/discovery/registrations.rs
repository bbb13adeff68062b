//! Servers that have registered themselves (RegisterServer and RegisterServer2, OPC 10000-4, 5.5.5 and 5.5.6).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use takt_ua::endpoint_url::split_scheme;
use takt_ua::enumerations::ApplicationType;
use takt_ua::structures::{ApplicationDescription, RegisteredServer};
use takt_ua::{StatusCode, UaString};

use super::network::Announcement;

/// Time after which a registration that was not repeated ends. Servers repeat it within ten minutes (OPC 10000-4, 5.5.5.1).
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Number of servers, of DiscoveryUrls of each, and bytes of each text.
const MAX_SERVERS: usize = 500;
const MAX_URLS: usize = 16;
const MAX_TEXT: usize = 512;

/// Reason why a server is not registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum RegistrationError {
    /// The ServerUri is missing, or a text is too long.
    #[error("the ServerUri is empty or too long")]
    Uri,
    /// The name is missing, or too long.
    #[error("the server has no name, or one that is too long")]
    Name,
    /// The ApplicationType is Client.
    #[error("a client cannot be registered as a server")]
    Type,
    /// There is no DiscoveryUrl, or none is a URL.
    #[error("the server has no DiscoveryUrl")]
    Urls,
    /// There are too many DiscoveryUrls, or one is too long.
    #[error("the server has more than {MAX_URLS} DiscoveryUrls, or one that is too long")]
    TooManyUrls,
    /// The list of servers is full.
    #[error("there are {MAX_SERVERS} servers already")]
    Full,
}

impl RegistrationError {
    /// Returns the StatusCode of the service.
    pub(super) fn status_code(self) -> StatusCode {
        match self {
            Self::Uri => StatusCode::BadServerUriInvalid,
            Self::Name => StatusCode::BadServerNameMissing,
            Self::Type | Self::TooManyUrls => StatusCode::BadInvalidArgument,
            Self::Urls => StatusCode::BadDiscoveryUrlMissing,
            Self::Full => StatusCode::BadResourceUnavailable,
        }
    }
}

struct Registered {
    application: ApplicationDescription,
    /// Names under which it is announced on the network.
    announced: Option<String>,
    ends: Instant,
}

/// Registered servers by their ServerUri. SemaphoreFilePath is ignored: a remote server could ask for the existence of files
/// with it.
#[derive(Default)]
pub(super) struct Registrations {
    servers: BTreeMap<String, Registered>,
}

impl Registrations {
    /// Registers a server until 15 minutes after `now`, or ends its registration if it is not online. `announcement` is
    /// announced as long.
    ///
    /// Returns the name that is not to be announced any more, if there is one.
    ///
    /// # Errors
    /// See [`RegistrationError`].
    pub(super) fn register(
        &mut self,
        server: &RegisteredServer,
        announcement: Option<&Announcement>,
        now: Instant,
    ) -> Result<Option<String>, RegistrationError> {
        let uri = server.server_uri.as_str();
        if uri.is_empty() || uri.len() > MAX_TEXT {
            return Err(RegistrationError::Uri);
        }
        // A server that goes offline need not describe itself.
        if !server.is_online {
            let removed = self.servers.remove(uri);
            return Ok(removed.and_then(|removed| removed.announced));
        }
        let application = described(server)?;
        if self.servers.len() >= MAX_SERVERS && !self.servers.contains_key(uri) {
            return Err(RegistrationError::Full);
        }
        let announced = announcement.map(|announcement| announcement.name.clone());
        let registered = Registered {
            application,
            announced: announced.clone(),
            ends: now + LIFETIME,
        };
        let before = self.servers.insert(uri.to_owned(), registered);
        let before = before.and_then(|before| before.announced);
        // A name that is announced again is replaced, not withdrawn.
        Ok(before.filter(|before| Some(before) != announced.as_ref()))
    }

    /// Returns the DiscoveryUrls of the registered server that this one replaces: another server with the same ServerUri, because
    /// they have no DiscoveryUrl in common.
    pub(super) fn displaced_by(&self, server: &RegisteredServer) -> Option<&[UaString]> {
        let there = self.servers.get(server.server_uri.as_str())?;
        let there = there.application.discovery_urls.as_slice();
        let is_other = !there.iter().any(|url| server.discovery_urls.contains(url));
        (server.is_online && is_other).then_some(there)
    }

    /// Removes the registrations that were not repeated. Returns the names that are not to be announced any more.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<String> {
        let mut names = Vec::new();
        self.servers.retain(|_, server| {
            let is_valid = server.ends > now;
            if !is_valid {
                names.extend(server.announced.take());
            }
            is_valid
        });
        names
    }

    /// Returns the servers, in the order of their ServerUris.
    pub(super) fn servers(&self) -> Vec<ApplicationDescription> {
        let all = self.servers.values();
        all.map(|server| server.application.clone()).collect()
    }
}

/// Returns the ApplicationDescription of a server.
fn described(server: &RegisteredServer) -> Result<ApplicationDescription, RegistrationError> {
    if server.server_type == ApplicationType::Client {
        return Err(RegistrationError::Type);
    }
    let name = server.server_names.first();
    let name = name.filter(|name| !name.text.as_str().is_empty());
    let name = name.filter(|name| name.text.as_str().len() <= MAX_TEXT);
    let name = name.ok_or(RegistrationError::Name)?;
    let urls: Vec<UaString> = server
        .discovery_urls
        .iter()
        .filter(|url| is_url(url.as_str()))
        .cloned()
        .collect();
    let fits = |text: &UaString| text.as_str().len() <= MAX_TEXT;
    if urls.is_empty() {
        return Err(RegistrationError::Urls);
    }
    if urls.len() > MAX_URLS || !urls.iter().all(fits) {
        return Err(RegistrationError::TooManyUrls);
    }
    if !fits(&server.product_uri) || !fits(&server.gateway_server_uri) {
        return Err(RegistrationError::Uri);
    }
    Ok(ApplicationDescription {
        application_uri: server.server_uri.clone(),
        product_uri: server.product_uri.clone(),
        application_name: name.clone(),
        application_type: server.server_type,
        gateway_server_uri: server.gateway_server_uri.clone(),
        discovery_urls: urls,
        ..ApplicationDescription::default()
    })
}

/// Returns true for a text with the scheme and the host of a URL (RFC 3986, 3). At least one DiscoveryUrl has to be valid
/// (OPC 10000-4, 7.32).
fn is_url(text: &str) -> bool {
    let Some((_, rest)) = split_scheme(text) else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_plain = !text.contains(|one: char| one.is_whitespace() || one.is_control());
    !host.is_empty() && is_plain
}

#[cfg(test)]
mod tests {
    use takt_ua::LocalizedText;

    use super::*;

    fn server(uri: &str) -> RegisteredServer {
        RegisteredServer {
            server_uri: uri.into(),
            server_names: vec![LocalizedText::from("Press")],
            server_type: ApplicationType::Server,
            discovery_urls: vec!["opc.tcp://press7:4840".into()],
            is_online: true,
            ..RegisteredServer::default()
        }
    }

    #[test]
    fn a_registration_ends_without_repetition() {
        let now = Instant::now();
        let mut all = Registrations::default();
        let name = Announcement::new("Press", "opc.tcp://press7:4840", []).unwrap();
        assert_eq!(all.register(&server("urn:a"), Some(&name), now), Ok(None));
        let later = now + LIFETIME / 2;
        assert_eq!(all.register(&server("urn:b"), None, later), Ok(None));
        assert_eq!(all.servers().len(), 2);
        assert_eq!(all.expire(now + LIFETIME), ["Press"]);
        let left = all.servers();
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].application_uri.as_str(), "urn:b");
        assert_eq!(left[0].discovery_urls[0].as_str(), "opc.tcp://press7:4840");
    }

    #[test]
    fn two_servers_with_one_uri_are_noticed() {
        let now = Instant::now();
        let mut all = Registrations::default();
        let first = server("urn:a");
        assert_eq!(all.displaced_by(&first), None);
        all.register(&first, None, now).unwrap();
        assert_eq!(all.displaced_by(&first), None);
        let mut second = first.clone();
        second.discovery_urls = vec!["opc.tcp://press8:4840".into()];
        let urls = all.displaced_by(&second).unwrap();
        assert_eq!(urls[0].as_str(), "opc.tcp://press7:4840");
        second.server_uri = "urn:b".into();
        assert_eq!(all.displaced_by(&second), None);
    }

    #[test]
    fn a_server_changes_its_name_and_goes_offline() {
        let now = Instant::now();
        let mut all = Registrations::default();
        let named = |name| Announcement::new(name, "opc.tcp://press7:4840", []).unwrap();
        let first = named("Press");
        assert_eq!(all.register(&server("urn:a"), Some(&first), now), Ok(None));
        assert_eq!(all.register(&server("urn:a"), Some(&first), now), Ok(None));
        let renamed = all.register(&server("urn:a"), Some(&named("Press 7")), now);
        assert_eq!(renamed, Ok(Some("Press".to_owned())));
        let offline = RegisteredServer {
            is_online: false,
            ..server("urn:a")
        };
        let ended = all.register(&offline, None, now);
        assert_eq!(ended, Ok(Some("Press 7".to_owned())));
        assert!(all.servers().is_empty());
    }

    #[test]
    fn invalid_servers_and_floods_are_refused() {
        let now = Instant::now();
        let mut all = Registrations::default();
        let mut refused = |change: &dyn Fn(&mut RegisteredServer)| {
            let mut server = server("urn:a");
            change(&mut server);
            all.register(&server, None, now).unwrap_err()
        };
        assert_eq!(
            refused(&|server| server.server_uri = "".into()),
            RegistrationError::Uri
        );
        assert_eq!(
            refused(&|server| server.server_names.clear()),
            RegistrationError::Name
        );
        assert_eq!(
            refused(&|server| server.server_type = ApplicationType::Client),
            RegistrationError::Type
        );
        assert_eq!(
            refused(&|server| server.discovery_urls.clear()),
            RegistrationError::Urls
        );
        for wrong in [
            "foo",
            "",
            "opc.tcp://",
            "://plc7",
            "1x://plc7",
            "opc.tcp://a b",
        ] {
            let error = refused(&|server| server.discovery_urls = vec![wrong.into()]);
            assert_eq!(error, RegistrationError::Urls, "{wrong}");
            assert_eq!(error.status_code(), StatusCode::BadDiscoveryUrlMissing);
        }
        let long = format!("opc.tcp://{}", "x".repeat(600));
        let many = |count| -> Vec<UaString> {
            let ports = 4840..4840 + count;
            ports
                .map(|port| format!("opc.tcp://press7:{port}").into())
                .collect()
        };
        for urls in [vec![long.into()], many(MAX_URLS + 1)] {
            let error = refused(&|server| server.discovery_urls = urls.clone());
            assert_eq!(error, RegistrationError::TooManyUrls);
            assert_eq!(error.status_code(), StatusCode::BadInvalidArgument);
        }
        for number in 0..MAX_SERVERS {
            let uri = format!("urn:{number}");
            all.register(&server(&uri), None, now).unwrap();
        }
        let one_more = all.register(&server("urn:more"), None, now);
        assert_eq!(one_more, Err(RegistrationError::Full));
        assert_eq!(all.register(&server("urn:7"), None, now), Ok(None));
    }
}
