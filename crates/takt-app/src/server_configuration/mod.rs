//! ServerConfiguration: certificates and trust lists that an administrator changes over the network (OPC 10000-12, 7.10).
//!
//! The Methods work on the folders of certificates, as `takt trust` does. Changes wait in a transaction of the Session until
//! ApplyChanges, except for AddCertificate and RemoveCertificate. A thread carries out the Methods one after another: keys are made
//! and files are written there, and other clients do not wait.
//!
//! * [`methods`]: the Methods of ServerConfiguration; [`trust_list`]: those of the trust list.
//! * [`open_files`]: the trust lists that clients have open; [`transaction`]: the changes that wait.
//! * [`optional`]: nodes that namespace 0 does not have.
//! * [`contents`]: the encoding of a trust list, and its checks.

mod administration;
mod contents;
mod method;
mod methods;
mod open_files;
mod optional;
mod state;
mod transaction;
mod trust_list;

use std::sync::mpsc::{RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use takt_crypto::{ApplicationSecurity, KeyKind};
use takt_services::Server;
use takt_space::{
    AddressSpaceError, CallError, MethodHandler, RemoteCall, RemoteMethod, RemoteOperations,
    RemoteRequest, RemoteResults, RemoteSource, SourceKey, Value,
};
use takt_ua::structures::CallMethodResult;
use takt_ua::{DataValue, NodeId, StatusCode, UaString, Variant, ids};

use administration::Administration;
pub use contents::fuzz as trust_list_contents;

/// Requests that wait for the thread at once; further ones get `BadTooManyOperations`.
const WAITING: usize = 16;

/// Interval of the search for files and transactions that nobody uses any more.
const SEARCH: Duration = Duration::from_secs(5);

/// Binds the Methods and Properties of ServerConfiguration, and starts the thread that carries them out. It ends with the server.
pub(crate) fn bind(
    server: &Arc<Server>,
    security: &Arc<ApplicationSecurity>,
) -> Result<(), BindError> {
    let administration = Arc::new(Administration::new(server, security));
    let (requests, waiting) = sync_channel::<RemoteRequest>(WAITING);
    let carrying_out = Arc::clone(&administration);
    // The Methods read and write files, for which the serving thread must not wait.
    let thread = std::thread::Builder::new().name("certificates".to_owned());
    thread.spawn(move || {
        loop {
            // What nobody uses any more is searched for only while something is in use.
            let received = match carrying_out.forget_unused() {
                true => waiting.recv_timeout(SEARCH),
                false => waiting.recv().map_err(RecvTimeoutError::from),
            };
            match received {
                Ok(request) => answer(&carrying_out, request),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    })?;
    let source: Arc<dyn RemoteSource> = Arc::new(Source {
        key: SourceKey::new(),
        requests,
    });
    let space = server.address_space();
    optional::add(space)?;
    let mut edit = space.edit();
    for method in methods::ALL.iter().chain(&trust_list::ALL) {
        let handler = MethodHandler::Remote(RemoteMethod {
            source: Arc::clone(&source),
            object_id: NodeId::NULL,
            method_id: NodeId::from(method.id),
            checks_arguments: true,
            takes_unknown_objects: false,
        });
        edit.set_method(&NodeId::from(method.id), handler)?;
    }
    for (id, value) in properties(&administration) {
        edit.set_value(&NodeId::from(id), value)?;
    }
    Ok(())
}

/// Error of a server whose ServerConfiguration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BindError {
    /// The thread cannot be started.
    #[error(transparent)]
    Thread(#[from] std::io::Error),
    /// A node is missing.
    #[error(transparent)]
    Nodes(#[from] AddressSpaceError),
}

/// Returns the values of the Properties.
fn properties(administration: &Arc<Administration>) -> Vec<(u32, Value)> {
    let live = |read: fn(&Administration) -> DataValue| {
        // The address space is a part of the server, and owns this callback.
        let administration: Weak<Administration> = Arc::downgrade(administration);
        Value::callback(move || match administration.upgrade() {
            Some(administration) => read(&administration),
            None => DataValue::status(StatusCode::BadShutdown),
        })
    };
    let formats = methods::KEY_FORMATS.map(UaString::from).to_vec();
    let types: Vec<NodeId> = administration
        .security
        .kinds()
        .map(KeyKind::certificate_type)
        .collect();
    let most = u32::try_from(contents::MAX_TRUST_LIST).unwrap_or(u32::MAX);
    let yes = || Value::stored(true);
    let no = || Value::stored(false);
    vec![
        (ids::SERVER_CONFIGURATION_SUPPORTED_PRIVATE_KEY_FORMATS, Value::stored(formats)),
        (ids::SERVER_CONFIGURATION_MAX_TRUST_LIST_SIZE, Value::stored(most)),
        (ids::SERVER_CONFIGURATION_MULTICAST_DNS_ENABLED, no()),
        (ids::SERVER_CONFIGURATION_HAS_SECURE_ELEMENT, no()),
        (ids::SERVER_CONFIGURATION_SUPPORTS_TRANSACTIONS, yes()),
        (ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_CERTIFICATE_TYPES, Value::stored(types)),
        (ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_WRITABLE, yes()),
        (ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_USER_WRITABLE, yes()),
        // It has no meaning (OPC 10000-12, 7.8.2.1).
        (ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_SIZE, live(|_| DataValue::status(StatusCode::BadNotSupported))),
        (ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_OPEN_COUNT, live(|all| DataValue::good(all.open_count()))),
        (ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_LAST_UPDATE_TIME, live(|all| DataValue::good(all.last_update_time()))),
    ]
}

/// The thread, as the server calls it.
struct Source {
    key: SourceKey,
    requests: SyncSender<RemoteRequest>,
}

impl RemoteSource for Source {
    fn key(&self) -> SourceKey {
        self.key
    }

    fn forward(&self, request: RemoteRequest) {
        match self.requests.try_send(request) {
            Ok(()) => {}
            Err(TrySendError::Full(request) | TrySendError::Disconnected(request)) => {
                let failed = request.operations.failed(StatusCode::BadTooManyOperations);
                request.reply.answer(failed);
            }
        }
    }
}

/// Carries out the calls of a request.
fn answer(administration: &Administration, request: RemoteRequest) {
    let (RemoteOperations::Call(calls), Some(caller)) = (&request.operations, &request.caller)
    else {
        let failed = request.operations.failed(StatusCode::BadInternalError);
        return request.reply.answer(failed);
    };
    let mut results = Vec::with_capacity(calls.len());
    for call in calls {
        let result = match request.reply.is_awaited() {
            true => run(administration, caller, call),
            false => Err(StatusCode::BadRequestCancelledByClient.into()),
        };
        results.push(match result {
            Ok(output_arguments) => CallMethodResult {
                output_arguments,
                ..CallMethodResult::default()
            },
            Err(error) => CallMethodResult {
                status_code: error.status,
                input_argument_results: error.input_argument_results,
                ..CallMethodResult::default()
            },
        });
    }
    request.reply.answer(RemoteResults::Call(results));
}

fn run(
    administration: &Administration,
    caller: &takt_space::Caller,
    call: &RemoteCall,
) -> Result<Vec<Variant>, CallError> {
    administration::check(caller)?;
    let id = call.method_id.standard_id();
    let mut known = methods::ALL.iter().chain(&trust_list::ALL);
    let method = known
        .find(|method| Some(method.id) == id)
        .ok_or(StatusCode::BadMethodInvalid)?;
    administration.forget_unused();
    let of_call = administration::Call {
        caller,
        object_id: &call.object_id,
        method_id: &call.method_id,
    };
    Ok((method.run)(
        administration,
        &of_call,
        &call.input_arguments,
    )?)
}
