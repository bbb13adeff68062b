//! Opening of connections and sessions, for blocking and asynchronous clients.

use std::time::{Duration, Instant};

use takt_tcp::EndpointUrl;
use takt_ua::NodeId;
use takt_ua::structures::{
    CloseSessionResponse, EndpointDescription, GetEndpointsRequest, GetEndpointsResponse,
};

use super::choice::SecurityChoice;
use super::connection::Connection;
use super::left_sessions::Left;
use super::message::{remaining, request_header, text};
use super::options::{ClientOptions, Identity};
use super::request::ServiceRequest;
use super::security::Secured;
use super::session::{CLOSING, Session};
use crate::endpoint::Endpoint;
use crate::error::ClientError;

/// Connects with the security that `options` choose, for a session of the user if there is an identity. With `insist`, a server on
/// the loopback interface has refused a connection without security.
pub(super) async fn connect<T: Connection>(
    endpoint: &Endpoint,
    options: &ClientOptions,
    identity: Option<&Identity>,
    insist: bool,
    deadline: Instant,
) -> Result<T, ClientError> {
    let url = match endpoint {
        Endpoint::Tcp(url) if is_secured::<T>(url, options, insist).await? => url,
        _ => return T::connect_unsecured(endpoint, options, remaining(deadline)).await,
    };
    let endpoints = endpoints::<T>(endpoint, options, remaining(deadline)).await?;
    let (there, wanted, user) = (url.clone(), options.clone(), identity.cloned());
    let choose = move || Secured::of(&there, &wanted, user.as_ref(), &endpoints);
    let secured = T::wait_for(choose).await??;
    T::connect_secured(url, options, secured, remaining(deadline)).await
}

/// Returns true if a connection is to be secured. With `insist`, a server on the loopback interface has refused another one.
async fn is_secured<T: Connection>(
    url: &EndpointUrl,
    options: &ClientOptions,
    insist: bool,
) -> Result<bool, ClientError> {
    Ok(match options.security.choice {
        SecurityChoice::None => false,
        SecurityChoice::Automatic if insist => true,
        SecurityChoice::Automatic => {
            let (url, options) = (url.clone(), options.clone());
            // A name is resolved, which may take seconds: not on a thread of an asynchronous runtime.
            !T::wait_for(move || options.is_loopback(&url)).await?
        }
        SecurityChoice::Secured { .. } => true,
    })
}

/// Returns the endpoints of a server. GetEndpoints needs neither a session nor security (OPC 10000-4, 5.5.4).
async fn endpoints<T: Connection>(
    endpoint: &Endpoint,
    options: &ClientOptions,
    timeout: Duration,
) -> Result<Vec<EndpointDescription>, ClientError> {
    let mut discovery = T::connect_unsecured(endpoint, options, timeout).await?;
    let request = GetEndpointsRequest {
        request_header: request_header(&NodeId::NULL, 1, timeout),
        endpoint_url: text(&endpoint.to_string()),
        ..GetEndpointsRequest::default()
    };
    let found: GetEndpointsResponse = discovery.exchange_one(&request, timeout).await?;
    Ok(found.endpoints)
}

/// The connection of a client with its session, and what is left of previous ones.
pub(crate) struct Link<T> {
    pub(crate) connected: Option<(T, Session)>,
    /// Session whose connection was lost, if sessions are resumed.
    pub(crate) lost: Option<Session>,
    pub(crate) resumes: bool,
    /// Number of sessions so far.
    pub(crate) epoch: u64,
    /// Number of connections so far.
    pub(crate) connections: u64,
}

impl<T> Default for Link<T> {
    fn default() -> Self {
        Self {
            connected: None,
            lost: None,
            resumes: false,
            epoch: 0,
            connections: 0,
        }
    }
}

impl<T: Connection> Link<T> {
    /// Opens a session if there is none, in one attempt. If the future is dropped, nothing is lost.
    pub(crate) async fn open(
        &mut self,
        endpoint: &Endpoint,
        options: &ClientOptions,
        deadline: Instant,
    ) -> Result<(), ClientError> {
        if self.connected.is_some() {
            return Ok(());
        }
        match self.open_with(endpoint, options, false, deadline).await {
            // A server on the loopback interface may offer secured endpoints only.
            Err(ClientError::SecurityRequired { .. })
                if options.security.choice == SecurityChoice::Automatic =>
            {
                self.open_with(endpoint, options, true, deadline).await
            }
            other => other,
        }
    }

