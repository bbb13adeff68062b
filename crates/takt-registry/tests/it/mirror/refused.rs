//! A server that refuses the user of the mirror, and one that opens too few connections.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use takt_app::serve::ServeOptions;
use takt_app::users::{User, UserFile, UserProof};
use takt_app::{
    Client, ClientError, ClientOptions, Endpoint, Identity, Provider, ReverseClient,
    ReverseListener, Variable,
};
use takt_crypto::PasswordHash;
use takt_registry::MirrorOptions;
use takt_space::{RoleSet, UserRole};
use takt_ua::StatusCode;

use crate::mirror::support::{
    PATIENCE, eventually, find, mirror, registry, serve, tcp, value, wait_for,
};

/// Time in which a mirror without pauses between refusals makes several attempts.
const SOME_ATTEMPTS: Duration = Duration::from_millis(1600);

fn upstream(serve: ServeOptions) -> Provider {
    Provider::builder("Mill")
        .without_registry()
        .endpoint("opc.tcp://127.0.0.1:0")
        .serve(serve)
        .variable(Variable::stored("Limit", 5_u32).writable())
        .start()
        .unwrap()
}

/// Copies bytes in both directions until one side ends.
fn relay(one: TcpStream, other: TcpStream) {
    let back = (other.try_clone().unwrap(), one.try_clone().unwrap());
    let threads = [(one, other), back].map(|(mut from, mut to)| {
        thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(std::net::Shutdown::Both);
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Starts a relay to a server that counts connections.
fn counted(server: &Endpoint) -> (Endpoint, Arc<AtomicUsize>) {
    let address = server.to_string().replace("opc.tcp://", "");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("opc.tcp://{}", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    thread::spawn({
        let count = Arc::clone(&count);
        move || {
            for client in listener.incoming().map_while(Result::ok) {
                count.fetch_add(1, Ordering::SeqCst);
                let server = TcpStream::connect(&address).unwrap();
                thread::spawn(move || relay(client, server));
            }
        }
    });
    (endpoint.parse().unwrap(), count)
}

fn problem(client: &mut Client, part: &str) {
    eventually(part, PATIENCE, || {
        let problem = value(client, "Mill/Problem")?.to_string();
        problem.contains(part).then_some(())
    });
}

fn anna(directory: &Path) -> ServeOptions {
    let users = directory.join("users-of-the-mill");
    let anna = User {
        name: "anna".to_owned(),
        roles: UserRole::Operator.into(),
        proof: UserProof::Password(PasswordHash::of(b"hammer").unwrap()),
    };
    UserFile::new(users.clone(), RoleSet::default())
        .add(anna)
        .unwrap();
    let mut serve = serve(directory);
    serve.security.users = Some(users);
    // Passwords are encrypted with the certificate of the server.
    serve.security.certificates = Some(directory.join("pki"));
    serve.security.secured_loopback = true;
    serve
}

#[test]
fn a_refused_user_is_named_and_does_not_try_on() {
    let directory = tempfile::tempdir().unwrap();
    let server = upstream(anna(directory.path()));
    let (endpoint, connections) = counted(&tcp(&server));
    let file = directory.path().join("password");
    fs::write(&file, "nail\n").unwrap();
    let options = MirrorOptions {
        identity: Identity::PasswordFile {
            name: "anna".to_owned(),
            file: file.clone(),
        },
        ..mirror("Mill", &endpoint)
    };
    let (_registry, mut client) = registry(directory.path(), vec![options]);
    problem(&mut client, "check both (the file ");
    problem(&mut client, "anna");
    let before = connections.load(Ordering::SeqCst);
    thread::sleep(SOME_ATTEMPTS);
    assert_eq!(connections.load(Ordering::SeqCst), before);
}

#[test]
fn the_file_of_a_password_is_read_for_each_session() {
    let directory = tempfile::tempdir().unwrap();
    let server = upstream(anna(directory.path()));
    let file = directory.path().join("password");
    let options = ClientOptions {
        timeout: PATIENCE,
        identity: Identity::PasswordFile {
            name: "anna".to_owned(),
            file: file.clone(),
        },
        ..ClientOptions::named("Test")
    };
    let mut client = Client::new(&tcp(&server), options);
    let missing = client.namespace_array().unwrap_err();
    assert!(
        matches!(missing, ClientError::PasswordFile { .. }),
        "{missing}"
    );
    fs::write(&file, "nail\n").unwrap();
    let refused = client.namespace_array().unwrap_err();
    let is_service = matches!(refused, ClientError::Service { .. });
    assert!(is_service && refused.refuses_user(), "{refused}");
    fs::write(&file, "hammer\n").unwrap();
    client.namespace_array().unwrap();
}

/// Passes the connections of a server on to a listening client, one at a time.
fn one_at_a_time(listener: TcpListener, to: SocketAddr) {
    let busy = Arc::new(AtomicBool::new(false));
    for server in listener.incoming().map_while(Result::ok) {
        if busy.swap(true, Ordering::SeqCst) {
            continue;
        }
        let busy = Arc::clone(&busy);
        thread::spawn(move || {
            if let Ok(client) = TcpStream::connect(to) {
                relay(server, client);
            }
            busy.store(false, Ordering::SeqCst);
        });
    }
}

#[test]
fn a_server_that_opens_one_connection_is_told_to_open_more() {
    let directory = tempfile::tempdir().unwrap();
    let any = "opc.tcp://127.0.0.1:0".parse().unwrap();
    let listener = ReverseListener::bind(&any).unwrap();
    let between = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut serve = serve(directory.path());
    let address = between.local_addr().unwrap();
    serve.reverse_connect = vec![format!("opc.tcp://{address}").parse().unwrap()];
    let to = listener.address();
    thread::spawn(move || one_at_a_time(between, to));
    let server = upstream(serve);
    let options = MirrorOptions {
        reverse: Some(ReverseClient {
            listener,
            wait: Duration::from_secs(1),
        }),
        ..mirror("Mill", &tcp(&server))
    };
    let (_registry, mut client) = registry(directory.path(), vec![options]);
    wait_for(&mut client, "Mill/Mill/Limit", &5_u32.into());
    let limit = find(&mut client, "Mill/Mill/Limit").unwrap();
    let refused = client.write(&limit, 6_u32.into()).unwrap_err();
    assert_eq!(refused.status_code(), StatusCode::BadNoCommunication);
    problem(&mut client, "the mirror needs 4 at once");
    assert_eq!(value(&mut client, "Mill/Available"), Some(true.into()));
}
