//! Executor: builds the network of a case in the running kernel and runs it, the same on every backend.
//!
//! Everything is one process. Each node has a thread in namespaces of its own, from which the threads of its applications, captures and
//! cross traffic are started. So the end of the process, also by kill -9, ends all namespaces and devices.

mod capture;
mod case;
mod case_files;
mod common_cycle;
mod cross_traffic;
mod disciplines;
mod drawn_latency;
mod end;
mod laboratory;
mod link_device;
mod node;
mod rated_link;

pub(crate) use case::{CaseRequest, run as run_case};
pub use disciplines::{missing_disciplines, required_disciplines};
pub use laboratory::Laboratory;
pub(crate) use link_device::offloads;
pub use link_device::{LinkDevice, LinkSite, Veth};
pub use node::LabNode;
pub use rated_link::RatedLink;
