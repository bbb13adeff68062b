//! Server and clients in threads of one process.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::common::*;
use takt_rt::readiness::{Events, Readiness};
use takt_shm::names::PublicService;
use takt_shm::{
    PublicClient, Runtime, ServerConfig, ShmClient, ShmError, ShmServer, WaitPolicy, applications,
    clean_dead,
};
use takt_ua::StatusCode;

#[test]
fn every_combination_of_policies_echoes() {
    let policies = [WaitPolicy::Spin, WaitPolicy::ADAPTIVE, WaitPolicy::Sleep];
    for server_wait in policies {
        let directory = RuntimeDirectory::new();
        let server =
            ServerThread::start_waiting("Echo", server_config(directory.path()), server_wait);
        let server = server.unwrap();
        for wait in policies {
            let config = client_config(directory.path(), wait);
            let mut client = ShmClient::connect(&name("Echo"), &config, TIMEOUT).unwrap();
            for number in 0..200_u32 {
                let body = number.to_le_bytes();
                assert_eq!(
                    request(&mut client, &body).unwrap(),
                    body,
                    "{server_wait:?} {wait:?}"
                );
            }
        }
        let counted = server.stop();
        assert_eq!(counted.connections.load(Ordering::Relaxed), 4);
        assert_eq!(counted.disconnections.load(Ordering::Relaxed), 4);
    }
}

#[test]
fn payloads_grow_to_the_limit_and_no_further() {
    let directory = RuntimeDirectory::new();
    let config = ServerConfig {
        max_request: 1 << 20,
        max_response: 2 << 20,
        ..server_config(directory.path())
    };
    let _server = ServerThread::start("Echo", config).unwrap();
    let mut client = connect(directory.path(), "Echo").unwrap();
    assert_eq!(client.max_request(), 1 << 20);
    for size in [1, 100, 8160, 8161, 65_536, 1 << 20, 8161, 1] {
        let body: Vec<u8> = (0..size).map(|i| (i * 7) as u8).collect();
        assert!(request(&mut client, &body).unwrap() == body, "{size} bytes");
    }
    let error = request(&mut client, &vec![0; (1 << 20) + 1]).unwrap_err();
    assert!(
        matches!(error, ShmError::RequestTooLarge { limit } if limit == 1 << 20),
        "{error}"
    );
    assert_eq!(error.status_code(), StatusCode::BadRequestTooLarge);

    let response = request(&mut client, format!("size {}", 2 << 20).as_bytes()).unwrap();
    assert_eq!(response.len(), 2 << 20);
    assert!(
        response
            .iter()
            .enumerate()
            .all(|(at, byte)| *byte == at as u8)
    );
    // A handler that encodes nothing had no room for a ServiceFault.
    let error = request(&mut client, b"").unwrap_err();
    assert_eq!(error.status_code(), StatusCode::BadResponseTooLarge);
    // The handler gets an error from the encoder and answers with another response.
    let response = request(&mut client, format!("size {}", (2 << 20) + 1).as_bytes());
    assert_eq!(response.unwrap(), b"too large");
    assert_eq!(request(&mut client, b"after").unwrap(), b"after");
}

#[test]
fn a_client_may_take_less_than_the_server_sends() {
    let directory = RuntimeDirectory::new();
    let _server = ServerThread::start("Echo", server_config(directory.path())).unwrap();
    let mut config = client_config(directory.path(), WaitPolicy::Sleep);
    config.max_response = 1000;
    let mut client = ShmClient::connect(&name("Echo"), &config, TIMEOUT).unwrap();
    assert_eq!(request(&mut client, b"size 1000").unwrap().len(), 1000);
    assert_eq!(request(&mut client, b"size 1001").unwrap(), b"too large");
    // A deferred response that is too long for the client becomes a StatusCode.
    let error = request(&mut client, &[b"defer 1".as_slice(), &[0; 2000]].concat()).unwrap_err();
    assert_eq!(
        error.status_code(),
        StatusCode::BadResponseTooLarge,
        "{error}"
    );
    assert_eq!(request(&mut client, b"after").unwrap(), b"after");
}

