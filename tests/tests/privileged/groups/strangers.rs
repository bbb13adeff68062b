//! Users outside of the group can neither read nor disturb.

use std::fs;
use std::io::ErrorKind;

use takt_app::{Client, ClientError, Endpoint};
use takt_ua::StatusCode;

use crate::groups::shared::{ANNA, BERT, DORA, Shared, as_user};
use crate::groups::socket;

pub fn users_outside_the_group_are_denied() {
    let shared = Shared::new();
    let registry = shared.registry(ANNA);
    let name = shared.application("Registry");
    let url = format!("opc.iox2://{name}");
    let said = shared.fails(DORA, &["browse", &url]);
    assert!(said.contains("BadUserAccessDenied"), "{said}");
    assert!(said.contains("usermod -a -G"), "{said}");
    // Starting an application there gives no access either.
    let mut arguments = shared.machine_arguments();
    arguments[5] = "Intruder".to_owned();
    let said = shared.fails(DORA, &arguments.each_ref().map(String::as_str));
    assert!(said.contains("does not belong to the group"), "{said}");

    let endpoint: Endpoint = url.parse().unwrap();
    let process = registry.id();
    as_user(DORA, || {
        let error = Client::connect(&endpoint, shared.options()).err().unwrap();
        assert!(matches!(error, ClientError::AccessDenied { .. }), "{error}");
        assert_eq!(error.status_code(), StatusCode::BadUserAccessDenied);
        // Bypassing the library gives no access either.
        let denied = |result: std::io::Result<()>| {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::PermissionDenied);
        };
        let directory = shared.group_directory();
        denied(socket::connect(&shared.socket(&name)).map(drop));
        denied(fs::read(directory.join(format!("{name}.lock"))).map(drop));
        denied(fs::read_dir(&directory).map(drop));
        denied(fs::write(directory.join("new"), "x"));
        denied(fs::remove_file(shared.socket(&name)));
        // Nor does the memory, which is only reachable through the descriptors of its processes.
        denied(fs::read_dir(format!("/proc/{process}/fd")).map(drop));
    });
    let _ = shared.run(BERT, &["browse", &url]).expect_success();
}

/// Root, and a user who has left the group, get as far as is possible without belonging to the group.
pub fn users_without_access_are_refused_at_the_socket() {
    let shared = Shared::new();
    let _registry = shared.registry(ANNA);
    let path = shared.socket(&shared.application("Registry"));
    let socket = socket::connect(&path).unwrap();
    let mail = socket::receive(&socket);
    // "TAKT", version, kind 4: Refused, and the StatusCode.
    assert_eq!((&mail[..4], mail[6]), (&b"TAKT"[..], 4));
    let status = u32::from_le_bytes([mail[8], mail[9], mail[10], mail[11]]);
    assert_eq!(StatusCode(status), StatusCode::BadUserAccessDenied);
    // The connection then ends.
    assert!(socket::receive(&socket).is_empty());
    // A member is greeted: kind 1.
    let mail = as_user(BERT, || socket::receive(&socket::connect(&path).unwrap()));
    assert_eq!(mail[6], 1);
}
