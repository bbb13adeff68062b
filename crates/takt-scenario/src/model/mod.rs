//! The parts of a scenario.

mod application;
mod discipline;
mod node;
mod options;

pub use application::{Application, ArrivalBound, CrossTraffic, Pattern, Phases, Receiver};
pub(crate) use discipline::class_of;
pub use discipline::{
    Discipline, FqCodel, GateEntry, Limit, Queue, Scheduler, Taprio, TrafficClass,
};
pub use node::{Clock, Distribution, Histogram, HistogramError, Link, Node, NodeKind, Port};
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
    NodeId,
    "a node in [`Scenario::nodes`](crate::Scenario::nodes)"
);
identifier!(
    LinkId,
    "a link in [`Scenario::links`](crate::Scenario::links)"
);
identifier!(
    PortId,
    "a port in [`Scenario::ports`](crate::Scenario::ports)"
);
identifier!(
    ApplicationId,
    "an application in [`Scenario::applications`](crate::Scenario::applications)"
);
identifier!(
    CrossTrafficId,
    "a flow of cross traffic in [`Scenario::cross_traffic`](crate::Scenario::cross_traffic)"
);
