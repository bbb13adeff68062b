//! NodeManagement in slices: same results, and work that is linear in the number of nodes.

use std::sync::Arc;

use crate::common::{Client, builder, decode, message};
use takt_services::{EverybodyManages, NodeManagement, Server, ServerBudgets};
use takt_space::{AddressSpace, Caller, Change};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::*;
use takt_ua::{NodeId, QualifiedName, StatusCode, ids};

const SMALL: u32 = 400;

fn server(work_per_slice: u32, rules: Arc<dyn NodeManagement>) -> Arc<Server> {
    let budgets = ServerBudgets {
        work_per_slice,
        ..ServerBudgets::default()
    };
    builder()
        .budgets(budgets)
        .node_management(rules)
        .build()
        .unwrap()
}

fn folder(space: &AddressSpace, name: &str) -> NodeId {
    space
        .add_object((1, name))
        .node_id(NodeId::string(1, name))
        .below(ids::OBJECTS_FOLDER, ids::ORGANIZES)
        .type_definition(ids::FOLDER_TYPE)
        .add()
        .unwrap()
}

/// Returns the number of nodes of the test; the server itself has Variables that show its budgets.
fn own_nodes(space: &AddressSpace) -> usize {
    let shown = NodeId::string(1, "Budgets.").to_string();
    let nodes = space.nodes_of_namespace(1).into_iter();
    nodes
        .filter(|node| !node.to_string().starts_with(&shown))
        .count()
}

/// Adds Objects below a folder, numbered up to `count`.
fn objects(space: &AddressSpace, folder: &NodeId, reference_type: u32, count: u32) {
    for number in 0..count {
        space
            .add_object((1, format!("N{number}").as_str()))
            .node_id(NodeId::numeric(1, 100_000 + number))
            .below(folder.clone(), reference_type)
            .add()
            .unwrap();
    }
}

fn delete(client: &mut Client, nodes: impl IntoIterator<Item = NodeId>) -> Vec<u8> {
    let item = |node_id| DeleteNodesItem {
        node_id,
        delete_target_references: true,
    };
    message(&DeleteNodesRequest {
        request_header: client.header(),
        nodes_to_delete: nodes.into_iter().map(item).collect(),
    })
}

fn statuses(response: &[u8]) -> Vec<StatusCode> {
    decode::<DeleteNodesResponse>(response).unwrap().results
}

/// Sends a request and returns its response and the number of slices after the first.
fn slices(client: &mut Client, request: &[u8]) -> (Vec<u8>, u64) {
    client.defer(request, 1).unwrap();
    let mut slices = 0;
    loop {
        if let Some((_, response)) = client.connection.take_completed() {
            return (response, slices);
        }
        client.server.work();
        slices += 1;
        assert!(slices < 100_000, "it ends");
    }
}

fn add(client: &mut Client, parent: &NodeId, names: impl Iterator<Item = u32>) -> Vec<u8> {
    let item = |number| AddNodesItem {
        parent_node_id: parent.clone().into(),
        reference_type_id: ids::ORGANIZES.into(),
        requested_new_node_id: NodeId::numeric(1, 500_000 + number).into(),
        browse_name: QualifiedName::new(1, format!("A{number}")),
        node_class: NodeClass::Object,
        type_definition: ids::FOLDER_TYPE.into(),
        ..AddNodesItem::default()
    };
    message(&AddNodesRequest {
        request_header: client.header(),
        nodes_to_add: names.map(item).collect(),
    })
}

#[test]
fn changes_in_small_slices_have_the_results_of_one_big_slice() {
    let servers = [SMALL, u32::MAX].map(|work| server(work, Arc::new(EverybodyManages)));
    let mut clients = servers.each_ref().map(Client::new);
    let folders = servers
        .each_ref()
        .map(|server| folder(server.address_space(), "F"));
    let [folder, _] = folders;
    let mut same = |request: &dyn Fn(&mut Client) -> Vec<u8>| {
        let [small, big] = clients.each_mut().map(|client| {
            let request = request(client);
            let mut response = client.raw(&request);
            response.drain(4..12);
            response
        });
        assert!(small == big, "the responses differ");
    };
    // Some nodes are requested twice, some are unknown.
    same(&|client| add(client, &folder, (0..300).chain(100..110)));
    same(&|client| {
        let references = (0..200).map(|number| AddReferencesItem {
            source_node_id: NodeId::numeric(1, 500_000 + number),
            reference_type_id: ids::ORGANIZES.into(),
            is_forward: true,
            target_node_id: NodeId::numeric(1, 500_000 + number * 3 % 299).into(),
            ..AddReferencesItem::default()
        });
        message(&AddReferencesRequest {
            request_header: client.header(),
            references_to_add: references.collect(),
        })
    });
    same(&|client| {
        let references = (0..200).map(|number| DeleteReferencesItem {
            source_node_id: NodeId::numeric(1, 500_000 + number),
            reference_type_id: ids::ORGANIZES.into(),
            is_forward: true,
            target_node_id: NodeId::numeric(1, 500_000 + number * 6 % 299).into(),
            delete_bidirectional: number % 2 == 0,
        });
        message(&DeleteReferencesRequest {
            request_header: client.header(),
            references_to_delete: references.collect(),
        })
    });
    same(&|client| {
        let nodes = (50..400).map(|number| NodeId::numeric(1, 500_000 + number));
        delete(client, nodes)
    });
    same(&|client| delete(client, [folder.clone()]));
    for server in &servers {
        assert!(server.address_space().view().node(&folder).is_none());
    }
    let [small, big] = servers;
    assert!(
        small.longest_slice() <= u64::from(SMALL),
        "{}",
        small.longest_slice()
    );
    assert!(big.longest_slice() > 2_000);
}

