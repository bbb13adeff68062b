//! NamespaceIndexes of requests and responses: those of the registry, and those of the server behind a gateway.

use std::sync::{Arc, OnceLock, Weak};

use takt_app::{ClientError, NamespaceMap, client::Client};
use takt_space::{AddressSpace, RemoteResults};
use takt_ua::binary::Decode;
use takt_ua::structures::HistoryData;
use takt_ua::{ExtensionObject, foreign};

/// Address space of the registry. It is set once the server is built.
#[derive(Clone, Default)]
pub(crate) struct RegistrySpace(Arc<OnceLock<Weak<AddressSpace>>>);

impl RegistrySpace {
    /// Sets the address space.
    pub(crate) fn bind(&self, space: &Arc<AddressSpace>) {
        // A second time would be for the same address space.
        let _ = self.0.set(Arc::downgrade(space));
    }

    fn uris(&self) -> Vec<Arc<str>> {
        let space = self.0.get().and_then(Weak::upgrade);
        space.map_or_else(Vec::new, |space| space.namespaces().all())
    }
}

/// Rule for the namespace URIs of a server at the registry.
#[derive(Clone)]
pub(crate) struct Naming {
    space: RegistrySpace,
    /// Prefix of the URIs of instances at the registry; empty if they have the URIs of the server.
    prefix: String,
}

/// NamespaceIndexes in both directions.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Maps {
    /// From the registry to the server.
    pub(crate) to_server: NamespaceMap,
    /// From the server to the registry.
    pub(crate) to_registry: NamespaceMap,
    /// Namespace at the registry of the Conditions that a mirrored server has in namespace 0.
    pub(crate) standard_instances: Option<u16>,
    valid_for: ValidFor,
}

/// Session and NamespaceArrays for which maps are valid.
#[derive(Debug, Clone, Default, PartialEq)]
struct ValidFor {
    session: u64,
    registry: Vec<Arc<str>>,
    server: Vec<String>,
}

impl Naming {
    /// Creates the rule for a Provider, which has the same URIs as at the registry.
    pub(crate) fn same(space: RegistrySpace) -> Self {
        Self::prefixed(space, String::new())
    }

    /// Creates the rule for a server whose instances are in namespaces with a prefix. Types have the URIs of the server.
    pub(crate) fn prefixed(space: RegistrySpace, prefix: String) -> Self {
        Self { space, prefix }
    }

    /// Returns true for the rule of a Provider.
    pub(crate) fn is_provider(&self) -> bool {
        self.prefix.is_empty()
    }

    /// Returns true for the namespaces of the registry itself, of Providers and of mirrors: a mirror adds no types there.
    pub(crate) fn is_reserved(uri: &str) -> bool {
        uri.is_empty() || uri.starts_with("urn:takt:") || uri == takt_space::STANDARD_NAMESPACE
    }

    /// Returns the URI of a namespace of the server at the registry, for instances.
    pub(crate) fn of_instances(&self, uri: &str) -> String {
        format!("{}{uri}", self.prefix)
    }

    /// Brings the maps up to date with the session of `client`, which is opened if there is none.
    pub(crate) fn update(&self, client: &mut Client, maps: &mut Maps) -> Result<(), ClientError> {
        let registry = self.space.uris();
        // The session may be a new one after this.
        let server = client.known_namespaces()?.to_vec();
        let session = client.epoch();
        self.renew(
            maps,
            ValidFor {
                session,
                registry,
                server,
            },
        );
        Ok(())
    }

    /// Makes new maps if the URIs of a side, or the session, are others than before.
    fn renew(&self, maps: &mut Maps, valid_for: ValidFor) {
        if maps.valid_for != valid_for {
            *maps = Maps {
                valid_for: valid_for.clone(),
                ..self.maps(&valid_for.registry, &valid_for.server)
            };
        }
    }

    /// Returns the maps between two NamespaceArrays.
    pub(crate) fn maps<R: AsRef<str>>(&self, registry: &[R], server: &[String]) -> Maps {
        let position = |uri: &str| {
            let found = registry.iter().position(|known| known.as_ref() == uri);
            found.and_then(|found| u16::try_from(found).ok())
        };
        let index = |uri: &String| position(uri);
        let of_instance = |(at, uri): (usize, &String)| match at {
            0 => Some(0),
            _ => position(&self.of_instances(uri)),
        };
        let instances: Vec<Option<u16>> = server.iter().enumerate().map(of_instance).collect();
        let types = server.iter().zip(&instances);
        let is_own = |uri: &str| !self.prefix.is_empty() && Self::is_reserved(uri);
        let types = types.map(|(uri, instance)| match is_own(uri) {
            true => *instance,
            false => index(uri).or(*instance),
        });
        let plain: Vec<&str> = registry
            .iter()
            .map(|uri| {
                let uri = uri.as_ref();
                uri.strip_prefix(self.prefix.as_str()).unwrap_or(uri)
            })
            .collect();
        Maps {
            to_server: NamespaceMap::between(&plain, server),
            to_registry: NamespaceMap::from_indexes(instances.clone(), types.collect()),
            standard_instances: match self.is_provider() {
                true => None,
                false => position(&self.of_instances(takt_space::STANDARD_NAMESPACE)),
            },
            valid_for: ValidFor::default(),
        }
    }
}

