//! The flow of a component.

use takt_link::Address;
use takt_pubsub::monitor::FlowDirection;
use takt_scenario::{Application, ApplicationIndex, FlowSource, Scenario, WRITER_GROUP_ID};
use takt_ua::Variant;
use takt_wire::PublisherId;

use crate::components::Component;
use crate::error::WatchError;

/// The flow of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MatchedFlow {
    /// Its name in the scenario.
    pub(crate) name: String,
    /// Ways of its messages, at least one: several if it is that of an application with several subscribers.
    pub(crate) ways: Vec<FlowSource>,
}

impl MatchedFlow {
    /// Returns the flow from an application to all its receivers.
    fn of_application(scenario: &Scenario, id: ApplicationIndex) -> Option<Self> {
        let application = scenario.applications.get(id.0)?;
        let ways = sources(scenario).filter(|source| {
            source.application() == Some(id) && !matches!(source, FlowSource::Return(_))
        });
        Some(Self {
            name: application.name.clone(),
            ways: ways.collect(),
        })
    }

    /// Returns the flow of its application.
    pub(crate) fn application<'s>(&self, scenario: &'s Scenario) -> Option<&'s Application> {
        scenario
            .applications
            .get(self.ways.first()?.application()?.0)
    }
}

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
        if of_name(scenario, flow).is_none() {
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
) -> Result<MatchedFlow, WatchError> {
    let given = given.iter().find(|(name, _)| has_name(component, name));
    let by_option = given.and_then(|(_, flow)| of_name(scenario, flow));
    let own = std::iter::once(&component.name).chain(&component.names);
    let mut own = own.filter(|name| !name.is_empty());
    let found = by_option
        .or_else(|| own.find_map(|name| of_name(scenario, name)))
        .or_else(|| by_node(component, scenario))
        .or_else(|| by_identity(component, scenario));
    let found = found.ok_or_else(|| WatchError::NoFlow {
        component: component.name.clone(),
        identity: identity(component),
        known: names(scenario),
    })?;
    // A sender sends to all receivers, also with the name of the way to one of them.
    let way = found.ways.first().copied();
    let whole = match (component.direction, way) {
        (FlowDirection::Sending, Some(FlowSource::Publish(id) | FlowSource::Branch(id, _))) => {
            MatchedFlow::of_application(scenario, id)
        }
        _ => None,
    };
    Ok(whole.unwrap_or(found))
}

fn has_name(component: &Component, name: &str) -> bool {
    component.name == name || component.names.iter().any(|own| own == name)
}

/// Returns the flow with the name of an application: to all its receivers, to one of them (`NAME → NODE`, `NAME to NODE`), or back
/// from its loopback. Cross traffic is no PubSub.
fn of_name(scenario: &Scenario, name: &str) -> Option<MatchedFlow> {
    let application = scenario.applications.iter().position(|it| it.name == name);
    if let Some(index) = application {
        return MatchedFlow::of_application(scenario, ApplicationIndex(index));
    }
    let way = sources(scenario).find(|source| {
        let found = scenario.flow_name(*source);
        found == name || found.replace(" \u{2192} ", " to ") == name
    })?;
    Some(MatchedFlow {
        name: scenario.flow_name(way),
        ways: vec![way],
    })
}

/// Returns the flow of the application with the name `NODE/GROUP`, whose node is the one that sends it: scenarios that are made of
/// configurations have such names. A configuration does not say its node, so two nodes with such a flow are none. A sender also has the
/// applications `NODE/GROUP to NODE`: those of one message to several receivers are alike for it.
fn by_node(component: &Component, scenario: &Scenario) -> Option<MatchedFlow> {
    let is_sending = component.direction == FlowDirection::Sending;
    let names = component
        .names
        .iter()
        .take(if is_sending { 1 } else { usize::MAX });
    for name in names.filter(|name| !name.is_empty()) {
        let applications = scenario.applications.iter().enumerate();
        let found = applications.filter(|(_, application)| {
            let node = scenario.nodes.get(application.publisher.0);
            let wanted = node.map(|node| format!("{}/{name}", node.name));
            wanted.is_some_and(|wanted| {
                let found = &application.name;
                *found == wanted || is_sending && found.starts_with(&format!("{wanted} to "))
            })
        });
        let found: Vec<_> = found.collect();
        if let Some((index, first)) = found.first()
            && found.iter().all(|(_, it)| it.publisher == first.publisher)
        {
            return MatchedFlow::of_application(scenario, ApplicationIndex(*index));
        }
    }
    None
}

/// Returns the flow with the identity that Takt gives the messages of a scenario, and with its Ethernet group. Others often have such a
/// PublisherId, too.
fn by_identity(component: &Component, scenario: &Scenario) -> Option<MatchedFlow> {
    let id = match PublisherId::from_variant(&component.publisher_id)? {
        PublisherId::Byte(id) => id.into(),
        PublisherId::UInt16(id) => id.into(),
        PublisherId::UInt32(id) => id.into(),
        PublisherId::UInt64(id) => id,
        PublisherId::String(_) => return None,
    };
    let Address::Ethernet { host, .. } = &component.link.address else {
        return None;
    };
    let mut sources = sources(scenario);
    let way = sources.find(|source| source.publisher_id() == Some(id))?;
    let application = scenario.applications.get(way.application()?.0)?;
    let (group, found) = match way {
        FlowSource::Return(_) => (
            application.return_group,
            MatchedFlow {
                name: scenario.flow_name(way),
                ways: vec![way],
            },
        ),
        _ => (
            application.group,
            MatchedFlow::of_application(scenario, way.application()?)?,
        ),
    };
    (host.0 == group && component.writer_group_id == WRITER_GROUP_ID).then_some(found)
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
