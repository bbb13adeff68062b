//! Users with JSON Web Tokens of an authorization service, at a registry and through it at a Provider.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use takt_crypto::{AsymmetricSignature, PrivateKey, SymmetricKeys, SymmetricSignature};
use takt_tests::{Finished, Process, Provider, Registry, Sandbox};

use crate::PATIENCE;

const ISSUER: &str = "https://login.plant.example";
const AUDIENCE: &str = "urn:plant:registry";

/// Seconds by which clocks may differ.
const LEEWAY: i64 = 60;

/// The authorization service.
struct Service {
    key: PrivateKey,
    folder: PathBuf,
}

fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let groups = bytes.chunks(3).flat_map(|group| {
        let byte = |at: usize| group.get(at).copied().unwrap_or_default();
        let bits = u32::from_be_bytes([0, byte(0), byte(1), byte(2)]);
        let digit = move |shift: u32| char::from(DIGITS[(bits >> shift & 63) as usize]);
        [18, 12, 6, 0].map(digit).into_iter().take(group.len() + 1)
    });
    groups.collect()
}

impl Service {
    fn new(folder: PathBuf) -> Self {
        let key = PrivateKey::generate(2048).unwrap();
        Self { key, folder }
    }

    /// Returns the SubjectPublicKeyInfo, which ends with the modulus and the exponent 65537 (RFC 8017, A.1.1).
    fn public_key(&self) -> Vec<u8> {
        self.key.public_spki().unwrap()
    }

    /// Writes the file of keys, and returns its path.
    fn keys(&self) -> PathBuf {
        let spki = self.public_key();
        let modulus = &spki[spki.len() - 5 - 256..spki.len() - 5];
        let key =
            json!({"kty": "RSA", "use": "sig", "kid": "1", "n": encode(modulus), "e": "AQAB"});
        let path = self.folder.join("keys.json");
        std::fs::write(&path, json!({"keys": [key]}).to_string()).unwrap();
        path
    }

    fn claims(roles: &[&str]) -> Value {
        json!({
            "iss": ISSUER, "aud": AUDIENCE, "sub": "anna", "roles": roles,
            "exp": takt_crypto::now() + 300,
        })
    }

    fn write(&self, name: &str, token: &str) -> String {
        let path = self.folder.join(name);
        std::fs::write(&path, format!("{token}\n")).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Writes a token with these claims, and returns its path.
    fn token(&self, name: &str, claims: &Value) -> String {
        let signed = signed("RS256", claims);
        let mut signature = vec![0; self.key.size()];
        let algorithm = AsymmetricSignature::RsaPkcs1Sha256;
        self.key
            .sign(algorithm, signed.as_bytes(), &mut signature)
            .unwrap();
        self.write(name, &format!("{signed}.{}", encode(&signature)))
    }
}

fn signed(algorithm: &str, claims: &Value) -> String {
    let header = json!({"alg": algorithm, "typ": "JWT", "kid": "1"});
    let part = |value: &Value| encode(value.to_string().as_bytes());
    format!("{}.{}", part(&header), part(claims))
}

struct Plant {
    sandbox: Sandbox,
    registry: Registry,
    service: Service,
    certificates: String,
}

impl Plant {
    fn new(more: &[&str]) -> Self {
        let sandbox = Sandbox::new();
        let data = sandbox.data_directory();
        let service = Service::new(data.clone());
        let keys = service.keys();
        let keys = keys.to_str().unwrap();
        let jwt = [
            "--jwt-issuer",
            ISSUER,
            "--jwt-audience",
            AUDIENCE,
            "--jwt-keys",
            keys,
        ];
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
        plant.service.token(
            &format!("roles-{}", roles.join("-")),
            &Service::claims(roles),
        )
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
    let good = Service::claims(&["operator"]);
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        claims
    };
    let service = &plant.service;
    let _ = plant.read(&service.token("good", &good)).expect_success();
    let now = takt_crypto::now();
    let mut tokens = vec![
        service.token("issuer", &with("iss", json!("https://login.other.example"))),
        service.token("audience", &with("aud", json!("urn:other"))),
        service.token("expired", &with("exp", json!(now - LEEWAY - 1))),
        service.token("endless", &with("exp", Value::Null)),
        service.token("early", &with("nbf", json!(now + 300))),
        Service::new(service.folder.clone()).token("stranger", &good),
        service.write("nonsense", "nonsense"),
        service.write("none", &format!("{}.", signed("none", &good))),
    ];
    // The public key as a secret: HMAC-SHA256, as channels use it.
    let secret = service.public_key();
    let hmac = SymmetricKeys::signing_only(SymmetricSignature::HmacSha256, &secret);
    let symmetric = signed("HS256", &good);
    let mut signature = [0; 32];
    let hmac = hmac.unwrap();
    hmac.sign(symmetric.as_bytes(), &mut signature).unwrap();
    let forged = encode(&signature);
    tokens.push(service.write("symmetric", &format!("{symmetric}.{forged}")));
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
    let token = plant.service.token("good", &Service::claims(&["operator"]));
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

#[test]
fn a_session_ends_with_its_token() {
    let plant = Plant::new(&[]);
    let mut claims = Service::claims(&["observer"]);
    claims["exp"] = json!(takt_crypto::now() - LEEWAY + 6);
    let token = plant.service.token("short", &claims);
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
    let keys = data.join("keys.json");
    let start = |keys: &Path| {
        let mut command = sandbox.takt(&["registry", "--endpoint", "opc.tcp://127.0.0.1:0"]);
        command.args(["--name", &sandbox.application("Registry"), "--data"]);
        command
            .arg(&data)
            .args(["--jwt-issuer", ISSUER, "--jwt-keys"])
            .arg(keys);
        takt_tests::process::run("takt registry", &mut command, PATIENCE).expect_failure()
    };
    let missing = start(&keys);
    assert!(missing.contains("keys.json"), "{missing}");
    std::fs::write(&keys, r#"{"keys": []}"#).unwrap();
    let empty = start(&keys);
    assert!(empty.contains("no key for RS256 or ES256"), "{empty}");
    let incomplete = sandbox.run(&["registry", "--jwt-issuer", ISSUER]);
    let incomplete = incomplete.expect_failure();
    assert!(incomplete.contains("--jwt-keys"), "{incomplete}");
}
