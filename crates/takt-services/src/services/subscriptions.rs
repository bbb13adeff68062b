//! The Subscription Service Set (OPC 10000-4, 5.14).

use std::sync::Arc;
use std::time::Duration;

use takt_ua::StatusCode;
use takt_ua::binary::{Decode, Decoder, Encoder};
use takt_ua::ids;
use takt_ua::request_handler::RequestOutcome;
use takt_ua::structures::{
    CreateSubscriptionRequest, CreateSubscriptionResponse, DeleteSubscriptionsResponse,
    ModifySubscriptionRequest, ModifySubscriptionResponse, PublishRequest, RepublishRequest,
    SetPublishingModeRequest, SetPublishingModeResponse, TransferResult,
    TransferSubscriptionsResponse,
};

use super::request::{Handled, Request, check_count, decode, encode};
use crate::responses::fault::Fault;
use crate::responses::pending::Pending;
use crate::server::connection::Connection;
use crate::session::Session;
use crate::subscriptions::{self, Engine, Now, Revised};

/// Handles a CreateSubscription request.
pub(crate) fn create(
    request: &Request<'_>,
    session: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let create: CreateSubscriptionRequest = decode(structure)?;
    let revised = Revised::of_request(
        create.requested_publishing_interval,
        create.requested_lifetime_count,
        create.requested_max_keep_alive_count,
        create.max_notifications_per_publish,
        &request.server.budgets.subscriptions,
    );
    let owner = session.caller.load_full();
    let (enabled, priority) = (create.publishing_enabled, create.priority);
    let subscription_id = request.server.subscriptions.with(|engine| {
        let publishing = (enabled, priority);
        engine.create(
            &session.id,
            owner,
            &session.memory,
            revised,
            publishing,
            Now::get(),
        )
    })?;
    encode(
        &CreateSubscriptionResponse {
            response_header: request.response_header(),
            subscription_id,
            revised_publishing_interval: milliseconds(revised.publishing_interval),
            revised_lifetime_count: revised.lifetime_count,
            revised_max_keep_alive_count: revised.max_keep_alive_count,
        },
        response,
    )
}

/// Handles a ModifySubscription request.
pub(crate) fn modify(
    request: &Request<'_>,
    session: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let modify: ModifySubscriptionRequest = decode(structure)?;
    let revised = Revised::of_request(
        modify.requested_publishing_interval,
        modify.requested_lifetime_count,
        modify.requested_max_keep_alive_count,
        modify.max_notifications_per_publish,
        &request.server.budgets.subscriptions,
    );
    let lifetime_count = request.server.subscriptions.with(|engine| {
        let subscription = engine.subscription(&session.id, modify.subscription_id)?;
        Ok::<_, StatusCode>(subscription.modify(revised, modify.priority))
    })?;
    encode(
        &ModifySubscriptionResponse {
            response_header: request.response_header(),
            revised_publishing_interval: milliseconds(revised.publishing_interval),
            revised_lifetime_count: lifetime_count,
            revised_max_keep_alive_count: revised.max_keep_alive_count,
        },
        response,
    )
}

/// Converts a duration to a Duration of the standard.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Handles a SetPublishingMode request.
pub(crate) fn set_publishing_mode(
    request: &Request<'_>,
    session: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let set: SetPublishingModeRequest = decode(structure)?;
    let budgets = &request.server.budgets.subscriptions;
    check_count(set.subscription_ids.len(), budgets.max_subscriptions)?;
    let results = request.server.subscriptions.with(|engine| {
        let mut results = Vec::with_capacity(set.subscription_ids.len());
        for id in &set.subscription_ids {
            results.push(match engine.subscription(&session.id, *id) {
                Ok(subscription) => {
                    let enabled = set.publishing_enabled;
                    subscription.set_publishing_enabled(enabled);
                    StatusCode::Good
                }
                Err(status) => status,
            });
        }
        results
    });
    encode(
        &SetPublishingModeResponse {
            response_header: request.response_header(),
            results,
            ..SetPublishingModeResponse::default()
        },
        response,
    )
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

/// Decodes the SubscriptionIds of a request, at most the maximum number of Subscriptions.
fn subscription_ids(request: &Request<'_>, body: &mut Decoder<'_>) -> Result<Vec<u32>, Fault> {
    let ids = Vec::<u32>::decode(body)?;
    let budgets = &request.server.budgets.subscriptions;
    check_count(ids.len(), budgets.max_subscriptions)?;
    Ok(ids)
}

/// Handles a DeleteSubscriptions request.
pub(crate) fn delete(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    mut body: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let ids = subscription_ids(request, &mut body)?;
    let results = in_slice(request, connection, |engine| {
        let ids = ids.iter();
        ids.map(|id| status_of(engine.delete(&session.id, *id)))
            .collect()
    });
    encode(
        &DeleteSubscriptionsResponse {
            response_header: request.response_header(),
            results,
            ..DeleteSubscriptionsResponse::default()
        },
        response,
    )
}

/// Handles a TransferSubscriptions request.
pub(crate) fn transfer(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    mut body: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let ids = subscription_ids(request, &mut body)?;
    let send_initial_values = body.bool()?;
    let caller = session.caller.load_full();
    let results = in_slice(request, connection, |engine| {
        let transfer = |id: &u32| {
            let now = Now::get();
            let available = engine.transfer(&session.id, &caller, *id, send_initial_values, now);
            match available {
                Ok(available_sequence_numbers) => TransferResult {
                    status_code: StatusCode::Good,
                    available_sequence_numbers,
                },
                Err(status_code) => TransferResult {
                    status_code,
                    ..TransferResult::default()
                },
            }
        };
        ids.iter().map(transfer).collect()
    });
    encode(
        &TransferSubscriptionsResponse {
            response_header: request.response_header(),
            results,
            ..TransferSubscriptionsResponse::default()
        },
        response,
    )
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
