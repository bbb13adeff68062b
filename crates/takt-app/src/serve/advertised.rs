//! The host under which clients reach a server, where it is not the one of their own URL: behind a router, for example.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::str::FromStr;

use takt_client::Endpoint;
use takt_services::AnnouncedHost;
use takt_tcp::EndpointUrl;

/// `HOST[:PORT]` in the EndpointUrls of GetEndpoints, FindServers and CreateSession (OPC 10000-4, 5.5 and 5.7.2), instead of the
/// host that the client used.
///
/// ```
/// use takt_app::serve::Advertised;
///
/// let advertised: Advertised = "plant.example:14840".parse()?;
/// assert_eq!(advertised.host(), "plant.example");
/// # Ok::<(), takt_app::serve::AdvertisedError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advertised {
    /// A URL with the host.
    host: EndpointUrl,
    /// The port, if it is another one than that of the endpoint.
    port: Option<u16>,
}

/// Error of a text that is not `HOST[:PORT]`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` cannot be advertised: {reason}; write HOST or HOST:PORT, an IPv6 address in brackets"
)]
pub struct AdvertisedError {
    /// Given text.
    pub text: String,
    /// The reason.
    pub reason: String,
}

impl Advertised {
    /// Returns the host; an IPv6 address without its brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.host.host()
    }

    /// Returns the port, if one was given.
    #[must_use]
    pub const fn port(&self) -> Option<u16> {
        self.port
    }

    /// Returns the URL of an endpoint with the advertised host.
    #[must_use]
    pub fn url(&self, endpoint: &EndpointUrl) -> EndpointUrl {
        let port = self.port.unwrap_or(endpoint.port());
        endpoint.with_host_of(&self.host).with_port(port)
    }
}

impl Advertised {
    /// Returns false if one port stands for several endpoints over TCP.
    pub(super) fn fits(&self, endpoints: &[Endpoint]) -> bool {
        let over_tcp = endpoints.iter().filter(|one| !one.is_shared_memory());
        self.port.is_none() || over_tcp.count() <= 1
    }
}

/// Returns endpoints as clients on other hosts reach them.
pub(super) fn advertised(endpoints: &[Endpoint], advertise: Option<&Advertised>) -> Vec<Endpoint> {
    let one = |endpoint: &Endpoint| match (endpoint, advertise) {
        (Endpoint::Tcp(url), Some(advertise)) => Endpoint::Tcp(advertise.url(url)),
        _ => endpoint.clone(),
    };
    endpoints.iter().map(one).collect()
}

/// Returns endpoints as a registry on another host reaches them: in place of all addresses (0.0.0.0, ::), the one of this host on
/// the way to the registry. No message is sent for this.
pub(crate) fn towards(endpoints: Vec<Endpoint>, registry: &Endpoint) -> Vec<Endpoint> {
    let Endpoint::Tcp(registry) = registry else {
        return endpoints;
    };
    let is_unspecified = |one: &Endpoint| matches!(one, Endpoint::Tcp(url) if url.is_unspecified());
    if !endpoints.iter().any(is_unspecified) {
        return endpoints;
    }
    let Some(local) = local_address_towards(registry) else {
        tracing::warn!(
            %registry,
            "the registry gets an endpoint without a host, because there is no way to it yet: an advertised host names one"
        );
        return endpoints;
    };
    // A registry on this host reaches the endpoints at all addresses.
    if local.is_loopback() {
        return endpoints;
    }
    let host = EndpointUrl::from_address(SocketAddr::new(local, 0));
    let one = |endpoint: Endpoint| match endpoint {
        Endpoint::Tcp(url) if url.is_unspecified() => Endpoint::Tcp(url.with_host_of(&host)),
        other => other,
    };
    endpoints.into_iter().map(one).collect()
}

