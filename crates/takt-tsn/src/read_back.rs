//! State of an interface, read from the output of `tc -j`. Versions of `tc` differ: numbers may be texts and flags may
//! be words.

use serde_json::Value;
use takt_scenario::{Duration, FqCodelParameters, Size};

use crate::commands::FILTER_PREFERENCE;
use crate::qdisc::{
    ClassMap, GateMode, GateSchedule, LaunchNumbers, QdiscHandle, QdiscKind, QdiscParent,
    SOCKET_PRIORITIES, ShaperNumbers, kept_micros,
};

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
fn repaired(text: &str) -> String {
    text.replace(r#",{"base_time""#, r#","admin":{"base_time""#)
}

fn read_qdisc(value: &Value) -> Option<KernelQdisc> {
    let name = value.get("kind")?.as_str()?.to_owned();
    let handle = read_handle(value.get("handle")?.as_str()?)?;
    let parent = match value.get("parent").and_then(Value::as_str) {
        None => QdiscParent::Root,
        Some(parent) => {
            let (handle, class) = parent.split_once(':')?;
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
    let kind = value
        .get("options")
        .and_then(|options| read_kind(&name, options))
        .map(|kind| with_size_table(kind, value));
    Some(KernelQdisc {
        name,
        handle,
        parent,
        kind,
        counters,
    })
}

/// Adds the size table, which the kernel shows beside the options.
fn with_size_table(kind: QdiscKind, value: &Value) -> QdiscKind {
    let overhead = value.get("stab").and_then(|stab| number(stab, "overhead"));
    match kind {
        QdiscKind::Taprio(schedule) => QdiscKind::Taprio(GateSchedule {
            overhead: overhead.map_or(0, |bytes| u32::try_from(bytes).unwrap_or(u32::MAX)),
            ..schedule
        }),
        other => other,
    }
}

fn read_handle(text: &str) -> Option<QdiscHandle> {
    let digits = text.strip_suffix(':').unwrap_or(text);
    u16::from_str_radix(digits, 16).ok().map(QdiscHandle)
}

fn read_kind(name: &str, options: &Value) -> Option<QdiscKind> {
    Some(match name {
        "fq_codel" => QdiscKind::FqCodel(read_fq_codel(options)),
        "mqprio" => QdiscKind::Mqprio(read_map(options)?),
        "taprio" => QdiscKind::Taprio(read_taprio(options)?),
        "cbs" => QdiscKind::Cbs(ShaperNumbers {
            idle_slope: options.get("idleslope")?.as_i64()?,
            send_slope: options.get("sendslope")?.as_i64()?,
            hi_credit: options.get("hicredit")?.as_i64()?,
            lo_credit: options.get("locredit")?.as_i64()?,
            offload: flag(options, "offload"),
        }),
        "etf" => QdiscKind::Etf(LaunchNumbers {
            delta: number(options, "delta")?,
            deadline_mode: flag(options, "deadline_mode"),
            skip_sock_check: flag(options, "skip_sock_check"),
            offload: flag(options, "offload"),
        }),
        "pfifo" => QdiscKind::Pfifo(number(options, "limit")?),
        "bfifo" => QdiscKind::Bfifo(number(options, "limit")?),
        _ => return None,
    })
}

fn read_fq_codel(options: &Value) -> FqCodelParameters {
    let usual = FqCodelParameters::default();
    let time = |name, usual| {
        number(options, name).map_or(usual, |micros| {
            Duration(kept_micros(micros).saturating_mul(1_000_000))
        })
    };
    FqCodelParameters {
        limit: number(options, "limit").unwrap_or(usual.limit),
        flows: number(options, "flows").unwrap_or(usual.flows),
        quantum: number(options, "quantum").map_or(usual.quantum, Size),
        target: time("target", usual.target),
        interval: time("interval", usual.interval),
        memory_limit: number(options, "memory_limit").map_or(usual.memory_limit, Size),
        ecn: flag(options, "ecn"),
    }
}

/// Reads priorities and queues: mqprio has pairs of the first and the last queue, taprio has offset and count.
fn read_map(options: &Value) -> Option<ClassMap> {
    let mut classes = [0u8; SOCKET_PRIORITIES];
    let map = options.get("map")?.as_array()?;
    for (class, value) in classes.iter_mut().zip(map) {
        *class = u8::try_from(value.as_u64()?).ok()?;
    }
    let count = usize::try_from(number(options, "tc")?).ok()?;
    let read = |value: &Value| match value.as_array() {
        Some(pair) => {
            let (first, last) = (pair.first()?.as_u64()?, pair.get(1)?.as_u64()?);
            u16::try_from(last.checked_add(1)?.checked_sub(first)?).ok()
        }
        None => u16::try_from(number(value, "count")?).ok(),
    };
    let queues = options.get("queues")?.as_array()?.iter().take(count);
    let queues: Option<Vec<u16>> = queues.map(read).collect();
    Some(ClassMap {
        classes,
        queues: queues?,
    })
}

fn read_taprio(options: &Value) -> Option<GateSchedule> {
    let map = read_map(options)?;
    // A schedule that was sent again waits for its start, and then replaces the one before.
    let schedule = options.get("admin").unwrap_or(options);
    let entry = |value: &Value| {
        let gates = number(value, "gatemask")?;
        Some((u8::try_from(gates).ok()?, number(value, "interval")?))
    };
    let entries = schedule.get("schedule").and_then(Value::as_array);
    let entries: Option<Vec<(u8, u64)>> = entries?.iter().map(entry).collect();
    let flags = number(options, "flags").unwrap_or(0);
    let mode = match (flags & 1, flags & 2) {
        (1, _) => GateMode::TxtimeAssist(number(options, "txtime_delay").unwrap_or(0)),
        (_, 2) => GateMode::FullOffload,
        _ => GateMode::Software,
    };
    Some(GateSchedule {
        map,
        base_time: number(schedule, "base_time")?,
        entries: entries?,
        mode,
        overhead: 0,
    })
}

/// Returns a number, also from a text in hexadecimal: `"0x2"`.
fn number(value: &Value, name: &str) -> Option<u64> {
    match value.get(name)? {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        },
        _ => None,
    }
}

/// Returns a flag: true, 1 or `"on"`.
fn flag(value: &Value, name: &str) -> bool {
    match value.get(name) {
        Some(Value::Bool(flag)) => *flag,
        Some(Value::String(text)) => text == "on",
        Some(Value::Number(number)) => number.as_u64() == Some(1),
        _ => false,
    }
}

#[cfg(test)]
#[path = "read_back_tests.rs"]
mod tests;