#[test]
fn deferred_responses_come_from_other_threads() {
    let directory = RuntimeDirectory::new();
    for server_wait in [WaitPolicy::Sleep, WaitPolicy::Spin] {
        let config = server_config(directory.path());
        let server = ServerThread::start_waiting("Echo", config, server_wait).unwrap();
        let mut slow = connect(directory.path(), "Echo").unwrap();
        let mut fast = connect(directory.path(), "Echo").unwrap();
        let sent = slow
            .send(|encoder| encoder.bytes(b"wait"), TIMEOUT)
            .unwrap();
        assert_eq!(request(&mut fast, b"now").unwrap(), b"now");
        let nothing = slow.receive(Duration::from_millis(20)).unwrap_err();
        assert!(matches!(nothing, ShmError::Timeout), "{nothing}");
        server.release(1);
        let (answered, response) = slow.receive(TIMEOUT).unwrap();
        assert_eq!((answered, response), (sent, Ok(&b"wait"[..])));
    }
}

#[test]
fn a_late_answer_is_discarded() {
    let directory = RuntimeDirectory::new();
    for wait in [WaitPolicy::Spin, WaitPolicy::ADAPTIVE, WaitPolicy::Sleep] {
        let config = server_config(directory.path());
        let server = ServerThread::start("Echo", config).unwrap();
        let config = client_config(directory.path(), wait);
        let mut client = ShmClient::connect(&name("Echo"), &config, TIMEOUT).unwrap();
        let begin = Instant::now();
        let timeout = Duration::from_millis(30);
        // The server does not continue before the client has given up.
        let error = client
            .request(|encoder| encoder.bytes(b"block"), timeout)
            .unwrap_err();
        assert_eq!(error.status_code(), StatusCode::BadTimeout);
        assert!(begin.elapsed() >= timeout && begin.elapsed() < TIMEOUT);
        server.release(1);
        assert_eq!(request(&mut client, b"next").unwrap(), b"next");
        assert_eq!(request(&mut client, b"last").unwrap(), b"last");
    }
}

#[test]
fn requests_are_sent_without_waiting_and_responses_received_as_they_come() {
    let directory = RuntimeDirectory::new();
    for wait in [WaitPolicy::Spin, WaitPolicy::ADAPTIVE, WaitPolicy::Sleep] {
        let config = server_config(directory.path());
        let server = ServerThread::start("Echo", config).unwrap();
        let config = client_config(directory.path(), wait);
        let mut client = ShmClient::connect(&name("Echo"), &config, TIMEOUT).unwrap();
        let [slow, first, second] = [b"wait".as_slice(), b"first", b"second"].map(|body| {
            let sent = client.send(|encoder| encoder.bytes(body), TIMEOUT);
            (sent.unwrap(), body)
        });
        for (id, body) in [first, second, slow] {
            if id == slow.0 {
                server.release(1);
            }
            let (answered, response) = client.receive(TIMEOUT).unwrap();
            assert_eq!((answered, response), (id, Ok(body)), "{wait:?}");
        }
        let nothing = client.receive(Duration::from_millis(20)).unwrap_err();
        assert!(matches!(nothing, ShmError::Timeout), "{nothing}");
        assert_eq!(request(&mut client, b"after").unwrap(), b"after");
    }
}

#[test]
fn too_many_unanswered_requests_are_busy() {
    let directory = RuntimeDirectory::new();
    let server = ServerThread::start("Echo", server_config(directory.path())).unwrap();
    let mut client = connect(directory.path(), "Echo").unwrap();
    let short = Duration::from_millis(1);
    let errors: Vec<StatusCode> = (0..8)
        .map(|_| {
            client
                .request(|encoder| encoder.bytes(b"block"), short)
                .unwrap_err()
                .status_code()
        })
        .collect();
    assert!(
        errors.contains(&StatusCode::BadTcpServerTooBusy),
        "{errors:?}"
    );
    server.release(errors.len());
    eventually("the server has caught up", || {
        request(&mut client, b"after").is_ok_and(|response| response == b"after")
    });
}

#[test]
fn the_client_is_identified_by_the_kernel() {
    let directory = RuntimeDirectory::new();
    let _server = ServerThread::start("Echo", server_config(directory.path())).unwrap();
    let mut client = connect(directory.path(), "Echo").unwrap();
    let expected = format!(
        "{} {}",
        rustix::process::getuid().as_raw(),
        std::process::id()
    );
    assert_eq!(request(&mut client, b"peer").unwrap(), expected.as_bytes());
    assert_eq!(client.server_process(), std::process::id());
}

