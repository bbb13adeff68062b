//! SecurityKeyServices that push keys (OPC 10000-14, 6.2.5.4).

use std::collections::{BTreeMap, BTreeSet};

use takt_ua::UaString;
use takt_ua::enumerations::{ApplicationType, MessageSecurityMode};
use takt_ua::structures::{EndpointDescription, PubSubConfiguration2DataType};

/// Returns the SecurityGroups of a configuration, each with the ApplicationUris of the services that may push its keys.
///
/// These are the SecurityKeyServices with the ApplicationType Client, of each WriterGroup, ReaderGroup and DataSetReader with the
/// SecurityGroup, or else the DefaultSecurityKeyServices. If several components have one SecurityGroup, all of them have to name
/// the service: it sets the keys of all.
pub fn key_services(
    configuration: &PubSubConfiguration2DataType,
) -> BTreeMap<String, BTreeSet<String>> {
    let default = &configuration.default_security_key_services;
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut note =
        |mode: MessageSecurityMode, id: &UaString, services: &Vec<EndpointDescription>| {
            if matches!(
                mode,
                MessageSecurityMode::None | MessageSecurityMode::Invalid
            ) {
                return;
            }
            let named = if services.is_empty() {
                default
            } else {
                services
            };
            let pushing = named
                .iter()
                .filter(|service| service.server.application_type == ApplicationType::Client)
                .map(|service| service.server.application_uri.as_str().to_owned());
            let pushing: BTreeSet<String> = pushing.filter(|uri| !uri.is_empty()).collect();
            found
                .entry(id.as_str().to_owned())
                .and_modify(|all| all.retain(|uri| pushing.contains(uri)))
                .or_insert(pushing);
        };
    for connection in &configuration.connections {
        for group in &connection.writer_groups {
            note(
                group.security_mode,
                &group.security_group_id,
                &group.security_key_services,
            );
        }
        for group in &connection.reader_groups {
            let mut of_group = group.data_set_readers.is_empty();
            for reader in &group.data_set_readers {
                if reader.security_mode == MessageSecurityMode::Invalid {
                    of_group = true;
                } else {
                    note(
                        reader.security_mode,
                        &reader.security_group_id,
                        &reader.security_key_services,
                    );
                }
            }
            if of_group {
                note(
                    group.security_mode,
                    &group.security_group_id,
                    &group.security_key_services,
                );
            }
        }
    }
    found
}

#[cfg(test)]
#[cfg(feature = "toml")]
mod tests {
    use super::*;
    use crate::configuration::from_toml;

    fn services(text: &str) -> BTreeMap<String, BTreeSet<String>> {
        key_services(&from_toml(text).unwrap().configuration)
    }

    fn uris(uris: &[&str]) -> BTreeSet<String> {
        uris.iter().map(|uri| (*uri).to_owned()).collect()
    }

    const DEFAULT: &str = r#"
        default_security_key_services = [
            { Server = { ApplicationUri = "urn:keys", ApplicationType = "Client" } },
            { Server = { ApplicationUri = "urn:pulled", ApplicationType = "Server" } },
        ]
        "#;

    const WRITER_GROUP: &str = r#"
        [[connections]]
        name = "UDP"
        publisher_id = 5
        address = "opc.udp://127.0.0.1:4840"

        [[connections.writer_groups]]
        name = "A"
        writer_group_id = 1
        publishing_interval = "1s"
        security_mode = "Sign"
        security_group_id = "Plant"
        "#;

    #[test]
    fn services_with_the_type_client_push() {
        let found = services(&format!("{DEFAULT}{WRITER_GROUP}"));
        assert_eq!(
            found,
            BTreeMap::from([("Plant".to_owned(), uris(&["urn:keys"]))])
        );
        let without = services(WRITER_GROUP);
        assert_eq!(without, BTreeMap::from([("Plant".to_owned(), uris(&[]))]));
    }

    #[test]
    fn groups_and_readers_name_services_of_their_own() {
        let own = r#"
        security_key_services = [
            { Server = { ApplicationUri = "urn:own", ApplicationType = "Client" } },
            { Server = { ApplicationUri = "urn:spare", ApplicationType = "Client" } },
        ]
        "#;
        let reader = r#"
        [[connections.reader_groups]]
        name = "B"

        [[connections.reader_groups.data_set_readers]]
        name = "R"
        security_mode = "Sign"
        security_group_id = "Plant"
        security_key_services = [{ Server = { ApplicationUri = "urn:spare", ApplicationType = "Client" } }]
        fields = [{ name = "A", data_type = "Double" }]

        [[connections.reader_groups.data_set_readers]]
        name = "S"
        security_mode = "SignAndEncrypt"
        security_group_id = "Line"
        fields = [{ name = "A", data_type = "Double" }]
        "#;
        let found = services(&format!("{DEFAULT}{WRITER_GROUP}{own}{reader}"));
        // Both components have to name the service of the SecurityGroup.
        let expected = [
            ("Line".to_owned(), uris(&["urn:keys"])),
            ("Plant".to_owned(), uris(&["urn:spare"])),
        ];
        assert_eq!(found, BTreeMap::from(expected));
    }
}
