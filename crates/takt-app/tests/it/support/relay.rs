//! A Provider behind a relay that cuts its connections.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use takt_app::serve::{EndpointSecurity, ServeOptions};
use takt_app::{ClientOptions, ClientSecurity, Endpoint, Method, Provider, Variable};
use takt_cell::Cell;
use takt_ua::{BuiltInType, DateTime, StatusCode, Variant};

/// Time limit of required events.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A relay that cuts its connections on demand, and counts them.
pub(crate) struct Relay {
    pub(crate) endpoint: Endpoint,
    connections: Arc<Mutex<Vec<TcpStream>>>,
}

impl Relay {
    pub(crate) fn start(server: &Endpoint) -> Self {
        Self::with_delay(server, Duration::ZERO)
    }

    /// Starts a relay that keeps bytes for a time in each direction.
    pub(crate) fn with_delay(server: &Endpoint, delay: Duration) -> Self {
        let address = server.to_string().replace("opc.tcp://", "");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("opc.tcp://{}", listener.local_addr().unwrap());
        let connections = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&connections);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(&address) else {
                    continue;
                };
                // Each message is passed on at once.
                client.set_nodelay(true).unwrap();
                server.set_nodelay(true).unwrap();
                kept.lock().unwrap().push(client.try_clone().unwrap());
                for (mut from, mut to) in [
                    (client.try_clone().unwrap(), server.try_clone().unwrap()),
                    (server, client),
                ] {
                    thread::spawn(move || {
                        pass_on(&mut from, &mut to, delay);
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
            }
        });
        Self {
            endpoint: endpoint.parse().unwrap(),
            connections,
        }
    }

    /// Returns the number of connections so far.
    pub(crate) fn connections(&self) -> usize {
        self.connections.lock().unwrap().len()
    }

    pub(crate) fn cut(&self) {
        for connection in self.connections.lock().unwrap().iter() {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

fn pass_on(from: &mut TcpStream, to: &mut TcpStream, delay: Duration) {
    let mut buffer = [0; 1 << 16];
    loop {
        match from.read(&mut buffer) {
            Ok(count) if count > 0 => {
                thread::sleep(delay);
                if to.write_all(&buffer[..count]).is_err() {
                    return;
                }
            }
            _ => return,
        }
    }
}

pub(crate) fn options(directory: &Path, security: &str) -> ClientOptions {
    ClientOptions {
        timeout: PATIENCE,
        security: ClientSecurity {
            choice: security.parse().unwrap(),
            certificates: Some(directory.join("pki")),
            any_host: true,
            ..ClientSecurity::default()
        },
        ..ClientOptions::named("Test")
    }
}

pub(crate) fn start(directory: &Path, cell: &Arc<Cell>) -> Provider {
    Provider::builder("Resumed")
        .without_registry()
        .endpoint("opc.tcp://127.0.0.1:0")
        .serve(ServeOptions {
            runtime_directory: Some(directory.join("runtime")),
            security: EndpointSecurity {
                certificates: Some(directory.join("pki")),
                secured_loopback: true,
                ..EndpointSecurity::default()
            },
            ..ServeOptions::default()
        })
        .variable(Variable::cell("Count", cell))
        .variable(Variable::stored("Level", Variant::UInt32(0)).writable())
        .method(
            Method::new("Wait", |inputs| {
                let [Variant::UInt32(milliseconds), ..] = inputs else {
                    return Err(StatusCode::BadInvalidArgument);
                };
                thread::sleep(Duration::from_millis(u64::from(*milliseconds)));
                Ok(inputs.to_vec())
            })
            .input("Milliseconds", BuiltInType::UInt32)
            .output("Waited", BuiltInType::UInt32),
        )
        .start()
        .unwrap()
}

/// Sets the numbers of `range` one by one, slowly enough to be sampled each.
pub(crate) fn count(cell: &Cell, range: std::ops::Range<u32>) {
    for number in range {
        let value = f64::from(number);
        cell.set_f64(value, StatusCode::Good, DateTime::now())
            .unwrap();
        thread::sleep(Duration::from_millis(80));
    }
}
