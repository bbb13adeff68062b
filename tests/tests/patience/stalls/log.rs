//! The log of a publisher while its server is away.

use std::fs;
use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

use takt_tests::process::Process;
use takt_tests::{Provider, Registry, Sandbox};

use super::case::LIMIT;

/// Time without the server.
const AWAY: Duration = Duration::from_secs(6);

#[test]
fn a_publisher_says_once_that_its_server_is_away_and_that_it_is_back() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let mut provider = Provider::start(&sandbox, &registry, "machine");
    let file = sandbox.data_directory().join("publisher.toml");
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = receiver.local_addr().unwrap().port();
    fs::write(&file, configuration(&provider.name, port)).unwrap();
    let (file, from) = (file.to_str().unwrap(), provider.shared_memory());
    let arguments = ["publish", file, "--from", &from, "--timeout", "2s"];
    let mut publisher = Process::spawn("publish", &mut sandbox.takt(&arguments));
    receiver.set_read_timeout(Some(LIMIT)).unwrap();
    receiver.recv(&mut [0; 2048]).unwrap();
    provider.process.kill();
    thread::sleep(AWAY);
    assert!(!publisher.has_ended(), "{}", publisher.report());
    provider = Provider::start(&sandbox, &registry, "machine");
    let begin = Instant::now();
    while !publisher.report().contains("connected again") {
        assert!(begin.elapsed() < LIMIT, "{}", publisher.report());
        thread::sleep(Duration::from_millis(50));
    }
    let report = publisher.report();
    let lines = report.matches("WARN").count();
    // The loss, perhaps another reason on the way, and the return.
    assert!((2..=5).contains(&lines), "{report}");
    drop(provider);
}

fn configuration(provider: &str, port: u16) -> String {
    format!(
        r#"
namespaces = ["http://opcfoundation.org/UA/", "urn:takt:provider:{provider}"]

[[published_data_sets]]
name = "Spindle"
fields = [{{ name = "Speed", data_type = "Double", published_variable = "ns=1;s=Spindle/SpeedSetpoint" }}]

[[connections]]
name = "UDP"
publisher_id = 5
address = "opc.udp://127.0.0.1:{port}"

[[connections.writer_groups]]
name = "Fast"
writer_group_id = 1
publishing_interval = "50ms"

[[connections.writer_groups.data_set_writers]]
name = "Spindle"
data_set_writer_id = 1
data_set_name = "Spindle"
"#
    )
}
