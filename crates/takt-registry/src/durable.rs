//! Methods whose effects are on the disk before their callers get the results.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use takt_space::{
    CallError, Caller, MethodHandler, RemoteCall, RemoteMethod, RemoteOperations, RemoteRequest,
    RemoteResults, RemoteSource, SourceKey,
};
use takt_ua::structures::CallMethodResult;
use takt_ua::{NodeId, StatusCode, Variant};

use crate::database::DatabaseError;
use crate::rules::Rules;

/// A Method with owned arguments, which hands its changes over to the database and does not wait for them.
type Run = dyn Fn(&Caller, &NodeId, &[Variant]) -> Result<Vec<Variant>, CallError> + Send + Sync;

/// The Methods of a registry that are answered when everything that they did or saw is durable: later, so that other clients do
/// not wait.
pub(crate) struct DurableMethods {
    rules: Arc<Rules>,
    /// Key of all durable Methods: those of one Call are forwarded together, and run in the order of the request.
    key: SourceKey,
    numbered: Mutex<Numbered>,
}

/// The bound Methods by their numbers, which are NodeIds.
#[derive(Default)]
struct Numbered {
    last: u32,
    methods: HashMap<NodeId, Weak<Run>>,
}

/// One durable Method. When it is dropped, the others do not find it any more.
struct DurableMethod {
    all: Arc<DurableMethods>,
    number: NodeId,
    _run: Arc<Run>,
}

impl DurableMethods {
    /// Creates an empty list of Methods that hand their changes over to the database of `rules`.
    pub(crate) fn new(rules: &Arc<Rules>) -> Arc<Self> {
        Arc::new(Self {
            rules: Arc::clone(rules),
            key: SourceKey::new(),
            numbered: Mutex::default(),
        })
    }

    fn numbered(&self) -> MutexGuard<'_, Numbered> {
        self.numbered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the handler of a Method that hands its changes over to the database.
    pub(crate) fn handler(
        self: &Arc<Self>,
        run: impl Fn(&Caller, &NodeId, &[Variant]) -> Result<Vec<Variant>, CallError>
        + Send
        + Sync
        + 'static,
    ) -> MethodHandler {
        let run: Arc<Run> = Arc::new(run);
        let number = self.numbered().add(Arc::downgrade(&run));
        MethodHandler::Remote(RemoteMethod {
            source: Arc::new(DurableMethod {
                all: Arc::clone(self),
                number: number.clone(),
                _run: run,
            }),
            object_id: NodeId::NULL,
            method_id: number,
            checks_arguments: false,
            takes_unknown_objects: false,
        })
    }

    fn call(&self, caller: &Caller, call: &RemoteCall) -> CallMethodResult {
        let run = self.numbered().methods.get(&call.method_id).cloned();
        result(match run.and_then(|run| run.upgrade()) {
            Some(run) => run(caller, &call.object_id, &call.input_arguments),
            // A call before it has removed the Method.
            None => Err(StatusCode::BadMethodInvalid.into()),
        })
    }
}

impl Numbered {
    /// Adds a Method and returns its number.
    fn add(&mut self, run: Weak<Run>) -> NodeId {
        loop {
            self.last = self.last.wrapping_add(1);
            let number = NodeId::numeric(0, self.last);
            if !self.methods.contains_key(&number) {
                self.methods.insert(number.clone(), run);
                return number;
            }
        }
    }
}

impl Drop for DurableMethod {
    fn drop(&mut self) {
        self.all.numbered().methods.remove(&self.number);
    }
}

impl RemoteSource for DurableMethod {
    fn key(&self) -> SourceKey {
        self.all.key
    }

    fn forward(&self, request: RemoteRequest) {
        let (RemoteOperations::Call(calls), Some(caller)) = (&request.operations, &request.caller)
        else {
            let failed = request.operations.failed(StatusCode::BadInternalError);
            return request.reply.answer(failed);
        };
        let database = &self.all.rules.database;
        // Before the calls: a loss from here on may be that of their changes.
        let losses = database.losses();
        let results = calls.iter().map(|call| self.all.call(caller, call));
        let mut results: Vec<CallMethodResult> = results.collect();
        let reply = request.reply;
        let then = move |settled: Result<(), Arc<DatabaseError>>| {
            if settled.is_err() {
                // The errors of other calls are more precise, and nothing of these was to be stored.
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
