//! The NamespaceArray in the database.
//!
//! An index keeps its URI, even after `registry forget`, so that a returning Provider gets its NodeIds back. Only if
//! more than half of the NamespaceArray is used, the registry frees forgotten namespaces when it starts: no client
//! has a Session then, and a NamespaceIndex may change for future Sessions (OPC 10000-3, 5.2.2). Namespaces used by a
//! record are kept.

use std::collections::HashSet;

use takt_app::model;
use takt_space::{AddressSpace, Change};
use takt_ua::structures::{
    AddNodesItem, GenericAttributes, VariableAttributes, VariableTypeAttributes,
};
use takt_ua::{ExtensionObject, Variant};

use crate::database::Contents;
use crate::error::RegistryError;
use crate::mirror::MirrorOptions;

/// Returns the namespaces of the server that are missing in the database, as changes to be recorded.
pub(crate) fn unknown(space: &AddressSpace, contents: &Contents) -> Vec<Change> {
    let namespaces = space.namespaces();
    (0_u16..)
        .zip(namespaces.all())
        .filter(|(index, _)| !namespaces.is_free(*index))
        .filter(|(index, _)| !contents.namespaces.iter().any(|(known, _)| known == index))
        .map(|(index, uri)| Change::AddNamespace {
            index,
            uri: uri.as_ref().to_owned(),
        })
        .collect()
}

/// Removes owners of namespaces without a URI from `contents`, and returns these namespaces: their indexes are free, and
/// another Provider may get.
pub(crate) fn take_unnamed(contents: &mut Contents) -> Vec<u16> {
    let named: HashSet<u16> = contents
        .namespaces
        .iter()
        .map(|(index, _)| *index)
        .collect();
    let mut unnamed = Vec::new();
    let mut stays = |index: &u16| {
        let stays = named.contains(index);
        if !stays {
            unnamed.push(*index);
        }
        stays
    };
    contents.owners.retain(|(index, _)| stays(index));
    contents.additional.retain(|(index, _)| stays(index));
    unnamed
}

/// Removes the forgotten namespaces from `contents` and returns them, if a NamespaceArray for `capacity` namespaces
/// needs their places: those of Providers that are forgotten, also those that they have added, and of servers that are not in `mirrors`. If more than half
/// is used even so, the other namespaces of mirrors are freed too: a server may have had new ones at each of its starts.
pub(crate) fn take_forgotten(
    contents: &mut Contents,
    capacity: usize,
    mirrors: &[MirrorOptions],
) -> Vec<u16> {
    let most = capacity / 2;
    if contents.namespaces.len() <= most {
        return Vec::new();
    }
    let mut used: HashSet<u16> = contents.owners.iter().map(|(index, _)| *index).collect();
    for (_, change) in &contents.changes {
        used.extend(namespaces_of(change));
    }
    let providers = contents.providers.iter();
    let registered: HashSet<String> = providers
        .map(|provider| model::provider_uri(&provider.name))
        .collect();
    let of_providers = model::provider_uri("");
    let is_provider_gone =
        |uri: &String| uri.starts_with(&of_providers) && !registered.contains(uri);
    let is_mirrored = |uri: &str| mirrors.iter().any(|mirror| mirror.has_namespace(uri));
    let mut forgotten = Vec::new();
    let additional = contents.additional.iter();
    let vacant: HashSet<u16> = additional
        .filter(|(_, provider)| provider.is_empty())
        .map(|(index, _)| *index)
        .collect();
    let mut take = |is_forgotten: &dyn Fn(u16, &String) -> bool| {
        contents.namespaces.retain(|(index, uri)| {
            let stays = used.contains(index) || !is_forgotten(*index, uri);
            if !stays {
                forgotten.push(*index);
            }
            stays
        });
        contents.namespaces.len()
    };
    let left = take(&|index, uri| {
        vacant.contains(&index)
            || is_provider_gone(uri)
            || MirrorOptions::is_of_mirrors(uri) && !is_mirrored(uri)
    });
    if left > most {
        take(&|_, uri| MirrorOptions::is_of_mirrors(uri));
    }
    let additional = &mut contents.additional;
    additional.retain(|(index, _)| !forgotten.contains(index));
    forgotten
}

