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

#[cfg(test)]
mod tests {
    use takt_scenario::Duration;

    use super::*;

    #[test]
    fn gates_are_those_of_the_scenario_unless_an_option_decides() {
        let taprio = |offload, txtime_assist| Taprio {
            base_time: Duration::ZERO,
            cycle_time: Duration::ZERO,
            entries: Vec::new(),
            txtime_assist,
            offload,
            guard_band: Duration::ZERO,
        };
        let all = [
            HardwareOffload::AsInScenario,
            HardwareOffload::None,
            HardwareOffload::Full,
        ];
        let of = |taprio: &Taprio| all.map(|offload| offload.of_gates(taprio));
        assert_eq!(of(&taprio(false, None)), [false, false, true]);
        assert_eq!(of(&taprio(true, None)), [true, false, true]);
        let assisted = taprio(false, Some(Duration(1)));
        assert_eq!(of(&assisted), [false; 3]);
    }
}
