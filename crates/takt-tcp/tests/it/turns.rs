//! Turns of asymmetric cryptography: between two waits of a server one connection opens a secured channel or renews its token, so
//! that other clients wait for one such operation at most.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::echo_server::Echo;
use crate::support::plant::Plant;
use crate::support::{NONE, hello, open_request};
use takt_crypto::PolicyProfile;
use takt_rt::readiness::Events;
use takt_tcp::{ClientConnection, TcpServer, TcpServerConfig};
use takt_ua::enumerations::MessageSecurityMode;

const CROWD: usize = 20;

/// Turns that are sufficient for everything here.
const TURNS: usize = 10_000;

struct Served {
    server: TcpServer<Echo>,
    events: Events,
}

impl Served {
    fn new(plant: &Plant) -> Self {
        let config = TcpServerConfig {
            connection: plant.server_config(),
            ..TcpServerConfig::default()
        };
        let url = "opc.tcp://127.0.0.1:0".parse().unwrap();
        Self {
            server: TcpServer::bind(&url, config, Echo::default()).unwrap(),
            events: Events::with_capacity(64),
        }
    }

    fn turn(&mut self) {
        let wait = Some(Duration::from_millis(1));
        self.server.turn(&mut self.events, wait).unwrap();
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.server.address()).unwrap();
        stream.set_nonblocking(true).unwrap();
        stream
    }

    /// Lets the server work until each of these sockets has received a message of this kind; returns how many received one
    /// between two waits at most.
    fn answers(&mut self, sockets: &mut [(TcpStream, Vec<u8>)], kind: &[u8]) -> usize {
        let mut most = 0;
        let mut done = count(sockets, kind);
        for _ in 0..TURNS {
            if done == sockets.len() {
                return most;
            }
            self.turn();
            let now = count(sockets, kind);
            most = most.max(now - done);
            done = now;
        }
        panic!("{done} of {} were served", sockets.len());
    }
}

/// Receives, and returns the number of sockets that have received a message of this kind.
fn count(sockets: &mut [(TcpStream, Vec<u8>)], kind: &[u8]) -> usize {
    for (socket, received) in sockets.iter_mut() {
        let mut bytes = [0; 8192];
        match socket.read(&mut bytes) {
            Ok(count) => received.extend_from_slice(&bytes[..count]),
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
    }
    let has = |received: &Vec<u8>| received.windows(kind.len()).any(|part| part == kind);
    sockets.iter().filter(|(_, received)| has(received)).count()
}

/// Returns the Hello and the OpenSecureChannel request of a secured client.
fn opening(plant: &Plant) -> Vec<u8> {
    let mode = MessageSecurityMode::SignAndEncrypt;
    let config = plant.client_config(PolicyProfile::ALL[0], mode);
    let mut machine = ClientConnection::new(config, "opc.tcp://127.0.0.1:4840");
    let mut bytes = machine.transmit().to_vec();
    machine.transmitted(bytes.len());
    let mut acknowledge = b"ACKF".to_vec();
    for number in [28_u32, 0, 8192, 8192, 0, 0] {
        acknowledge.extend_from_slice(&number.to_le_bytes());
    }
    machine.receive_space()[..acknowledge.len()].copy_from_slice(&acknowledge);
    machine.received(acknowledge.len());
    machine.poll(Instant::now()).unwrap();
    bytes.extend_from_slice(machine.transmit());
    bytes
}

#[test]
fn channels_that_are_opened_at_once_take_turns_and_clients_without_security_do_not_wait() {
    let plant = Plant::new(2048, 2048);
    let mut served = Served::new(&plant);
    let opening = opening(&plant);
    let mut crowd: Vec<_> = (0..CROWD)
        .map(|_| {
            let mut socket = served.connect();
            // In one piece: the server finds the request behind the Hello.
            socket.write_all(&opening).unwrap();
            (socket, Vec::new())
        })
        .collect();
    for _ in 0..5 {
        served.turn();
    }
    // Many stand in line.
    assert!(count(&mut crowd, b"OPNF") < CROWD - 10);
    let mut quick = served.connect();
    quick.write_all(&hello(8192, 8192, 0, 0)).unwrap();
    quick
        .write_all(&open_request(0, NONE, 51, 0, 1, 0))
        .unwrap();
    served.answers(&mut [(quick, Vec::new())], b"OPNF");
    assert!(
        count(&mut crowd, b"OPNF") < CROWD,
        "it did not stand in line"
    );
    assert_eq!(served.answers(&mut crowd, b"OPNF"), 1);
}

#[test]
fn renewals_take_turns() {
    let plant = Plant::new(2048, 2048);
    let mut served = Served::new(&plant);
    let config = plant.client_config(PolicyProfile::ALL[0], MessageSecurityMode::SignAndEncrypt);
    let mut now = Instant::now();
    let mut machines = Vec::new();
    let mut sockets = Vec::new();
    for _ in 0..CROWD {
        let mut machine = ClientConnection::new(config.clone(), "opc.tcp://127.0.0.1:4840");
        let mut socket = served.connect();
        while !machine.is_open() {
            let count = socket.write(machine.transmit()).unwrap();
            machine.transmitted(count);
            served.turn();
            match socket.read(machine.receive_space()) {
                Ok(count) => machine.received(count),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
            machine.poll(now).unwrap();
        }
        machines.push(machine);
        sockets.push((socket, Vec::new()));
    }
    now += Duration::from_secs(3600);
    for (machine, (socket, _)) in machines.iter_mut().zip(&mut sockets) {
        machine.handle_timeout(now).unwrap();
        socket.write_all(machine.transmit()).unwrap();
    }
    assert_eq!(served.answers(&mut sockets, b"OPNF"), 1);
}

/// A client that leaves, and one that breaks a rule, hold nobody up.
#[test]
fn clients_that_stand_in_line_may_leave() {
    let plant = Plant::new(2048, 2048);
    let mut served = Served::new(&plant);
    let opening = opening(&plant);
    let mut crowd = Vec::new();
    for number in 0..CROWD {
        let mut socket = served.connect();
        socket.write_all(&opening).unwrap();
        match number % 3 {
            // Closed at once.
            0 => {}
            // A second Hello is a mistake, which is noticed when the request in front of it has had its turn.
            1 => {
                socket.write_all(&opening).unwrap();
                crowd.push((socket, Vec::new()));
            }
            _ => crowd.push((socket, Vec::new())),
        }
    }
    served.answers(&mut crowd, b"OPNF");
    drop(crowd);
    for _ in 0..TURNS {
        served.turn();
        if served.server.connection_count() == 0 {
            return;
        }
    }
    panic!("{} connections are left", served.server.connection_count());
}
