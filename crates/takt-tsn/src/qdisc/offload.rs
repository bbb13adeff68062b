//! Work of the hardware.

use takt_scenario::Taprio;

/// Work of the hardware.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HardwareOffload {
    /// `etf` and `taprio` as in the scenario; `cbs` in software.
    #[default]
    AsInScenario,
    /// Nothing: interfaces such as veth have no hardware.
    None,
    /// `etf`, `cbs`, and the gates of `taprio` without txtime-assist.
    Full,
}

impl HardwareOffload {
    /// Returns true if the hardware waits for the txtime.
    pub(crate) fn of_launches(self, in_scenario: bool) -> bool {
        match self {
            Self::AsInScenario => in_scenario,
            Self::None => false,
            Self::Full => true,
        }
    }

    /// Returns true if the hardware has the gates. With txtime-assist there are none.
    pub(crate) fn of_gates(self, taprio: &Taprio) -> bool {
        let has = match self {
            Self::AsInScenario => taprio.offload,
            Self::None => false,
            Self::Full => true,
        };
        has && taprio.txtime_assist.is_none()
    }
}
