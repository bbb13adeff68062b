//! ServerDiagnosticsSummary (OPC 10000-5, 6.3.3 and 12.9): numbers of Sessions, Subscriptions and refused requests.

use std::sync::Arc;

use takt_space::{AddressSpace, AddressSpaceError, Value};
use takt_ua::structures::ServerDiagnosticsSummaryDataType;
use takt_ua::{DataValue, ExtensionObject, NodeId, Variant, ids};

use super::counts::Diagnostics;
use crate::session::Sessions;
use crate::subscriptions::Subscriptions;

/// Component of the summary, or the summary itself, as a Value.
type Component = fn(ServerDiagnosticsSummaryDataType) -> Variant;

/// Binds the summary and each of its components.
pub(crate) fn bind(
    space: &AddressSpace,
    diagnostics: &Arc<Diagnostics>,
    sessions: &Arc<Sessions>,
    subscriptions: &Arc<Subscriptions>,
) -> Result<(), AddressSpaceError> {
    use ids::*;
    let components: [(u32, Component); 13] = [
        (
            SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY,
            |summary| ExtensionObject::from_structure(&summary).into(),
        ),
        (
            SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_SERVER_VIEW_COUNT,
            |summary| summary.server_view_count.into(),
        ),
        (
            SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_CURRENT_SESSION_COUNT,
            |summary| summary.current_session_count.into(),
        ),
        (
            SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_CUMULATED_SESSION_COUNT,
            |summary| summary.cumulated_session_count.into(),
        ),
        (
            SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_SECURITY_REJECTED_SESSION_COUNT,
            |summary| summary.security_rejected_session_count.into(),
        ),
        (
            SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_REJECTED_SESSION_COUNT,
            |summary| summary.rejected_session_count.into(),
        ),
        (
            SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_SESSION_TIMEOUT_COUNT,
            |summary| summary.session_timeout_count.into(),
        ),
        (
            SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_SESSION_ABORT_COUNT,
            |summary| summary.session_abort_count.into(),
        ),
        (
            SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_CURRENT_SUBSCRIPTION_COUNT,
            |summary| summary.current_subscription_count.into(),
        ),
        (
            SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_CUMULATED_SUBSCRIPTION_COUNT,
            |summary| summary.cumulated_subscription_count.into(),
        ),
        (
            SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_PUBLISHING_INTERVAL_COUNT,
            |summary| summary.publishing_interval_count.into(),
        ),
        (
            SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_SECURITY_REJECTED_REQUESTS_COUNT,
            |summary| summary.security_rejected_requests_count.into(),
        ),
        (
            SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_REJECTED_REQUESTS_COUNT,
            |summary| summary.rejected_requests_count.into(),
        ),
    ];
    let mut edit = space.edit();
    for (id, component) in components {
        let summary = summary(diagnostics, sessions, subscriptions);
        let read = move || DataValue::good(component(summary()));
        edit.set_value(&NodeId::from(id), Value::callback(read))?;
    }
    Ok(())
}

/// Returns a function that returns the current summary.
fn summary(
    diagnostics: &Arc<Diagnostics>,
    sessions: &Arc<Sessions>,
    subscriptions: &Arc<Subscriptions>,
) -> impl Fn() -> ServerDiagnosticsSummaryDataType + Send + Sync + 'static {
    let diagnostics = Arc::clone(diagnostics);
    let sessions = Arc::clone(sessions);
    let subscriptions = Arc::clone(subscriptions);
    move || {
        let (current, created) = subscriptions.counts();
        ServerDiagnosticsSummaryDataType {
            server_view_count: 0,
            current_session_count: u32::try_from(sessions.len()).unwrap_or(u32::MAX),
            cumulated_session_count: diagnostics.sessions.get(),
            security_rejected_session_count: diagnostics.sessions_rejected_for_security.get(),
            rejected_session_count: diagnostics.sessions_rejected.get(),
            session_timeout_count: diagnostics.sessions_timed_out.get(),
            session_abort_count: diagnostics.sessions_aborted.get(),
            current_subscription_count: current,
            cumulated_subscription_count: created,
            // Each Subscription has a publishing timer of its own.
            publishing_interval_count: current,
            security_rejected_requests_count: diagnostics.requests_rejected_for_security.get(),
            rejected_requests_count: diagnostics.requests_rejected.get(),
        }
    }
}
