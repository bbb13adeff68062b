//! Cases of the benchmark.

/// Number of Variables of each server, and of nodes of a large Read.
pub(super) const NODES: u32 = 1000;

/// Number of clients at once in the last case.
pub(super) const CLIENTS: u32 = 4;

/// Bytes of the longest message of the floor.
pub(super) const LONGEST: usize = 1 << 20;

/// Number of nodes of a Read, and number of clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) nodes: u32,
    pub(super) clients: u32,
}

pub(super) const CASES: [Case; 3] = [
    Case {
        nodes: 1,
        clients: 1,
    },
    Case {
        nodes: NODES,
        clients: 1,
    },
    Case {
        nodes: 1,
        clients: CLIENTS,
    },
];
