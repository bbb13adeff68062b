//! Users with JSON Web Tokens of an authorization service, at a registry and through it at a Provider.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use takt_crypto::{SymmetricKeys, SymmetricSignature};
use takt_tests::authorization::{AuthorizationService, encode, signed};
use takt_tests::{Finished, Process, Provider, Registry, Sandbox};

use crate::registry::PATIENCE;

/// Seconds by which clocks may differ.
const LEEWAY: i64 = 60;

/// Writes the file of a token, and returns its path.
fn write(service: &AuthorizationService, name: &str, token: &str) -> String {
    let path = service.folder().join(name);
    std::fs::write(&path, format!("{token}\n")).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Writes the file of a token with these claims, and returns its path.
fn issue(service: &AuthorizationService, name: &str, claims: &Value) -> String {
    write(service, name, &service.issue(claims))
}

struct Plant {
    sandbox: Sandbox,
    registry: Registry,
    service: AuthorizationService,
    certificates: String,
}

impl Plant {
    fn new(more: &[&str]) -> Self {
        let sandbox = Sandbox::new();
        let data = sandbox.data_directory();
        let service = AuthorizationService::new(data.clone());
        let jwt = service.registry_arguments();
        let jwt: Vec<&str> = jwt.iter().map(String::as_str).collect();
        let registry = Registry::start(&sandbox, &[&jwt[..], more].concat());
        let certificates = data.join("pki").to_str().unwrap().to_owned();
        Self {
            sandbox,
            registry,
            service,
            certificates,
        }
    }

    /// Runs a command at the registry with a token.
    fn run(&self, command: &str, rest: &[&str], token: &str, security: &str) -> Finished {
        let common = [
            "--token",
            token,
            "--security",
            security,
            "--certificates",
            &self.certificates,
        ];
        let named = [command, &self.registry.endpoint];
        self.sandbox.run(&[&named[..], rest, &common].concat())
    }

    fn read(&self, token: &str) -> Finished {
        self.run("read", &["i=2258"], token, "encrypt")
    }
}

#[test]
fn roles_in_tokens_decide_what_users_may_do() {
    let plant = Plant::new(&["--jwt-role", "fitter=operator"]);
    let provider = Provider::start(&plant.sandbox, &plant.registry, "machine");
    let node = format!("{}/Spindle/Override", provider.name);
    let token = |roles: &[&str]| {
        let name = format!("roles-{}", roles.join("-"));
        issue(&plant.service, &name, &AuthorizationService::claims(roles))
    };
    let observer = token(&["observer", "unknown"]);
    let begin = Instant::now();
    // The Provider is registered a moment later.
    while !plant
        .run("read", &[&node], &observer, "encrypt")
        .status
        .success()
    {
        assert!(begin.elapsed() < PATIENCE);
    }
    let write = |token: &str| plant.run("write", &[&node, "80"], token, "encrypt");
    let refused = write(&observer).expect_failure();
    assert!(refused.contains("BadUserAccessDenied"), "{refused}");
    for roles in [&["operator"][..], &["observer", "fitter"]] {
        assert!(write(&token(roles)).expect_success().contains("80"));
    }
    for roles in [&[][..], &["administrator"]] {
        let refused = plant.read(&token(roles)).expect_failure();
        assert!(refused.contains("BadUserAccessDenied"), "{refused}");
    }
}

#[test]
fn tokens_that_are_not_valid_here_and_now_are_refused() {
    let plant = Plant::new(&[]);
    let good = AuthorizationService::claims(&["operator"]);
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        claims
    };
    let service = &plant.service;
    let _ = plant.read(&issue(service, "good", &good)).expect_success();
    let now = takt_crypto::now();
    let mut tokens = vec![
        issue(
            service,
            "issuer",
            &with("iss", json!("https://login.other.example")),
        ),
        issue(service, "audience", &with("aud", json!("urn:other"))),
        issue(service, "expired", &with("exp", json!(now - LEEWAY - 1))),
        issue(service, "endless", &with("exp", Value::Null)),
        issue(service, "early", &with("nbf", json!(now + 300))),
        issue(
            &AuthorizationService::new(service.folder().clone()),
            "stranger",
            &good,
        ),
        write(service, "nonsense", "nonsense"),
        write(service, "none", &format!("{}.", signed("none", &good))),
    ];
    // The public key as a secret: HMAC-SHA256, as channels use it.
    let secret = service.public_key();
    let hmac = SymmetricKeys::signing_only(SymmetricSignature::HmacSha256, &secret);
    let symmetric = signed("HS256", &good);
    let mut signature = [0; 32];
    let hmac = hmac.unwrap();
    hmac.sign(symmetric.as_bytes(), &mut signature).unwrap();
    let forged = encode(&signature);
    tokens.push(write(
        service,
        "symmetric",
        &format!("{symmetric}.{forged}"),
    ));
    for token in &tokens {
        let refused = plant.read(token).expect_failure();
        assert!(
            refused.contains("BadIdentityTokenRejected"),
            "{token}: {refused}"
        );
    }
    // The client is not told more, and the log has no token.
    let mut process = plant.registry.process;
    process.signal(rustix::process::Signal::TERM);
    let log = process.finish(PATIENCE).stderr;
    for token in &tokens {
        let text = std::fs::read_to_string(token).unwrap();
        assert!(!log.contains(text.trim()), "{log}");
    }
}

