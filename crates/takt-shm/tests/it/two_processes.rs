//! Servers and clients in processes of their own, which are killed.

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::common::*;
use takt_shm::{ShmClient, ShmError, WaitPolicy, clean_dead};
use takt_ua::StatusCode;

/// Not a test: the part of the process that [`start_server`] starts.
#[test]
fn server_role() {
    if let Some(arguments) = role() {
        run_server(&arguments);
    }
}

/// Not a test: a client that sends requests until it is killed. Arguments: directory, name.
#[test]
fn client_role() {
    let Some(arguments) = role() else { return };
    let mut client = connect(Path::new(&arguments[0]), &arguments[1]).unwrap();
    report_ready();
    for number in 0_u64.. {
        let body = number.to_le_bytes();
        assert_eq!(request(&mut client, &body).unwrap(), body);
    }
}

/// Process that is killed when the test ends.
struct Killed(Child);

impl Killed {
    fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        // The process gets SIGKILL: nothing in it can clean up.
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        if self.0.try_wait().unwrap().is_none() {
            self.end();
        }
    }
}

fn start_server(directory: &Path, policy: &str) -> Killed {
    let directory = directory.to_str().unwrap();
    Killed(spawn(
        "two_processes::server_role",
        &[directory, "Echo", policy],
    ))
}

fn start_client(directory: &Path) -> Killed {
    Killed(spawn(
        "two_processes::client_role",
        &[directory.to_str().unwrap(), "Echo"],
    ))
}

#[test]
fn a_request_ends_when_the_server_is_killed() {
    let directory = RuntimeDirectory::new();
    for wait in [WaitPolicy::Spin, WaitPolicy::ADAPTIVE, WaitPolicy::Sleep] {
        let server = start_server(directory.path(), "adaptive");
        let config = client_config(directory.path(), wait);
        let mut client = ShmClient::connect(&name("Echo"), &config, TIMEOUT).unwrap();
        assert_eq!(client.server_process(), server.0.id());
        assert_eq!(request(&mut client, b"hello").unwrap(), b"hello");
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            let killed = Instant::now();
            server.kill();
            killed
        });
        let error = request(&mut client, b"hang").unwrap_err();
        let ended = Instant::now();
        assert_eq!(error.status_code(), StatusCode::BadConnectionClosed);
        let killed = killer.join().unwrap();
        let took = ended.duration_since(killed);
        // It fails at once, but tests may run on a busy machine; the request itself would have waited for all of its time.
        assert!(took < TIMEOUT / 2, "{wait:?}: {took:?}");
        let error = request(&mut client, b"hello").unwrap_err();
        assert!(matches!(error, ShmError::ConnectionClosed), "{error}");
    }
}

#[test]
fn short_waits_notice_that_the_server_is_killed() {
    let directory = RuntimeDirectory::new();
    for wait in [WaitPolicy::ADAPTIVE, WaitPolicy::Sleep] {
        let server = start_server(directory.path(), "adaptive");
        let config = client_config(directory.path(), wait);
        let mut client = ShmClient::connect(&name("Echo"), &config, TIMEOUT).unwrap();
        assert_eq!(request(&mut client, b"hello").unwrap(), b"hello");
        let short = Duration::from_millis(10);
        let error = client.receive(short).unwrap_err();
        assert!(matches!(error, ShmError::Timeout), "{error}");
        server.kill();
        let begin = Instant::now();
        let error = loop {
            match client.receive(short).unwrap_err() {
                ShmError::Timeout if begin.elapsed() < TIMEOUT / 2 => {}
                error => break error,
            }
        };
        assert!(matches!(error, ShmError::ConnectionClosed), "{error}");
    }
}

#[test]
fn a_killed_server_is_replaced_at_once() {
    let directory = RuntimeDirectory::new();
    for _ in 0..5 {
        let server = start_server(directory.path(), "sleep");
        let mut client = connect(directory.path(), "Echo").unwrap();
        assert_eq!(request(&mut client, b"one").unwrap(), b"one");
        server.kill();
        // The client is still there, and so are the services it has opened.
        let begin = Instant::now();
        let _server = start_server(directory.path(), "sleep");
        let mut again = connect(directory.path(), "Echo").unwrap();
        assert_eq!(request(&mut again, b"two").unwrap(), b"two");
        assert!(begin.elapsed() < TIMEOUT / 2);
        let error = request(&mut client, b"three").unwrap_err();
        assert!(matches!(error, ShmError::ConnectionClosed), "{error}");
    }
}

#[test]
fn killed_clients_leave_nothing_behind() {
    let directory = RuntimeDirectory::new();
    let server = ServerThread::start("Echo", server_config(directory.path()));
    let server = server.unwrap();
    let mut client = connect(directory.path(), "Echo").unwrap();
    request(&mut client, b"first").unwrap();
    let before = files(directory.path());
    for _ in 0..3 {
        let clients: Vec<Killed> = (0..4).map(|_| start_client(directory.path())).collect();
        // A channel has no name in any file system.
        assert_eq!(files(directory.path()), before);
        for client in clients {
            client.kill();
        }
        request(&mut client, b"still served").unwrap();
        assert_eq!(files(directory.path()), before);
    }
    drop(client);
    let echo = server.stop();
    let count = |counter: &std::sync::atomic::AtomicUsize| {
        counter.load(std::sync::atomic::Ordering::Relaxed)
    };
    assert_eq!(count(&echo.connections), 2 + 12);
    assert_eq!(count(&echo.disconnections), 2 + 12);
}

#[test]
fn killed_servers_are_cleaned_up_by_any_application() {
    let directory = RuntimeDirectory::new();
    let bystander = ServerThread::start("Bystander", server_config(directory.path())).unwrap();
    let before = files(directory.path());
    start_server(directory.path(), "sleep").kill();
    assert!(files(directory.path()).len() > before.len());
    let mut removed = 0;
    eventually("as many files as before", || {
        // One thread of a process at a time can remove files; other tests do, too.
        removed += clean_dead(Some(directory.path()))
            .unwrap()
            .applications
            .len();
        files(directory.path()) == before
    });
    assert_eq!(removed, 1);
    let mut client = connect(directory.path(), "Bystander").unwrap();
    assert_eq!(request(&mut client, b"alive").unwrap(), b"alive");
    drop(client);
    drop(bystander);
}

#[test]
fn eight_clients_at_once() {
    let directory = RuntimeDirectory::new();
    let _server = start_server(directory.path(), "adaptive");
    let clients: Vec<_> = (0..8_u32)
        .map(|number| {
            let directory = directory.path().to_path_buf();
            std::thread::spawn(move || {
                let mut client = connect(&directory, "Echo").unwrap();
                for round in 0..500_u32 {
                    // The bodies have different lengths, so that an answer to another client would be noticed.
                    let mut body = vec![number as u8; (round * (number + 1) % 3000) as usize];
                    body.extend_from_slice(&round.to_le_bytes());
                    assert!(request(&mut client, &body).unwrap() == body);
                }
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
}

#[test]
fn two_processes_cannot_have_one_name() {
    let directory = RuntimeDirectory::new();
    let server = start_server(directory.path(), "sleep");
    let config = || server_config(directory.path());
    match ServerThread::start("Echo", config()).map(|_| ()) {
        Err(error @ ShmError::NameInUse { .. }) => {
            let expected = format!(
                "another application is running under the name Echo (process {})",
                server.0.id()
            );
            assert_eq!(error.to_string(), expected);
        }
        other => panic!("{other:?}"),
    }
    server.kill();
    ServerThread::start("Echo", config()).unwrap();
}