#[test]
fn one_application_per_name() {
    let directory = RuntimeDirectory::new();
    let config = || server_config(directory.path());
    let first = ServerThread::start("Echo", config()).unwrap();
    match ServerThread::start("Echo", config()).map(|_| ()) {
        Err(ShmError::NameInUse { name, process }) => {
            assert_eq!(name.as_str(), "Echo");
            assert_eq!(process, Some(std::process::id()));
        }
        other => panic!("{other:?}"),
    }
    let mut client = connect(directory.path(), "Echo").unwrap();
    assert_eq!(request(&mut client, b"still here").unwrap(), b"still here");
    let _other = ServerThread::start("Other", config()).unwrap();
    drop(first);
    let _second = ServerThread::start("Echo", config()).unwrap();
    let mut client = connect(directory.path(), "Echo").unwrap();
    assert_eq!(request(&mut client, b"again").unwrap(), b"again");
}

#[test]
fn connecting_to_a_missing_application_fails_at_once() {
    let directory = RuntimeDirectory::new();
    let begin = Instant::now();
    let error = connect(directory.path(), "Nobody").map(|_| ()).unwrap_err();
    assert!(matches!(error, ShmError::NoSuchApplication(_)), "{error}");
    assert_eq!(error.status_code(), StatusCode::BadConnectionRejected);
    assert!(begin.elapsed() < TIMEOUT);
    let public = PublicClient::new(name("Nobody"), Some(directory.path())).unwrap();
    let read = PublicService::find("Attributes", "Read").unwrap();
    let error = public.request(read, |_| Ok(()), TIMEOUT).unwrap_err();
    assert!(matches!(error, ShmError::NoSuchApplication(_)), "{error}");
}

#[test]
fn a_client_outlives_its_server_and_connects_to_the_next() {
    let directory = RuntimeDirectory::new();
    let config = || server_config(directory.path());
    for wait in [WaitPolicy::Spin, WaitPolicy::Sleep] {
        let server = ServerThread::start("Echo", config()).unwrap();
        let client_config = client_config(directory.path(), wait);
        let mut client = ShmClient::connect(&name("Echo"), &client_config, TIMEOUT).unwrap();
        assert_eq!(request(&mut client, b"one").unwrap(), b"one");
        drop(server);
        assert!(!client.is_connected());
        // A new server of that name is another connection.
        let _server = ServerThread::start("Echo", config()).unwrap();
        for _ in 0..3 {
            let error = request(&mut client, b"two").unwrap_err();
            assert_eq!(
                error.status_code(),
                StatusCode::BadConnectionClosed,
                "{error}"
            );
        }
        let mut client = ShmClient::connect(&name("Echo"), &client_config, TIMEOUT).unwrap();
        assert_eq!(request(&mut client, b"three").unwrap(), b"three");
    }
}

#[test]
fn half_removed_services_do_no_harm() {
    let directory = RuntimeDirectory::new();
    let config = || server_config(directory.path());
    // While another process is there, not all files may be removed.
    let _bystander = ServerThread::start("Bystander", config()).unwrap();
    let before = files(directory.path());
    let server = ServerThread::start("Echo", config()).unwrap();
    let mut descriptions = files(directory.path());
    descriptions.retain(|file| {
        !before.contains(file) && file.extension().is_some_and(|suffix| suffix == "service")
    });
    assert!(descriptions.len() > 10);
    let contents = descriptions.iter().map(|file| {
        (
            std::fs::read(file).unwrap(),
            std::fs::metadata(file).unwrap(),
        )
    });
    let contents: Vec<_> = contents.collect();
    drop(server);
    for (number, (file, (content, metadata))) in descriptions.iter().zip(&contents).enumerate() {
        // The state is that of a process killed before the last step of removing it, or before the last step of making it.
        std::fs::write(file, content).unwrap();
        if number.is_multiple_of(2) {
            std::fs::set_permissions(file, metadata.permissions()).unwrap();
        }
    }
    let server = ServerThread::start("Echo", config()).unwrap();
    let mut client = connect(directory.path(), "Echo").unwrap();
    assert_eq!(request(&mut client, b"fine").unwrap(), b"fine");
    drop(client);
    drop(server);
    assert_eq!(files(directory.path()), before);

    // Without a successor, cleaning up removes them when they are old enough.
    let (file, (content, metadata)) = (&descriptions[0], &contents[0]);
    std::fs::write(file, content).unwrap();
    std::fs::set_permissions(file, metadata.permissions()).unwrap();
    let opened = std::fs::File::open(file).unwrap();
    let (now, minute) = (std::time::SystemTime::now(), Duration::from_secs(60));
    // The files stay young however long this test takes.
    opened.set_modified(now + minute).unwrap();
    clean_dead(Some(directory.path())).unwrap();
    assert!(file.exists());
    opened.set_modified(now - minute).unwrap();
    let report = clean_dead(Some(directory.path())).unwrap();
    assert_eq!((report.services, report.alive), (1, 1));
    assert_eq!(files(directory.path()), before);
}

