//! State of an interface in the kernel.

use crate::qdisc::QdiscParent;
use crate::read_back::KernelQdisc;

/// Disciplines and filters of an interface.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelState {
    /// Disciplines, also those for received frames.
    pub qdiscs: Vec<KernelQdisc>,
    /// PCPs for which Takt's filters set the priority, ascending.
    pub marked: Vec<u8>,
}

impl KernelState {
    /// Returns the discipline at the root; `None` if the kernel only has a default that it does not list.
    pub fn root(&self) -> Option<&KernelQdisc> {
        let mut qdiscs = self.qdiscs.iter();
        qdiscs.find(|qdisc| qdisc.parent == QdiscParent::Root && !qdisc.is_ingress())
    }

    /// Returns true if there is room for filters of received frames.
    pub fn has_clsact(&self) -> bool {
        self.qdiscs.iter().any(|qdisc| qdisc.name == "clsact")
    }
}
