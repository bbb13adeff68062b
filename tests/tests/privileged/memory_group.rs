//! Every attack on a server in a control group with 300 MB of memory, which survives all of them. The memory of its segments
//! and of its sockets counts there too.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use takt_tests::Sandbox;
use takt_tests::attacked::{Kind, Limit, Server};
use takt_tests::memory_group::MemoryGroup;
use takt_tests::privileged::{MEMORY_GROUPS, Test};

/// Memory of the server in bytes.
const LIMIT: u64 = 300_000_000;

pub(crate) fn tests() -> Vec<Test> {
    vec![
        Test {
            name: "a_server_with_300_megabytes_survives_all_attacks",
            needs: MEMORY_GROUPS,
            run: a_server_with_300_megabytes_survives_all_attacks,
        },
        Test {
            name: "a_group_ends_a_process_with_more_memory_and_is_removed",
            needs: MEMORY_GROUPS,
            run: a_group_ends_a_process_with_more_memory_and_is_removed,
        },
    ]
}

fn a_server_with_300_megabytes_survives_all_attacks() {
    let sandbox = Sandbox::new();
    let group = MemoryGroup::new(LIMIT);
    let mut server = Server::start(&sandbox, Kind::Registry, Limit::shell(group.entrance()));
    assert!(group.contains(server.id()));
    server.survives_all_attacks();
    println!("{}", group.report());
}

fn a_group_ends_a_process_with_more_memory_and_is_removed() {
    let group = MemoryGroup::new(20 << 20);
    // Of a pipe, `tail` keeps all bytes that it may have to print.
    let script = format!("{}exec tail -c 60000000", group.entrance());
    let mut tail = Command::new("sh")
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let written = std::io::copy(
        &mut std::io::repeat(b'x').take(60_000_000),
        &mut tail.stdin.take().unwrap(),
    );
    let ended = tail.wait().unwrap();
    assert_eq!(ended.signal(), Some(9), "{written:?} {}", group.report());
    let directory = group.directory().to_owned();
    drop(group);
    assert!(!directory.exists());
}
