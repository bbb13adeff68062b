//! Errors of Client and Provider lead to their typed causes.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use takt_app::serve::{ServeOptions, Serving};
use takt_app::{
    Client, ClientError, ClientOptions, Endpoint, EndpointError, Provider, ProviderError,
};
use takt_services::Server;
use takt_shm::{ApplicationNameError, ShmError};
use takt_tcp::{EndpointUrlError, TransportError};
use takt_ua::NodeId;

/// Returns the cause of the type `E`.
fn cause<'e, E: Error + 'static>(error: &'e (dyn Error + 'static)) -> &'e E {
    std::iter::successors(error.source(), |&error| error.source())
        .find_map(|cause| cause.downcast_ref())
        .unwrap_or_else(|| panic!("{error:?}"))
}

fn connect(endpoint: &str, options: ClientOptions) -> ClientError {
    let endpoint: Endpoint = endpoint.parse().unwrap();
    match Client::connect(&endpoint, options) {
        Err(error) => error,
        Ok(_) => panic!("{endpoint} is served"),
    }
}

#[test]
fn a_refused_tcp_connection_leads_to_the_error_of_the_system() {
    let endpoint = format!("opc.tcp://127.0.0.1:{}", takt_ports::reserve());
    let error = connect(&endpoint, ClientOptions::default());
    assert!(matches!(error, ClientError::Unreachable { .. }), "{error}");
    let refused: &takt_tcp::TcpClientError = cause(&error);
    assert!(matches!(refused, takt_tcp::TcpClientError::Connect { .. }));
    let refused: &io::Error = cause(&error);
    assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
}

#[test]
fn an_application_that_is_not_running_is_an_error_of_shared_memory() {
    let directory = tempfile::tempdir().unwrap();
    let options = ClientOptions {
        runtime_directory: Some(directory.path().to_owned()),
        ..ClientOptions::default()
    };
    let error = connect("opc.iox2://Nobody", options);
    assert!(matches!(error, ClientError::Unreachable { .. }), "{error}");
    let missing: &ShmError = cause(&error);
    assert!(matches!(missing, ShmError::NoSuchApplication(name) if name.as_str() == "Nobody"));
}

/// Forwards one connection to a server, and closes it when `close` is dropped.
fn forward(to: &str) -> (String, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("opc.tcp://{}", listener.local_addr().unwrap());
    let server = TcpStream::connect(to.trim_start_matches("opc.tcp://")).unwrap();
    let close = server.try_clone().unwrap();
    std::thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        drop(listener);
        let (mut from, mut into) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        std::thread::spawn(move || copy(&mut from, &mut into));
        let (mut from, mut into) = (server, client);
        copy(&mut from, &mut into);
    });
    (endpoint, close)
}

fn copy(from: &mut TcpStream, into: &mut TcpStream) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if into.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = into.shutdown(std::net::Shutdown::Both);
}

#[test]
fn a_closed_channel_leads_to_the_error_of_the_transport() {
    let server = Server::builder("Closing", "urn:takt:test:closing")
        .build()
        .unwrap();
    let wanted: Endpoint = "opc.tcp://127.0.0.1:0".parse().unwrap();
    let serving = Serving::start(&server, &[wanted], ServeOptions::default()).unwrap();
    let (endpoint, close) = forward(&serving.endpoints()[0].to_string());
    let options = ClientOptions {
        timeout: Duration::from_secs(30),
        ..ClientOptions::default()
    };
    let endpoint: Endpoint = endpoint.parse().unwrap();
    let mut client = Client::connect(&endpoint, options).unwrap();
    close.shutdown(std::net::Shutdown::Both).unwrap();
    // A Call may have been executed, so it is not repeated over a new connection.
    let null = NodeId::NULL;
    let error = client.call_method(&null, &null, Vec::new()).unwrap_err();
    assert!(matches!(error, ClientError::Closed { .. }), "{error}");
    let ended: &takt_tcp::TcpClientError = cause(&error);
    let takt_tcp::TcpClientError::Transport(ended) = ended else {
        panic!("{ended:?}");
    };
    assert_eq!(*ended, TransportError::Closed);
}

#[test]
fn a_group_that_does_not_exist_is_an_error_of_shared_memory() {
    let options = ClientOptions {
        group: Some("no-such-group-of-takt".to_owned()),
        ..ClientOptions::default()
    };
    let error = connect("opc.iox2://Machine", options);
    assert!(matches!(error, ClientError::Group(_)), "{error}");
    assert!(matches!(cause(&error), ShmError::NoSuchGroup(_)));
    assert_eq!(error.to_string(), cause::<ShmError>(&error).to_string());
}

#[test]
fn an_invalid_endpoint_leads_to_the_error_in_its_text() {
    let error = ClientError::from("opc.iox2://a/b".parse::<Endpoint>().unwrap_err());
    assert!(matches!(
        cause(&error),
        EndpointError::ApplicationName { .. }
    ));
    let _: &ApplicationNameError = cause(&error);
    let error = "opc.tcp://".parse::<Endpoint>().unwrap_err();
    let in_url: &EndpointUrlError = cause(&error);
    assert_eq!(
        error.to_string(),
        format!("`opc.tcp://` is not an endpoint: {in_url}")
    );
}

#[test]
fn a_provider_with_an_invalid_endpoint_leads_to_the_error_in_its_text() {
    let refused = Provider::builder("Nowhere")
        .without_registry()
        .endpoint("opc.tcp://")
        .start();
    let Err(error) = refused else {
        panic!("the endpoint has no host");
    };
    assert!(matches!(error, ProviderError::Endpoint(_)), "{error}");
    let _: &EndpointUrlError = cause(&error);
}
