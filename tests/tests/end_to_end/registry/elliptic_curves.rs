//! SecurityPolicies with elliptic curves, from the command line to a Provider behind the registry.

use std::time::{Duration, Instant};

use takt_app::{
    Client, ClientOptions, ClientSecurity, Identity, MonitoredItemOptions, Subscription,
    SubscriptionOptions,
};
use takt_tests::authority::openssl;
use takt_tests::authorization::AuthorizationService;
use takt_tests::process::Finished;
use takt_tests::{Provider, Registry, Sandbox};
use takt_ua::Variant;

use crate::registry::{PATIENCE, eventually};

const POLICIES: [&str; 3] = ["ECC_nistP256", "ECC_nistP384", "ECC_curve25519"];

/// Shortest lifetime of a token that a server grants.
const LIFETIME: Duration = Duration::from_secs(1);

/// A registry with all curves, a Machine behind it, and clients of the same Unix user, which trust it.
struct Plant {
    sandbox: Sandbox,
    registry: Registry,
    machine: Provider,
    pki: String,
}

impl Plant {
    fn start(arguments: &[&str]) -> Self {
        let sandbox = Sandbox::new();
        let registry = Registry::start(&sandbox, arguments);
        let machine = Provider::start(&sandbox, &registry, "machine");
        let pki = sandbox.data_directory().join("pki");
        Self {
            pki: pki.to_str().unwrap().to_owned(),
            sandbox,
            registry,
            machine,
        }
    }

    fn node(&self, path: &str) -> String {
        format!("{}/{path}", self.machine.name)
    }

    fn run(&self, command: &str, arguments: &[&str], security: &[&str]) -> Finished {
        let begin = [command, &self.registry.endpoint];
        let end = ["--certificates", &self.pki, "--security"];
        self.sandbox
            .run(&[&begin, arguments, &end, security].concat())
    }

    /// Adds the user anna, with the password hammer.
    fn add_user(&self) -> String {
        let data = self.sandbox.data_directory();
        let password = data.join("password");
        std::fs::write(&password, "hammer\n").unwrap();
        let (password, users) = (text(&password), text(&data.join("users")));
        let add = ["user", "add", "anna", "--password-file", &password];
        let _ = self
            .sandbox
            .run(&[&add[..], &["--users", &users]].concat())
            .expect_success();
        password
    }
}

