//! Sessions at a server in memory that counts its tokens from the same number in each run, as asyncua does.

use std::cell::RefCell;
use std::collections::BTreeMap;

use takt_ua::binary::{Decode, Decoder, Encode};
use takt_ua::structures::*;
use takt_ua::{DataValue, DateTime, StatusCode, Structure, ids};

use super::super::{ClientSecurity, ready};
use super::*;

#[derive(Default)]
struct Server {
    /// StartTime in ticks; zero if the server has none.
    start: i64,
    now: i64,
    is_down: bool,
    connections: u32,
    last_token: u32,
    /// Connections of the Sessions.
    sessions: BTreeMap<u32, u32>,
}

thread_local! {
    static SERVER: RefCell<Server> = RefCell::default();
}

fn server<R>(work: impl FnOnce(&mut Server) -> R) -> R {
    SERVER.with_borrow_mut(work)
}

/// Starts the server: its first Session has the token 1.
fn start(start: i64) {
    server(|server| {
        *server = Server {
            start,
            now: start + 600_000_000,
            connections: server.connections,
            ..Server::default()
        };
    });
}

fn sessions() -> Vec<u32> {
    server(|server| server.sessions.keys().copied().collect())
}

struct Channel(u32);

impl Connection for Channel {
    async fn connect_unsecured(
        _: &Endpoint,
        _: &ClientOptions,
        _: Duration,
    ) -> Result<Self, ClientError> {
        server(|server| {
            if server.is_down {
                return Err(refused());
            }
            server.connections += 1;
            Ok(Self(server.connections))
        })
    }

    async fn connect_secured(
        _: &EndpointUrl,
        _: &ClientOptions,
        _: Secured,
        _: Duration,
    ) -> Result<Self, ClientError> {
        panic!("not secured")
    }

    async fn wait_for<T: Send + 'static>(
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ClientError> {
        Ok(work())
    }

    fn secured(&self) -> Option<&Secured> {
        None
    }

    async fn exchange_one<Q: ServiceRequest>(
        &mut self,
        request: &Q,
        _: Duration,
    ) -> Result<Q::Response, ClientError> {
        let answer = server(|server| server.answer(self.0, Q::NAME, &request.encode_to_vec()));
        let answer = answer.map_err(|status| ClientError::Service {
            service: Q::NAME,
            status,
        })?;
        Ok(Q::Response::decode(&mut Decoder::new(&answer)).unwrap())
    }
}

impl Server {
    fn answer(&mut self, channel: u32, name: &str, request: &[u8]) -> Result<Vec<u8>, StatusCode> {
        let mut decoder = Decoder::new(request);
        let header = RequestHeader::decode(&mut Decoder::new(request)).unwrap();
        let known = |token: &NodeId| {
            let token = (1..100).find(|one| *token == NodeId::from(*one));
            token.ok_or(StatusCode::BadSessionIdInvalid)
        };
        match name {
            CreateSessionRequest::NAME => {
                self.last_token += 1;
                self.sessions.insert(self.last_token, channel);
                let response = CreateSessionResponse {
                    authentication_token: self.last_token.into(),
                    ..CreateSessionResponse::default()
                };
                return Ok(response.encode_to_vec());
            }
            ActivateSessionRequest::NAME => {
                let token = known(&header.authentication_token)?;
                let of = self.sessions.get_mut(&token);
                *of.ok_or(StatusCode::BadSessionIdInvalid)? = channel;
                return Ok(ActivateSessionResponse::default().encode_to_vec());
            }
            _ => {}
        }
        let token = known(&header.authentication_token)?;
        if self.sessions.get(&token) != Some(&channel) {
            return Err(StatusCode::BadSessionIdInvalid);
        }
        match name {
            ReadRequest::NAME => {
                let request = ReadRequest::decode(&mut decoder).unwrap();
                let results = request.nodes_to_read.iter().map(|read| {
                    let is_start =
                        read.node_id == NodeId::from(ids::SERVER_SERVER_STATUS_START_TIME);
                    match (self.start, is_start) {
                        (0, _) => DataValue::status(StatusCode::BadNodeIdUnknown),
                        (start, true) => DataValue::good(DateTime(start)),
                        (_, false) => DataValue::good(DateTime(self.now)),
                    }
                });
                let response = ReadResponse {
                    results: results.collect(),
                    ..ReadResponse::default()
                };
                Ok(response.encode_to_vec())
            }
            CloseSessionRequest::NAME => {
                self.sessions.remove(&token);
                Ok(CloseSessionResponse::default().encode_to_vec())
            }
            other => panic!("{other}"),
        }
    }
}

