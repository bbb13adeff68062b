//! Every attack on a server with 300 MB of address space, which survives all of them. The test `memory_group` does the same
//! with a limit of memory, which needs root.

use std::fs;

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use takt_tests::Sandbox;
use takt_tests::attacked::{Kind, Limit, Server};

/// Address space in bytes that the server may have in addition to that after its start.
const LIMIT: u64 = 300_000_000;

fn limit_address_space(id: u32) {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let kib = size.and_then(|line| line.split_whitespace().next());
    let now: u64 = kib.unwrap().parse::<u64>().unwrap() << 10;
    let limit = Rlimit {
        current: Some(now + LIMIT),
        maximum: Some(now + LIMIT),
    };
    let pid = Pid::from_raw(i32::try_from(id).unwrap());
    prlimit(pid, Resource::As, limit).unwrap();
}

#[test]
fn a_server_with_300_megabytes_of_address_space_survives_all_attacks() {
    let sandbox = Sandbox::new();
    let mut server = Server::start(&sandbox, Kind::Registry, Limit::default());
    limit_address_space(server.id());
    server.survives_all_attacks();
}
