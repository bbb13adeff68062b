//! Secrets never reach logs and outputs: passwords, secrets of Providers, keys of SecurityGroups.

use std::fmt::Write;
use std::path::Path;

use rustix::process::Signal;
use takt_tests::{Finished, Registry, Sandbox};

use crate::registry::{PATIENCE, client, eventually, tank};

const PASSWORD: &str = "correct-horse-battery";
const WRONG_PASSWORD: &str = "wrong-horse-battery";

#[test]
fn secrets_do_not_appear_in_logs() {
    let sandbox = Sandbox::new();
    let data = sandbox.data_directory();
    let group = "Plant=PubSub-Aes128-CTR";
    let arguments = ["-vv", "--allow-tcp-registration", "--security-group", group];
    let audit = data.join("audit.jsonl");
    let arguments = [&arguments[..], &["--audit", text(&audit)]].concat();
    let registry = Registry::start(&sandbox, &arguments);
    let (users, certificates) = (data.join("users"), data.join("pki"));
    let password = data.join("password");
    std::fs::write(&password, format!("{PASSWORD}\n")).unwrap();
    let mut said = String::new();
    let mut hear = |finished: Finished| {
        said.push_str(&finished.stdout);
        said.push_str(&finished.stderr);
    };

    let add = ["-vv", "user", "add", "anna", "--role", "operator"];
    let files = ["--password-file", text(&password), "--users", text(&users)];
    hear(sandbox.run(&[&add[..], &files].concat()));
    for (written, security) in [
        (PASSWORD, "encrypt"),
        (PASSWORD, "none"),
        (WRONG_PASSWORD, "sign"),
    ] {
        std::fs::write(&password, format!("{written}\n")).unwrap();
        let read = [
            "read",
            &registry.endpoint,
            "i=2258",
            "-vv",
            "--user",
            "anna",
            "--password-file",
            text(&password),
            "--certificates",
            text(&certificates),
            "--security",
            security,
            "--timeout",
            "60s",
        ];
        let finished = sandbox.run(&read);
        assert_eq!(
            finished.status.success(),
            written == PASSWORD,
            "{}",
            finished.stderr
        );
        hear(finished);
    }

    // It gets a secret, and registers with it after a restart.
    let name = sandbox.application("Remote");
    let distant = sandbox.elsewhere();
    for _ in 0..2 {
        let tank = tank(&distant, &name, &registry.endpoint).unwrap();
        eventually("registered", PATIENCE, || tank.is_registered());
    }
    let mut secrets = vec![
        PASSWORD.as_bytes().to_vec(),
        WRONG_PASSWORD.as_bytes().to_vec(),
    ];
    let before = secrets.len();
    secrets_of_providers(&distant.data_directory(), &mut secrets);
    assert_eq!(secrets.len(), before + 1, "the Provider has a secret");

    let mut asking = client(&sandbox, &registry.shared_memory());
    let update = asking.get_security_keys("Plant", 4).unwrap();
    for key in &update.keys {
        // Signing and encrypting key.
        secrets.push(key[..32].to_vec());
        secrets.push(key[32..48].to_vec());
    }
    drop(asking);
    let mut process = registry.process;
    process.signal(Signal::TERM);
    hear(process.finish(PATIENCE));
    let audited = std::fs::read_to_string(&audit).unwrap();
    assert!(
        audited.contains("AuditActivateSessionEventType"),
        "{audited}"
    );
    said.push_str(&audited);

    assert!(
        said.contains("Session activated"),
        "the log has details: {said}"
    );
    for secret in &secrets {
        for form in forms(secret) {
            assert!(!said.contains(&form), "{form} is in an output:\n{said}");
        }
    }
}

/// Adds the secrets in the files `NAME.secret`.
fn secrets_of_providers(folder: &Path, found: &mut Vec<Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            secrets_of_providers(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "secret")
        {
            found.push(std::fs::read_to_string(&path).unwrap().trim().into());
        }
    }
}

/// Returns the forms in which bytes could be printed.
fn forms(secret: &[u8]) -> Vec<String> {
    let mut hex = String::new();
    for byte in secret {
        write!(hex, "{byte:02x}").unwrap();
    }
    let list = format!("{secret:?}");
    let mut forms = vec![hex.to_uppercase(), hex, base64(secret), list];
    forms.extend(std::str::from_utf8(secret).map(str::to_owned));
    forms
}

/// Encodes the whole groups of three bytes, which are the same whatever follows.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = bytes.chunks_exact(3).flat_map(|group| {
        let bits = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        [18, 12, 6, 0].map(|shift| char::from(DIGITS[(bits >> shift & 63) as usize]))
    });
    groups.collect()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
