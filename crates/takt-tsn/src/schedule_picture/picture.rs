//! Gates of several ports over one cycle, on one time axis.

use takt_scenario::{Duration, PortIndex, Scenario, Taprio};

/// Gates of the ports of a path, in the order of the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchedulePicture {
    /// Ports with gates.
    pub ports: Vec<ScheduleGates>,
}

/// Gates of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleGates {
    /// Name of the port.
    pub port: String,
    /// Length of a cycle.
    pub cycle: Duration,
    /// Delay of the port's cycle after whole multiples of its length, on CLOCK_TAI.
    pub shift: Duration,
    /// Classes, highest first: name, and windows as beginning and length in a cycle of CLOCK_TAI. A window may extend
    /// into the next cycle.
    pub classes: Vec<(String, Vec<(Duration, Duration)>)>,
    /// True if there are no gates, and frames get their txtime in the windows.
    pub is_txtime_assist: bool,
}

impl SchedulePicture {
    /// Returns the gates of a scenario: ports on the paths of flows first, in the order of the paths, then other ports.
    pub fn of_scenario(scenario: &Scenario) -> Self {
        let mut order: Vec<PortIndex> = Vec::new();
        let on_paths = scenario
            .flows()
            .iter()
            .flat_map(|flow| flow.ports.iter().copied());
        for port in on_paths.chain((0..scenario.ports.len()).map(PortIndex)) {
            if !order.contains(&port) {
                order.push(port);
            }
        }
        Self::of_ports(scenario, &order)
    }

    /// Returns the gates of these ports of a scenario. Ports without a schedule are left out.
    pub fn of_ports(scenario: &Scenario, order: &[PortIndex]) -> Self {
        let gates = order.iter().filter_map(|port| {
            let discipline = &scenario.ports.get(port.0)?.discipline;
            let taprio = discipline.scheduler.gates()?;
            let names = discipline.classes.iter().map(|class| class.name.clone());
            Some(ScheduleGates::new(scenario.port_name(*port), taprio, names))
        });
        Self {
            ports: gates.collect(),
        }
    }
}

impl ScheduleGates {
    /// Returns the gates of a port whose classes have these names, highest first.
    pub fn new(port: String, taprio: &Taprio, names: impl IntoIterator<Item = String>) -> Self {
        let cycle = Duration(taprio.cycle_time.0.max(1));
        let shift = Duration(taprio.base_time.0 % cycle.0);
        let at = |begin: Duration| Duration(begin.plus(shift).0 % cycle.0);
        let classes = names.into_iter().enumerate().map(|(class, name)| {
            let windows = taprio.windows(class).into_iter();
            let mut windows: Vec<(Duration, Duration)> =
                windows.map(|(begin, length)| (at(begin), length)).collect();
            windows.sort_unstable();
            (name, windows)
        });
        Self {
            port,
            cycle,
            shift,
            classes: classes.collect(),
            is_txtime_assist: taprio.txtime_assist.is_some(),
        }
    }
}

/// Returns a window as text: from its beginning to its end, in the unit that fits.
pub(super) fn interval((begin, length): (Duration, Duration), cycle: Duration) -> String {
    if length >= cycle {
        return "always".to_owned();
    }
    let end = Duration(begin.plus(length).0);
    let end = if end > cycle {
        Duration(end.0 - cycle.0)
    } else {
        end
    };
    format!("{begin}\u{2013}{end}")
}