fn local_address_towards(peer: &EndpointUrl) -> Option<IpAddr> {
    let peer = peer.resolve().ok()?.into_iter().next()?;
    let any: IpAddr = match peer {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    // This only chooses the route.
    socket.connect(peer).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// Returns the URL that clients get of an endpoint, and the rule for its host.
pub(super) fn announced(
    url: &EndpointUrl,
    advertise: Option<&Advertised>,
) -> (EndpointUrl, AnnouncedHost) {
    match advertise {
        Some(advertise) => (advertise.url(url), AnnouncedHost::Configured),
        // Clients that name no host get the name of this one.
        None if url.is_unspecified() => {
            let name = takt_client::certificates::host_name().parse();
            let named = name.map_or(url.clone(), |name: Advertised| name.url(url));
            (named, AnnouncedHost::OfClient)
        }
        None => (url.clone(), AnnouncedHost::OfClientOnPort),
    }
}

impl FromStr for Advertised {
    type Err = AdvertisedError;

    fn from_str(text: &str) -> Result<Self, AdvertisedError> {
        let failed = |reason: &str| AdvertisedError {
            text: text.to_owned(),
            reason: reason.to_owned(),
        };
        if text.contains("://") {
            return Err(failed("it has a scheme"));
        }
        let parsed = format!("opc.tcp://{text}").parse();
        let host: EndpointUrl =
            parsed.map_err(|error: takt_tcp::EndpointUrlError| failed(&error.to_string()))?;
        if !host.path().is_empty() || text.ends_with('/') {
            return Err(failed("it has a path"));
        }
        if host.is_unspecified() {
            return Err(failed("no client can connect to this address"));
        }
        // The URL has a port in any case: the text tells whether one was given. An address in brackets has colons of its own.
        let after_host = text.rsplit_once(']').map_or(text, |(_, after)| after);
        let port = after_host.contains(':').then(|| host.port());
        if port == Some(0) || text.ends_with(':') {
            return Err(failed("0 is no port to connect to"));
        }
        // Clients get it back as they would write it: in ASCII.
        if !host.host().is_ascii() {
            return Err(failed(
                "a name with other characters than ASCII is written in its encoded form, xn--...",
            ));
        }
        Ok(Self { host, port })
    }
}

impl fmt::Display for Advertised {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host() {
            host if host.contains(':') => write!(formatter, "[{host}]"),
            host => formatter.write_str(host),
        }?;
        self.port
            .map_or(Ok(()), |port| write!(formatter, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports_are_read() {
        for (text, host, port) in [
            ("plant.example", "plant.example", None),
            ("plant:14840", "plant", Some(14840)),
            ("192.0.2.7:4840", "192.0.2.7", Some(4840)),
            ("[fd00::7]", "fd00::7", None),
            ("[fd00::7]:1", "fd00::7", Some(1)),
        ] {
            let advertised: Advertised = text.parse().unwrap();
            assert_eq!((advertised.host(), advertised.port()), (host, port));
            assert_eq!(advertised.to_string(), text);
        }
        for wrong in [
            "",
            ":4840",
            "plant:",
            "plant:0",
            "plant:65536",
            "plant/line",
            "plant/",
            "a b",
            "0.0.0.0",
            "[::]:4840",
            "::1",
            "opc.tcp://plant",
            "h\u{f6}st",
        ] {
            let error = wrong.parse::<Advertised>().unwrap_err();
            assert!(error.to_string().contains("HOST:PORT"), "{error}");
        }
    }

    #[test]
    fn a_scheme_is_no_path() {
        let error = "opc.tcp://plc:4840".parse::<Advertised>().unwrap_err();
        assert!(error.reason.contains("scheme"), "{error}");
    }

    #[test]
    fn the_port_of_the_endpoint_is_kept_unless_another_one_is_given() {
        let endpoint: EndpointUrl = "opc.tcp://0.0.0.0:4841/line".parse().unwrap();
        let url = |text: &str| {
            let advertised: Advertised = text.parse().unwrap();
            advertised.url(&endpoint).to_string()
        };
        assert_eq!(url("plant"), "opc.tcp://plant:4841/line");
        assert_eq!(url("[::1]:9"), "opc.tcp://[::1]:9/line");
    }

    #[test]
    fn announced_urls() {
        let of = |url: &str, advertise: Option<&str>| {
            let advertise = advertise.map(|text| text.parse().unwrap());
            let (url, rule) = announced(&url.parse().unwrap(), advertise.as_ref());
            (url.to_string(), rule)
        };
        let one = "opc.tcp://192.0.2.7:4840";
        assert_eq!(
            of(one, None),
            (one.to_owned(), AnnouncedHost::OfClientOnPort)
        );
        let plant = ("opc.tcp://plant:4840".to_owned(), AnnouncedHost::Configured);
        assert_eq!(of(one, Some("plant")), plant);
        assert_eq!(of("opc.tcp://0.0.0.0:4840", Some("plant")), plant);
        let (url, rule) = of("opc.tcp://[::]:4840", None);
        assert_eq!(rule, AnnouncedHost::OfClient);
        assert!(!url.contains("::"), "{url}");
    }

    #[test]
    fn a_registry_on_this_host_gets_the_endpoints_as_they_are() {
        let endpoint = |text: &str| text.parse::<Endpoint>().unwrap();
        let all = vec![endpoint("opc.iox2://A"), endpoint("opc.tcp://0.0.0.0:4841")];
        let local = endpoint("opc.tcp://127.0.0.1:4840");
        assert_eq!(towards(all.clone(), &local), all);
        assert_eq!(towards(all.clone(), &endpoint("opc.iox2://Registry")), all);
        let address = local_address_towards(&"opc.tcp://127.0.0.1:1".parse().unwrap());
        assert_eq!(address, Some(Ipv4Addr::LOCALHOST.into()));
    }

    #[test]
    fn one_port_stands_for_one_endpoint() {
        let plant: Advertised = "plant:14840".parse().unwrap();
        let endpoint = |text: &str| text.parse::<Endpoint>().unwrap();
        let one = [endpoint("opc.iox2://A"), endpoint("opc.tcp://127.0.0.1:1")];
        assert!(plant.fits(&one));
        let urls = advertised(&one, Some(&plant));
        assert_eq!(urls[0], one[0]);
        assert_eq!(urls[1].to_string(), "opc.tcp://plant:14840");
        assert_eq!(advertised(&one, None), one);
        let two = [
            endpoint("opc.tcp://127.0.0.1:1"),
            endpoint("opc.tcp://127.0.0.1:2"),
        ];
        assert!(!plant.fits(&two));
        let host: Advertised = "plant".parse().unwrap();
        assert!(host.fits(&two));
    }
}