struct Side {
    link: Link<Channel>,
    options: ClientOptions,
    endpoint: Endpoint,
}

impl Side {
    fn new(resumes: bool) -> Self {
        Self {
            link: Link {
                resumes,
                ..Link::default()
            },
            options: ClientOptions {
                security: ClientSecurity {
                    choice: SecurityChoice::None,
                    ..ClientSecurity::default()
                },
                ..ClientOptions::default()
            },
            endpoint: "opc.tcp://127.0.0.1:4840".parse().unwrap(),
        }
    }

    fn open(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(10);
        ready(self.link.open(&self.endpoint, &self.options, deadline)).unwrap();
    }

    fn disconnect(&mut self) {
        self.link.disconnect(&self.endpoint, &self.options);
    }

    fn token(&self) -> NodeId {
        let (_, session) = self.link.connected.as_ref().unwrap();
        session.authentication_token().clone()
    }
}

#[test]
fn a_session_of_the_same_run_goes_on() {
    start(1_000);
    let mut one = Side::new(true);
    one.open();
    one.disconnect();
    one.open();
    assert_eq!((one.link.epoch, one.token()), (1, 1.into()));
    assert_eq!(sessions(), [1]);
}

#[test]
fn a_token_of_another_run_is_that_of_another_client() {
    start(1_000);
    let mut one = Side::new(true);
    one.open();
    one.disconnect();
    start(2_000);
    let mut other = Side::new(true);
    other.open();
    assert_eq!(other.token(), NodeId::from(1_u32));
    one.open();
    assert_eq!((one.link.epoch, one.token()), (2, 2.into()));
    assert_eq!(
        sessions(),
        [1, 2],
        "the Session of the other client is open"
    );
    // Its next connection finds it.
    other.disconnect();
    other.open();
    assert_eq!((other.link.epoch, other.token()), (1, 1.into()));
}

fn refused() -> ClientError {
    let error = takt_tcp::TcpClientError::Connect {
        url: "opc.tcp://127.0.0.1:4840".parse().unwrap(),
        error: std::io::ErrorKind::ConnectionRefused.into(),
    };
    ClientError::unreachable("opc.tcp://127.0.0.1:4840", error)
}

#[test]
fn a_session_is_not_taken_from_another_client_after_the_end_of_the_server() {
    start(1_000);
    let mut one = Side::new(true);
    one.open();
    one.disconnect();
    server(|server| server.is_down = true);
    let deadline = Instant::now() + Duration::from_secs(10);
    let error = ready(one.link.open(&one.endpoint, &one.options, deadline)).unwrap_err();
    assert!(error.is_refused());
    start(2_000);
    let mut other = Side::new(true);
    other.open();
    let of_other = server(|server| server.sessions[&1]);
    one.open();
    assert_eq!(one.link.epoch, 2);
    assert_eq!(server(|server| server.sessions[&1]), of_other);
}

#[test]
fn a_server_without_start_time_gets_a_new_session() {
    start(0);
    let mut one = Side::new(true);
    one.open();
    one.disconnect();
    one.open();
    assert_eq!(one.link.epoch, 2);
}

#[test]
fn left_sessions_are_closed_in_their_own_run_only() {
    for resumes in [true, false] {
        start(1_000);
        let mut one = Side::new(resumes);
        one.open();
        one.disconnect();
        one.link.leave(&one.endpoint, &one.options);
        let mut next = Side::new(false);
        next.options = one.options.clone();
        next.open();
        assert_eq!(sessions(), [2]);
    }
    start(1_000);
    let mut one = Side::new(true);
    one.open();
    one.disconnect();
    one.link.leave(&one.endpoint, &one.options);
    start(2_000);
    let mut other = Side::new(true);
    other.open();
    let mut next = Side::new(false);
    next.options = one.options.clone();
    next.open();
    // The first one is that of the other client, with the token of the Session that was left.
    assert_eq!(sessions(), [1, 2]);
}
