//! Methods whose effects are on the disk before their callers get the results.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use takt_space::{
    CallError, Caller, MethodHandler, RemoteMethod, RemoteOperations, RemoteRequest, RemoteResults,
    RemoteSource,
};
use takt_ua::structures::CallMethodResult;
use takt_ua::{NodeId, StatusCode, Variant};

use crate::database::DatabaseError;
use crate::rules::Rules;

/// A Method with owned arguments, which hands its changes over to the database and does not wait for them.
type Run = dyn Fn(&Caller, &NodeId, &[Variant]) -> Result<Vec<Variant>, CallError> + Send + Sync;

/// A Method that is answered when everything that it did or saw is durable: later, so that other clients do not wait.
struct Durable {
    key: u64,
    rules: Arc<Rules>,
    run: Box<Run>,
}

/// Returns the handler of a Method that hands its changes over to the database of `rules`.
pub(crate) fn handler(
    rules: &Arc<Rules>,
    run: impl Fn(&Caller, &NodeId, &[Variant]) -> Result<Vec<Variant>, CallError>
    + Send
    + Sync
    + 'static,
) -> MethodHandler {
    static LAST_KEY: AtomicU64 = AtomicU64::new(0);
    MethodHandler::Remote(RemoteMethod {
        source: Arc::new(Durable {
            key: LAST_KEY.fetch_add(1, Ordering::Relaxed) + 1,
            rules: Arc::clone(rules),
            run: Box::new(run),
        }),
        object_id: NodeId::NULL,
        method_id: NodeId::NULL,
        checks_arguments: false,
    })
}

impl RemoteSource for Durable {
    fn key(&self) -> u64 {
        self.key
    }

    fn forward(&self, request: RemoteRequest) {
        let (RemoteOperations::Call(calls), Some(caller)) = (&request.operations, &request.caller)
        else {
            let failed = request.operations.failed(StatusCode::BadInternalError);
            return request.reply.answer(failed);
        };
        let database = &self.rules.database;
        let losses = database.losses();
        let results = calls.iter().map(|call| {
            let called = (self.run)(caller, &call.object_id, &call.input_arguments);
            result(called)
        });
        let mut results: Vec<CallMethodResult> = results.collect();
        let reply = request.reply;
        let then = move |settled: Result<(), Arc<DatabaseError>>| {
            if settled.is_err() {
                for good in results.iter_mut().filter(|one| one.status_code.is_good()) {
                    *good = result(Err(StatusCode::BadResourceUnavailable.into()));
                }
            }
            reply.answer(RemoteResults::Call(results));
        };
        database.settle(Some(losses), Box::new(then));
    }
}

fn result(called: Result<Vec<Variant>, CallError>) -> CallMethodResult {
    match called {
        Ok(output_arguments) => CallMethodResult {
            output_arguments,
            ..CallMethodResult::default()
        },
        Err(error) => CallMethodResult {
            status_code: error.status,
            input_argument_results: error.input_argument_results,
            ..CallMethodResult::default()
        },
    }
}
