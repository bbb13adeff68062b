//! `takt publish SCENARIO` and `takt loopback` without privileges: over UDP, and the mistakes of users.

use rustix::process::Signal;
use serde_json::Value;
use takt_tests::binary::repository;
use takt_tests::{Process, Sandbox};

use crate::command_line::PATIENCE;
use crate::command_line::mistakes::fails;

/// Width of the usual terminal.
pub(crate) const WIDTH: usize = 80;

fn scenario(name: &str) -> String {
    let path = repository().join("scenarios").join(name);
    path.to_str().unwrap().to_owned()
}

/// Two unused ports of this host: addresses to the loopback, and back.
fn addresses() -> [String; 2] {
    [(); 2].map(|()| format!("opc.udp://127.0.0.1:{}", takt_ports::reserve()))
}

/// Returns the arguments of an end with cycles of 2 ms, because a busy machine is slow.
fn arguments<'a>(end: &'a str, scenario: &'a str, [there, back]: &'a [String; 2]) -> Vec<&'a str> {
    let settings = ["discipline=mqprio", "applications.control.cycle=2ms"];
    let [discipline, cycle] = settings;
    vec![
        end, scenario, "--there", there, "--back", back, "--field", discipline, "--field", cycle,
    ]
}

fn start(sandbox: &Sandbox, arguments: &[&str]) -> Process {
    let mut process = Process::spawn("takt", &mut sandbox.takt(arguments));
    process.wait_for("its addresses", PATIENCE, |line| line.contains("receives"));
    process
}

pub(crate) fn fits(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= WIDTH, "{line}");
    }
}

/// Returns the number in a row of the result.
fn row(result: &str, name: &str) -> u64 {
    let row = result.lines().find_map(|line| line.strip_prefix(name));
    let number = row.and_then(|row| row.trim().parse().ok());
    number.unwrap_or_else(|| panic!("no number `{name}`: {result}"))
}

#[test]
fn results_are_tables_of_80_columns() {
    let (sandbox, scenario, addresses) = (Sandbox::new(), scenario("e3.toml"), addresses());
    let mut loopback = start(&sandbox, &arguments("loopback", &scenario, &addresses));
    let publisher = arguments("publish", &scenario, &addresses);
    let published = sandbox.run(&[&publisher[..], &["--cycles", "300"]].concat());
    loopback.signal(Signal::INT);
    let returned = loopback.finish(PATIENCE);
    for text in [
        &published.stdout,
        &published.stderr,
        &returned.stdout,
        &returned.stderr,
    ] {
        fits(text);
    }
    let (published, returned) = (published.expect_success(), returned.expect_success());
    assert_eq!(row(&published, "cycles"), 300);
    assert_eq!(row(&published, "messages sent"), 300);
    assert!(row(&published, "messages received") > 0, "{published}");
    assert!(row(&returned, "messages received") > 0, "{returned}");
    for result in [&published, &returned] {
        assert_eq!(row(result, "counters reordered"), 0);
        assert_eq!(row(result, "messages refused"), 0);
    }
    let trips: Vec<&str> = published
        .lines()
        .last()
        .unwrap()
        .split_whitespace()
        .collect();
    let [.., returned, lost] = trips.as_slice() else {
        panic!("{published}");
    };
    let count = |text: &str| text.parse::<u64>().unwrap();
    assert_eq!(count(returned) + count(lost), 300, "{published}");
    assert!(count(returned) > 0, "{published}");
    assert!(sandbox.left_behind().is_empty());
}

#[test]
fn a_loop_without_its_other_end_says_so() {
    let (sandbox, scenario, addresses) = (Sandbox::new(), scenario("e3.toml"), addresses());
    for end in ["publish", "loopback"] {
        let end = arguments(end, &scenario, &addresses);
        let finished = sandbox.run(&[&end[..], &["--cycles", "5"]].concat());
        assert!(
            finished.stderr.contains("start the other end"),
            "{finished:?}"
        );
        fits(&finished.stderr);
        let result = sandbox.run(&[&end[..], &["--cycles", "5", "--json"]].concat());
        let result: Value = serde_json::from_str(&result.expect_success()).unwrap();
        assert_eq!(
            (&result["cycles"], &result["received"]),
            (&5.into(), &0.into())
        );
        assert_eq!(result["ending"], "Complete");
    }
}

