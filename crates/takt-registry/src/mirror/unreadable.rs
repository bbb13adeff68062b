//! Values of a mirrored server that cannot be decoded, or only in part: the Property Problem and the log name their nodes.

use std::collections::BTreeMap;

use takt_ua::{DataValue, NodeId, StatusCode, foreign};

/// Largest number of nodes that are named.
const MOST_NAMED: usize = 8;

/// Largest number of nodes that are known; more are counted in no text.
const MOST_KNOWN: usize = 10_000;

/// Longest name in the text, in characters: the server has chosen it.
const LONGEST_NAME: usize = 100;

/// Nodes whose last values could not be decoded, or only in part.
#[derive(Debug)]
pub(super) struct Unreadable {
    /// Name of the mirror, for the log.
    mirror: String,
    nodes: BTreeMap<NodeId, Reason>,
}

/// Difference between a value and the one that the server has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The value cannot be decoded.
    Undecodable(StatusCode),
    /// A text has replacement characters.
    Replaced,
}

impl Fault {
    /// Returns the fault of a value; `None` if it is as the server has sent it.
    pub(super) fn of(value: &DataValue) -> Option<Self> {
        let status = value.status_code();
        match status {
            StatusCode::BadDecodingError | StatusCode::BadEncodingLimitsExceeded => {
                Some(Self::Undecodable(status))
            }
            _ if value.value.as_ref().is_some_and(foreign::is_replaced) => Some(Self::Replaced),
            _ => None,
        }
    }
}

/// Reason for which a value is not shown as the server has sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reason {
    /// The node at the server, for people.
    name: String,
    fault: Fault,
}

impl Unreadable {
    pub(super) fn new(mirror: &str) -> Self {
        Self {
            mirror: mirror.to_owned(),
            nodes: BTreeMap::new(),
        }
    }

    /// Notes the fault of the value of a node; `name` returns the name of the node. Returns true if the [text](Self::text) is another one now.
    pub(super) fn note(
        &mut self,
        node: &NodeId,
        fault: Option<Fault>,
        name: impl FnOnce() -> String,
    ) -> bool {
        let Some(fault) = fault else {
            return !self.nodes.is_empty() && self.nodes.remove(node).is_some();
        };
        let known = self.nodes.len();
        match self.nodes.get_mut(node) {
            Some(reason) => std::mem::replace(&mut reason.fault, fault) != fault,
            None if known >= MOST_KNOWN => false,
            None => {
                let name = name().chars().take(LONGEST_NAME).collect();
                let reason = Reason { name, fault };
                tracing::warn!(mirror = self.mirror, "{reason}");
                self.nodes.insert(node.clone(), reason);
                true
            }
        }
    }

    /// Returns the text of the Property Problem; empty if all values are as the server has sent them.
    pub(super) fn text(&self) -> String {
        let named: Vec<String> = self
            .nodes
            .values()
            .take(MOST_NAMED)
            .map(Reason::to_string)
            .collect();
        match self.nodes.len().saturating_sub(MOST_NAMED) {
            0 => named.join("; "),
            more => format!("{}; and {more} more", named.join("; ")),
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.fault {
            Fault::Undecodable(status) => {
                write!(f, "the value of {} cannot be decoded: {status}", self.name)
            }
            Fault::Replaced => write!(
                f,
                "the value of {} has text that is not UTF-8, which is replaced by U+FFFD",
                self.name
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: u32) -> NodeId {
        NodeId::numeric(2, number)
    }

    #[test]
    fn nodes_are_named_until_their_values_are_readable() {
        let mut unreadable = Unreadable::new("Press");
        let bad = Fault::of(&DataValue::status(StatusCode::BadDecodingError));
        let replaced = Fault::of(&DataValue::good("K\u{FFFD}hler"));
        assert_eq!(Fault::of(&DataValue::good("ok")), None);
        let name = |name: &'static str| move || name.to_owned();
        assert!(!unreadable.note(&node(1), None, name("Speed")));
        assert_eq!(unreadable.text(), "");
        assert!(unreadable.note(&node(1), bad, name("Speed (ns=2;i=1)")));
        assert!(!unreadable.note(&node(1), bad, name("")));
        assert!(unreadable.note(&node(2), replaced, name("Name (ns=2;i=2)")));
        let text = unreadable.text();
        assert!(
            text.contains("Speed (ns=2;i=1) cannot be decoded: BadDecodingError"),
            "{text}"
        );
        assert!(
            text.contains("Name (ns=2;i=2) has text that is not UTF-8"),
            "{text}"
        );
        assert!(unreadable.note(&node(1), None, name("")));
        assert!(!unreadable.text().contains("Speed"));
        assert!(unreadable.note(&node(2), None, name("")));
        assert_eq!(unreadable.text(), "");
    }

    #[test]
    fn a_server_with_many_bad_values_has_a_short_text() {
        let mut unreadable = Unreadable::new("Press");
        let bad = Some(Fault::Undecodable(StatusCode::BadDecodingError));
        for number in 0..1000 {
            unreadable.note(&node(number), bad, || "x".repeat(10_000));
        }
        let text = unreadable.text();
        assert!(text.ends_with("and 992 more"), "{text}");
        assert!(text.len() < 2000);
    }
}