/// Returns the namespaces of what a change names: nodes, names and DataTypes. Values are not checked.
fn namespaces_of(change: &Change) -> Vec<u16> {
    match change {
        Change::AddNamespace { index, .. } => vec![*index],
        Change::AddNode(item) => {
            let nodes = [
                &item.parent_node_id.node_id,
                &item.reference_type_id,
                &item.requested_new_node_id.node_id,
                &item.type_definition.node_id,
            ];
            let nodes = nodes.map(|node| node.namespace);
            let others = [item.browse_name.namespace, data_type(item)];
            nodes.into_iter().chain(others).collect()
        }
        Change::AddReference(item) => vec![
            item.source_node_id.namespace,
            item.reference_type_id.namespace,
            item.target_node_id.node_id.namespace,
        ],
        Change::DeleteReference(item) => vec![
            item.source_node_id.namespace,
            item.reference_type_id.namespace,
            item.target_node_id.node_id.namespace,
        ],
        Change::DeleteNode(item) => vec![item.node_id.namespace],
        Change::SetAttribute(change) => vec![change.node_id.namespace],
    }
}

fn data_type(item: &AddNodesItem) -> u16 {
    let attributes = &item.node_attributes;
    let variable = attributes.decode_as::<VariableAttributes>();
    let variable = variable.map(|variable| variable.data_type.namespace);
    let of_type = || {
        let attributes = attributes.decode_as::<VariableTypeAttributes>();
        attributes.map_or(0, |variable| variable.data_type.namespace)
    };
    let of_type = |_| generic(attributes).unwrap_or_else(of_type);
    variable.unwrap_or_else(of_type)
}

/// Returns the namespace of the DataType in GenericAttributes.
fn generic(attributes: &ExtensionObject) -> Option<u16> {
    let generic: GenericAttributes = attributes.decode_as().ok()?;
    let values = generic.attribute_values.into_iter();
    // 14 is the DataType (OPC 10000-6, A.1).
    let mut data_types = values.filter(|value| value.attribute_id == 14);
    match data_types.next()?.value {
        Variant::NodeId(data_type) => Some(data_type.namespace),
        _ => None,
    }
}

