//! Trust that ends while a channel is open.

use takt_tests::process::Finished;
use takt_tests::{Process, Registry, Sandbox};

use crate::PATIENCE;

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
    certificate: String,
}

impl TwoUsers {
    pub(crate) fn new(options: &[&str]) -> Self {
        let sandbox = Sandbox::new();
        let registry = Registry::start(&sandbox, options);
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
        let change = [
            "trust",
            change,
            &self.client,
            "--certificates",
            &self.folder,
        ];
        let _ = self.sandbox.run(&change).expect_success();
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
