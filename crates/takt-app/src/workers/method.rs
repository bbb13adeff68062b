//! A Method that is called with owned arguments, outside of the request.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use takt_space::{
    CallError, Caller, InputArguments, Method, MethodCall, OutputArguments, RemoteCall,
    RemoteOperations, RemoteRequest, RemoteResults, StoredValue,
};
use takt_ua::binary::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, ListRef};
use takt_ua::structures::CallMethodResult;
use takt_ua::{StatusCode, Variant};

/// Largest size in bytes of the output arguments of one call, encoded.
const MAX_OUTPUTS: usize = 64 << 20;

/// A Method, and its calls.
pub(super) struct WorkerMethod(Arc<dyn Method>);

impl WorkerMethod {
    pub(super) fn new(method: Arc<dyn Method>) -> Self {
        Self(method)
    }

    /// Carries out all calls of a request, one after another.
    pub(super) fn run(&self, request: &RemoteRequest) -> RemoteResults {
        let (RemoteOperations::Call(calls), Some(caller)) = (&request.operations, &request.caller)
        else {
            return request.operations.failed(StatusCode::BadInternalError);
        };
        RemoteResults::Call(calls.iter().map(|call| self.result(caller, call)).collect())
    }

    fn result(&self, caller: &Caller, call: &RemoteCall) -> CallMethodResult {
        // The worker goes on after a panic, and the client gets an answer.
        let called = catch_unwind(AssertUnwindSafe(|| self.call(caller, call)));
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

    fn call(&self, caller: &Caller, call: &RemoteCall) -> Result<Vec<Variant>, CallError> {
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
        self.0.call(&method_call, &mut arguments)?;
        let count = arguments
            .finish()
            .map_err(|_| StatusCode::BadResponseTooLarge)?;
        let outputs = decoded(&outputs, count);
        Ok(outputs.map_err(|_| StatusCode::BadInternalError)?)
    }
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
