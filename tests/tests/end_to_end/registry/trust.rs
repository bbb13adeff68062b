//! Trust that ends while a channel is open.

use std::process::Command;

use takt_tests::process::Finished;
use takt_tests::{Process, Registry, Sandbox};

use crate::registry::PATIENCE;
use crate::registry::operations::{DESK, Plant};

/// A registry, and the client of another Unix user with certificates of its own; both trust each other.
pub(crate) struct TwoUsers {
    pub(crate) sandbox: Sandbox,
    pub(crate) registry: Registry,
    pub(crate) elsewhere: Sandbox,
    /// Folder of the certificates of the registry.
    pub(crate) folder: String,
    /// Thumbprint of the certificate of the client.
    pub(crate) client: String,
    /// File with the certificate of the registry.
    pub(crate) certificate: String,
}

impl TwoUsers {
    pub(crate) fn new(options: &[&str]) -> Self {
        Self::start(options, |_| {})
    }

    /// Starts the registry after a change of its environment.
    pub(crate) fn start(options: &[&str], change: impl FnOnce(&mut Command)) -> Self {
        let sandbox = Sandbox::new();
        let options = [&["--endpoint", "opc.tcp://127.0.0.1:0"], options].concat();
        let registry = Registry::start_in(&sandbox, &options, change);
        let folder = sandbox.data_directory().join("pki");
        let certificate = folder.join(format!("own/certs/{}.der", registry.name));
        let mut users = Self {
            elsewhere: sandbox.elsewhere(),
            folder: folder.to_str().unwrap().to_owned(),
            client: String::new(),
            certificate: certificate.to_str().unwrap().to_owned(),
            sandbox,
            registry,
        };
        users.client_changes(&["add", &users.certificate]);
        let _ = users.read().expect_failure();
        let list = ["trust", "list", "--certificates", &users.folder];
        let listed = users.sandbox.rows(&list);
        let rejected = listed.iter().find(|row| row["folder"] == "rejected");
        users.client = rejected.unwrap()["thumbprint"].as_str().unwrap().to_owned();
        users.server_changes("add");
        users
    }

    /// Changes the trust of the server in the client.
    fn server_changes(&self, change: &str) {
        self.server_runs(&[change, &self.client]);
    }

    /// Runs `takt trust` with the folder of the server.
    pub(crate) fn server_runs(&self, change: &[&str]) {
        let folder = ["--certificates", &self.folder];
        let command = [&["trust"], change, &folder].concat();
        let _ = self.sandbox.run(&command).expect_success();
    }

    /// Changes the trust of the client.
    pub(crate) fn client_changes(&self, change: &[&str]) {
        let change = [&["trust"], change].concat();
        let _ = self.elsewhere.run(&change).expect_success();
    }

    pub(crate) fn read(&self) -> Finished {
        let endpoint = &self.registry.endpoint;
        let read = ["read", endpoint, "i=2258", "--security", "encrypt"];
        self.elsewhere.run(&read)
    }

    /// Starts a client whose token has a lifetime of an hour, and waits until it shows values.
    pub(crate) fn watch(&self) -> Process {
        let watch = [
            "watch",
            &self.registry.endpoint,
            "i=2258",
            "--security",
            "encrypt",
            "--for",
            "10min",
            "--timeout",
            "5s",
        ];
        let mut watch = Process::spawn("takt watch", &mut self.elsewhere.takt(&watch));
        for _ in 0..2 {
            let _ = watch.next_line(PATIENCE);
        }
        watch
    }
}

#[test]
fn a_client_that_is_rejected_loses_its_open_channel() {
    let users = TwoUsers::new(&[]);
    let watch = users.watch();
    users.server_changes("reject");
    let ended = watch.finish(PATIENCE);
    assert!(!ended.status.success(), "{}", ended.stdout);
    let refused = users.read().expect_failure();
    assert!(refused.contains("BadSecurityChecksFailed"), "{refused}");
}

/// The client ends its channel by itself: the server trusts it all the time.
#[test]
fn a_server_that_is_rejected_loses_its_client() {
    let users = TwoUsers::new(&[]);
    let watch = users.watch();
    let list = users.elsewhere.rows(&["trust", "list"]);
    let trusted = list.iter().find(|row| row["folder"] == "trusted");
    let thumbprint = trusted.unwrap()["thumbprint"].as_str().unwrap();
    users.client_changes(&["reject", thumbprint]);
    let ended = watch.finish(PATIENCE);
    assert!(!ended.status.success(), "{}", ended.stdout);
    for said in [ended.stderr, users.read().expect_failure()] {
        assert!(said.contains(&format!("add {thumbprint}")), "{said}");
    }
}