/// Restores the index of every namespace of the database. Indexes without a URI are free.
pub(crate) fn restore(space: &AddressSpace, contents: &mut Contents) -> Result<(), RegistryError> {
    let namespaces = space.namespaces();
    // `register` gives the indexes in order.
    contents.namespaces.sort_unstable();
    let mut free = Vec::new();
    for (index, uri) in &contents.namespaces {
        while let Ok(next) = u16::try_from(namespaces.all().len())
            && next < *index
        {
            // This entry fills the place until all namespaces have their indexes.
            free.push(namespaces.register(&format!("urn:takt:free:{next}"))?);
        }
        let found = namespaces.register(uri)?;
        if found != *index {
            let expected = namespaces.uri(*index);
            return Err(RegistryError::Namespace {
                index: *index,
                found: uri.clone(),
                expected: expected.map_or_else(String::new, |uri| uri.as_ref().to_owned()),
            });
        }
    }
    for index in free {
        namespaces.release(index);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use takt_services::Server;
    use takt_ua::NodeId;
    use takt_ua::structures::AddReferencesItem;

    use super::*;
    use crate::database::ProviderRecord;
    use crate::names::Owner;

    fn contents() -> Contents {
        let provider = |index: u16| (index, model::provider_uri(&format!("P{index}")));
        let refers = AddReferencesItem {
            source_node_id: NodeId::numeric(2, 1),
            target_node_id: NodeId::numeric(5, 1).into(),
            ..AddReferencesItem::default()
        };
        Contents {
            namespaces: [2, 3, 4, 5, 6].map(provider).into(),
            owners: vec![(3, Owner::User(0))],
            providers: vec![ProviderRecord {
                name: "P2".to_owned(),
                user: Some(0),
                secret_digest: Vec::new(),
            }],
            changes: vec![("P2".to_owned(), Change::AddReference(refers))],
            ..Contents::default()
        }
    }

    #[test]
    fn only_unused_namespaces_are_freed_and_only_if_room_is_needed() {
        let mut kept = contents();
        assert!(take_forgotten(&mut kept, 10, &[]).is_empty());
        assert_eq!(kept.namespaces.len(), 5);
        // 2 has a Provider, 3 an owner, and 5 is the target of a reference.
        assert_eq!(take_forgotten(&mut kept, 8, &[]), vec![4_u16, 6]);
        let left = kept.namespaces.iter().map(|(index, _)| *index);
        assert_eq!(left.collect::<Vec<u16>>(), vec![2_u16, 3, 5]);
    }

    #[test]
    fn forgotten_namespaces_with_uris_of_choice_are_freed_and_those_without_a_uri_have_no_owner() {
        let of_choice = || {
            let mut contents = contents();
            let chosen = [(7, "urn:a"), (8, "urn:b"), (9, "urn:c")];
            let chosen = chosen.map(|(index, uri)| (index, uri.to_owned()));
            contents.namespaces.extend(chosen);
            let name = |name: &str| name.to_owned();
            contents.additional = vec![(7, name("")), (8, name("P2")), (10, name("P2"))];
            contents.owners.push((8, Owner::User(0)));
            contents.owners.push((11, Owner::User(0)));
            contents
        };
        let mut kept = of_choice();
        assert_eq!(take_unnamed(&mut kept), vec![11_u16, 10]);
        assert_eq!(take_forgotten(&mut kept, 12, &[]), vec![4_u16, 6, 7]);
        // The namespace 9 is that of a NodeSet.
        let left = kept.namespaces.iter().map(|(index, _)| *index);
        assert_eq!(left.collect::<Vec<u16>>(), vec![2_u16, 3, 5, 8, 9]);
        assert_eq!(kept.additional, vec![(8, "P2".to_owned())]);
        let owners = kept.owners.iter().map(|(index, _)| *index);
        assert_eq!(owners.collect::<Vec<u16>>(), vec![3_u16, 8]);
        let mut used = of_choice();
        let owner = used.changes[0].0.clone();
        let refers = AddReferencesItem {
            source_node_id: NodeId::numeric(7, 1),
            ..AddReferencesItem::default()
        };
        used.changes.push((owner, Change::AddReference(refers)));
        assert_eq!(take_forgotten(&mut used, 12, &[]), vec![4_u16, 6]);
    }

    #[test]
    fn namespaces_of_mirrors_are_freed_after_those_of_servers_that_are_not_mirrored() {
        let names = [
            (2, "urn:takt:mirror:A"),
            (3, "urn:takt:mirror:A:urn:x"),
            (4, "urn:takt:mirror:B:urn:x"),
            (5, "urn:x"),
        ];
        let of_mirrors = || Contents {
            namespaces: names.map(|(index, uri)| (index, uri.to_owned())).into(),
            ..Contents::default()
        };
        let mirrors = ["A=opc.tcp://plc:4840".parse().unwrap()];
        let freed = |capacity| take_forgotten(&mut of_mirrors(), capacity, &mirrors);
        assert!(freed(8).is_empty());
        assert_eq!(freed(6), vec![4_u16]);
        assert_eq!(freed(4), vec![4_u16, 2, 3]);
    }

    #[test]
    fn indexes_of_forgotten_namespaces_are_reused() {
        let mut contents = contents();
        let _ = take_forgotten(&mut contents, 8, &[]);
        let server = Server::builder("Names", "urn:names").build().unwrap();
        let space = server.address_space();
        restore(space, &mut contents).unwrap();
        let namespaces = space.namespaces();
        assert_eq!(namespaces.index_of(&model::provider_uri("P5")), Some(5));
        assert_eq!(namespaces.index_of(&model::provider_uri("P4")), None);
        assert!(namespaces.is_free(4));
        let recorded = |change: &Change| matches!(change, Change::AddNamespace { index: 4, .. });
        assert!(!unknown(space, &contents).iter().any(recorded));
        assert_eq!(namespaces.register("urn:new"), Ok(4));
        assert_eq!(namespaces.register("urn:newer"), Ok(6));
        assert!(unknown(space, &contents).iter().any(recorded));
    }
}
