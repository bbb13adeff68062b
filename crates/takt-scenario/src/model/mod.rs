//! The parts of a scenario.

mod application;
mod group;
mod node;
mod options;

pub(crate) use application::default_group;
pub use application::{
    Application, ApplicationReceiver, ArrivalBound, CrossTraffic, MessageSecurity, Pattern, Phases,
    SecurityMode,
};
pub use group::GroupAddress;
pub use node::{ClockModel, Distribution, Histogram, HistogramError, Link, Node, NodeKind, Port};
pub use options::{
    Analysis, BoundsModel, BoundsOptions, LowerPriority, Measure, SimulationOptions,
};

macro_rules! identifier {
    ($name:ident, $of:literal) => {
        #[doc = concat!("The index of ", $of, ".")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub usize);
    };
}

identifier!(
    NodeIndex,
    "a node in [`Scenario::nodes`](crate::Scenario::nodes)"
);
identifier!(
    LinkIndex,
    "a link in [`Scenario::links`](crate::Scenario::links)"
);
identifier!(
    PortIndex,
    "a port in [`Scenario::ports`](crate::Scenario::ports)"
);
identifier!(
    ApplicationIndex,
    "an application in [`Scenario::applications`](crate::Scenario::applications)"
);
identifier!(
    CrossTrafficIndex,
    "a flow of cross traffic in [`Scenario::cross_traffic`](crate::Scenario::cross_traffic)"
);
