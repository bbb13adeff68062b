//! Activations that fail, or that meet the end of their Session.

use takt_space::{ChannelSecurity, Peer};
use takt_ua::binary::{Decode, Encode};
use takt_ua::structures::{CreateSessionRequest, CreateSessionResponse, RequestHeader};
use takt_ua::{NodeId, NodeIdRef, Structure};

use super::*;
use crate::ServerBudgets;

/// A client with a Session that is not activated.
struct Client {
    server: Arc<Server>,
    connection: Connection,
    token: NodeId,
}

impl Client {
    /// `memory` is that of a Session beside its fixed part, in bytes.
    fn new(memory: usize) -> Self {
        let fixed = size_of::<Session>() + size_of::<Caller>();
        let budgets = ServerBudgets {
            max_memory_per_session: fixed + memory,
            ..ServerBudgets::default()
        };
        let server = Server::builder("Test", "urn:test").budgets(budgets);
        let server = server.build().unwrap();
        let peer = Peer::SharedMemory {
            user: Some(1000),
            process: None,
            groups: Vec::new(),
        };
        let (security, wake) = (ChannelSecurity::none(), Arc::new(|| ()));
        let connection = server.connect(peer, security, "opc.iox2://Test".to_owned(), wake);
        let mut client = Self {
            server,
            connection,
            token: NodeId::NULL,
        };
        client.create();
        client
    }

    /// Creates another Session.
    fn create(&mut self) {
        let response = self.send(&CreateSessionRequest::default(), 10_000);
        let mut response = Decoder::new(&response);
        NodeIdRef::decode(&mut response).unwrap();
        let created = CreateSessionResponse::decode(&mut response).unwrap();
        self.token = created.authentication_token;
    }

    /// Returns the response, which has `most` bytes at most.
    fn send<Q: Structure>(&mut self, request: &Q, most: usize) -> Vec<u8> {
        let mut message = NodeId::from(Q::BINARY_ENCODING_ID).encode_to_vec();
        message.extend(request.encode_to_vec());
        let mut response = Vec::new();
        let mut encoder = Encoder::growing(&mut response, most);
        self.server
            .handle(&mut self.connection, 1, &message, &mut encoder);
        response
    }

    fn activate(&mut self, locale_ids: Vec<UaString>, most: usize) {
        let request_header = RequestHeader {
            authentication_token: self.token.clone(),
            ..RequestHeader::default()
        };
        let request = ActivateSessionRequest {
            request_header,
            locale_ids,
            ..ActivateSessionRequest::default()
        };
        self.send(&request, most);
    }

    fn session(&self) -> Arc<Session> {
        let token = self.token.as_ref();
        self.server.sessions.find(token).unwrap()
    }

    fn nonce(&self) -> [u8; NONCE_LENGTH] {
        *self.session().server_nonce.lock().unwrap()
    }
}

#[test]
fn the_client_has_the_nonce_that_is_in_force() {
    let mut client = Client::new(200);
    let created = client.nonce();
    // LocaleIds without memory for them, and a response that is too long.
    let locales = vec![UaString::from("x".repeat(60)); 16];
    for (locales, most) in [(locales, 10_000), (Vec::new(), 20)] {
        client.activate(locales, most);
        assert!(!client.session().is_activated());
        assert!(client.session().locale_ids().is_empty());
        assert_eq!(client.nonce(), created);
    }
    client.activate(vec!["de".into()], 10_000);
    assert!(client.session().is_activated());
    assert_ne!(client.nonce(), created);
}

#[test]
fn a_session_that_is_closed_stays_closed() {
    let mut client = Client::new(1000);
    let session = client.session();
    let caller = session.caller.load_full();
    client.server.sessions.close(&session);
    let activated = session.activate(Arc::clone(&caller));
    assert_eq!(activated, Err(StatusCode::BadSessionClosed));
    assert!(session.is_closed() && !session.is_usable(caller.channel.id));
    for _ in 0..200 {
        client.create();
        let session = client.session();
        std::thread::scope(|scope| {
            scope.spawn(|| client.server.sessions.close(&session));
            let _ = session.activate(session.caller.load_full());
        });
        assert!(session.is_closed(), "activated at the same moment");
    }
}
