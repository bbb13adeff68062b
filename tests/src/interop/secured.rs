//! Checks of foreign clients on secured channels of a registry, which does not trust them at first.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::checks::{CHECK, CHECKS, Checker, Place, Servers, run};
use crate::process::{self, Process};
use crate::sandbox::Sandbox;

/// The SecurityPolicies, as OPC 10000-7 names them.
pub const POLICIES: [&str; 3] = [
    "Basic256Sha256",
    "Aes128_Sha256_RsaOaep",
    "Aes256_Sha256_RsaPss",
];

/// Checks that clients do on each channel, besides connecting.
const SECURED_CHECKS: [&str; 4] = ["write_plain", "call", "subscription", "renewal"];

/// Name and password of the user.
const USER: (&str, &str) = ("anna", "hammer and tongs");

/// Time limit of the making of a certificate.
const CERTIFICATE: Duration = Duration::from_secs(60);

/// A foreign application with a certificate of its own.
#[derive(Debug)]
pub struct Foreign {
    application: String,
    folder: PathBuf,
}

impl Foreign {
    /// Makes the certificate of an application in a new folder of the sandbox.
    ///
    /// # Panics
    /// If openssl fails.
    #[must_use]
    pub fn new(sandbox: &Sandbox, name: &str) -> Self {
        let application = format!("urn:takt:peer:{name}");
        let folder = sandbox.data_directory().join(name);
        std::fs::create_dir(&folder).expect("a folder can be made");
        let extensions = [
            format!("subjectAltName=URI:{application},DNS:localhost,IP:127.0.0.1"),
            "basicConstraints=critical,CA:FALSE".to_owned(),
            "keyUsage=critical,digitalSignature,nonRepudiation,keyEncipherment,dataEncipherment"
                .to_owned(),
            "extendedKeyUsage=serverAuth,clientAuth".to_owned(),
        ];
        let mut command = Command::new("openssl");
        command
            .current_dir(&folder)
            .args(["req", "-x509", "-newkey", "rsa:2048", "-sha256", "-nodes"])
            .args(["-days", "30", "-subj", &format!("/CN={name}/O=Takt")])
            .args(["-keyout", "key.pem", "-out", "certificate.pem"]);
        for extension in &extensions {
            command.args(["-addext", extension]);
        }
        let _ = process::run("openssl req", &mut command, CERTIFICATE).expect_success();
        let mut command = Command::new("openssl");
        command.current_dir(&folder).args([
            "x509",
            "-in",
            "certificate.pem",
            "-outform",
            "DER",
            "-out",
            "certificate.der",
        ]);
        let _ = process::run("openssl x509", &mut command, CERTIFICATE).expect_success();
        Self {
            application,
            folder,
        }
    }

    /// Returns the file of the certificate, in DER.
    #[must_use]
    pub fn certificate(&self) -> PathBuf {
        self.folder.join("certificate.der")
    }

    /// Returns the fields of a request to a client that describe security. The user is the one of [`add_user`].
    #[must_use]
    pub fn security(&self, policy: &str, mode: &str, with_user: bool) -> Value {
        let (user, password) = if with_user { USER } else { ("", "") };
        json!({
            "policy": policy, "mode": mode, "application": self.application,
            "certificate": text(&self.folder.join("certificate.pem")),
            "key": text(&self.folder.join("key.pem")),
            "user": user, "password": password,
        })
    }

    /// Lets the applications with this folder of certificates trust this one, as its rejected certificate.
    ///
    /// # Panics
    /// If it is not among the rejected certificates.
    pub fn is_trusted_now(&self, sandbox: &Sandbox, certificates: &Path) {
        let folder = text(certificates);
        let listed = sandbox.rows(&["trust", "list", "--certificates", folder]);
        let rejected = listed.iter().find(|row| {
            row["folder"] == "rejected" && row["application_uri"] == self.application.as_str()
        });
        let thumbprint = rejected.and_then(|row| row["thumbprint"].as_str());
        let thumbprint = thumbprint.unwrap_or_else(|| panic!("it is not rejected: {listed:?}"));
        let _ = sandbox
            .run(&["trust", "add", thumbprint, "--certificates", folder])
            .expect_success();
    }
}

/// Adds the user, as operator, to the users of the registry.
pub fn add_user(sandbox: &Sandbox) {
    add_user_with(sandbox, "operator");
}

/// Adds the user of [`Foreign::security`] with these roles to the users of a registry.
///
/// # Panics
/// If that fails.
pub fn add_user_with(sandbox: &Sandbox, roles: &str) {
    let (name, password) = USER;
    let data = sandbox.data_directory();
    let file = data.join("password");
    std::fs::write(&file, format!("{password}\n")).expect("a file can be written");
    let users = data.join("users");
    let add = [
        "user",
        "add",
        name,
        "--role",
        roles,
        "--password-file",
        text(&file),
        "--users",
        text(&users),
    ];
    let _ = sandbox.run(&add).expect_success();
}

/// Runs checks with one client on secured channels of a registry, with each policy and mode, anonymously and with a
/// user. `provider` is the program `takt-interop-provider`.
///
/// # Panics
/// If the client is not refused at first, or if a check fails afterwards.
pub fn client_passes_secured_checks(client: Checker, provider: &'static str) {
    let mut servers = Servers::start(provider);
    let foreign = Foreign::new(&servers.sandbox, client.name());
    add_user(&servers.sandbox);
    let certificates = servers.sandbox.data_directory().join("pki");
    let trusting = Sandbox::new();
    let mut command = client.command();
    let mut process = Process::spawn(client.name(), servers.sandbox.confine(&mut command));
    let mut check = |name: &str, security: &Value| {
        run(&mut process, &mut servers, Place::Registry, name, security)
    };

    let security = foreign.security(POLICIES[0], "SignAndEncrypt", false);
    let refused = check("write_plain", &security);
    assert_eq!(refused["ok"], false, "it is not trusted yet: {refused}");
    foreign.is_trusted_now(&trusting, &certificates);

    let mut failed = String::new();
    for policy in POLICIES {
        for (mode, with_user) in [
            ("Sign", false),
            ("Sign", true),
            ("SignAndEncrypt", false),
            ("SignAndEncrypt", true),
        ] {
            let security = foreign.security(policy, mode, with_user);
            for wanted in CHECKS {
                if !SECURED_CHECKS.contains(&wanted.name) {
                    continue;
                }
                let started = Instant::now();
                let answer = check(wanted.name, &security);
                let what = format!("{policy}, {mode}, user: {with_user}, {}", wanted.name);
                println!("{what}: {:.1?}", started.elapsed());
                if !wanted.is_passed(&answer) {
                    let _ = writeln!(failed, "{what}: {answer}");
                }
            }
        }
    }
    let mut wrong = foreign.security(POLICIES[0], "SignAndEncrypt", true);
    wrong["password"] = "nail".into();
    let refused = check("write_plain", &wrong);
    assert_eq!(refused["ok"], false, "a wrong password: {refused}");
    assert!(
        failed.is_empty(),
        "{client:?}\n{failed}{}",
        process.report()
    );
    process.close_input();
    let _ = process.finish(CHECK).expect_success();
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}
