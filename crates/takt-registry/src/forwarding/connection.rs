//! Thread of a gateway, which holds the connection to the Provider.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use takt_app::client::{Client, ClientOptions};
use takt_app::{ClientError, Endpoint};
use takt_services::ForwardedUser;
use takt_space::{RemoteOperations, RemoteReply, RemoteResults};
use takt_ua::StatusCode;

use super::division::{Half, Limits, halves};
use super::inbox::{Arrived, Inbox};
use super::last_values::LastValues;
use super::naming::{Maps, Naming};
use super::operations::{decode, send};
use super::queue::Queue;

/// Time without requests after which the connection to a Provider is closed.
const IDLE: Duration = Duration::from_secs(30);

/// Connection to a Provider, and the requests of the clients that wait for it.
pub(super) struct Connection {
    inbox: Arc<Inbox>,
    queue: Queue<Forwarded>,
    client: Client,
    naming: Naming,
    /// NamespaceIndexes in the current session.
    maps: Maps,
    last_values: Arc<LastValues>,
    /// Numbers of operations that the server takes in the current session.
    limits: Limits,
    /// Number of the session in which the requests were sent.
    epoch: u64,
    /// True if the Provider does not know the Session any more. A new one is opened when all requests are answered.
    is_session_lost: bool,
}

/// Request of a client.
struct Forwarded {
    /// Number of the client's channel.
    client: u64,
    /// Length in bytes of the message with the operations.
    size: usize,
    operations: RemoteOperations,
    /// The client; `None` for the registry itself.
    user: Option<ForwardedUser>,
    deadline: Instant,
    reply: Box<dyn RemoteReply>,
}

impl Connection {
    pub(super) fn new(
        endpoint: &Endpoint,
        options: ClientOptions,
        naming: Naming,
        inbox: Arc<Inbox>,
        last_values: Arc<LastValues>,
    ) -> Self {
        Self {
            inbox,
            queue: Queue::default(),
            client: Client::new(endpoint, options),
            naming,
            maps: Maps::default(),
            last_values,
            limits: Limits::default(),
            epoch: 0,
            is_session_lost: false,
        }
    }

    /// Forwards requests until the inbox ends, or there have been none for a while.
    pub(super) fn run(mut self) {
        let mut idle_since = Instant::now();
        loop {
            let Arrived {
                requests,
                has_ended,
            } = self.inbox.take();
            if !requests.is_empty() {
                idle_since = Instant::now();
            }
            for request in requests {
                let (client, size) = (request.client, request.size);
                let forwarded = Forwarded {
                    client,
                    size,
                    operations: request.operations,
                    user: request.caller.as_deref().map(ForwardedUser::of),
                    deadline: request.deadline,
                    reply: request.reply,
                };
                self.queue.push(client, size, request.deadline, forwarded);
            }
            if has_ended {
                self.fail_all();
                self.client.close();
                return;
            }
            self.expire();
            self.send();
            if self.receive() {
                continue;
            }
            let (now, idle_until) = (Instant::now(), idle_since + IDLE);
            let is_idle = self.queue.is_empty() && idle_until <= now;
            // A request that comes later finds the end of the inbox, and starts another thread.
            if is_idle && self.inbox.end_if_empty() {
                self.client.close();
                return;
            }
            let until = self.queue.next_deadline().unwrap_or(idle_until);
            self.sleep(until.saturating_duration_since(now));
        }
    }

    /// Answers the requests whose time is over.
    fn expire(&mut self) {
        let expired = self.queue.expire(Instant::now());
        for item in expired.items {
            self.fail(item, StatusCode::BadTimeout);
        }
        if expired.is_stuck {
            self.client.disconnect();
            self.connection_lost();
        }
    }

    /// Sends requests, as many as the Provider may have at a time.
    fn send(&mut self) {
        while !self.is_session_lost {
            let now = Instant::now();
            let first = self.queue.next_deadline().unwrap_or(now);
            let Some(next) = self.queue.next() else {
                return;
            };
            if !next.reply.is_awaited() {
                self.queue.remove_next();
                continue;
            }
            if !self.limits.allow(&next.operations) {
                if let Some(whole) = self.queue.remove_next() {
                    self.divide(whole);
                }
                continue;
            }
            // A Provider that hangs is waited for until the first of all requests has to be answered.
            self.client
                .set_timeout(first.saturating_duration_since(now));
            let had_connection = self.client.is_connected();
            let sent = send(
                &mut self.client,
                &self.naming,
                &mut self.maps,
                &next.operations,
                next.user.as_ref(),
                next.deadline,
            );
            if self.epoch != self.client.epoch() {
                self.epoch = self.client.epoch();
                // The server may be another one.
                self.limits = Limits::default();
                self.connection_lost();
            }
            match sent {
                Ok(request_id) => {
                    self.queue.next_was_sent(request_id);
                }
                // There is room again when the Provider has answered one of the others.
                Err(ClientError::Service { .. }) if self.queue.has_sent() => return,
                Err(ClientError::Timeout { .. }) => {
                    if had_connection {
                        // A part of the request may have been sent.
                        self.client.disconnect();
                        self.connection_lost();
                    }
                    return self.expire();
                }
                // The Provider is gone.
                Err(ClientError::Unreachable { .. }) => return self.fail_all(),
                // The Provider has closed a connection that was not used: the next attempt opens another one.
                Err(ClientError::Closed { .. }) if had_connection => self.connection_lost(),
                Err(ClientError::Closed { .. }) => return self.fail_all(),
                Err(error) => {
                    if let Some(refused) = self.queue.remove_next() {
                        self.fail(refused, error.status_code());
                    }
                }
            }
        }
    }

