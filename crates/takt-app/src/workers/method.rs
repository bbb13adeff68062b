//! A Method that is called with owned arguments, outside of the request.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use takt_space::{
    CallError, Caller, InputArguments, LocalMethod, MethodCall, OutputArguments, RemoteCall,
    RemoteOperations, RemoteRequest, RemoteSource, SourceKey, StoredValue,
};
use takt_ua::binary::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, ListRef};
use takt_ua::structures::CallMethodResult;
use takt_ua::{StatusCode, Variant};

use super::pool::{Job, Rest};
use super::queue::Queue;
use super::task::{Outcome, Task};

/// Largest size in bytes of the output arguments of one call, encoded.
const MAX_OUTPUTS: usize = 64 << 20;

/// A Method on workers. Several workers may call it at the same time.
pub(super) struct WorkerMethod {
    key: SourceKey,
    method: Arc<dyn LocalMethod>,
    queue: Arc<Queue>,
}

impl WorkerMethod {
    pub(super) fn new(method: &Arc<dyn LocalMethod>, queue: &Arc<Queue>) -> Self {
        Self {
            key: SourceKey::new(),
            method: Arc::clone(method),
            queue: Arc::clone(queue),
        }
    }
}

impl RemoteSource for WorkerMethod {
    fn key(&self) -> SourceKey {
        self.key
    }

    /// A Method may take as long as its client waits.
    fn forward(&self, request: RemoteRequest) {
        let hint = request.hint;
        let Some(task) = self.queue.accept(request, hint) else {
            return;
        };
        let calls = Calls {
            method: Arc::clone(&self.method),
            task: Arc::clone(&task),
        };
        if !self.queue.submit(Arc::new(calls)) {
            task.fail(StatusCode::BadTooManyOperations);
        }
    }
}

/// The calls of one request.
struct Calls {
    method: Arc<dyn LocalMethod>,
    task: Arc<Task>,
}

impl Job for Calls {
    /// Carries out all calls, one after another, as long as the client waits.
    fn run(&self) -> Rest {
        let task = &self.task;
        match (&task.operations, &task.caller) {
            (RemoteOperations::Call(calls), Some(caller)) => {
                for (index, call) in calls.iter().enumerate() {
                    if !task.begin() {
                        break;
                    }
                    task.put(index, Outcome::Call(result(&*self.method, caller, call)));
                }
            }
            _ => task.fail(StatusCode::BadInternalError),
        }
        Rest::None
    }
}

fn result(method: &dyn LocalMethod, caller: &Caller, request: &RemoteCall) -> CallMethodResult {
    // The worker goes on after a panic, and the client gets an answer.
    let called = catch_unwind(AssertUnwindSafe(|| call(method, caller, request)));
    let failed = |error: CallError| CallMethodResult {
        status_code: error.status,
        input_argument_results: error.input_argument_results,
        ..CallMethodResult::default()
    };
    match called {
        Ok(Ok(output_arguments)) => CallMethodResult {
            output_arguments,
            ..CallMethodResult::default()
        },
        Ok(Err(error)) => failed(error),
        Err(_) => failed(StatusCode::BadInternalError.into()),
    }
}

fn call(
    method: &dyn LocalMethod,
    caller: &Caller,
    call: &RemoteCall,
) -> Result<Vec<Variant>, CallError> {
    let inputs = encoded(&call.input_arguments).map_err(|_| StatusCode::BadInternalError)?;
    let mut inputs = Decoder::with_limits(&inputs, StoredValue::LIMITS);
    let inputs = ListRef::decode(&mut inputs).map_err(|error| error.status_code())?;
    let mut outputs = Vec::new();
    let mut encoder = Encoder::growing(&mut outputs, MAX_OUTPUTS);
    let mut arguments = OutputArguments::encoded(&mut encoder);
    let method_call = MethodCall::new(
        caller,
        call.object_id.as_ref(),
        InputArguments::Encoded(inputs),
    );
    method.call(&method_call, &mut arguments)?;
    let count = arguments
        .finish()
        .map_err(|_| StatusCode::BadResponseTooLarge)?;
    let outputs = decoded(&outputs, count);
    Ok(outputs.map_err(|_| StatusCode::BadInternalError)?)
}

fn encoded(arguments: &[Variant]) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::growing(&mut bytes, usize::MAX);
    encoder.array_length(Some(arguments.len()))?;
    for argument in arguments {
        argument.encode(&mut encoder)?;
    }
    Ok(bytes)
}

fn decoded(bytes: &[u8], count: usize) -> Result<Vec<Variant>, DecodeError> {
    let mut decoder = Decoder::with_limits(bytes, StoredValue::LIMITS);
    (0..count).map(|_| Variant::decode(&mut decoder)).collect()
}
