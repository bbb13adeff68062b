//! Work of the hardware.

/// Work of the hardware.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HardwareOffload {
    /// `etf` as in the scenario; `cbs` and `taprio` in software.
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
}
