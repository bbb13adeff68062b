//! A client with a hostile server: a proper SecureChannel and Session, and then arbitrary responses from the input to
//! Read, Write, Call, Browse, BrowseNext, TranslateBrowsePathsToNodeIds and the services of Subscriptions.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use takt_app::client::Follow;
use takt_app::{
    Client, ClientOptions, Endpoint, MonitoredItemOptions, Subscription, SubscriptionOptions,
    ValueInPlace,
};
use takt_fuzz::choice;
use takt_tcp::{Request, ServerConnection, ServerConnectionConfig, ServerEvent};
use takt_ua::binary::{Decode, Decoder, Encode};
use takt_ua::structures::{
    ActivateSessionRequest, ActivateSessionResponse, CloseSessionRequest, CreateSessionRequest,
    CreateSessionResponse, RequestHeader, ResponseHeader,
};
use takt_ua::{NodeId, StatusCode, Structure, Variant};

/// Next responses of the server.
static ANSWERS: Mutex<VecDeque<Vec<u8>>> = Mutex::new(VecDeque::new());

thread_local! {
    static CLIENT: RefCell<Client> = RefCell::new(client());
}

/// Address of the server.
static SERVER: LazyLock<Endpoint> = LazyLock::new(|| {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(|| serve(stream));
        }
    });
    format!("opc.tcp://{address}").parse().expect("an endpoint")
});

fn client() -> Client {
    let options = ClientOptions {
        timeout: Duration::from_millis(20),
        ..ClientOptions::named("Fuzz")
    };
    Client::new(&SERVER, options)
}

fn serve(mut stream: TcpStream) {
    let mut connection = ServerConnection::new(
        Arc::new(ServerConnectionConfig::default()),
        7,
        Instant::now(),
    );
    while let Ok(count) = stream.read(connection.receive_space()) {
        if count == 0 {
            return;
        }
        connection.received(count);
        loop {
            match connection.poll(Instant::now()) {
                Ok(Some(ServerEvent::Request(request))) => answer(request),
                Ok(Some(ServerEvent::Opened(_) | ServerEvent::Renewed)) => {}
                Ok(None) => break,
                Ok(Some(ServerEvent::OutOfMemory { .. } | ServerEvent::Closed)) | Err(_) => return,
            }
        }
        let sent = connection.transmit().to_vec();
        if stream.write_all(&sent).is_err() {
            return;
        }
        connection.transmitted(sent.len(), Instant::now());
    }
}

fn message<T: Structure>(response: &T) -> Vec<u8> {
    let mut bytes = NodeId::numeric(0, T::BINARY_ENCODING_ID).encode_to_vec();
    bytes.extend(response.encode_to_vec());
    bytes
}

/// Grants every Session; other requests are answered with the input, as long as there is any.
fn answer(mut request: Request<'_>) {
    let mut decoder = Decoder::new(request.body.bytes());
    let id = NodeId::decode(&mut decoder).ok();
    let number = id.and_then(|id| id.standard_id()).unwrap_or(0);
    let header = RequestHeader::decode(&mut decoder).unwrap_or_default();
    let response_header = ResponseHeader {
        request_handle: header.request_handle,
        ..ResponseHeader::default()
    };
    let body = match number {
        CreateSessionRequest::BINARY_ENCODING_ID => message(&CreateSessionResponse {
            response_header,
            authentication_token: NodeId::numeric(0, 5),
            ..CreateSessionResponse::default()
        }),
        ActivateSessionRequest::BINARY_ENCODING_ID => message(&ActivateSessionResponse {
            response_header,
            ..ActivateSessionResponse::default()
        }),
        CloseSessionRequest::BINARY_ENCODING_ID => Vec::new(),
        _ => {
            let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
            let part = answers.pop_front().unwrap_or_default();
            match choice(&part) {
                // The response of that request, up to its header: the ids of both encodings are related by their
                // numbers.
                Some((kind, rest)) if kind % 4 != 0 => {
                    let mut body = NodeId::numeric(0, number + 3).encode_to_vec();
                    body.extend(response_header.encode_to_vec());
                    body.extend(rest);
                    body
                }
                Some((_, rest)) => rest.to_vec(),
                None => Vec::new(),
            }
        }
    };
    // Without a response the client would only wait.
    let _ = match body.is_empty() {
        true => request.fault(StatusCode::BadNothingToDo),
        false => request
            .respond(|_, encoder| encoder.bytes(&body).is_ok())
            .map(drop),
    };
}

/// Receives the responses of a server with a Subscription.
fn subscribe() {
    let Ok(subscription) = Subscription::create(client(), SubscriptionOptions::default()) else {
        return;
    };
    let mut subscription = subscription;
    let _ = subscription.monitor(&NodeId::numeric(1, 1), MonitoredItemOptions::default());
    let _ = subscription.next(Duration::from_millis(1));
    let _ = subscription.next(Duration::from_millis(1));
}

/// Reads a value in place, as several types.
fn look(value: &ValueInPlace<'_>) {
    drop(value.bytes().to_vec());
    assert!(value.get::<u8>(value.count::<u8>()).is_none());
    let _ = value.get::<f64>(0);
    let _ = value.copy_to::<u32>(&mut [0; 16]);
}

fn ask(client: &mut Client, question: u8) {
    let node = NodeId::numeric(1, 1);
    match question % 13 {
        0 => drop(client.read(&node)),
        1 => drop(client.write(&node, Variant::UInt32(1))),
        2 => drop(client.call_method(&node, &node, vec![Variant::Boolean(true)])),
        3 => drop(client.browse(&node, &Follow::children())),
        4 => drop(client.browse_many(&[node.clone(), node], &Follow::all())),
        5 => drop(client.translate(&node, &["A".into(), "B".into()])),
        6 => drop(client.find("A/2:B")),
        7 => drop(client.value_type(&node)),
        8 => drop(client.namespace_uri(2)),
        9 => drop(client.read_in_place(&node, look)),
        10 => drop(client.write_in_place(&node, &Variant::UInt32(1))),
        11 => drop(
            client.call_in_place(&node, &node, &[Variant::Boolean(true)], |outputs| {
                (0..=outputs.len().min(20))
                    .filter_map(|index| outputs.get(index))
                    .for_each(|value| look(&value));
            }),
        ),
        _ => drop(client.current_value(&node)),
    }
}

pub(crate) fn run(data: &[u8]) {
    let Some((question, mut rest)) = choice(data) else {
        return;
    };
    let mut answers = VecDeque::new();
    // Two bytes of length before each.
    while let Some((length, tail)) = rest.split_first_chunk::<2>() {
        let length = usize::from(u16::from_le_bytes(*length));
        let (part, tail) = tail.split_at(length.min(tail.len()));
        answers.push_back(part.to_vec());
        rest = tail;
    }
    *ANSWERS.lock().unwrap_or_else(PoisonError::into_inner) = answers;
    if question >= 0xF8 {
        return subscribe();
    }
    CLIENT.with_borrow_mut(|client| ask(client, question));
}
