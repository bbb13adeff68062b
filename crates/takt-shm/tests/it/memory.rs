//! Memory of an application's endpoint. It is a process of its own: other applications would be counted.

use crate::common::*;

/// Returns the proportional set size of this process, in KiB.
fn pss() -> u64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let line = text.lines().find(|line| line.starts_with("Pss:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_server_with_public_services_takes_two_megabytes() {
    takt_malloc::alone(|| {
        let directory = RuntimeDirectory::new();
        let start = |number: usize| {
            let config = server_config(directory.path());
            ServerThread::start(&format!("Server{number}"), config).unwrap()
        };
        // The first one includes the code and the memory that a process has once.
        let _first = start(0);
        let before = pss();
        let servers: Vec<_> = (1..9).map(start).collect();
        let each = (pss() - before) / servers.len() as u64;
        // 18 services of iceoryx2; with its defaults each takes 1 MB and more.
        assert!((500..2500).contains(&each), "{each} KiB");
    });
}
