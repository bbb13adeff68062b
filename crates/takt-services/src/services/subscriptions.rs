//! The Subscription Service Set (OPC 10000-4, 5.14).

use std::sync::Arc;
use std::time::Duration;

use takt_space::Caller;
use takt_ua::binary::{Decode, Decoder, Encoder};
use takt_ua::request_handler::RequestOutcome;
use takt_ua::structures::{
    CreateSubscriptionRequest, CreateSubscriptionResponse, DeleteSubscriptionsResponse,
    ModifySubscriptionRequest, ModifySubscriptionResponse, PublishRequest, RepublishRequest,
    SetPublishingModeRequest, SetPublishingModeResponse, TransferResult,
    TransferSubscriptionsResponse,
};
use takt_ua::{StatusCode, Structure, ids};

use super::request::{Handled, Request, check_count, decode, encode};
use crate::responses::fault::Fault;
use crate::responses::pending::Pending;
use crate::server::connection::Connection;
use crate::session::Session;
use crate::subscriptions::{self, Engine, Now, Revised};

/// Returns the parameters of a Subscription within the budgets of the server. The two requests that have them name them alike.
macro_rules! revised {
    ($request:expr, $of:expr) => {
        Revised::of_request(
            $of.requested_publishing_interval,
            $of.requested_lifetime_count,
            $of.requested_max_keep_alive_count,
            $of.max_notifications_per_publish,
            &$request.server.budgets.subscriptions,
        )
    };
}

/// Handles a CreateSubscription request.
pub(super) fn create(
    request: &Request<'_>,
    session: &Arc<Session>,
    create: CreateSubscriptionRequest,
) -> Result<CreateSubscriptionResponse, Fault> {
    let revised = revised!(request, create);
    let owner = session.caller.load_full();
    let publishing = (create.publishing_enabled, create.priority);
    let subscription_id = request.server.subscriptions.with(|engine| {
        engine.create(
            &session.id,
            owner,
            &session.memory,
            revised,
            publishing,
            Now::get(),
        )
    })?;
    Ok(CreateSubscriptionResponse {
        response_header: request.response_header(),
        subscription_id,
        revised_publishing_interval: milliseconds(revised.publishing_interval),
        revised_lifetime_count: revised.lifetime_count,
        revised_max_keep_alive_count: revised.max_keep_alive_count,
    })
}

/// Handles a ModifySubscription request.
pub(super) fn modify(
    request: &Request<'_>,
    session: &Arc<Session>,
    modify: ModifySubscriptionRequest,
) -> Result<ModifySubscriptionResponse, Fault> {
    let revised = revised!(request, modify);
    let lifetime_count = request.server.subscriptions.with(|engine| {
        let (subscription, _) =
            engine.subscription_to_change(&session.id, modify.subscription_id)?;
        Ok::<_, StatusCode>(subscription.modify(revised, modify.priority))
    })?;
    Ok(ModifySubscriptionResponse {
        response_header: request.response_header(),
        revised_publishing_interval: milliseconds(revised.publishing_interval),
        revised_lifetime_count: lifetime_count,
        revised_max_keep_alive_count: revised.max_keep_alive_count,
    })
}

/// Converts a duration to a Duration of the standard.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Handles a SetPublishingMode request.
pub(super) fn set_publishing_mode(
    request: &Request<'_>,
    session: &Arc<Session>,
    set: SetPublishingModeRequest,
) -> Result<SetPublishingModeResponse, Fault> {
    let budgets = &request.server.budgets.subscriptions;
    check_count(set.subscription_ids.len(), budgets.max_subscriptions)?;
    let results = request.server.subscriptions.with(|engine| {
        let set_one = |id: &u32| {
            let subscription = engine.subscription_to_change(&session.id, *id);
            status_of(
                subscription.map(|(one, _)| one.set_publishing_enabled(set.publishing_enabled)),
            )
        };
        set.subscription_ids.iter().map(set_one).collect()
    });
    Ok(SetPublishingModeResponse {
        response_header: request.response_header(),
        results,
        ..SetPublishingModeResponse::default()
    })
}

/// Runs `work` on the engine for one slice. The engine continues with the rest on its own.
pub(super) fn in_slice<R>(
    request: &Request<'_>,
    connection: &Connection,
    work: impl FnOnce(&mut Engine) -> R,
) -> R {
    let server = request.server;
    let slice = server.tasks.inline_slice(connection.channel, usize::MAX);
    server.subscriptions.with(|engine| {
        engine.begin_slice(slice.left());
        let result = work(engine);
        engine.give_back();
        server.tasks.note_units(engine.spent());
        result
    })
}

/// Service with one operation on each of its Subscriptions.
pub(super) trait SubscriptionOperation: Sized {
    type Result;
    type Response: Structure;