fn text(path: &std::path::Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn every_service_and_user_works_with_each_policy() {
    let plant = Plant::start(&["--curves", "all"]);
    let password = plant.add_user();
    let (setpoint, start, stop) = (
        plant.node("Spindle/SpeedSetpoint"),
        plant.node("Start"),
        plant.node("Stop"),
    );
    eventually("the Machine is registered", PATIENCE, || {
        let read = plant.run("read", &[&setpoint], &["ECC_nistP256"]);
        read.status.success()
    });
    for policy in POLICIES {
        for mode in ["sign", "encrypt"] {
            let choice = format!("{policy},{mode}");
            for user in [
                &[][..],
                &["--user", "anna", "--password-file", &password][..],
            ] {
                let security = [&[choice.as_str()], user].concat();
                let run = |command, arguments: &[&str]| {
                    plant.run(command, arguments, &security).expect_success()
                };
                run("write", &[&setpoint, "1234.5"]);
                assert!(run("read", &[&setpoint]).contains("1234.5"), "{choice}");
                run("call", &[&start]);
                run("call", &[&stop]);
            }
            subscribes_while_tokens_expire(&plant, &choice);
            let wrong = plant.sandbox.data_directory().join("wrong");
            std::fs::write(&wrong, format!("nail {choice}\n")).unwrap();
            let wrong = text(&wrong);
            let user = [choice.as_str(), "--user", policy, "--password-file", &wrong];
            let refused = plant.run("read", &[&setpoint], &user).expect_failure();
            assert!(refused.contains("BadUserAccessDenied"), "{refused}");
        }
    }
}

/// Gets changes and writes for longer than a token is valid.
fn subscribes_while_tokens_expire(plant: &Plant, choice: &str) {
    let options = ClientOptions {
        timeout: PATIENCE,
        identity: Identity::UserName {
            name: "anna".to_owned(),
            password: "hammer".to_owned(),
        },
        security: ClientSecurity {
            choice: choice.parse().unwrap(),
            certificates: Some(plant.pki.clone().into()),
            token_lifetime: Some(LIFETIME),
            ..ClientSecurity::default()
        },
        ..ClientOptions::named("Curves")
    };
    let endpoint = plant.registry.endpoint.parse().unwrap();
    let node = "i=2258".parse().unwrap();
    let interval = Duration::from_millis(50);
    let wanted = SubscriptionOptions {
        publishing_interval: interval,
        ..SubscriptionOptions::default()
    };
    let mut client = Client::connect(&endpoint, options.clone()).unwrap();
    let connection = Client::connect(&endpoint, options).unwrap();
    let mut subscription = Subscription::create(connection, wanted).unwrap();
    let item = MonitoredItemOptions {
        sampling_interval: interval,
        ..MonitoredItemOptions::default()
    };
    subscription.monitor(&node, item).unwrap();
    let (started, mut changes) = (Instant::now(), 0);
    // A token is accepted for a quarter of its lifetime after its end.
    while started.elapsed() < LIFETIME * 3 || changes < 10 {
        assert!(started.elapsed() < PATIENCE, "{changes} changes");
        let read = client.read_good(&node).unwrap();
        assert!(matches!(read, Variant::DateTime(_)), "{choice}");
        changes += u32::from(subscription.next(interval).unwrap().is_some());
    }
}

#[test]
fn users_have_certificates_with_keys_on_curves_and_tokens() {
    let sandbox = Sandbox::new();
    let data = sandbox.data_directory();
    let service = AuthorizationService::new(data.clone());
    let arguments = service.registry_arguments();
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.extend(["--curves", "all"]);
    for (policy, key) in [
        (
            "ECC_nistP256",
            &["ec", "-pkeyopt", "ec_paramgen_curve:P-256"][..],
        ),
        (
            "ECC_nistP384",
            &["ec", "-pkeyopt", "ec_paramgen_curve:P-384"],
        ),
        ("ECC_curve25519", &["ed25519"]),
        ("Basic256Sha256", &["rsa:2048"]),
    ] {
        let subject = format!("/CN={policy}");
        let files = [format!("{policy}.key"), format!("{policy}.pem")];
        let new = ["req", "-x509", "-nodes", "-days", "30", "-newkey"];
        let usage = ["-addext", "keyUsage=critical,digitalSignature"];
        let named = ["-subj", &subject, "-keyout", &files[0], "-out", &files[1]];
        openssl(&data, [&new[..], key, &usage, &named].concat());
        let certificate = text(&data.join(format!("{policy}.pem")));
        let users = text(&data.join("users"));
        let add = ["user", "add", policy, "--certificate", &certificate];
        let _ = sandbox
            .run(&[&add[..], &["--users", &users]].concat())
            .expect_success();
    }
    let claims = AuthorizationService::claims(&["operator"]);
    let token = data.join("token.jwt");
    std::fs::write(&token, service.issue(&claims)).unwrap();
    let token = text(&token);

    let registry = Registry::start(&sandbox, &arguments);
    let pki = text(&data.join("pki"));
    let read = |policy: &str, user: &str| {
        let read = ["read", &registry.endpoint, "i=2258", "--certificates", &pki];
        let (certificate, key) = (
            text(&data.join(format!("{user}.pem"))),
            text(&data.join(format!("{user}.key"))),
        );
        let user = [
            "--user-certificate",
            &certificate,
            "--user-private-key",
            &key,
        ];
        sandbox.run(&[&read[..], &["--security", policy], &user].concat())
    };
    for policy in POLICIES {
        let _ = read(policy, policy).expect_success();
        // The key of another kind cannot sign with this policy.
        let refused = read(policy, "Basic256Sha256").expect_failure();
        assert!(refused.contains("key of the kind RSA"), "{refused}");
        let refused = read("Basic256Sha256", policy).expect_failure();
        assert!(refused.contains("needs RSA"), "{refused}");
        let read = ["read", &registry.endpoint, "i=2258", "--certificates", &pki];
        let security = ["--security", policy, "--token", &token];
        let _ = sandbox
            .run(&[&read[..], &security].concat())
            .expect_success();
    }
}

#[test]
fn a_server_has_few_certificates_by_default_and_clients_choose_rsa_by_themselves() {
    let plant = Plant::start(&[]);
    let own = || {
        let rows = ["trust", "list", "--certificates", &plant.pki];
        let rows = plant.sandbox.rows(&rows).into_iter();
        let mut keys: Vec<_> = rows
            .filter(|row| row["folder"] == "own")
            .map(|row| format!("{} {}", row["name"], row["key"]).replace('"', ""))
            .collect();
        keys.sort();
        keys
    };
    let name = &plant.registry.name;
    let servers = [format!("{name} RSA 2048"), format!("{name} nistP256")];
    assert_eq!(own(), servers);
    // `encrypt` chooses by itself.
    let _ = plant
        .run("read", &["i=2258"], &["encrypt"])
        .expect_success();
    assert_eq!(own().len(), 3, "{:?}", own());
    let refused = plant.run("read", &["i=2258"], &["ECC_curve25519"]);
    let refused = refused.expect_failure();
    assert!(refused.contains("ECC_nistP256"), "{refused}");

    // One certificate is renewed, or all.
    let renew = |more: &[&str]| {
        let renew = ["trust", "renew", name, "--certificates", &plant.pki];
        plant.sandbox.run(&[&renew, more].concat())
    };
    let said = renew(&["--key", "nistP256"]).expect_success();
    assert!(said.contains("nistP256") && !said.contains("RSA"), "{said}");
    let said = renew(&[]).expect_success();
    assert!(said.contains("nistP256") && said.contains("RSA"), "{said}");
    let refused = renew(&["--key", "curve25519"]).expect_failure();
    assert!(refused.contains("no such certificate"), "{refused}");
    // The renewed ones are in use at once.
    for choice in ["ECC_nistP256", "Basic256Sha256"] {
        let _ = plant.run("read", &["i=2258"], &[choice]).expect_success();
    }
}

#[test]
fn a_server_without_curves_offers_none() {
    let plant = Plant::start(&["--curves", "none"]);
    let refused = plant.run("read", &["i=2258"], &["ECC_nistP256"]);
    let refused = refused.expect_failure();
    assert!(refused.contains("Basic256Sha256"), "{refused}");
    assert!(!refused.contains("ECC_nistP256,"), "{refused}");
}
