//! Credentials of `takt publish` and `takt subscribe`, and the reasons that they report.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use takt_tests::authority::openssl;
use takt_tests::{Process, Sandbox, process};

use super::common::PATIENCE;
use super::{Broker, make_certificates};

/// Keys of the connection and of the WriterGroup in a configuration.
#[derive(Clone, Copy, Default)]
struct Keys<'a> {
    connection: &'a str,
    group: &'a str,
}

/// Writes a configuration of a Publisher, and returns its path.
fn publisher(sandbox: &Sandbox, url: &str, keys: Keys<'_>) -> String {
    let Keys { connection, group } = keys;
    let text = format!(
        r#"
        [[published_data_sets]]
        name = "Press"
        fields = [{{ name = "Force", data_type = "Double" }}, {{ name = "Log", data_type = "Byte[2000]" }}]

        [[connections]]
        name = "Broker"
        publisher_id = 5
        address = "{url}"
        json = true
        {connection}

        [[connections.writer_groups]]
        name = "Fast"
        writer_group_id = 1
        publishing_interval = "50ms"
        {group}

        [[connections.writer_groups.data_set_writers]]
        name = "Press"
        data_set_writer_id = 1
        data_set_name = "Press"
        "#
    );
    let path = sandbox.data_directory().join("publisher.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Writes a file that only its owner reads, and returns its path.
fn secret(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Returns an error output without the frames that wrap it.
fn plain(errors: &str) -> String {
    let words = errors.split_whitespace().filter(|word| *word != "│");
    words.collect::<Vec<_>>().join(" ")
}

/// Runs `takt publish` and `takt subscribe` at a broker, and checks that each says the reason once while it runs, and once at its end.
fn refused(sandbox: &Sandbox, url: &str, arguments: &[&str], reason: &str, advice: &str) {
    let file = publisher(sandbox, url, Keys::default());
    for command in [&["publish", &file, "--simulate"][..], &["subscribe", url]] {
        let run = |more: &[&str]| {
            let run = sandbox.run(&[command, more, arguments].concat());
            plain(&run.expect_failure())
        };
        let errors = run(&["--for", "4s"]);
        assert_eq!(errors.matches(reason).count(), 2, "{reason}: {errors}");
        assert!(errors.contains(advice), "{advice}: {errors}");
        let detailed = run(&["-v", "-v", "--for", "1s"]);
        for unwanted in ["rumqttc", ".cargo", "secret", "guess"] {
            assert!(!detailed.contains(unwanted), "{unwanted}: {detailed}");
        }
    }
}

/// Runs `takt publish` and `takt subscribe`, and checks that a message arrives.
fn accepted(sandbox: &Sandbox, url: &str, keys: Keys<'_>, arguments: &[&str]) {
    let file = publisher(sandbox, url, keys);
    let listen = [&["subscribe", url, "--json", "--count", "1"], arguments].concat();
    let mut listener = Process::spawn("takt subscribe", &mut sandbox.takt(&listen));
    let publish = [&["publish", &file, "--simulate", "--for", "2s"], arguments].concat();
    let finished = sandbox.run(&publish);
    let errors = finished.stderr.clone();
    let _ = finished.expect_success();
    assert!(!errors.contains("WARN"), "{errors}");
    listener.wait_for("a message", PATIENCE, |line| line.contains("Force"));
    let _ = listener.finish(PATIENCE).expect_success();
}

#[test]
fn user_and_password() {
    let mut broker = Broker::prepare("allow_anonymous false\npassword_file {}/passwords");
    let passwords = broker.path("passwords");
    let mut command = Command::new("mosquitto_passwd");
    command.args(["-b", "-c", passwords.to_str().unwrap(), "takt", "secret"]);
    let _ = process::run("mosquitto_passwd", &mut command, PATIENCE).expect_success();
    broker.run();
    let sandbox = Sandbox::new();
    let url = format!("mqtt://127.0.0.1:{}", broker.port);
    let folder = tempfile::tempdir().unwrap();
    let right = secret(folder.path(), "right", "secret\n");
    let wrong = secret(folder.path(), "wrong", "guess\n");
    let user = ["--mqtt-user", "takt", "--mqtt-password-file"];
    accepted(
        &sandbox,
        &url,
        Keys::default(),
        &[&user[..], &[&right]].concat(),
    );
    let reason = "the link is down: the broker refused the connection";
    let advice = "--mqtt-password-file";
    refused(
        &sandbox,
        &url,
        &[&user[..], &[&wrong]].concat(),
        reason,
        advice,
    );
    refused(&sandbox, &url, &[], reason, advice);

    // The configuration names the user by a ResourceUri, for the connection or for a group.
    let uri = "mqtt://takt@plant";
    let broker_keys = format!("broker = {{ resource_uri = \"{uri}\" }}");
    let resource = format!("{uri}=takt:{right}");
    for keys in [
        Keys {
            connection: &broker_keys,
            group: "",
        },
        Keys {
            connection: "",
            group: &broker_keys,
        },
    ] {
        let file = publisher(&sandbox, &url, keys);
        let publish = ["publish", &file, "--simulate", "--for", "1s"];
        let unknown = plain(&sandbox.run(&publish).expect_failure());
        let missing = format!("there are no credentials for '{uri}'");
        assert!(
            unknown.contains(&missing) && unknown.contains("--mqtt-resource"),
            "{unknown}"
        );
        let known = [&publish[..], &["--mqtt-resource", &resource]].concat();
        let _ = sandbox.run(&known).expect_success();
    }
    // Nothing runs with an AuthenticationProfileUri that is not supported.
    let keys = Keys {
        connection: "broker = { authentication_profile_uri = \"urn:own\" }",
        group: "",
    };
    let file = publisher(&sandbox, &url, keys);
    for command in [
        &["pubsub", "config", "check", &file][..],
        &["publish", &file, "--simulate"],
    ] {
        let unsupported = plain(&sandbox.run(command).expect_failure());
        assert!(
            unsupported.contains("'urn:own' is not supported"),
            "{unsupported}"
        );
    }
    // Others may read the password.
    fs::set_permissions(&right, Permissions::from_mode(0o644)).unwrap();
    let file = publisher(&sandbox, &url, Keys::default());
    let publish = [
        &["publish", &file, "--simulate", "--for", "1s"],
        &user[..],
        &[&right],
    ]
    .concat();
    let warned = sandbox.run(&publish);
    assert!(
        warned.stderr.contains("other users may read"),
        "{}",
        warned.stderr
    );
    let _ = warned.expect_success();
}

/// Creates a certificate that has expired.
fn expire(folder: &Path, name: &str) {
    let arguments = format!(
        "x509 -req -in {name}.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days -1 -extfile extensions -out {name}.pem"
    );
    openssl(folder, arguments.split(' '));
}

#[test]
fn certificates_on_both_sides() {
    let mut broker = Broker::prepare(
        "allow_anonymous true\ncafile {}/authority.pem\ncertfile {}/broker.pem\nkeyfile {}/broker.key\n\
         require_certificate true",
    );
    let folder = broker.directory.path().to_owned();
    make_certificates(&folder, &["broker", "client", "old"]);
    expire(&folder, "old");
    let stranger = tempfile::tempdir().unwrap();
    make_certificates(stranger.path(), &["client"]);
    for key in [
        folder.join("client.key"),
        folder.join("old.key"),
        stranger.path().join("client.key"),
    ] {
        fs::set_permissions(key, Permissions::from_mode(0o600)).unwrap();
    }
    broker.run();
    let sandbox = Sandbox::new();
    let url = format!("mqtts://127.0.0.1:{}", broker.port);
    let path = |folder: &Path, name: &str| folder.join(name).to_str().unwrap().to_owned();
    let arguments = |authority: &Path, client: Option<(&Path, &str)>| {
        let mut arguments = vec!["--mqtt-ca".to_owned(), path(authority, "authority.pem")];
        if let Some((folder, name)) = client {
            arguments.extend([
                "--mqtt-certificate".to_owned(),
                path(folder, &format!("{name}.pem")),
            ]);
            arguments.extend([
                "--mqtt-private-key".to_owned(),
                path(folder, &format!("{name}.key")),
            ]);
        }
        arguments
    };
    let with = |arguments: &[String], reason: &str, advice: &str| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match reason {
            "" => accepted(&sandbox, &url, Keys::default(), &arguments),
            reason => refused(&sandbox, &url, &arguments, reason, advice),
        }
    };
    let own = Some((&*folder, "client"));
    with(&arguments(&folder, own), "", "");
    let unknown =
        "no TLS connection to the broker: its certificate is not signed by a trusted authority";
    with(&arguments(stranger.path(), own), unknown, "--mqtt-ca");
    with(&[], unknown, "--mqtt-ca");
    let required = "it requires a client certificate";
    with(&arguments(&folder, None), required, "--mqtt-certificate");
    let expired = "the client certificate has expired";
    with(
        &arguments(&folder, Some((&folder, "old"))),
        expired,
        "Renew the certificate",
    );
    let other = Some((stranger.path(), "client"));
    with(
        &arguments(&folder, other),
        "client certificate",
        "--mqtt-certificate",
    );
}

#[test]
fn the_certificate_of_a_broker_expires() {
    let mut broker = Broker::prepare(
        "allow_anonymous true\ncafile {}/authority.pem\ncertfile {}/broker.pem\nkeyfile {}/broker.key",
    );
    let folder = broker.directory.path().to_owned();
    make_certificates(&folder, &["broker"]);
    expire(&folder, "broker");
    broker.run();
    let sandbox = Sandbox::new();
    let url = format!("mqtts://127.0.0.1:{}", broker.port);
    let authority = folder.join("authority.pem");
    let arguments = ["--mqtt-ca", authority.to_str().unwrap()];
    let reason = "no TLS connection to the broker: its certificate has expired";
    refused(
        &sandbox,
        &url,
        &arguments,
        reason,
        "Renew the certificate of the broker",
    );
}

#[test]
fn a_message_that_the_broker_does_not_accept() {
    let broker = Broker::start("allow_anonymous true\nmax_packet_size 1000");
    let sandbox = Sandbox::new();
    let url = format!("mqtt://127.0.0.1:{}", broker.port);
    let file = publisher(&sandbox, &url, Keys::default());
    let run = sandbox.run(&["publish", &file, "--simulate", "--for", "2s"]);
    let errors = plain(&run.expect_failure());
    let reason = "are allowed, and JSON messages have no chunks";
    assert_eq!(errors.matches(reason).count(), 1, "{errors}");
    assert!(errors.contains("Divide the DataSet"), "{errors}");
}

#[test]
fn an_address_without_a_listener() {
    let broker = Broker::start("allow_anonymous true");
    let url = format!("mqtt://127.0.0.1:{}", broker.port);
    drop(broker);
    let sandbox = Sandbox::new();
    let reason = "nothing listens at this address and port";
    refused(&sandbox, &url, &[], reason, "Is the broker running");
    let reason = "the name of its host is unknown";
    refused(
        &sandbox,
        "mqtt://no-such-host.invalid",
        &[],
        reason,
        "getent hosts",
    );
}
