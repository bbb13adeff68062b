//! mosquitto: `mqtt://` and `mqtts://` through a real broker, and messages from and to its own clients.

mod actions;
#[path = "../../../../crates/takt-link/tests/it/common/mod.rs"]
mod common;
mod credentials;
#[path = "../../../../crates/takt-pubsub/tests/it/drill.rs"]
mod drill;
mod losses;
mod pubsub;

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use self::common::{PATIENCE, Pair, conforms, message, receive, wait_until_up};
use rustix::process::Signal;
use takt_link::{
    BrokerRefusal, ConnectionRefusal, Content, DownReason, LinkError, LinkOptions, LinkState,
    MqttMessageType, MqttOptions, MqttVersion, Receiver, Sender, TlsFailure, TopicTree,
    open_receiver, open_sender,
};
use takt_tests::authority::openssl;
use takt_tests::{Process, process};
use tempfile::TempDir;

const VERSIONS: [MqttVersion; 2] = [MqttVersion::V3, MqttVersion::V5];
const TOPIC: &str = "opcua/uadp/data/7/Fast";

/// A broker on its own port.
struct Broker {
    directory: TempDir,
    port: u16,
    process: Option<Process>,
}

impl Broker {
    /// `settings` are lines of mosquitto.conf(5); `{}` in them is the broker's directory.
    fn prepare(settings: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let port = takt_ports::reserve();
        let path = directory.path().to_str().unwrap();
        let settings = settings.replace("{}", path);
        // As root it would switch to another user, who has no access here.
        let config = format!("listener {port} 127.0.0.1\nuser root\n{settings}\n");
        fs::write(directory.path().join("mosquitto.conf"), config).unwrap();
        Self {
            directory,
            port,
            process: None,
        }
    }

    fn start(settings: &str) -> Self {
        let mut broker = Self::prepare(settings);
        broker.run();
        broker
    }