#[test]
fn tokens_are_sent_encrypted_only() {
    let plant = Plant::new(&[]);
    let token = issue(
        &plant.service,
        "good",
        &AuthorizationService::claims(&["operator"]),
    );
    for security in ["none", "auto", "sign"] {
        let refused = plant
            .run("read", &["i=2258"], &token, security)
            .expect_failure();
        assert!(
            refused.contains("--security encrypt"),
            "{security}: {refused}"
        );
    }
    // Shared memory is private.
    let endpoint = plant.registry.shared_memory();
    let read = ["read", &endpoint, "i=2258", "--token", &token];
    let _ = plant.sandbox.run(&read).expect_success();
}

/// The audit log names the user that a refused token claims, and has nothing else of the token.
#[test]
fn refused_tokens_are_audited_without_their_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let plant = Plant::new(&["--audit", path.to_str().unwrap()]);
    let claims = AuthorizationService::claims(&["nothing"]);
    let token = issue(&plant.service, "refused", &claims);
    let _ = plant.read(&token).expect_failure();
    let record = crate::registry::audit::find(
        &path,
        &[
            ("EventType", "AuditActivateSessionEventType".into()),
            ("Status", false.into()),
        ],
    );
    assert_eq!(record["ClientUserId"], claims["sub"]);
    let log = std::fs::read_to_string(&path).unwrap();
    let text = std::fs::read_to_string(&token).unwrap();
    for part in text.trim().split('.') {
        assert!(!log.contains(part), "{part}");
    }
}

#[test]
fn a_session_ends_with_its_token() {
    let plant = Plant::new(&[]);
    let mut claims = AuthorizationService::claims(&["observer"]);
    claims["exp"] = json!(takt_crypto::now() - LEEWAY + 6);
    let token = issue(&plant.service, "short", &claims);
    let begin = Instant::now();
    let watch = [
        "watch",
        &plant.registry.endpoint,
        "i=2258",
        "--for",
        "10min",
        "--timeout",
        "5s",
        "--token",
        &token,
        "--security",
        "encrypt",
        "--certificates",
        &plant.certificates,
    ];
    let mut watch = Process::spawn("takt watch", &mut plant.sandbox.takt(&watch));
    let _ = watch.next_line(PATIENCE);
    let ended = watch.finish(PATIENCE);
    assert!(!ended.status.success(), "{}", ended.stdout);
    assert!(
        begin.elapsed() < Duration::from_secs(40),
        "{:?}",
        begin.elapsed()
    );
    let refused = plant.read(&token).expect_failure();
    assert!(refused.contains("BadIdentityTokenRejected"), "{refused}");
}

#[test]
fn a_registry_does_not_start_without_the_keys_of_the_service() {
    let sandbox = Sandbox::new();
    let data = sandbox.data_directory();
    let issuer = "https://login.plant.example";
    let keys = data.join("keys.json");
    let start = |keys: &Path| {
        let mut command = sandbox.takt(&["registry", "--endpoint", "opc.tcp://127.0.0.1:0"]);
        command.args(["--name", &sandbox.application("Registry"), "--data"]);
        command
            .arg(&data)
            .args(["--jwt-issuer", issuer, "--jwt-keys"])
            .arg(keys);
        takt_tests::process::run("takt registry", &mut command, PATIENCE).expect_failure()
    };
    let missing = start(&keys);
    assert!(missing.contains("keys.json"), "{missing}");
    std::fs::write(&keys, r#"{"keys": []}"#).unwrap();
    let empty = start(&keys);
    assert!(empty.contains("no key for RS256 or ES256"), "{empty}");
    let incomplete = sandbox.run(&["registry", "--jwt-issuer", issuer]);
    let incomplete = incomplete.expect_failure();
    assert!(incomplete.contains("--jwt-keys"), "{incomplete}");
}
