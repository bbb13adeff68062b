//! Frames of a component beside those of its flow.

use takt_link::Address;
use takt_scenario::{Application, Scenario};

use crate::components::Component;
use crate::error::WatchError;
use crate::matching::MatchedFlow;

/// Least payload of an Ethernet frame in bytes (IEEE 802.3, 3.2.7): shorter ones are padded to it.
const LEAST_PAYLOAD: usize = 46;
/// Greatest difference between a publishing interval and a cycle that rounding explains, in picoseconds. A publishing interval is
/// a floating-point number of milliseconds.
const ROUNDING: u64 = 10;

/// Compares a component with its flow, and returns the length in bytes of the longest message that fits the frames of the flow. Bounds hold
/// for shorter ones, too.
pub(crate) fn check(
    component: &Component,
    scenario: &Scenario,
    matched: &MatchedFlow,
) -> Result<usize, WatchError> {
    let name = || component.name.clone();
    let flow = || matched.name.clone();
    let application = matched
        .application(scenario)
        .ok_or_else(|| WatchError::NoFlow {
            component: name(),
            identity: String::new(),
            known: Vec::new(),
        })?;
    let reason = match &component.link.address {
        Address::Udp { .. } | Address::Ethernet { .. } => None,
        Address::Iox2 { .. } => Some("they stay in the memory of one host"),
        Address::Mqtt { .. } => Some("they go over TCP and a broker"),
    };
    if let Some(reason) = reason {
        return Err(WatchError::Transport {
            component: name(),
            address: component.link.address.to_string(),
            reason,
        });
    }
    if component.is_json {
        return Err(WatchError::Json {
            component: name(),
            flow: flow(),
        });
    }
    check_tag(component, application, &flow)?;
    check_cycle(component, application, &flow)?;
    let expected = application.frame.payload();
    let headers = component.headers();
    let padded = (expected as usize).max(LEAST_PAYLOAD);
    let longest = padded.checked_sub(headers);
    let longest = longest.ok_or_else(|| WatchError::NoRoom {
        component: name(),
        flow: flow(),
        expected,
        headers,
    })?;
    let expected = u32::try_from(padded).unwrap_or(expected);
    match component.lengths.as_deref() {
        // Mistakes that prevent the message are reported when the configuration starts.
        None | Some([]) => {}
        Some([length]) if *length <= longest => {}
        Some([length]) => {
            return Err(WatchError::Size {
                component: name(),
                flow: flow(),
                expected,
                found: length + headers,
            });
        }
        Some(several) => {
            return Err(WatchError::Count {
                component: name(),
                flow: flow(),
                found: several.len(),
            });
        }
    }
    Ok(longest)
}

fn check_cycle(
    component: &Component,
    application: &Application,
    flow: &dyn Fn() -> String,
) -> Result<(), WatchError> {
    let Some(interval) = component.interval else {
        return Ok(());
    };
    let picos = (interval * 1e9).round() as u64;
    let cycle = application.cycle.picos();
    match picos.abs_diff(cycle) <= ROUNDING {
        true => Ok(()),
        false => Err(WatchError::Cycle {
            component: component.name.clone(),
            flow: flow(),
            expected_us: cycle as f64 / 1e6,
            found_us: interval * 1000.0,
        }),
    }
}

/// Compares VLAN and PCP. Those of UDP are the matter of the interface, and not known here.
fn check_tag(
    component: &Component,
    application: &Application,
    flow: &dyn Fn() -> String,
) -> Result<(), WatchError> {
    let Address::Ethernet { vlan, .. } = &component.link.address else {
        return Ok(());
    };
    let (id, pcp) = (application.vlan, application.pcp);
    let found = match vlan {
        Some(tag) if tag.id == id && tag.priority == pcp => return Ok(()),
        Some(tag) => format!("VLAN {} with PCP {}", tag.id, tag.priority),
        None => "no VLAN tag".to_owned(),
    };
    Err(WatchError::Tag {
        component: component.name.clone(),
        flow: flow(),
        vlan: id,
        pcp,
        found,
    })
}
