//! Counts of the requests of a Session, for its SessionDiagnosticsDataType (OPC 10000-5, 12.11).

use std::sync::atomic::{AtomicU32, Ordering};

use takt_ua::ids;
use takt_ua::structures::{ServiceCounterDataType, SessionDiagnosticsDataType};

/// Numbers of requests, and of those that were refused as a whole.
#[derive(Default)]
struct Count {
    total: AtomicU32,
    errors: AtomicU32,
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

/// Defines the counters of services: the field of SessionDiagnosticsDataType, and the binary encoding of the request.
macro_rules! counters {
    ($($field:ident: $request:ident,)*) => {
        /// Counts of the requests of one Session. Only the thread that serves its channel counts.
        #[derive(Default)]
        pub(crate) struct Counters {
            all: Count,
            unauthorized: AtomicU32,
            $($field: Count,)*
        }

        impl Counters {
            #[inline]
            fn of(&self, type_id: u32) -> Option<&Count> {
                match type_id {
                    $(ids::$request => Some(&self.$field),)*
                    _ => None,
                }
            }

            /// Returns the number of all requests.
            pub(crate) fn total(&self) -> u32 {
                self.all.total.load(Ordering::Relaxed)
            }

            /// Returns the counts as the fields of SessionDiagnosticsDataType.
            pub(crate) fn fields(&self) -> SessionDiagnosticsDataType {
                SessionDiagnosticsDataType {
                    total_request_count: self.all.get(),
                    unauthorized_request_count: self.unauthorized.load(Ordering::Relaxed),
                    $($field: self.$field.get(),)*
                    ..SessionDiagnosticsDataType::default()
                }
            }
        }
    };
}

counters! {
    read_count: READ_REQUEST_ENCODING_DEFAULT_BINARY,
    history_read_count: HISTORY_READ_REQUEST_ENCODING_DEFAULT_BINARY,
    write_count: WRITE_REQUEST_ENCODING_DEFAULT_BINARY,
    history_update_count: HISTORY_UPDATE_REQUEST_ENCODING_DEFAULT_BINARY,
    call_count: CALL_REQUEST_ENCODING_DEFAULT_BINARY,
    create_monitored_items_count: CREATE_MONITORED_ITEMS_REQUEST_ENCODING_DEFAULT_BINARY,
    modify_monitored_items_count: MODIFY_MONITORED_ITEMS_REQUEST_ENCODING_DEFAULT_BINARY,
    set_monitoring_mode_count: SET_MONITORING_MODE_REQUEST_ENCODING_DEFAULT_BINARY,
    set_triggering_count: SET_TRIGGERING_REQUEST_ENCODING_DEFAULT_BINARY,
    delete_monitored_items_count: DELETE_MONITORED_ITEMS_REQUEST_ENCODING_DEFAULT_BINARY,
    create_subscription_count: CREATE_SUBSCRIPTION_REQUEST_ENCODING_DEFAULT_BINARY,
    modify_subscription_count: MODIFY_SUBSCRIPTION_REQUEST_ENCODING_DEFAULT_BINARY,
    set_publishing_mode_count: SET_PUBLISHING_MODE_REQUEST_ENCODING_DEFAULT_BINARY,
    publish_count: PUBLISH_REQUEST_ENCODING_DEFAULT_BINARY,
    republish_count: REPUBLISH_REQUEST_ENCODING_DEFAULT_BINARY,
    transfer_subscriptions_count: TRANSFER_SUBSCRIPTIONS_REQUEST_ENCODING_DEFAULT_BINARY,
    delete_subscriptions_count: DELETE_SUBSCRIPTIONS_REQUEST_ENCODING_DEFAULT_BINARY,
    add_nodes_count: ADD_NODES_REQUEST_ENCODING_DEFAULT_BINARY,
    add_references_count: ADD_REFERENCES_REQUEST_ENCODING_DEFAULT_BINARY,
    delete_nodes_count: DELETE_NODES_REQUEST_ENCODING_DEFAULT_BINARY,
    delete_references_count: DELETE_REFERENCES_REQUEST_ENCODING_DEFAULT_BINARY,
    browse_count: BROWSE_REQUEST_ENCODING_DEFAULT_BINARY,
    browse_next_count: BROWSE_NEXT_REQUEST_ENCODING_DEFAULT_BINARY,
    translate_browse_paths_to_node_ids_count: TRANSLATE_BROWSE_PATHS_TO_NODE_IDS_REQUEST_ENCODING_DEFAULT_BINARY,
    query_first_count: QUERY_FIRST_REQUEST_ENCODING_DEFAULT_BINARY,
    query_next_count: QUERY_NEXT_REQUEST_ENCODING_DEFAULT_BINARY,
    register_nodes_count: REGISTER_NODES_REQUEST_ENCODING_DEFAULT_BINARY,
    unregister_nodes_count: UNREGISTER_NODES_REQUEST_ENCODING_DEFAULT_BINARY,
}

impl Counters {
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
}
