//! State of an interface, read from the output of `tc -j`.

use serde_json::Value;

use crate::commands::FILTER_PREFERENCE;
use crate::qdisc::json::number;
use crate::qdisc::{QdiscHandle, QdiscKind, QdiscParent};

/// Output of `tc` that is no list of disciplines or filters.
#[derive(Debug, thiserror::Error)]
#[error("the output of `tc -j` cannot be read: {0}")]
pub struct ReadBackError(#[from] serde_json::Error);

/// A discipline that the kernel has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelQdisc {
    /// Name of the kind.
    pub name: String,
    /// Handle; 0 if the kernel itself attached it by default.
    pub handle: QdiscHandle,
    /// Place.
    pub parent: QdiscParent,
    /// Kind with parameters, if Takt knows it.
    pub kind: Option<QdiscKind>,
    /// Clock of its times as `tc` names it, for example `TAI`, if it shows one.
    pub clock: Option<String>,
    /// Counters.
    pub counters: QdiscCounters,
}

/// Counters of a discipline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QdiscCounters {
    /// Bytes of L2 frames that were sent.
    pub sent_bytes: u64,
    /// Frames that were sent.
    pub sent_frames: u64,
    /// Frames that were dropped.
    pub dropped: u64,
    /// Times that the discipline had to wait.
    pub overlimits: u64,
    /// Frames that the driver gave back.
    pub requeues: u64,
    /// Bytes that wait.
    pub backlog_bytes: u64,
    /// Frames that wait.
    pub backlog_frames: u64,
}

impl KernelQdisc {
    /// Returns true if the kernel attached it by default.
    pub fn is_default(&self) -> bool {
        self.handle == QdiscHandle(0)
    }

    /// Returns true if it is for received frames.
    pub fn is_ingress(&self) -> bool {
        matches!(self.name.as_str(), "clsact" | "ingress")
    }
}

/// Reads the output of `tc -j -s -d qdisc show`.
///
/// # Errors
/// Text that is no list in JSON.
pub fn read_qdiscs(text: &str) -> Result<Vec<KernelQdisc>, ReadBackError> {
    let values: Vec<Value> = serde_json::from_str(&repaired(text))?;
    Ok(values.iter().filter_map(read_qdisc).collect())
}

/// Reads the output of `tc -j filter show dev … ingress`: the PCPs for which Takt's filters set the same priority,
/// ascending.
///
/// # Errors
/// Text that is no list in JSON.
pub fn read_marked(text: &str) -> Result<Vec<u8>, ReadBackError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let values: Vec<Value> = serde_json::from_str(text)?;
    let ours = values
        .iter()
        .filter(|value| number(value, "pref") == Some(FILTER_PREFERENCE.into()));
    let mut marked: Vec<u8> = ours
        .filter_map(|value| mark(value.get("options")?))
        .collect();
    marked.sort_unstable();
    marked.dedup();
    Ok(marked)
}

fn mark(options: &Value) -> Option<u8> {
    let pcp = number(options.get("keys")?, "vlan_prio")?;
    let mut actions = options.get("actions")?.as_array()?.iter();
    // `tc` writes the priority like a class: `:3`, in hexadecimal.
    let sets = actions.find_map(|action| action.get("priority")?.as_str()?.strip_prefix(':'));
    let priority = u64::from_str_radix(sets?, 16).ok()?;
    (priority == pcp).then_some(u8::try_from(pcp).ok()?)
}

/// Returns the text with a name for the schedule that waits: `tc` of iproute2 6.1 writes it into the object without
/// one, behind the entries of the schedule that runs or, before the first one runs, behind its numbers.
pub(crate) fn repaired(text: &str) -> String {
    text.replace(r#",{"base_time""#, r#","admin":{"base_time""#)
}

fn read_qdisc(value: &Value) -> Option<KernelQdisc> {
    let name = value.get("kind")?.as_str()?.to_owned();
    let handle = read_handle(value.get("handle")?.as_str()?)?;
    let parent = match value.get("parent").and_then(Value::as_str) {
        None => QdiscParent::Root,
        Some(parent) => {
            let (handle, class) = parent.split_once(':')?;
            // The children of a default `mq` have the parent `:1`, without a handle.
            let class = u16::from_str_radix(class, 16).unwrap_or(0);
            QdiscParent::Class(
                QdiscHandle(u16::from_str_radix(handle, 16).unwrap_or(0)),
                class,
            )
        }
    };
    let count = |name| number(value, name).unwrap_or(0);
    let counters = QdiscCounters {
        sent_bytes: count("bytes"),
        sent_frames: count("packets"),
        dropped: count("drops"),
        overlimits: count("overlimits"),
        requeues: count("requeues"),
        backlog_bytes: count("backlog"),
        backlog_frames: count("qlen"),
    };
    let overhead = value.get("stab").and_then(|stab| number(stab, "overhead"));
    let overhead = overhead.map_or(0, |bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
    let options = value.get("options");
    let kind = options.and_then(|options| QdiscKind::read(&name, options, overhead));
    let clock = options.and_then(|options| options.get("clockid")?.as_str());
    Some(KernelQdisc {
        clock: clock.map(str::to_owned),
        name,
        handle,
        parent,
        kind,
        counters,
    })
}

fn read_handle(text: &str) -> Option<QdiscHandle> {
    let digits = text.strip_suffix(':').unwrap_or(text);
    u16::from_str_radix(digits, 16).ok().map(QdiscHandle)
}

#[cfg(test)]
#[path = "read_back_tests.rs"]
mod tests;
