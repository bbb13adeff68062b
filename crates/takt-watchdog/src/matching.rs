//! The flow of a component.

use takt_link::Address;
use takt_pubsub::monitor::FlowDirection;
use takt_scenario::{FlowSource, Scenario, WRITER_GROUP_ID};
use takt_ua::Variant;
use takt_wire::PublisherId;

use crate::components::Component;
use crate::error::WatchError;

/// Refuses given names that nothing has.
pub(crate) fn check_names(
    given: &[(String, String)],
    components: &[Component],
    scenario: &Scenario,
) -> Result<(), WatchError> {
    for (component, flow) in given {
        if !components.iter().any(|it| has_name(it, component)) {
            return Err(WatchError::UnknownName {
                what: "component",
                name: component.clone(),
                known: components.iter().map(|it| it.name.clone()).collect(),
            });
        }
        if source_of(scenario, flow).is_none() {
            return Err(WatchError::UnknownName {
                what: "flow",
                name: flow.clone(),
                known: names(scenario),
            });
        }
    }
    Ok(())
}

/// Returns the flow of a component.
pub(crate) fn flow_of(
    component: &Component,
    scenario: &Scenario,
    given: &[(String, String)],
) -> Result<FlowSource, WatchError> {
    let given = given.iter().find(|(name, _)| has_name(component, name));
    let by_option = given.and_then(|(_, flow)| source_of(scenario, flow));
    let own = std::iter::once(&component.name).chain(&component.names);
    let mut own = own.filter(|name| !name.is_empty());
    by_option
        .or_else(|| own.find_map(|name| source_of(scenario, name)))
        .or_else(|| by_node(component, scenario))
        .or_else(|| by_identity(component, scenario))
        .ok_or_else(|| WatchError::NoFlow {
            component: component.name.clone(),
            identity: identity(component),
            known: names(scenario),
        })
}

fn has_name(component: &Component, name: &str) -> bool {
    component.name == name || component.names.iter().any(|own| own == name)
}

/// Returns the flow of applications with this name. Cross traffic is no PubSub.
fn source_of(scenario: &Scenario, name: &str) -> Option<FlowSource> {
    sources(scenario).find(|source| scenario.flow_name(*source) == name)
}

/// Returns the flow with the name `NODE/GROUP`, whose node is the one that sends it: scenarios that are made of configurations have such
/// names. A configuration does not say its node, so two nodes with such a flow are none. A sender also has the flows
/// `NODE/GROUP to NODE`: those of one message to several receivers are alike for it.
fn by_node(component: &Component, scenario: &Scenario) -> Option<FlowSource> {
    let is_sending = component.direction == FlowDirection::Sending;
    let names = component
        .names
        .iter()
        .take(if is_sending { 1 } else { usize::MAX });
    for name in names.filter(|name| !name.is_empty()) {
        let found = sources(scenario).filter_map(|source| {
            let FlowSource::Publish(id) = source else {
                return None;
            };
            let publisher = scenario.applications.get(id.0)?.publisher;
            let wanted = format!("{}/{name}", scenario.nodes.get(publisher.0)?.name);
            let found = scenario.flow_name(source);
            let is_one_of_several = is_sending && found.starts_with(&format!("{wanted} to "));
            (found == wanted || is_one_of_several).then_some((publisher, source))
        });
        let found: Vec<_> = found.collect();
        if let Some((publisher, source)) = found.first()
            && found.iter().all(|(other, _)| other == publisher)
        {
            return Some(*source);
        }
    }
    None
}

/// Returns the flow with the identity and the Ethernet group that Takt gives the messages of a scenario. Others often have such a
/// PublisherId, too.
fn by_identity(component: &Component, scenario: &Scenario) -> Option<FlowSource> {
    let id = match PublisherId::from_variant(&component.publisher_id)? {
        PublisherId::Byte(id) => id.into(),
        PublisherId::UInt16(id) => id.into(),
        PublisherId::UInt32(id) => id.into(),
        PublisherId::UInt64(id) => id,
        PublisherId::String(_) => return None,
    };
    let mut sources = sources(scenario);
    let found = sources.find(|source| source.publisher_id() == Some(id))?;
    let has_group = match &component.link.address {
        Address::Ethernet { host, .. } => Some(host.0) == found.default_group(),
        _ => false,
    };
    (has_group && component.writer_group_id == WRITER_GROUP_ID).then_some(found)
}

fn sources(scenario: &Scenario) -> impl Iterator<Item = FlowSource> + '_ {
    let sources = scenario.flows().iter().map(|flow| flow.source);
    sources.filter(|source| !matches!(source, FlowSource::Cross(_)))
}

fn names(scenario: &Scenario) -> Vec<String> {
    let names = sources(scenario).map(|source| scenario.flow_name(source));
    names.collect()
}

fn identity(component: &Component) -> String {
    let group = match component.writer_group_id {
        0 => "any WriterGroupId".to_owned(),
        id => format!("WriterGroupId {id}"),
    };
    match &component.publisher_id {
        Variant::Empty => format!("any PublisherId and {group}"),
        id => match PublisherId::from_variant(id) {
            Some(id) => format!("PublisherId {id} and {group}"),
            None => group,
        },
    }
}
