//! A full /dev/shm: callers of the public services get an error at once, and the server goes on.
//!
//! /dev/shm is a small tmpfs in a mount namespace of the test, which starts itself again in it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::Command;

use takt_shm::names::PublicService;
use takt_shm::{PublicClient, ShmError};
use takt_ua::StatusCode;

use crate::common::*;

/// Set for the test in the namespace.
const INSIDE: &str = "TAKT_TEST_SMALL_SHARED_MEMORY";
const PASSED: &str = "passed in a small /dev/shm";
/// Bytes of a request, and of its response.
const BODY: usize = 300_000;

#[test]
fn callers_of_public_services_get_an_error_at_once_if_shared_memory_is_full() {
    let mut command = Command::new("unshare");
    let mount = "mount -t tmpfs -o size=24m,mode=1777 tmpfs /dev/shm && exec \"$@\"";
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", mount]);
    command.arg("sh").arg(std::env::current_exe().unwrap());
    command.args(["full::in_the_namespace", "--exact", "--nocapture"]);
    let Ok(output) = command.env(INSIDE, "1").output() else {
        println!("left out: there is no unshare");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("Operation not permitted") || errors.contains("permission denied") {
        println!("left out: no namespaces here: {errors}");
        return;
    }
    assert!(said.contains(PASSED), "{said}\n{errors}");
}

#[test]
fn in_the_namespace() {
    if std::env::var_os(INSIDE).is_none() {
        return;
    }
    let directory = RuntimeDirectory::new();
    let _server = ServerThread::start("Echo", server_config(directory.path())).unwrap();
    let public = PublicClient::new(name("Echo"), Some(directory.path())).unwrap();
    let read = PublicService::find("Attributes", "Read").unwrap();
    let body = [&[1, 0, 0x77, 0x02][..], &vec![9; BODY][..]].concat();
    let call = || public.request(read, |encoder| encoder.bytes(&body), TIMEOUT);
    let small = || public.request(read, |encoder| encoder.bytes(&body[..100]), TIMEOUT);
    let (mut answered, mut refused, mut full) = (0, 0, 0);
    for free in (BODY as u64..4 * BODY as u64).step_by(1 << 14) {
        let filler = Filler::leaving(free);
        match call() {
            Ok(response) => {
                assert!(response == body);
                answered += 1;
            }
            Err(ShmError::Refused(StatusCode::BadOutOfMemory)) => refused += 1,
            Err(ShmError::SharedMemoryFull { .. }) => full += 1,
            Err(error) => panic!("{error} with {free} bytes"),
        }
        drop(filler);
        assert!(small().is_ok());
    }
    println!("{answered} answered, {refused} refused, {full} not sent or without an answer");
    assert!(answered > 0 && refused > 0 && full > 0);
    println!("{PASSED}");
}

/// File that fills /dev/shm.
struct Filler(File);

impl Filler {
    fn leaving(bytes: u64) -> Self {
        let file = tempfile::tempfile_in("/dev/shm").unwrap();
        let status = rustix::fs::statvfs("/dev/shm").unwrap();
        let zeros = vec![0; 1 << 12];
        let pages = (status.f_bavail * status.f_frsize).saturating_sub(bytes) / zeros.len() as u64;
        for page in 0..pages {
            let at = page * zeros.len() as u64;
            file.write_all_at(&zeros, at).unwrap();
        }
        Self(file)
    }
}

impl Drop for Filler {
    fn drop(&mut self) {
        self.0.set_len(0).unwrap();
    }
}