#[test]
fn connections_are_bounded() {
    let directory = RuntimeDirectory::new();
    let config = ServerConfig {
        max_connections: 3,
        ..server_config(directory.path())
    };
    let _server = ServerThread::start("Echo", config).unwrap();
    let mut clients: Vec<ShmClient> = (0..3)
        .map(|_| connect(directory.path(), "Echo").unwrap())
        .collect();
    let error = connect(directory.path(), "Echo").map(|_| ()).unwrap_err();
    assert!(matches!(error, ShmError::Busy(_)), "{error}");
    clients.pop();
    eventually("a place is free", || {
        connect(directory.path(), "Echo").is_ok()
    });
    for client in &mut clients {
        assert_eq!(request(client, b"x").unwrap(), b"x");
    }
}

#[test]
fn public_services_answer_without_a_channel() {
    let directory = RuntimeDirectory::new();
    let _server = ServerThread::start("Echo", server_config(directory.path())).unwrap();
    let public = PublicClient::new(name("Echo"), Some(directory.path())).unwrap();
    let read = PublicService::find("Attributes", "Read").unwrap();
    let body = |tail: &[u8]| [&[1, 0, 0x77, 0x02], tail].concat();
    for size in [0, 10, 5000, 100_000] {
        let body = body(&vec![9; size]);
        let response = public.request(read, |encoder| encoder.bytes(&body), TIMEOUT);
        assert!(response.unwrap() == body);
    }
    // The service named Read refuses everything but a Read.
    for wrong in [&[][..], &[1, 0, 0x78, 0x02], b"peer"] {
        let error = public
            .request(read, |encoder| encoder.bytes(wrong), TIMEOUT)
            .unwrap_err();
        assert_eq!(error.status_code(), StatusCode::BadRequestTypeInvalid);
    }
    let write = PublicService::find("Attributes", "Write").unwrap();
    let response = public.request(write, |encoder| encoder.bytes(&[1, 0, 0xA1, 0x02]), TIMEOUT);
    assert_eq!(response.unwrap(), [1, 0, 0xA1, 0x02]);
    // Responses that carry no Values have memory of a fixed size.
    for (size, fits) in [(128 << 10, false), (127 << 10, true)] {
        let body = [&[1, 0, 0xA1, 0x02], &vec![9; size][..]].concat();
        let response = public.request(write, |encoder| encoder.bytes(&body), TIMEOUT);
        match fits {
            true => assert!(response.unwrap() == body),
            false => {
                let status = response.unwrap_err().status_code();
                assert_eq!(status, StatusCode::BadResponseTooLarge);
            }
        }
    }
}

#[test]
fn public_services_are_called_by_more_clients_than_have_a_place() {
    let directory = RuntimeDirectory::new();
    let _server = ServerThread::start("Echo", server_config(directory.path())).unwrap();
    let read = PublicService::find("Attributes", "Read").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                let client = PublicClient::new(name("Echo"), Some(directory.path())).unwrap();
                for _ in 0..5 {
                    let body = [1, 0, 0x77, 0x02];
                    let response = client.request(read, |encoder| encoder.bytes(&body), TIMEOUT);
                    assert_eq!(response.unwrap(), body);
                }
            });
        }
    });
}