    /// Decodes the parameters behind the SubscriptionIds.
    fn decode(session: &Session, body: &mut Decoder<'_>) -> Result<Self, Fault>;

    /// Executes the operation on one Subscription.
    fn execute(&self, engine: &mut Engine, session: &Session, id: u32) -> Self::Result;

    /// Returns the response with the results, in the order of the request.
    fn response(request: &Request<'_>, results: Vec<Self::Result>) -> Self::Response;
}

/// Handles a request with one operation on each of its Subscriptions: all of them in one slice.
pub(super) fn handle_each<O: SubscriptionOperation>(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    mut body: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let ids = Vec::<u32>::decode(&mut body)?;
    let budgets = &request.server.budgets.subscriptions;
    check_count(ids.len(), budgets.max_subscriptions)?;
    let operation = O::decode(session, &mut body)?;
    let results = in_slice(request, connection, |engine| {
        let execute = |id: &u32| operation.execute(engine, session, *id);
        ids.iter().map(execute).collect()
    });
    encode(&O::response(request, results), response)
}

/// DeleteSubscriptions.
pub(super) struct DeleteSubscriptions;

impl SubscriptionOperation for DeleteSubscriptions {
    type Result = StatusCode;
    type Response = DeleteSubscriptionsResponse;

    fn decode(_: &Session, _: &mut Decoder<'_>) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn execute(&self, engine: &mut Engine, session: &Session, id: u32) -> StatusCode {
        status_of(engine.delete(&session.id, id))
    }

    fn response(request: &Request<'_>, results: Vec<StatusCode>) -> Self::Response {
        DeleteSubscriptionsResponse {
            response_header: request.response_header(),
            results,
            ..DeleteSubscriptionsResponse::default()
        }
    }
}

/// TransferSubscriptions.
pub(super) struct TransferSubscriptions {
    /// New owner of the Subscriptions.
    caller: Arc<Caller>,
    send_initial_values: bool,
}

impl SubscriptionOperation for TransferSubscriptions {
    type Result = TransferResult;
    type Response = TransferSubscriptionsResponse;

    fn decode(session: &Session, body: &mut Decoder<'_>) -> Result<Self, Fault> {
        let send_initial_values = body.bool()?;
        let caller = session.caller.load_full();
        Ok(Self {
            caller,
            send_initial_values,
        })
    }

    fn execute(&self, engine: &mut Engine, session: &Session, id: u32) -> TransferResult {
        let now = Now::get();
        match engine.transfer(&session.id, &self.caller, id, self.send_initial_values, now) {
            Ok(available_sequence_numbers) => TransferResult {
                status_code: StatusCode::Good,
                available_sequence_numbers,
            },
            Err(status_code) => TransferResult {
                status_code,
                ..TransferResult::default()
            },
        }
    }

    fn response(request: &Request<'_>, results: Vec<TransferResult>) -> Self::Response {
        TransferSubscriptionsResponse {
            response_header: request.response_header(),
            results,
            ..TransferSubscriptionsResponse::default()
        }
    }
}

/// Handles a Publish request: it is answered when there is something to publish.
pub(crate) fn publish(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    structure: Decoder<'_>,
) -> Handled {
    let publish: PublishRequest = decode(structure)?;
    let budgets = &request.server.budgets.subscriptions;
    let acknowledgements = &publish.subscription_acknowledgements;
    if acknowledgements.len() > budgets.max_acknowledgements() {
        return Err(Fault(StatusCode::BadTooManyOperations));
    }
    let handle = request.header.request_handle;
    let completed = Arc::clone(&connection.completed);
    // The results of the acknowledgements wait with the request.
    let memory = acknowledgements.len() * size_of::<StatusCode>();
    let pending = Pending::new(
        request.request_id,
        handle,
        completed,
        &session.memory,
        memory,
    )?;
    let now = Now::get();
    let tasks = &request.server.tasks;
    request.server.subscriptions.with(|engine| {
        if !engine.has_subscriptions(&session.id) {
            return Err(Fault(StatusCode::BadNoSubscription));
        }
        // Only now: a request that is refused at once must not be found by Cancel.
        let pending = session.keep_pending(pending);
        let results = engine.acknowledge(&session.id, acknowledgements);
        let deadline = match request.header.timeout_hint {
            0 => None,
            hint => Some(now.instant + Duration::from_millis(u64::from(hint))),
        };
        let request = subscriptions::PublishRequest {
            pending,
            results,
            deadline,
        };
        engine.publish(&session.id, request, now);
        tasks.note_units(engine.spent());
        Ok(RequestOutcome::Deferred)
    })
}

/// Handles a Republish request.
pub(crate) fn republish(
    request: &Request<'_>,
    session: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let republish: RepublishRequest = decode(structure)?;
    let number = republish.retransmit_sequence_number;
    let message = request
        .server
        .subscriptions
        .with(|engine| engine.republish(&session.id, republish.subscription_id, number))?;
    request.respond(ids::REPUBLISH_RESPONSE_ENCODING_DEFAULT_BINARY, response)?;
    response.bytes(&message)?;
    Ok(RequestOutcome::Complete)
}

/// Converts the result of an operation that returns only a StatusCode.
pub(crate) fn status_of(result: Result<(), StatusCode>) -> StatusCode {
    result.err().unwrap_or(StatusCode::Good)
}
