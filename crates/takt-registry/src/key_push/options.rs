//! Push targets in the form of the command line.

use std::str::FromStr;

use takt_app::{Endpoint, EndpointError};

/// An application to which the keys of a SecurityGroup are pushed (OPC 10000-14, 6.2.12.3).
///
/// The text form is `GROUP=URI@URL`, for example `Plant=urn:takt:pubsub:press@opc.tcp://10.0.0.2:4850`. Several options with one URI
/// and URL are one target with several SecurityGroups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushTargetOptions {
    /// The SecurityGroup.
    pub security_group: String,
    /// ApplicationUri, which has to be in the certificate of the target: another application does not get the keys.
    pub application_uri: String,
    /// Endpoint over `opc.tcp`.
    pub endpoint: Endpoint,
}

/// Error of a text that is not a push target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PushTargetError {
    /// A part is missing.
    #[error(
        "a push target is GROUP=URI@URL, for example Plant=urn:takt:pubsub:press@opc.tcp://10.0.0.2:4850"
    )]
    Form,
    /// The URL is not an endpoint.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The endpoint is one of shared memory.
    #[error(
        "keys are pushed over opc.tcp, not over shared memory: within a host, applications ask for them"
    )]
    SharedMemory,
}

impl FromStr for PushTargetOptions {
    type Err = PushTargetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (group, target) = text.split_once('=').ok_or(PushTargetError::Form)?;
        // A URI may have an @, the URL has none.
        let (uri, url) = target.rsplit_once('@').ok_or(PushTargetError::Form)?;
        if group.is_empty() || uri.is_empty() {
            return Err(PushTargetError::Form);
        }
        let endpoint: Endpoint = url.parse()?;
        if endpoint.is_shared_memory() {
            return Err(PushTargetError::SharedMemory);
        }
        Ok(Self {
            security_group: group.to_owned(),
            application_uri: uri.to_owned(),
            endpoint,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_and_mistakes_named() {
        let read = |text: &str| text.parse::<PushTargetOptions>();
        let target = read("Plant=urn:takt:pubsub:a@b@opc.tcp://10.0.0.2:4850").unwrap();
        assert_eq!(target.security_group, "Plant");
        assert_eq!(target.application_uri, "urn:takt:pubsub:a@b");
        assert_eq!(target.endpoint.to_string(), "opc.tcp://10.0.0.2:4850");
        for text in [
            "",
            "Plant",
            "Plant=urn:x",
            "=urn:x@opc.tcp://a:1",
            "Plant=@opc.tcp://a:1",
        ] {
            assert_eq!(read(text), Err(PushTargetError::Form), "{text}");
        }
        assert!(matches!(
            read("Plant=urn:x@http://a:1"),
            Err(PushTargetError::Endpoint(_))
        ));
        assert_eq!(
            read("Plant=urn:x@opc.iox2://A"),
            Err(PushTargetError::SharedMemory)
        );
    }
}
