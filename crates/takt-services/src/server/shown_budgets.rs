//! Variables below Server/VendorServerInfo (OPC 10000-5, 6.3.7) that show the budgets of the server: usage and limit of each.
//!
//! Their NodeIds are Strings in namespace 1, that of the server itself: `ns=1;s=Budgets.MemoryUsed`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use takt_rt::memory_budget::MemoryBudget;
use takt_space::{
    AddressSpaceError, ClassAttributes, Edit, NewReference, NodeDefinition, Value,
    VariableDefinition, value_rank,
};
use takt_ua::{DataValue, NodeId, QualifiedName, ids};

use super::Server;

/// Common prefix of the identifiers of the NodeIds.
const PREFIX: &str = "Budgets.";

const SESSIONS_LIMIT: &str = "SessionsLimit";
const CONNECTIONS_LIMIT: &str = "ConnectionsLimit";

impl Server {
    /// Allows no more than `sessions` Sessions at once, and shows this limit in ServerCapabilities: for transports that have
    /// fewer channels than [`ServerBudgets::max_sessions`](crate::ServerBudgets::max_sessions).
    pub fn limit_sessions(&self, sessions: u32) {
        // Several transports may set a limit: the lowest one counts.
        if self.max_sessions.fetch_min(sessions, Ordering::Relaxed) > sessions {
            let shown = NodeId::from(ids::SERVER_SERVER_CAPABILITIES_MAX_SESSIONS);
            let shown = self.space.set_value(&shown, Value::stored(sessions));
            let limit = Value::stored(u64::from(sessions));
            let set = || self.space.set_value(&node_id(SESSIONS_LIMIT), limit);
            if let Err(error) = shown.and_then(|()| set()) {
                tracing::warn!(%error, "MaxSessions cannot be shown");
            }
        }
    }

    /// Shows the maximum number of connections of the transports, for all endpoints together.
    pub fn show_connections_limit(&self, connections: usize) {
        let limit = Value::stored(count(connections));
        if let Err(error) = self.space.set_value(&node_id(CONNECTIONS_LIMIT), limit) {
            tracing::warn!(%error, "the limit of connections cannot be shown");
        }
    }
}

fn node_id(name: &str) -> NodeId {
    NodeId::string(1, format!("{PREFIX}{name}").as_str())
}

/// Adds the Variables.
pub(crate) fn bind(server: &Server) -> Result<(), AddressSpaceError> {
    let mut edit = server.space.edit();
    let budgets = &server.budgets;
    let memory = [
        ("Memory", server.memory()),
        ("MemoryWithoutSession", server.memory_without_session()),
        ("MemoryOfSessions", server.memory_of_sessions()),
        ("MemoryOfNodes", server.memory_of_nodes()),
    ];
    for (name, budget) in memory {
        bind_memory(&mut edit, name, budget)?;
    }
    let subscriptions = Arc::clone(&server.subscriptions);
    live(&mut edit, "SamplingLoad", move || {
        subscriptions.sampling_load()
    })?;
    let limit = u64::from(budgets.subscriptions.max_sampling_load);
    fixed(&mut edit, "SamplingLoadLimit", limit)?;
    let tasks = Arc::clone(&server.tasks);
    live(&mut edit, "LongestSlice", move || tasks.longest_slice())?;
    fixed(
        &mut edit,
        "LongestSliceLimit",
        u64::from(budgets.work_per_slice),
    )?;
    let sessions = Arc::clone(&server.sessions);
    live(&mut edit, "Sessions", move || count(sessions.len()))?;
    fixed(&mut edit, SESSIONS_LIMIT, u64::from(budgets.max_sessions))?;
    let connections = Arc::clone(&server.connections);
    live(&mut edit, "Connections", move || count(connections.get()))?;
    // The limit is not known before the transports exist.
    add(&mut edit, CONNECTIONS_LIMIT, Value::not_set())
}

fn bind_memory(
    edit: &mut Edit<'_>,
    name: &str,
    budget: &MemoryBudget,
) -> Result<(), AddressSpaceError> {
    let (used, peak) = (budget.clone(), budget.clone());
    live(edit, &format!("{name}Used"), move || count(used.used()))?;
    live(edit, &format!("{name}Peak"), move || count(peak.peak()))?;
    fixed(edit, &format!("{name}Limit"), count(budget.limit()))
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn live(
    edit: &mut Edit<'_>,
    name: &str,
    read: impl Fn() -> u64 + Send + Sync + 'static,
) -> Result<(), AddressSpaceError> {
    add(edit, name, Value::callback(move || DataValue::good(read())))
}

fn fixed(edit: &mut Edit<'_>, name: &str, value: u64) -> Result<(), AddressSpaceError> {
    add(edit, name, Value::stored(value))
}

fn add(edit: &mut Edit<'_>, name: &str, value: Value) -> Result<(), AddressSpaceError> {
    let attributes = ClassAttributes::Variable(VariableDefinition {
        data_type: NodeId::from(ids::UINT64),
        value_rank: value_rank::SCALAR,
        ..VariableDefinition::default()
    });
    let node_id = node_id(name);
    edit.add_node(
        NodeDefinition::new(node_id.clone(), QualifiedName::new(1, name), attributes),
        &[
            NewReference::inverse(ids::HAS_COMPONENT, ids::SERVER_VENDOR_SERVER_INFO),
            NewReference::forward(ids::HAS_TYPE_DEFINITION, ids::BASE_DATA_VARIABLE_TYPE),
        ],
    )?;
    // The limit of nodes is for those that clients add.
    edit.exempt_from_limit(&node_id);
    edit.set_value(&node_id, value)
}