#[test]
fn the_usual_runtime_directory_is_made_shared_and_left() {
    let [first, second] = [(), ()].map(|()| Runtime::open(None).unwrap());
    assert_eq!(first.path(), second.path());
    drop(first);
    assert!(second.path().is_dir());
}

#[test]
fn a_runtime_directory_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let mode = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(directory.path(), mode).unwrap();
    let error = Runtime::open(Some(directory.path())).unwrap_err();
    assert!(
        error.to_string().contains("can be written by others"),
        "{error}"
    );
    let missing = directory.path().join("not/there");
    let error = Runtime::open(Some(&missing)).unwrap_err();
    assert!(
        matches!(error, ShmError::RuntimeDirectory { .. }),
        "{error}"
    );
}

#[test]
fn servers_and_clients_can_move_to_other_threads() {
    fn is_send<T: Send>() {}
    is_send::<takt_shm::ShmServer<Echo>>();
    is_send::<ShmClient>();
    is_send::<PublicClient>();
}

#[test]
fn running_applications_are_listed() {
    let directory = RuntimeDirectory::new();
    let _other = ServerThread::start("Other", server_config(directory.path())).unwrap();
    let _server = ServerThread::start("Echo", server_config(directory.path())).unwrap();
    let mut client = connect(directory.path(), "Echo").unwrap();
    let list = applications(Some(directory.path())).unwrap();
    let names: Vec<&str> = list.iter().map(|presence| presence.name.as_str()).collect();
    assert_eq!(names, ["Echo", "Other"]);
    assert_eq!(list[0].process, Some(std::process::id()));
    let before = list[0].counts().unwrap();
    assert_eq!(before.connections, 1);
    for _ in 0..5 {
        request(&mut client, b"x").unwrap();
    }
    // The counts are in shared memory. A request is counted once it is answered, when its client may have continued already.
    let deadline = Instant::now() + TIMEOUT;
    while list[0].counts().unwrap().requests < before.requests + 5 {
        assert!(Instant::now() < deadline, "{:?}", list[0].counts());
        std::thread::yield_now();
    }
    assert_eq!(list[0].counts().unwrap().requests, before.requests + 5);
    assert_eq!(list[1].counts().unwrap().requests, 0);
}

/// Requests wait at the server when it looks. Without turns, it would answer several of one client, or all of a public service,
/// before it looks at the other clients.
#[test]
fn a_request_that_takes_long_ends_the_turn_of_its_client() {
    const REQUESTS: usize = 4;
    const CLIENTS: usize = 4;
    let directory = RuntimeDirectory::new();
    let echo = Echo::that_ends_turns();
    let readiness = Arc::new(Readiness::new().unwrap());
    let config = server_config(directory.path());
    let mut server = ShmServer::new(name("Echo"), echo, &readiness, TAG, config).unwrap();
    let read = PublicService::find("Attributes", "Read").unwrap();
    std::thread::scope(|scope| {
        let channel = scope.spawn(|| {
            let mut client = connect(directory.path(), "Echo").unwrap();
            for _ in 0..REQUESTS {
                let sent = client.send(|encoder| encoder.bytes(b"mine"), TIMEOUT);
                sent.unwrap();
            }
            for _ in 0..REQUESTS {
                let (_, response) = client.receive(TIMEOUT).unwrap();
                assert_eq!(response, Ok(&b"mine"[..]));
            }
        });
        let public: Vec<_> = (0..CLIENTS)
            .map(|_| {
                scope.spawn(|| {
                    let client = PublicClient::new(name("Echo"), Some(directory.path())).unwrap();
                    for _ in 0..REQUESTS {
                        let body = [1, 0, 0x77, 0x02];
                        let response =
                            client.request(read, |encoder| encoder.bytes(&body), TIMEOUT);
                        assert_eq!(response.unwrap(), body);
                    }
                })
            })
            .collect();
        let mut events = Events::with_capacity(64);
        while !channel.is_finished() || !public.iter().all(|client| client.is_finished()) {
            let wait = Some(Duration::from_millis(10));
            readiness.wait(&mut events, wait).unwrap();
            for event in events.iter() {
                let answered = server.ready(event.key);
                // One of the channel, and one of the public services.
                assert!(answered <= 2, "{answered}");
            }
            // Requests gather.
            std::thread::sleep(Duration::from_millis(2));
        }
    });
}
