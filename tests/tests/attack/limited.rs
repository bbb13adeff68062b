//! Every attack on a server with a limit of 300 MB of memory, which survives all of them.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use takt_bench::attack::{Attack, Observer};
use takt_tests::Sandbox;

use crate::server::{Kind, Limit, Server};
use crate::{PATIENCE, RATE};

/// Memory limit of the server in bytes.
const LIMIT: u64 = 300_000_000;

/// Duration of each attack.
const ATTACK: Duration = Duration::from_millis(700);

/// A control group of the kernel (version 2) with a limit of memory. Dropping it removes it.
struct Group(PathBuf);

impl Group {
    /// Creates a group; `None` if this user may not create one, or the kernel does not control memory there.
    fn new() -> Option<Self> {
        let root = PathBuf::from("/sys/fs/cgroup");
        let controllers = fs::read_to_string(root.join("cgroup.subtree_control")).ok()?;
        controllers
            .split_whitespace()
            .find(|one| *one == "memory")?;
        let group = Self(root.join(format!("takt-attack-{}", std::process::id())));
        fs::create_dir(&group.0).ok()?;
        fs::write(group.0.join("memory.max"), LIMIT.to_string()).ok()?;
        // Memory above the limit shall not be swapped to the disk.
        let _ = fs::write(group.0.join("memory.swap.max"), "0");
        Some(group)
    }

    /// Returns a shell line that moves the shell, and the program that replaces it, into the group.
    fn enter(&self) -> Limit {
        Limit::shell(format!("echo $$ >{}/cgroup.procs; ", self.0.display()))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The server has ended before; the kernel may need a moment to notice.
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Limits the address space of a server to its present size plus this number of bytes.
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
fn a_server_with_300_megabytes_survives_all_attacks() {
    let sandbox = Sandbox::new();
    let group = Group::new();
    let limit = group.as_ref().map(Group::enter).unwrap_or_default();
    let mut server = Server::start(&sandbox, Kind::Registry, limit);
    if group.is_none() {
        println!("no control group can be made here: the address space is limited instead");
        limit_address_space(server.id());
    }
    let target = server.target();
    let clients = [&target.opc_tcp, &target.opc_iox2]
        .map(|endpoint| Observer::start(&target, endpoint, RATE, false).unwrap());
    for attack in Attack::ALL {
        let under_way = attack
            .start(takt_tests::binary::takt(), &target, 2)
            .unwrap();
        std::thread::sleep(ATTACK);
        let tally = under_way.finish().unwrap();
        for client in &clients {
            let served = client.catches_up(PATIENCE);
            assert!(
                served && !server.process.has_ended(),
                "{}: {tally:?}{}",
                attack.name(),
                server.process.report()
            );
            let seen = client.take();
            assert_eq!(seen.failures, [""; 0], "{}: {tally:?}", attack.name());
        }
    }
    drop(server);
    drop(group);
}
