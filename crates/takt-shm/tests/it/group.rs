//! Applications that share within a Unix group, here that of the tests' own process. The end-to-end test `groups` switches users.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::common::*;
use takt_shm::{Group, Runtime, ServerConfig, ShmClient, ShmError, WaitPolicy, clean_dead};
use takt_ua::StatusCode;

/// Directory for the group of this process.
struct GroupDirectory {
    _parent: tempfile::TempDir,
    path: PathBuf,
    group: String,
}

impl GroupDirectory {
    fn new(mode: u32) -> Self {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("group");
        let group = rustix::process::getegid();
        std::fs::create_dir(&path).unwrap();
        rustix::fs::chown(&path, None, Some(group)).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        Self {
            _parent: parent,
            path,
            group: group.as_raw().to_string(),
        }
    }

    fn server(&self, application: &str) -> Result<ServerThread, ShmError> {
        let config = ServerConfig {
            group: Some(self.group.clone()),
            ..server_config(&self.path)
        };
        ServerThread::start(application, config)
    }

    fn connect(&self, application: &str) -> Result<ShmClient, ShmError> {
        let mut config = client_config(&self.path, WaitPolicy::default());
        config.group = Some(self.group.clone());
        ShmClient::connect(&name(application), &config, TIMEOUT)
    }

    fn mode(&self, file: &str) -> u32 {
        let metadata = std::fs::metadata(self.path.join(file)).unwrap();
        metadata.permissions().mode() & 0o7777
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.path).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

#[test]
fn a_group_shares_through_its_directory() {
    let directory = GroupDirectory::new(0o2770);
    let server = directory.server("Echo").unwrap();
    let mut client = directory.connect("Echo").unwrap();
    assert_eq!(request(&mut client, b"hello").unwrap(), b"hello");
    let large = vec![7; 100_000];
    assert_eq!(request(&mut client, &large).unwrap(), large);
    assert_eq!(client.server_user(), rustix::process::geteuid().as_raw());
    // There are no files of iceoryx2, and the directory is only for the group.
    assert_eq!(directory.names(), ["Echo.lock", "Echo.sock"]);
    assert_eq!(directory.mode("Echo.lock"), 0o660);
    assert_eq!(directory.mode("Echo.sock"), 0o660);
    let runtime = Runtime::open_for_group(&directory.group, Some(&directory.path)).unwrap();
    assert_eq!(runtime.group().map(Group::name), Some(&*directory.group));
    let list = runtime.applications();
    assert_eq!(list.len(), 1);
    assert_eq!(list[0].counts().unwrap().connections, 1);
    drop(server);
    assert!(directory.names().is_empty());
    assert!(matches!(
        request(&mut client, b"x"),
        Err(ShmError::ConnectionClosed)
    ));
}

#[test]
fn a_name_is_taken_while_its_application_lives_and_free_afterwards() {
    for (mode, lock_mode) in [(0o2770, 0o660), (0o3770, 0o600)] {
        let directory = GroupDirectory::new(mode);
        let server = directory.server("Echo").unwrap();
        assert_eq!(directory.mode("Echo.lock"), lock_mode);
        let error = directory.server("Echo").err().unwrap();
        assert!(
            matches!(error, ShmError::NameInUse { process: Some(id), .. } if id == std::process::id()),
            "{error}"
        );
        drop(server);
        // These are the leftovers of a killed application.
        std::fs::write(directory.path.join("Echo.lock"), "4000000000").unwrap();
        drop(std::os::unix::net::UnixListener::bind(directory.path.join("Echo.sock")).unwrap());
        std::fs::write(directory.path.join("Other.lock"), "").unwrap();
        let _server = directory.server("Echo").unwrap();
        directory.connect("Echo").unwrap();
        let runtime = Runtime::open_for_group(&directory.group, Some(&directory.path)).unwrap();
        assert_eq!(runtime.clean_dead().unwrap().applications, [name("Other")]);
        assert_eq!(directory.names(), ["Echo.lock", "Echo.sock"]);
    }
}

#[test]
fn a_lock_that_is_a_link_or_a_pipe_hangs_and_writes_nothing() {
    let directory = GroupDirectory::new(0o2770);
    let precious = directory.path.join("precious");
    std::fs::write(&precious, "mine").unwrap();
    std::os::unix::fs::symlink(&precious, directory.path.join("Link.lock")).unwrap();
    let pipe = directory.path.join("Pipe.lock");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o660.into()).unwrap();
    for application in ["Link", "Pipe"] {
        let error = directory.server(application).err().unwrap();
        assert!(matches!(error, ShmError::Io { .. }), "{error}");
    }
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "mine");
}

#[test]
fn groups_and_directories_that_are_not_there_are_explained() {
    let config = |group: &str, path: Option<&Path>| {
        let mut config = client_config(Path::new("/"), WaitPolicy::default());
        config.group = Some(group.to_owned());
        config.runtime_directory = path.map(Path::to_path_buf);
        ShmClient::connect(&name("Echo"), &config, TIMEOUT)
            .err()
            .unwrap()
    };
    let error = config("no such group", None);
    assert!(matches!(error, ShmError::NoSuchGroup(_)), "{error}");
    let foreign = config("54321", None);
    assert_eq!(foreign.status_code(), StatusCode::BadUserAccessDenied);
    let own = rustix::process::getegid().as_raw().to_string();
    let error = config(&own, Some(Path::new("/nowhere/takt")));
    assert!(
        error.to_string().contains(&format!(
            "install -d -o root -g {own} -m 2770 /nowhere/takt"
        )),
        "{error}"
    );
}

#[test]
fn a_users_own_directory_is_another_place() {
    let group = GroupDirectory::new(0o2770);
    let user = RuntimeDirectory::new();
    let _shared = group.server("Echo").unwrap();
    assert!(matches!(
        connect(user.path(), "Echo"),
        Err(ShmError::NoSuchApplication(_))
    ));
    assert!(
        clean_dead(Some(user.path()))
            .unwrap()
            .applications
            .is_empty()
    );
}
