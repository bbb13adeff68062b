//! A relay between a client and a server, which counts how often the client renews its SecureChannel, and cuts connections.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Length of the header of a chunk (OPC 10000-6, 7.1.2.2): its type and its size.
const HEADER: usize = 8;

/// A relay in front of a server. Connections end with the process.
pub(super) struct Relay {
    /// Endpoint of the relay.
    pub(super) endpoint: String,
    renewed: Arc<AtomicU64>,
    clients: Arc<Mutex<Vec<TcpStream>>>,
}

impl Relay {
    /// Starts a relay on a free port.
    pub(super) fn start(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        Self::listening(listener, address_of(server))
    }

    /// Starts a relay with the port of the server at another address: some servers compare the port in the URLs of their clients.
    pub(super) fn start_with_port_of(server: &str) -> Self {
        let address = address_of(server);
        let (_, port) = address.rsplit_once(':').expect("an endpoint with a port");
        let beside = format!("127.0.0.2:{port}");
        let listener = TcpListener::bind(beside).expect("the port is free at another address");
        Self::listening(listener, address)
    }

    fn listening(listener: TcpListener, address: String) -> Self {
        let own = listener.local_addr().expect("it is bound");
        let renewed = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&renewed);
        let clients = Arc::new(Mutex::new(Vec::new()));
        let connected = Arc::clone(&clients);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(&address) else {
                    continue;
                };
                let clone = client.try_clone().expect("a descriptor is free");
                connected.lock().expect("not poisoned").push(clone);
                connect(client, server, &counter);
            }
        });
        Self {
            endpoint: format!("opc.tcp://{own}"),
            renewed,
            clients,
        }
    }

    /// Cuts all connections, as a network does that breaks.
    pub(super) fn cut(&self) {
        for client in self.clients.lock().expect("not poisoned").drain(..) {
            let _ = client.shutdown(Shutdown::Both);
        }
    }

    /// Returns the number of OpenSecureChannel requests so far, without the first one of each connection.
    pub(super) fn renewed(&self) -> u64 {
        self.renewed.load(Ordering::Relaxed)
    }
}

fn address_of(server: &str) -> String {
    let address = server.strip_prefix("opc.tcp://");
    address.expect("an opc.tcp endpoint").to_owned()
}

fn connect(client: TcpStream, server: TcpStream, renewed: &Arc<AtomicU64>) {
    let clone = |stream: &TcpStream| stream.try_clone().expect("a descriptor is free");
    let (mut responses, mut answered) = (clone(&server), clone(&client));
    let counter = Arc::clone(renewed);
    thread::spawn(move || {
        let _ = copy_chunks(&client, &server, &counter);
        let _ = server.shutdown(Shutdown::Both);
    });
    thread::spawn(move || {
        let _ = std::io::copy(&mut responses, &mut answered);
        let _ = answered.shutdown(Shutdown::Both);
    });
}

/// Copies the chunks of a client, and counts those that renew the SecureChannel.
fn copy_chunks(
    mut from: &TcpStream,
    mut to: &TcpStream,
    renewed: &AtomicU64,
) -> std::io::Result<()> {
    let mut chunk = Vec::new();
    let mut is_open = false;
    loop {
        chunk.resize(HEADER, 0);
        from.read_exact(&mut chunk)?;
        let size = u32::from_le_bytes([chunk[4], chunk[5], chunk[6], chunk[7]]);
        let size = usize::try_from(size).map_err(|_| ErrorKind::InvalidData)?;
        if chunk.starts_with(b"OPN") {
            renewed.fetch_add(u64::from(is_open), Ordering::Relaxed);
            is_open = true;
        }
        chunk.resize(size.max(HEADER), 0);
        from.read_exact(&mut chunk[HEADER..])?;
        to.write_all(&chunk)?;
    }
}
