//! Checks of options before the registry starts.

use std::net::IpAddr;

use takt_app::{Endpoint, EndpointUrl};

use super::options::RegistryOptions;
use crate::discovery::{host_name, is_loopback, is_of_this_host};
use crate::error::RegistryError;

/// Refuses options that contradict each other, and warns of those without an effect.
pub(super) fn check(options: &RegistryOptions) -> Result<(), RegistryError> {
    options.history.check()?;
    let mut discovery_servers = options.register_at.endpoints.iter();
    if let Some(own) = discovery_servers.find(|endpoint| is_own(endpoint, options)) {
        return Err(RegistryError::OwnRegistration(own.to_string()));
    }
    for mirror in &options.mirrors {
        if mirror.interval.is_zero() {
            return Err(RegistryError::MirrorInterval(mirror.name.clone()));
        }
        // A server that connects to the registry is another one.
        if mirror.reverse.is_none() && is_own(&mirror.endpoint, options) {
            return Err(RegistryError::OwnMirror(mirror.name.clone()));
        }
        let of_mirror = |pattern: &&String| {
            let provider = pattern.split('/').next();
            provider == Some(mirror.name.as_str())
        };
        let history = &options.history;
        let mut patterns = history.patterns.iter().chain(&history.events);
        if let Some(pattern) = patterns.find(of_mirror) {
            tracing::warn!(
                mirror = mirror.name,
                pattern,
                "history: the values of a mirror are not recorded, and its Events only with those of Server"
            );
        }
    }
    Ok(())
}

/// Returns true if an endpoint is that of the registry.
fn is_own(endpoint: &Endpoint, options: &RegistryOptions) -> bool {
    let (Endpoint::Tcp(other), Endpoint::Tcp(own)) = (endpoint, &options.endpoint) else {
        return false;
    };
    let advertised = options.serve.advertise.as_ref();
    if advertised.is_some_and(|advertised| advertised.url(own) == *other) {
        return true;
    }
    own.port() != 0 && own.port() == other.port() && is_same_host(own, other)
}

fn is_same_host(own: &EndpointUrl, other: &EndpointUrl) -> bool {
    let (host, other_host) = (own.host(), other.host());
    let address = |host: &str| host.trim_matches(['[', ']']).parse::<IpAddr>().ok();
    // The registry listens at each address of this host.
    if own.is_unspecified() {
        return is_loopback(other_host) || is_of_this_host(&other.to_string(), &host_name());
    }
    // `localhost` is each address of the loopback interface.
    let has_name = address(host).is_none() || address(other_host).is_none();
    host.eq_ignore_ascii_case(other_host)
        || is_loopback(host) && is_loopback(other_host) && has_name
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::mirror::MirrorOptions;

    fn options(endpoint: &str, mirror: &str) -> RegistryOptions {
        RegistryOptions {
            endpoint: endpoint.parse().unwrap(),
            mirrors: vec![mirror.parse().unwrap()],
            ..RegistryOptions::default()
        }
    }

    #[test]
    fn a_registry_does_not_mirror_itself() {
        let own_name = format!("opc.tcp://{}:4840", host_name());
        for (own, mirror, expected) in [
            ("opc.tcp://127.0.0.1:4840", "opc.tcp://127.0.0.1:4840", true),
            (
                "opc.tcp://127.0.0.1:4840",
                "A=opc.tcp://localhost:4840",
                true,
            ),
            ("opc.tcp://0.0.0.0:4840", "A=opc.tcp://127.0.0.1:4840", true),
            ("opc.tcp://[::]:4840", own_name.as_str(), true),
            (
                "opc.tcp://127.0.0.1:4840",
                "opc.tcp://127.0.0.1:4841",
                false,
            ),
            (
                "opc.tcp://127.0.0.1:4840",
                "opc.tcp://127.0.0.2:4840",
                false,
            ),
            ("opc.tcp://127.0.0.1:0", "opc.tcp://127.0.0.1:4840", false),
            ("opc.tcp://0.0.0.0:4840", "opc.tcp://192.0.2.7:4840", false),
        ] {
            let checked = check(&options(own, mirror));
            let is_refused = matches!(checked, Err(RegistryError::OwnMirror(_)));
            assert_eq!(is_refused, expected, "{own} {mirror}");
        }
        let mut behind = options("opc.tcp://0.0.0.0:4840", "opc.tcp://plant.example:14840");
        assert!(check(&behind).is_ok());
        behind.serve.advertise = Some("plant.example:14840".parse().unwrap());
        assert!(check(&behind).is_err(), "the port is that of the gateway");
    }

    #[test]
    fn a_registry_does_not_register_at_itself() {
        let mut options = options("opc.tcp://0.0.0.0:4840", "opc.tcp://192.0.2.7:4840");
        options.register_at.endpoints = vec!["opc.tcp://lds.example:4840".parse().unwrap()];
        assert!(check(&options).is_ok());
        let own = "opc.tcp://127.0.0.1:4840".parse().unwrap();
        options.register_at.endpoints.push(own);
        let error = check(&options).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("opc.tcp://127.0.0.1:4840, at which to register")
        );
    }

    #[test]
    fn a_mirror_has_an_interval() {
        let mut wrong = options("opc.tcp://127.0.0.1:0", "Press=opc.tcp://plc:4840");
        wrong.mirrors[0].interval = Duration::ZERO;
        let error = check(&wrong).unwrap_err();
        assert!(error.to_string().contains("250ms"), "{error}");
        let usual: MirrorOptions = "Press=opc.tcp://plc:4840".parse().unwrap();
        wrong.mirrors[0].interval = usual.interval;
        assert!(check(&wrong).is_ok());
    }
}
