//! A relay in front of a server, for its clients over TCP: the network between them can be cut, and the server be replaced.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A relay. Its connections end with the process.
pub(super) struct Relay {
    pub(super) endpoint: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// Address of the server.
    server: Mutex<Option<String>>,
    is_cut: AtomicBool,
}

impl Relay {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("opc.tcp://{}", listener.local_addr().unwrap());
        let state = Arc::new(State::default());
        let accepting = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = accepting.server.lock().unwrap().clone();
                // A client whose server is not there is refused.
                if let Some(Ok(server)) = server.map(TcpStream::connect) {
                    copy(&client, &server, &accepting);
                    copy(&server, &client, &accepting);
                }
            }
        });
        Self { endpoint, state }
    }

    /// Sets the server for connections from now on.
    pub(super) fn set_server(&self, endpoint: &str) {
        let address = endpoint.strip_prefix("opc.tcp://").unwrap().to_owned();
        *self.state.server.lock().unwrap() = Some(address);
    }

    /// Holds all bytes back, as a network without a way does, or lets them pass again.
    pub(super) fn set_cut(&self, is_cut: bool) {
        self.state.is_cut.store(is_cut, Ordering::Relaxed);
    }
}

fn copy(from: &TcpStream, to: &TcpStream, state: &Arc<State>) {
    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    let state = Arc::clone(state);
    thread::spawn(move || {
        let mut bytes = [0; 16 << 10];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            while state.is_cut.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(5));
            }
            if to.write_all(&bytes[..length]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    });
}