#[test]
fn a_loop_that_misses_its_messages_ends_with_an_error() {
    let (sandbox, scenario, addresses) = (Sandbox::new(), scenario("e3.toml"), addresses());
    let mut loopback = arguments("loopback", &scenario, &addresses);
    loopback.extend(["--on-miss", "stop", "--misses", "50"]);
    let loopback = start(&sandbox, &loopback);
    let publisher = arguments("publish", &scenario, &addresses);
    let published = sandbox.run(&[&publisher[..], &["--cycles", "300"]].concat());
    let _ = published.expect_success();
    // The Publisher has ended.
    let error = loopback.finish(PATIENCE).expect_failure();
    assert!(error.contains("consecutive cycles"), "{error}");
    fits(&error);
}

#[test]
fn mistakes_have_their_fix() {
    let (sandbox, e3, addresses) = (Sandbox::new(), scenario("e3.toml"), addresses());
    let line = scenario("line.toml");
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(&e3).unwrap();
    let one_way = text.replace("loopback = \"host2\"", "subscriber = \"host2\"");
    assert_ne!(one_way, text);
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::copy(scenario("wake-up-e3.csv"), file("wake-up-e3.csv")).unwrap();
    std::fs::write(file("one-way.toml"), one_way).unwrap();
    let one_way = file("one-way.toml");
    let configuration = repository().join("examples/pubsub/publisher.toml");
    let configuration = configuration.to_str().unwrap();
    let unwritable = file("no-such-folder/trace");
    for end in ["publish", "loopback"] {
        let over_udp = arguments(end, &e3, &addresses);
        let udp = |more: &[&'static str]| [&over_udp[..], more].concat();
        let mistakes: &[(Vec<&str>, &[&str])] = &[
            (
                vec![end, &e3, "--application", "x"],
                &["no application x", "control", "--application"],
            ),
            (
                vec![end, &e3],
                &["network interface", "--interface", "opc.udp://"],
            ),
            (vec![end, &one_way], &["Subscriber", "`loopback`"]),
            (vec![end, &e3, "--there", "host2"], &["host2", "opc.udp://"]),
            (vec![end, &e3, "--field", "discipline=csb"], &["csb", "cbs"]),
            (vec![end, "no-such-file.toml"], &["no-such-file.toml"]),
            (
                [&over_udp[..], &["--trace", &unwritable]].concat(),
                &["cannot write", "--trace"],
            ),
            (udp(&["--cycles", "0"]), &["--cycles", "from 1"]),
            (udp(&["--misses", "none"]), &["--misses", "from 1"]),
        ];
        for (arguments, parts) in mistakes {
            fails(&sandbox, arguments, parts);
            fits(&sandbox.run(arguments).stderr);
        }
    }
    // The thread would have to send while it makes the next message.
    let late = arguments("publish", &line, &addresses);
    let late: Vec<&str> = late[..6].to_vec();
    let on_time = [&late[..], &["--cycles", "3"]].concat();
    let _ = sandbox.run(&on_time).expect_success();
    let later = ["--field", "applications.control.offset=200us"];
    let late = [&late[..], &later].concat();
    fails(&sandbox, &late, &["200", "--sending immediate"]);
    let sent = [&late[..], &["--sending", "immediate", "--cycles", "3"]].concat();
    let _ = sandbox.run(&sent).expect_success();
    let parts = ["PubSub configuration, not a scenario", "takt publish"];
    fails(&sandbox, &["loopback", configuration], &parts);
}

#[test]
fn help_fits_80_columns() {
    let sandbox = Sandbox::new();
    let commands: [&[&str]; 8] = [
        &["publish"],
        &["loopback"],
        &["tsn"],
        &["tsn", "plan"],
        &["tsn", "apply"],
        &["tsn", "show"],
        &["tsn", "verify"],
        &["tsn", "clear"],
    ];
    for command in commands {
        for help in ["-h", "--help"] {
            let mut takt = sandbox.takt(&[command, &[help]].concat());
            takt.env("COLUMNS", WIDTH.to_string());
            let printed = takt_tests::process::run("takt", &mut takt, PATIENCE).expect_success();
            assert!(printed.contains("Usage: takt"), "{printed}");
            fits(&printed);
            // A command line of an example is not divided.
            let examples = printed
                .lines()
                .skip_while(|line| !line.starts_with("Example"));
            let examples = examples.skip(1).take_while(|line| !line.is_empty());
            for line in examples {
                assert!(line.starts_with("  takt "), "{line}");
            }
        }
    }
}
