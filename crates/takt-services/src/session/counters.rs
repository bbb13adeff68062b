//! Counts of the requests of a Session, for its SessionDiagnosticsDataType (OPC 10000-5, 12.11).

use std::sync::atomic::{AtomicU32, Ordering};

use takt_ua::ids;
use takt_ua::structures::{ServiceCounterDataType, SessionDiagnosticsDataType};

/// The service of each counter: the identifier of its request's binary encoding, in the order of the fields of
/// SessionDiagnosticsDataType.
const SERVICES: [u32; SERVICE_COUNT] = [
    ids::READ_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::HISTORY_READ_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::WRITE_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::HISTORY_UPDATE_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::CALL_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::CREATE_MONITORED_ITEMS_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::MODIFY_MONITORED_ITEMS_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::SET_MONITORING_MODE_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::SET_TRIGGERING_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::DELETE_MONITORED_ITEMS_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::CREATE_SUBSCRIPTION_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::MODIFY_SUBSCRIPTION_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::SET_PUBLISHING_MODE_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::PUBLISH_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::REPUBLISH_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::TRANSFER_SUBSCRIPTIONS_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::DELETE_SUBSCRIPTIONS_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::ADD_NODES_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::ADD_REFERENCES_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::DELETE_NODES_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::DELETE_REFERENCES_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::BROWSE_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::BROWSE_NEXT_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::TRANSLATE_BROWSE_PATHS_TO_NODE_IDS_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::QUERY_FIRST_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::QUERY_NEXT_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::REGISTER_NODES_REQUEST_ENCODING_DEFAULT_BINARY,
    ids::UNREGISTER_NODES_REQUEST_ENCODING_DEFAULT_BINARY,
];

const SERVICE_COUNT: usize = 28;

/// Numbers of requests, and of those that were refused as a whole.
#[derive(Default)]
struct Count {
    total: AtomicU32,
    errors: AtomicU32,
}

/// Counts of the requests of one Session. Only the thread that serves its channel counts.
#[derive(Default)]
pub(crate) struct Counters {
    all: Count,
    unauthorized: AtomicU32,
    services: [Count; SERVICE_COUNT],
}

/// Adds one. A read-modify-write would be atomic, and slower: there is one thread that writes.
#[inline]
fn add(count: &AtomicU32) {
    count.store(
        count.load(Ordering::Relaxed).wrapping_add(1),
        Ordering::Relaxed,
    );
}

impl Count {
    fn get(&self) -> ServiceCounterDataType {
        ServiceCounterDataType {
            total_count: self.total.load(Ordering::Relaxed),
            error_count: self.errors.load(Ordering::Relaxed),
        }
    }
}

impl Counters {
    fn of(&self, type_id: u32) -> Option<&Count> {
        let at = SERVICES.iter().position(|service| *service == type_id)?;
        self.services.get(at)
    }

    /// Counts a request with this binary encoding.
    #[inline]
    pub(crate) fn request(&self, type_id: u32) {
        add(&self.all.total);
        if let Some(count) = self.of(type_id) {
            add(&count.total);
        }
    }

    /// Counts a request that is refused as a whole, after [`request`](Self::request).
    #[cold]
    pub(crate) fn refused(&self, type_id: u32) {
        add(&self.all.errors);
        if let Some(count) = self.of(type_id) {
            add(&count.errors);
        }
    }

    /// Counts a request for which the user has no right.
    #[cold]
    pub(crate) fn unauthorized(&self) {
        add(&self.unauthorized);
    }

    /// Returns the counts as the fields of SessionDiagnosticsDataType.
    pub(crate) fn fields(&self) -> SessionDiagnosticsDataType {
        let [
            read_count,
            history_read_count,
            write_count,
            history_update_count,
            call_count,
            create_monitored_items_count,
            modify_monitored_items_count,
            set_monitoring_mode_count,
            set_triggering_count,
            delete_monitored_items_count,
            create_subscription_count,
            modify_subscription_count,
            set_publishing_mode_count,
            publish_count,
            republish_count,
            transfer_subscriptions_count,
            delete_subscriptions_count,
            add_nodes_count,
            add_references_count,
            delete_nodes_count,
            delete_references_count,
            browse_count,
            browse_next_count,
            translate_browse_paths_to_node_ids_count,
            query_first_count,
            query_next_count,
            register_nodes_count,
            unregister_nodes_count,
        ] = self.services.each_ref().map(Count::get);
        SessionDiagnosticsDataType {
            total_request_count: self.all.get(),
            unauthorized_request_count: self.unauthorized.load(Ordering::Relaxed),
            read_count,
            history_read_count,
            write_count,
            history_update_count,
            call_count,
            create_monitored_items_count,
            modify_monitored_items_count,
            set_monitoring_mode_count,
            set_triggering_count,
            delete_monitored_items_count,
            create_subscription_count,
            modify_subscription_count,
            set_publishing_mode_count,
            publish_count,
            republish_count,
            transfer_subscriptions_count,
            delete_subscriptions_count,
            add_nodes_count,
            add_references_count,
            delete_nodes_count,
            delete_references_count,
            browse_count,
            browse_next_count,
            translate_browse_paths_to_node_ids_count,
            query_first_count,
            query_next_count,
            register_nodes_count,
            unregister_nodes_count,
            ..SessionDiagnosticsDataType::default()
        }
    }
}