    fn run(&mut self) {
        let mut command = Command::new("mosquitto");
        command.arg("-c").arg(self.path("mosquitto.conf"));
        // Debian installs it in a folder of root's path.
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{path}:/usr/sbin:/sbin"));
        let mut process = Process::spawn("mosquitto", &mut command);
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(
                !process.has_ended() && begin.elapsed() < PATIENCE,
                "{}",
                process.report()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        self.process = Some(process);
    }

    fn stop(&mut self) {
        let mut process = self.process.take().unwrap();
        process.signal(Signal::TERM);
        process.wait(PATIENCE);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn sender(&self, scheme: &str, options: &LinkOptions) -> Box<dyn Sender> {
        let address = format!("{scheme}://127.0.0.1:{}", self.port);
        open_sender(&address.parse().unwrap(), options).unwrap()
    }

    fn receiver(&self, scheme: &str, options: &LinkOptions) -> Box<dyn Receiver> {
        let address = format!("{scheme}://127.0.0.1:{}", self.port);
        open_receiver(&address.parse().unwrap(), options).unwrap()
    }

    fn pair(&self, scheme: &str, options: &LinkOptions) -> Pair {
        (self.sender(scheme, options), self.receiver(scheme, options))
    }
}

fn with(mqtt: MqttOptions) -> LinkOptions {
    LinkOptions {
        mqtt,
        ..LinkOptions::default()
    }
}

fn options(version: MqttVersion, quality_of_service: u8) -> MqttOptions {
    MqttOptions {
        topic: TOPIC.to_owned(),
        version,
        quality_of_service,
        ..MqttOptions::default()
    }
}

/// Waits for a state that `is_expected`.
fn wait_for(state: impl Fn() -> LinkState, is_expected: impl Fn(LinkState) -> bool) {
    let begin = Instant::now();
    while !is_expected(state()) {
        assert!(begin.elapsed() < 2 * PATIENCE, "{:?}", state());
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn is_down(state: LinkState) -> bool {
    !state.is_up()
}

#[test]
fn every_version_and_quality_of_service_conforms() {
    let broker = Broker::start("allow_anonymous true");
    for version in VERSIONS {
        for quality_of_service in 0..=2 {
            conforms(&|base| {
                let options = LinkOptions {
                    mqtt: options(version, quality_of_service),
                    ..base.clone()
                };
                broker.pair("mqtt", &options)
            });
        }
    }
}

#[test]
fn a_wrong_password_is_refused_and_the_right_one_is_not() {
    let mut broker = Broker::prepare("allow_anonymous false\npassword_file {}/passwords");
    let passwords = broker.path("passwords");
    let mut command = Command::new("mosquitto_passwd");
    command.args(["-b", "-c", passwords.to_str().unwrap(), "takt", "secret"]);
    let _ = process::run("mosquitto_passwd", &mut command, PATIENCE).expect_success();
    broker.run();
    for version in VERSIONS {
        let login = |password: &str| {
            with(MqttOptions {
                credentials: Some(("takt".to_owned(), password.to_owned())),
                ..options(version, 1)
            })
        };
        let mut pair = broker.pair("mqtt", &login("secret"));
        wait_until_up(&mut pair);
        pair.0.send(b"data").unwrap();
        assert_eq!(receive(&mut *pair.1, 1), [b"data"]);
        for wrong in [login("guess"), with(options(version, 1))] {
            assert!(!format!("{wrong:?}").contains("guess"), "{wrong:?}");
            let pair = broker.pair("mqtt", &wrong);
            let refused = |state| {
                let refused = |refusal| state == LinkState::Down(DownReason::Refused(refusal));
                // mosquitto calls a wrong password "not authorized" with MQTT 5.
                refused(ConnectionRefusal::Credentials) || refused(ConnectionRefusal::NotAuthorized)
            };
            wait_for(|| pair.0.state(), refused);
            wait_for(|| pair.1.state(), refused);
        }
    }
}

#[test]
fn messages_that_the_broker_refuses_are_counted() {
    let mut broker = Broker::prepare("allow_anonymous true\nacl_file {}/rights");
    fs::write(broker.path("rights"), "topic read #\n").unwrap();
    broker.run();
    for quality_of_service in [1, 2] {
        let mut sender = broker.sender("mqtt", &with(options(MqttVersion::V5, quality_of_service)));
        wait_for(|| sender.state(), LinkState::is_up);
        sender.send(b"data").unwrap();
        let begin = Instant::now();
        while sender.counters().refused == 0 {
            assert!(begin.elapsed() < PATIENCE, "quality {quality_of_service}");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(sender.state().is_up());
        let counters = sender.close();
        assert_eq!((counters.refused, counters.discarded), (1, 0));
        assert_eq!(counters.refusal, Some(BrokerRefusal::NotAuthorized));
    }
}

/// Creates a certificate authority, and a certificate for each name, in a directory.
fn make_certificates(directory: &Path, names: &[&str]) {
    let openssl = |arguments: &str| openssl(directory, arguments.split(' '));
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    openssl(&format!(
        "req -x509 {key} -keyout authority.key -out authority.pem -subj /CN=authority -days 2"
    ));
    fs::write(
        directory.join("extensions"),
        "subjectAltName=IP:127.0.0.1\n",
    )
    .unwrap();
    for name in names {
        openssl(&format!(
            "req {key} -keyout {name}.key -out {name}.csr -subj /CN={name}"
        ));
        openssl(&format!(
            "x509 -req -in {name}.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 \
             -extfile extensions -out {name}.pem"
        ));
    }
}

#[test]
fn tls_with_certificates_on_both_sides() {
    let mut broker = Broker::prepare(
        "allow_anonymous true\ncafile {}/authority.pem\ncertfile {}/broker.pem\nkeyfile {}/broker.key\n\
         require_certificate true",
    );
    make_certificates(broker.directory.path(), &["broker", "client"]);
    let stranger = tempfile::tempdir().unwrap();
    make_certificates(stranger.path(), &["client"]);
    broker.run();
    let read = |name: &str| fs::read(broker.path(name)).unwrap();
    for version in VERSIONS {
        let right = MqttOptions {
            trusted_certificates: Some(read("authority.pem")),
            client_certificate: Some((read("client.pem"), read("client.key"))),
            ..options(version, 1)
        };
        let mut pair = broker.pair("mqtts", &with(right.clone()));
        wait_until_up(&mut pair);
        let large = message(1, 300_000);
        pair.0.send(&large).unwrap();
        assert_eq!(receive(&mut *pair.1, 1), [large]);
        // A broker that Takt does not trust, and one that does not trust Takt.
        let untrusted = MqttOptions {
            trusted_certificates: Some(fs::read(stranger.path().join("authority.pem")).unwrap()),
            ..right.clone()
        };
        let sender = broker.sender("mqtts", &with(untrusted));
        wait_for(
            || sender.state(),
            |state| state == LinkState::Down(DownReason::Tls(TlsFailure::UnknownAuthority)),
        );
        let anonymous = MqttOptions {
            client_certificate: None,
            ..right.clone()
        };
        let sender = broker.sender("mqtts", &with(anonymous));
        wait_for(
            || sender.state(),
            |state| state == LinkState::Down(DownReason::Tls(TlsFailure::Alert(116))),
        );
    }
    let broken = MqttOptions {
        trusted_certificates: Some(b"nothing".to_vec()),
        ..options(MqttVersion::V5, 0)
    };
    let address = "mqtts://127.0.0.1".parse().unwrap();
    let error = open_sender(&address, &with(broken)).map(drop).unwrap_err();
    assert!(
        error.to_string().contains("trusted_certificates"),
        "{error}"
    );
}

/// The broker says with the connection which packets it accepts; longer ones would end the connection again and again.
#[test]
fn a_message_is_not_longer_than_the_broker_accepts() {
    let broker = Broker::start("allow_anonymous true\nmax_packet_size 1000");
    let mut pair = broker.pair("mqtt", &with(options(MqttVersion::V5, 1)));
    wait_until_up(&mut pair);
    let longest = pair.0.max_message_size();
    assert!((800..1000).contains(&longest), "{longest}");
    let refused = pair.0.send(&message(1, longest + 1)).unwrap_err();
    assert!(
        matches!(refused, LinkError::TooLarge { maximum, .. } if maximum == longest),
        "{refused}"
    );
    pair.0.send(&message(2, longest)).unwrap();
    assert_eq!(receive(&mut *pair.1, 1), [message(2, longest)]);
    assert!(pair.0.state().is_up());
}

#[test]
fn one_connection_sends_to_several_topics() {
    let broker = Broker::start("allow_anonymous true");
    for version in VERSIONS {
        let filter = MqttOptions {
            topic: "hmi/#".to_owned(),
            ..options(version, 1)
        };
        let sender = broker.sender("mqtt", &with(options(version, 1)));
        let mut pair = (sender, broker.receiver("mqtt", &with(filter)));
        wait_until_up(&mut pair);
        let (mut sender, mut receiver) = pair;
        // This one is not for the receiver.
        sender.send(b"usual").unwrap();
        let long = format!("hmi/{}", "a".repeat(500));
        for topic in ["hmi/1", "hmi/2", &long] {
            sender.send_to_topic(topic, topic.as_bytes()).unwrap();
        }
        let expected = ["hmi/1", "hmi/2", &long].map(|topic| topic.as_bytes().to_vec());
        assert_eq!(receive(&mut *receiver, 3), expected);
        for wrong in ["", "hmi/+", "#", "\0"] {
            let outcome = sender.send_to_topic(wrong, b"x");
            assert!(matches!(outcome, Err(LinkError::Option { .. })));
        }
        let longest = vec![7; sender.max_message_size()];
        let outcome = sender.send_to_topic(&long, &longest);
        assert!(matches!(outcome, Err(LinkError::TooLarge { .. })));
        assert_eq!(sender.counters().messages, 4);
    }
}

#[test]
fn a_broken_connection_has_its_cause() {
    let broker = Broker::start("allow_anonymous true");
    let port = broker.port;
    // TLS to a port without it.
    let untrusting = with(options(MqttVersion::V5, 0));
    let sender = broker.sender("mqtts", &untrusting);
    wait_for(
        || sender.state(),
        |state| {
            matches!(
                state,
                LinkState::Down(DownReason::Closed | DownReason::Tls(TlsFailure::NoTls))
            )
        },
    );
    drop(broker);
    let open = |address: &str| open_sender(&address.parse().unwrap(), &untrusting).unwrap();
    for (address, reason) in [
        (format!("mqtt://127.0.0.1:{port}"), DownReason::NotListening),
        (
            "mqtt://no-such-host.invalid".to_owned(),
            DownReason::HostUnknown,
        ),
    ] {
        let sender = open(&address);
        wait_for(|| sender.state(), |state| state == LinkState::Down(reason));
    }
}

#[test]
fn messages_wait_for_a_broker_that_is_away() {
    for version in VERSIONS {
        let mut broker =
            Broker::start("allow_anonymous true\npersistence true\npersistence_location {}/");
        let receiving = MqttOptions {
            client_id: Some("receiver".to_owned()),
            ..options(version, 1)
        };
        let sending = MqttOptions {
            queue: 10,
            ..options(version, 1)
        };
        let mut receiver = broker.receiver("mqtt", &with(receiving));
        let mut sender = broker.sender("mqtt", &with(sending));
        wait_for(|| sender.state(), LinkState::is_up);
        wait_for(|| receiver.state(), LinkState::is_up);
        sender.send(&message(0, 100)).unwrap();
        assert_eq!(receive(&mut *receiver, 1), [message(0, 100)]);
        // For the acknowledgements of both.
        std::thread::sleep(Duration::from_millis(200));
        broker.stop();
        wait_for(|| sender.state(), is_down);
        wait_for(|| receiver.state(), is_down);
        for number in 1..=30 {
            sender.send(&message(number, 100)).unwrap();
        }
        assert_eq!(sender.counters().overflowed, 20);
        broker.run();
        let expected: Vec<Vec<u8>> = (21..=30).map(|number| message(number, 100)).collect();
        let mut received = Vec::new();
        while received.last() != expected.last() {
            received.extend(receive(&mut *receiver, 1));
        }
        // "At least once": a message is repeated if its acknowledgement was late.
        received.retain(|again| *again != message(0, 100));
        assert_eq!(received, expected);
        wait_for(|| sender.state(), LinkState::is_up);
        assert!(sender.counters().discarded <= 1);
    }
}

#[test]
fn sent_messages_are_delivered_when_a_link_is_closed() {
    // mosquitto 2.0.11 does not send messages that wait behind the 20 messages of quality 2 in flight.
    let broker = Broker::start("allow_anonymous true\nmax_inflight_messages 0");
    for version in VERSIONS {
        for quality_of_service in 0..=2 {
            let mut pair = broker.pair("mqtt", &with(options(version, quality_of_service)));
            wait_until_up(&mut pair);
            let (mut sender, mut receiver) = pair;
            let expected: Vec<Vec<u8>> = (0..100).map(|number| message(number, 1000)).collect();
            for message in &expected {
                sender.send(message).unwrap();
            }
            drop(sender);
            assert_eq!(receive(&mut *receiver, 100), expected);
        }
    }
}

#[test]
fn clients_of_mosquitto_and_takt_understand_each_other() {
    let broker = Broker::start("allow_anonymous true");
    let port = broker.port.to_string();
    let tree = TopicTree::new("opcua", Content::Json).unwrap();
    let topic = |group| {
        tree.topic(MqttMessageType::Data, "7", Some(group), None)
            .unwrap()
    };
    let filter = tree.filter(MqttMessageType::Data, Some("7")).unwrap();
    for (version, number, content_type) in [
        (MqttVersion::V3, "311", ""),
        (MqttVersion::V5, "5", "application/json"),
    ] {
        let mqtt = |topic: String| MqttOptions {
            topic,
            content: Content::Json,
            retain: true,
            ..options(version, 1)
        };
        let mut sender = broker.sender("mqtt", &with(mqtt(topic("Fast"))));
        wait_for(|| sender.state(), LinkState::is_up);
        sender.send(b"{\"from\": \"us\"}").unwrap();
        drop(sender);
        let mut command = Command::new("mosquitto_sub");
        command.args(["-p", &port, "-V", number, "-C", "1", "-W", "10", "-q", "1"]);
        command.args(["-t", &topic("Fast"), "-F", "%t|%C|%r|%p"]);
        let printed = process::run("mosquitto_sub", &mut command, 2 * PATIENCE).expect_success();
        let expected = format!("opcua/json/data/7/Fast|{content_type}|1|{{\"from\": \"us\"}}");
        assert_eq!(printed.trim(), expected);
        let mut receiver = broker.receiver("mqtt", &with(mqtt(filter.clone())));
        wait_for(|| receiver.state(), LinkState::is_up);
        // Messages retained by the broker.
        receive(&mut *receiver, 1);
        let mut command = Command::new("mosquitto_pub");
        command.args([
            "-p",
            &port,
            "-V",
            number,
            "-t",
            &topic("Slow"),
            "-m",
            "{\"from\": \"it\"}",
        ]);
        let _ = process::run("mosquitto_pub", &mut command, PATIENCE).expect_success();
        let mut seen = Vec::new();
        let count = receiver.receive(PATIENCE, &mut |received| {
            seen.push((received.topic.map(str::to_owned), received.bytes.to_vec()));
        });
        assert_eq!(count.unwrap(), 1);
        let expected = (Some(topic("Slow")), b"{\"from\": \"it\"}".to_vec());
        assert_eq!(seen, [expected]);
    }
}
