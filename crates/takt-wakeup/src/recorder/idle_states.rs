//! Idle states of the processors (`Documentation/admin-guide/pm/cpuidle.rst`).

use std::fs;
use std::path::Path;

use crate::trace::formats::NO_IDLE_STATE;

/// Directory of the processors.
const PROCESSORS: &str = "/sys/devices/system/cpu";

/// Time in microseconds from which on the way out of an idle state counts. Without such a state, the numbers of the states tell nothing.
const LONG: u64 = 10;

/// Returns true if a processor has an idle state that takes long to leave.
pub(super) fn are_deep() -> bool {
    let processors = fs::read_dir(PROCESSORS).into_iter().flatten().flatten();
    let states = processors.flat_map(|it| fs::read_dir(it.path().join("cpuidle")));
    let mut states = states.flatten().flatten();
    states.any(|state| latency(&state.path()).is_some_and(|micros| micros >= LONG))
}

fn latency(state: &Path) -> Option<u64> {
    let text = fs::read_to_string(state.join("latency")).ok()?;
    text.trim().parse().ok()
}

/// Returns the filter of the event that a processor enters an idle state. The end of the state would be recorded on the way to a thread
/// that wakes up, which would be later then.
pub(super) fn filter(group: &str) -> Option<String> {
    (group == "power").then(|| format!("state != {NO_IDLE_STATE}"))
}
