//! Announcements by mDNS that never expire, at a registry that listens to them: its clients are served, its memory stays within its
//! budget, and it finds a server that is announced after them.

use std::time::{Duration, Instant};

use takt_app::ClientOptions;
use takt_app::client::DiscoveryClient;
use takt_attack::{Attack, PrivateNetwork};
use takt_tests::attacked::{Kind, PATIENCE, Server};
use takt_tests::privileged::Test;
use takt_tests::withstanding::withstands;
use takt_tests::{Registry, Sandbox};

/// Longest time until discovery has recovered (docs/discovery.md): a search after a minute, the answers to it, and time for a loaded
/// machine.
const RECOVERED: Duration = Duration::from_secs(100);

/// Beginning of a name in an announcement, in which a long name is cut.
const NAME: usize = 40;

pub(crate) fn tests() -> Vec<Test> {
    vec![Test {
        name: "a_server_is_found_after_announcements_that_never_expire",
        needs: takt_attack::NEEDS,
        run: || {
            // The network is that of the thread, and of everything that it starts.
            let thread =
                std::thread::spawn(a_server_is_found_after_announcements_that_never_expire);
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        },
    }]
}

fn a_server_is_found_after_announcements_that_never_expire() {
    let network = PrivateNetwork::make().unwrap();
    network.enter().unwrap();
    let sandbox = Sandbox::new();
    let server = Server::start_for(&sandbox, Kind::Registry, Attack::Mdns);
    withstands(&server, Attack::Mdns, 1, || {});
    let other = sandbox.elsewhere();
    // A server on the loopback interface is not announced.
    let endpoint = format!(
        "opc.tcp://{}:{}",
        PrivateNetwork::ADDRESS,
        takt_ports::reserve()
    );
    let desk = Registry::start_at(&other, &endpoint, &["--mdns"]);
    let options = ClientOptions {
        timeout: PATIENCE,
        ..ClientOptions::named("Test")
    };
    let endpoint = server.target().opc_tcp.parse().unwrap();
    let mut client = DiscoveryClient::connect(&endpoint, &options).unwrap();
    let name: String = desk.name.chars().take(NAME).collect();
    let begin = Instant::now();
    loop {
        let found = client.servers_on_network().unwrap();
        let mut names = found.iter().map(|server| server.server_name.as_str());
        if names.any(|found| found.starts_with(&name)) {
            break;
        }
        let count = found.len();
        assert!(begin.elapsed() < RECOVERED, "{name} is not among {count}");
        std::thread::sleep(Duration::from_millis(100));
    }
    println!("found after {:?}", begin.elapsed());
}