impl Maps {
    /// Returns true if they are those of the session of `client`.
    pub(crate) fn are_of(&self, client: &Client) -> bool {
        self.valid_for.session == client.epoch()
    }

    /// Replaces the indexes in the results of Reads, HistoryReads and Calls.
    pub(super) fn replace_in_results(&self, results: &mut RemoteResults) {
        match results {
            RemoteResults::Read(values) => {
                for value in values.iter_mut().filter_map(|value| value.value.as_mut()) {
                    self.to_registry.replace(value);
                }
            }
            RemoteResults::Call(results) => {
                for result in results {
                    self.to_registry.replace_all(&mut result.output_arguments);
                }
            }
            RemoteResults::History(results) => {
                for result in results {
                    self.replace_in_history(&mut result.history_data);
                }
            }
            RemoteResults::Write(_) => {}
        }
    }

    /// Replaces the indexes in HistoryData.
    fn replace_in_history(&self, data: &mut ExtensionObject) {
        // Other kinds of history have no values.
        let history = foreign::decode_body::<HistoryData, _>(data, HistoryData::decode);
        if let Some(Ok(mut history)) = history {
            let values = history.data_values.iter_mut();
            for value in values.filter_map(|value| value.value.as_mut()) {
                self.to_registry.replace(value);
            }
            *data = ExtensionObject::from_structure(&history);
        }
    }
}

#[cfg(test)]
mod tests {
    use takt_ua::NodeId;

    use super::*;

    #[test]
    fn instances_of_a_mirror_have_namespaces_of_their_own() {
        let naming = Naming::prefixed(RegistrySpace::default(), "urn:m:".to_owned());
        let standard = takt_space::STANDARD_NAMESPACE;
        let server = [standard, "urn:plc", "urn:types"].map(str::to_owned);
        let registry = [
            standard,
            "urn:registry",
            "urn:types",
            "urn:m:urn:plc",
            "urn:m:urn:types",
            "urn:m:http://opcfoundation.org/UA/",
        ];
        let maps = naming.maps(&registry, &server);
        let node = |namespace| NodeId::numeric(namespace, 1);
        assert_eq!(maps.to_registry.node_id(&node(1)), node(3));
        assert_eq!(maps.to_registry.node_id(&node(2)), node(4));
        assert_eq!(maps.to_registry.type_id(&node(2)), node(2));
        assert_eq!(maps.to_registry.type_id(&node(1)), node(3));
        assert_eq!(maps.standard_instances, Some(5));
        for (registry, server) in [(0, 0), (2, 2), (3, 1), (4, 2), (5, 0)] {
            assert_eq!(maps.to_server.node_id(&node(registry)), node(server));
        }
        assert_eq!(maps.to_server.index(1), None);
    }

    #[test]
    fn a_renamed_uri_gets_another_index() {
        let naming = Naming::same(RegistrySpace::default());
        let registry: Vec<Arc<str>> = ["ua", "urn:a", "urn:b"].map(Arc::from).to_vec();
        let valid_for = |uri: &str| ValidFor {
            session: 1,
            registry: registry.clone(),
            server: vec!["ua".to_owned(), uri.to_owned()],
        };
        let mut maps = Maps::default();
        let node = |namespace| NodeId::numeric(namespace, 1);
        for (uri, expected) in [("urn:a", 1), ("urn:b", 2)] {
            naming.renew(&mut maps, valid_for(uri));
            assert_eq!(maps.to_registry.node_id(&node(1)), node(expected));
        }
        // A URI of the registry may have another one's place, too.
        let mut other = valid_for("urn:b");
        other.registry.swap(1, 2);
        naming.renew(&mut maps, other);
        assert_eq!(maps.to_registry.node_id(&node(1)), node(1));
    }

    #[test]
    fn a_provider_has_the_same_uris() {
        let naming = Naming::same(RegistrySpace::default());
        let server = ["ua", "urn:takt:provider:P", "urn:types"].map(str::to_owned);
        let registry = ["ua", "urn:registry", "urn:types", "urn:takt:provider:P"];
        let maps = naming.maps(&registry, &server);
        let node = |namespace| NodeId::numeric(namespace, 1);
        assert_eq!(maps.to_server.node_id(&node(3)), node(1));
        assert_eq!(maps.to_registry.node_id(&node(1)), node(3));
        assert_eq!(maps.to_registry.type_id(&node(2)), node(2));
    }
}