#[test]
fn deleting_a_folder_with_all_its_children_takes_work_in_proportion() {
    let slices_for = |count: u32| {
        let server = server(SMALL, Arc::new(EverybodyManages));
        let space = server.address_space();
        let folder = folder(space, "F");
        // The Objects belong to the folder and are deleted with it.
        objects(space, &folder, ids::HAS_COMPONENT, count);
        let mut client = Client::new(&server);
        let request = delete(&mut client, [folder.clone()]);
        let (response, slices) = slices(&mut client, &request);
        assert_eq!(statuses(&response), [StatusCode::Good]);
        assert!(space.view().node(&folder).is_none());
        assert!(
            space
                .view()
                .node(NodeId::numeric(1, 100_000).as_ref())
                .is_none()
        );
        assert_eq!(own_nodes(space), 0);
        assert!(server.longest_slice() <= u64::from(SMALL));
        slices
    };
    let (few, many) = (slices_for(500), slices_for(5_000));
    assert!(
        (9 * few..=11 * few).contains(&many),
        "{few} and {many} slices"
    );
}

#[test]
fn a_node_with_many_references_goes_in_slices_and_what_it_refers_to_stays() {
    let server = server(SMALL, Arc::new(EverybodyManages));
    let space = server.address_space();
    let folder = folder(space, "F");
    objects(space, &folder, ids::ORGANIZES, 2_000);
    let mut client = Client::new(&server);
    let request = delete(&mut client, [folder.clone()]);
    let (response, slices) = slices(&mut client, &request);
    assert_eq!(statuses(&response), [StatusCode::Good]);
    assert!(slices > 20, "{slices}");
    assert!(server.longest_slice() <= u64::from(SMALL));
    assert!(space.view().node(&folder).is_none());
    let view = space.view();
    for number in [0, 1_000, 1_999] {
        let node = NodeId::numeric(1, 100_000 + number);
        let references = view.node(&node).unwrap().references();
        assert_eq!(references.targets(ids::ORGANIZES, false).count(), 0);
    }
}

/// Rules that refuse the deletion of one node.
struct Guarded(NodeId);

impl NodeManagement for Guarded {
    fn authorize(&self, _: &Caller, change: &Change) -> Result<(), StatusCode> {
        match change {
            Change::DeleteNode(item) if item.node_id == self.0 => {
                Err(StatusCode::BadUserAccessDenied)
            }
            _ => Ok(()),
        }
    }

    fn commit(&self, _: &Caller, _: &[Change], _: u64) -> Result<(), StatusCode> {
        Ok(())
    }
}

#[test]
fn a_child_that_may_not_be_deleted_keeps_the_subtree() {
    let guarded = NodeId::numeric(1, 100_777);
    let server = server(SMALL, Arc::new(Guarded(guarded)));
    let space = server.address_space();
    let folder = folder(space, "F");
    objects(space, &folder, ids::HAS_COMPONENT, 1_000);
    let mut client = Client::new(&server);
    let request = delete(&mut client, [folder]);
    let (response, _) = slices(&mut client, &request);
    assert_eq!(statuses(&response), [StatusCode::BadUserAccessDenied]);
    assert_eq!(own_nodes(space), 1_001);
}

#[test]
fn names_below_a_large_folder_stay_unique_whatever_is_deleted() {
    let server = server(u32::MAX, Arc::new(EverybodyManages));
    let space = server.address_space();
    let folder = folder(space, "F");
    objects(space, &folder, ids::ORGANIZES, 200);
    let mut client = Client::new(&server);
    let mut add_one = |number: u32| {
        let request = add(&mut client, &folder, number..number + 1);
        let added: AddNodesResponse = decode(&client.raw(&request)).unwrap();
        added.results[0].status_code
    };
    for number in 0..100 {
        assert_eq!(add_one(number), StatusCode::Good);
        let again = add_one(number);
        assert!(
            [
                StatusCode::BadNodeIdExists,
                StatusCode::BadBrowseNameDuplicated
            ]
            .contains(&again)
        );
        let node = NodeId::numeric(1, 500_000 + number);
        if number % 3 == 0 {
            space.edit().delete_node(&node, true).unwrap();
            assert_eq!(add_one(number), StatusCode::Good, "its name is free again");
        }
        let gone = NodeId::numeric(1, 100_000 + number);
        space.edit().delete_node(&gone, true).unwrap();
    }
    // The same name with another NodeId.
    let request = message(&AddNodesRequest {
        request_header: client.header(),
        nodes_to_add: vec![AddNodesItem {
            parent_node_id: folder.clone().into(),
            reference_type_id: ids::ORGANIZES.into(),
            browse_name: QualifiedName::new(1, "A50"),
            node_class: NodeClass::Object,
            type_definition: ids::FOLDER_TYPE.into(),
            ..AddNodesItem::default()
        }],
    });
    let added: AddNodesResponse = decode(&client.raw(&request)).unwrap();
    assert_eq!(
        added.results[0].status_code,
        StatusCode::BadBrowseNameDuplicated
    );
}