    async fn open_with(
        &mut self,
        endpoint: &Endpoint,
        options: &ClientOptions,
        insist: bool,
        deadline: Instant,
    ) -> Result<(), ClientError> {
        let connect = || connect(endpoint, options, Some(&options.identity), insist, deadline);
        let connected: Result<T, _> = connect().await;
        // Nobody listens: the server has ended, and the next one may give the same tokens to other clients.
        if connected.as_ref().is_err_and(ClientError::is_refused) {
            // Activating a session of another client would take it away from that client.
            self.lost = None;
            options.left_sessions.forget(endpoint);
        }
        let mut transport = connected?;
        self.connections += 1;
        if let Some(session) = &mut self.lost {
            let resumed = session.resume(&mut transport, endpoint, options, remaining(deadline));
            match resumed.await {
                Ok(true) => {
                    self.connected = self.lost.take().map(|session| (transport, session));
                    return Ok(());
                }
                Ok(false) => {
                    tracing::debug!(%endpoint, "the server was restarted: a new session is opened");
                    self.lost = None;
                    // This channel has activated a session that may belong to another client, so it is given up.
                    drop(transport);
                    transport = connect().await?;
                    self.connections += 1;
                }
                // `lost` stays: the next attempt may still resume the session.
                Err(error) if error.is_connection() => return Err(error),
                // The server has no such session any more, or refuses it: a new one may have other results.
                Err(error) => {
                    tracing::debug!(%endpoint, %error, "the session cannot be resumed");
                    self.lost = None;
                }
            }
        }
        // Before another session is opened: small servers have room for a few.
        while !close_left(&mut transport, endpoint, options, deadline).await? {
            drop(transport);
            transport = connect().await?;
            self.connections += 1;
        }
        let mut session =
            Session::open(&mut transport, endpoint, options, remaining(deadline)).await?;
        if self.resumes {
            session.know_run(&mut transport, remaining(deadline)).await;
        }
        self.connected = Some((transport, session));
        self.epoch += 1;
        Ok(())
    }

    /// Reads when the server was started, for a session that is resumed later.
    pub(crate) async fn know_run(&mut self, timeout: Duration) {
        if let Some((transport, session)) = &mut self.connected {
            session.know_run(transport, timeout).await;
        }
    }

    /// Gives up the connection without closing the session, for a server that does not answer.
    pub(crate) fn disconnect(&mut self, endpoint: &Endpoint, options: &ClientOptions) {
        if let Some((_, session)) = self.connected.take() {
            self.lost = Some(session);
            if !self.resumes {
                self.leave(endpoint, options);
            }
        }
    }

    /// Closes the session, and returns its connection. The next connection closes a session whose server does not answer.
    pub(crate) async fn close(
        &mut self,
        endpoint: &Endpoint,
        options: &ClientOptions,
    ) -> Option<T> {
        self.leave(endpoint, options);
        let (mut transport, session) = self.connected.take()?;
        let closed = session.close(&mut transport, CLOSING).await;
        if closed.is_err_and(|error| error.is_connection()) {
            self.lost = Some(session);
            self.leave(endpoint, options);
        }
        Some(transport)
    }

    /// Leaves the session of a lost connection to the next one, which closes it.
    pub(crate) fn leave(&mut self, endpoint: &Endpoint, options: &ClientOptions) {
        if let Some(session) = self.lost.take() {
            let (created, run) = session.into_parts();
            options.left_sessions.keep(Left {
                endpoint: endpoint.clone(),
                created,
                run,
                ends_subscriptions: self.resumes,
            });
        }
    }
}

/// Closes the sessions of lost connections to a server. Returns false if the connection is of no use after one that belongs to
/// another client since the server's restart: that one stays open, and the others are left.
async fn close_left<T: Connection>(
    transport: &mut T,
    endpoint: &Endpoint,
    options: &ClientOptions,
    deadline: Instant,
) -> Result<bool, ClientError> {
    while let Some(left) = options.left_sessions.take(endpoint) {
        // The server takes CloseSession on the channel of the session only (OPC 10000-4, 5.7.4).
        let mut session = Session::of(left.created, left.run);
        let resumed = session.resume(transport, endpoint, options, remaining(deadline));
        match resumed.await {
            Ok(false) => return Ok(false),
            Ok(true) => {
                let mut request = session.close_request(CLOSING);
                request.delete_subscriptions = left.ends_subscriptions;
                let _: Result<CloseSessionResponse, _> =
                    transport.exchange_one(&request, CLOSING).await;
            }
            Err(error) if error.is_connection() => {
                let (created, run) = session.into_parts();
                options.left_sessions.keep(Left {
                    created,
                    run,
                    ..left
                });
                return Err(error);
            }
            // The server has no such session any more.
            Err(error) => tracing::debug!(%endpoint, %error, "a session is gone"),
        }
    }
    Ok(true)
}

/// Returns true if a request can be sent once more after this error.
pub(crate) fn is_repeatable<Q: ServiceRequest>(error: &ClientError) -> bool {
    match error {
        ClientError::Closed { .. } => Q::IDEMPOTENT,
        // A request that the server refused without a session was not executed.
        error => error.is_session_lost(),
    }
}

#[cfg(test)]
mod tests;