/// Waits for Good values, after it was told that the connection is lost: the client has connected again.
fn wait_for_values_again(watch: &mut Process) {
    watch.wait_for("the end of the connection", PATIENCE, |line| {
        line.contains("BadNoCommunication")
    });
    watch.wait_for("values", PATIENCE, |line| !line.contains("Bad"));
}

/// The old certificate of the client is not trusted any more once the new one is in use.
#[test]
fn a_watch_goes_on_with_the_new_certificate_of_its_application() {
    let users = TwoUsers::new(&[]);
    let mut watch = users.watch();
    users.client_changes(&["renew", "takt"]);
    let list = users.elsewhere.rows(&["trust", "list"]);
    let own = list.iter().find(|row| row["folder"] == "own").unwrap();
    let new = own["thumbprint"].as_str().unwrap();
    assert_ne!(new, users.client);
    let file = own["file"].as_str().unwrap();
    users.server_runs(&["add", file]);
    users.server_changes("reject");
    wait_for_values_again(&mut watch);
    assert!(!watch.has_ended(), "{}", watch.report());
}

/// The open channel stays, and the next one has the new certificate.
#[test]
fn a_watch_goes_on_with_the_new_certificate_of_its_server() {
    let mut users = TwoUsers::new(&[]);
    let mut watch = users.watch();
    let before = std::fs::read(&users.certificate).unwrap();
    let name = users.registry.name.clone();
    users.server_runs(&["renew", &name]);
    assert_ne!(std::fs::read(&users.certificate).unwrap(), before);
    while watch.try_line().is_some() {}
    for _ in 0..4 {
        let line = watch.next_line(PATIENCE);
        assert!(!line.contains("Bad"), "{line}");
    }
    users.client_changes(&["add", &users.certificate]);
    let endpoint = users.registry.endpoint.clone();
    users.registry.process.kill();
    users.registry = Registry::start_at(&users.sandbox, &endpoint, &[]);
    wait_for_values_again(&mut watch);
    assert!(!watch.has_ended(), "{}", watch.report());
}

/// First the certificate of the server is replaced, then that of the client. Each new channel has the new one. The old ones are
/// still trusted: otherwise both sides would close the open channels.
#[test]
fn operations_go_on_when_certificates_are_replaced() {
    let plant = Plant::start(|_| {});
    let pki = plant.seat.data.join("pki");
    let mut desks = plant.all_work();
    for name in [plant.registry.name.as_str(), DESK] {
        let file = pki.join(format!("own/certs/{name}.der"));
        let before = std::fs::read(&file).unwrap();
        let renew = ["trust", "renew", name, "--self-signed", "--certificates"];
        let renew = [&renew[..], &[pki.to_str().unwrap()]].concat();
        let _ = plant.sandbox.run(&renew).expect_success();
        assert_ne!(std::fs::read(&file).unwrap(), before, "{name}");
        for desk in &mut desks {
            let operation = desk.operation();
            assert_eq!(desk.work(), Ok(()), "{operation:?} {name}");
            assert_eq!(desk.client().epoch(), 1, "{operation:?} {name}");
        }
        drop(plant.all_work());
    }
}

/// The registry offers no endpoint with this curve.
#[test]
fn a_client_tells_the_reasons_against_the_endpoints_of_a_server() {
    let users = TwoUsers::new(&[]);
    let endpoint = &users.registry.endpoint;
    let read = |security: &str, more: &[&str]| {
        let read = ["read", endpoint, "i=2258", "--security", security];
        users.elsewhere.run(&[&read, more].concat())
    };
    let refused = read("ECC_nistP384", &[]).expect_failure();
    let words = refused.split_whitespace().filter(|word| *word != "│");
    let refused = words.collect::<Vec<_>>().join(" ");
    for reason in [
        "None: it has no security",
        "Basic256Sha256 sign",
        "ECC_nistP256 sign: another security is wanted",
    ] {
        assert!(refused.contains(reason), "{refused}");
    }
    let told = read("encrypt", &["-v"]).stderr;
    for reason in [
        "Aes256_Sha256_RsaPss encrypt is used",
        "Basic256Sha256 encrypt is not used: it is less secure",
    ] {
        assert!(told.contains(reason), "{told}");
    }
}