    /// Takes the responses that have arrived, and answers their requests. Returns true if there were any.
    fn receive(&mut self) -> bool {
        let mut any = false;
        while self.client.is_connected() {
            let (queue, maps) = (&self.queue, &self.maps);
            let received = self.client.receive(Duration::ZERO, |response| {
                let sent = queue.sent(response.request_id());
                let results = sent.map(|sent| {
                    let mut results = decode(&sent.operations, &response)?;
                    maps.replace_in_results(&mut results);
                    Ok(results)
                });
                (response.request_id(), results)
            });
            match received {
                Ok((request_id, results)) => self.answer(request_id, results),
                Err(ClientError::Timeout { .. }) => break,
                Err(_) => {
                    self.client.disconnect();
                    self.connection_lost();
                }
            }
            any = true;
        }
        if self.is_session_lost && !self.queue.has_sent() {
            self.client.disconnect();
            self.is_session_lost = false;
            any = true;
        }
        any
    }

    fn answer(&mut self, request_id: u32, results: Option<Result<RemoteResults, ClientError>>) {
        if let Some(Err(error)) = &results
            && error.is_session_lost()
        {
            self.is_session_lost = true;
            if let Some(refused) = self.queue.refused(request_id) {
                self.fail(refused, StatusCode::BadNoCommunication);
            }
            return;
        }
        match (self.queue.answered(request_id), results) {
            (Some(sent), Some(Ok(results))) => {
                if let (RemoteOperations::Read(items), RemoteResults::Read(values)) =
                    (&sent.operations, &results)
                {
                    self.last_values.keep(items, values);
                }
                sent.reply.answer(results);
            }
            (Some(sent), Some(Err(error))) => {
                let status = error.status_code();
                let is_divisible = status == StatusCode::BadTooManyOperations
                    && self.limits.shrink(&sent.operations);
                match is_divisible {
                    true => self.divide(sent),
                    false => self.fail(sent, status),
                }
            }
            // The response is too late, or to no request.
            _ => {}
        }
    }

    /// Puts the halves of a request in its place.
    fn divide(&mut self, whole: Forwarded) {
        let Forwarded {
            client,
            size,
            operations,
            user,
            deadline,
            reply,
        } = whole;
        let size = size / 2;
        // Each is put before the others of the client.
        for Half { operations, reply } in halves(operations, reply).into_iter().rev() {
            let half = Forwarded {
                client,
                size,
                operations,
                user: user.clone(),
                deadline,
                reply,
            };
            self.queue.push_first(client, size, deadline, half);
        }
    }

    /// Sleeps until something arrives, the connection ends, or the time is over.
    fn sleep(&mut self, timeout: Duration) {
        if !self.inbox.may_sleep() {
            return;
        }
        let inbox = Arc::clone(&self.inbox);
        if self.client.is_connected() {
            if self.client.wait_or(inbox.descriptor(), timeout).is_err() {
                self.client.disconnect();
                self.connection_lost();
            }
        } else {
            let mut descriptors = [PollFd::from_borrowed_fd(inbox.descriptor(), PollFlags::IN)];
            let timeout = Timespec::try_from(timeout).ok();
            // A signal may end the wait early, which is harmless.
            let _ = poll(&mut descriptors, timeout.as_ref());
        }
        inbox.is_awake();
    }

    /// Answers the requests that were sent over a connection that has ended.
    fn connection_lost(&mut self) {
        self.is_session_lost = false;
        for item in self.queue.remove_sent() {
            self.fail(item, StatusCode::BadNoCommunication);
        }
    }

    /// Answers all requests: the Provider is gone.
    fn fail_all(&mut self) {
        for item in self.queue.remove_all() {
            self.fail(item, StatusCode::BadNoCommunication);
        }
    }

    fn fail(&self, item: Forwarded, status: StatusCode) {
        let results = self.last_values.instead(&item.operations, status);
        item.reply.answer(results);
    }
}
