//! Applications with several subscribers, several writers and security: flows, sizes, and mistakes with their positions.

use takt_scenario::{
    ApplicationIndex, ApplicationReceiver, Duration, FlowSource, Fork, Scenario, ScenarioFile,
    SecurityMode,
};

/// A ring of four bridges with a host at each: host1 at bridge1 and so on. Applications follow in line 5.
const RING: &str = r#"version = 1
[topology]
kind = "ring"
bridges = 4
"#;

fn application(fields: &str) -> String {
    format!(
        "{RING}[[applications]]\nname = \"state\"\npublisher = \"host1\"\ncycle = \"1 ms\"\n{fields}\n"
    )
}

fn parse(fields: &str) -> Scenario {
    let text = application(fields);
    Scenario::parse(&text, "test.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns the one mistake in an application whose further fields begin in line 9.
fn mistake(fields: &str) -> String {
    let error = Scenario::parse(&application(fields), "test.toml").unwrap_err();
    let [one] = error.mistakes.as_slice() else {
        panic!("{:#?}", error.mistakes)
    };
    one.to_string()
}

const SIZE: &str = "payload = \"100 B\"\n";

#[test]
fn branches_share_the_beginning_of_their_paths() {
    let scenario = parse(&format!(
        "{SIZE}subscribers = [\"host2\", \"host3\", \"bridge2\", {{ node = \"host4\" }}]"
    ));
    let id = ApplicationIndex(0);
    let flows = scenario.flows();
    let names: Vec<String> = flows
        .iter()
        .map(|flow| scenario.flow_name(flow.source))
        .collect();
    let expected = ["host2", "host3", "bridge2", "host4"].map(|to| format!("state \u{2192} {to}"));
    assert_eq!(names, expected);
    let sources = [
        FlowSource::Publish(id),
        FlowSource::Branch(id, 1),
        FlowSource::Branch(id, 2),
        FlowSource::Branch(id, 3),
    ];
    let fork = |of, shared| Some(Fork { of, shared });
    let forks = [
        None,
        // host1, bridge1, bridge2, bridge3, host3.
        fork(sources[0], 2),
        // A subscriber in the middle of other paths has no port of its own.
        fork(sources[0], 2),
        fork(sources[0], 1),
    ];
    for ((flow, source), forked) in flows.iter().zip(sources).zip(forks) {
        assert_eq!((flow.source, flow.fork), (source, forked));
        assert_eq!(flow.source.application(), Some(id));
        assert_eq!(scenario.flow(source), Some(flow));
    }
    let own = flows.iter().map(|flow| flow.own_ports().len());
    assert_eq!(own.collect::<Vec<_>>(), [3, 2, 0, 2]);
    assert_eq!(flows[1].ports[..2], flows[0].ports[..2]);
}

/// A branch can begin at another branch, and a list of one is the same as `subscriber`.
#[test]
fn branches_of_branches_and_lists_of_one() {
    let path = "path = [\"host1\", \"bridge1\", \"bridge4\", \"bridge3\", \"bridge2\", \"host2\"]";
    let scenario = parse(&format!(
        "{SIZE}subscribers = [\"host4\", {{ node = \"host2\", {path} }}, \
         {{ node = \"host3\", path = [\"host1\", \"bridge1\", \"bridge4\", \"bridge3\", \"host3\"] }}]"
    ));
    let id = ApplicationIndex(0);
    let forks = scenario.flows().iter().map(|flow| flow.fork);
    let expected = [
        None,
        Some(Fork {
            of: FlowSource::Publish(id),
            shared: 2,
        }),
        Some(Fork {
            of: FlowSource::Branch(id, 1),
            shared: 3,
        }),
    ];
    assert_eq!(forks.collect::<Vec<_>>(), expected);
    let [list, one] = ["subscribers = [\"host3\"]", "subscriber = \"host3\""]
        .map(|receiver| parse(&format!("{SIZE}{receiver}")));
    assert_eq!(list, one);
    assert_eq!(list.flow_name(FlowSource::Publish(id)), "state");
}

#[test]
fn mistakes_of_receivers_have_their_place() {
    let of = |receivers: &str| mistake(&format!("{SIZE}{receivers}"));
    assert_eq!(
        of("subscribers = []"),
        "line 10, column 15: an application needs a subscriber (leave out an application whose messages no node \
         receives, or name the nodes: subscribers = [\"host2\"])"
    );
    assert_eq!(
        of("subscribers = [\"host2\", \"host1\"]"),
        "line 10, column 25: source and destination are the same node, `host1`"
    );
    assert_eq!(
        of("subscribers = [\"host2\", \"host3\", { node = \"host2\" }]"),
        "line 10, column 43: `host2` is a subscriber already"
    );
    assert_eq!(
        of("subscribers = [\"host2\", \"hots3\"]"),
        "line 10, column 25: there is no node `hots3` (did you mean `host3`?)"
    );
    assert_eq!(
        of("subscribers = [\"host2\", 3]"),
        "line 10, column 25: expected a text, or a table: a subscriber, not an integer"
    );
    assert_eq!(
        of("subscribers = [\"host2\"]\nloopback = \"host3\""),
        "line 10, column 15: an application has only one of `loopback`, `subscriber`, `subscribers`"
    );
    assert_eq!(
        of(
            "subscribers = [\"host2\", \"host3\"]\npath = [\"host1\", \"bridge1\", \"bridge2\", \"host2\"]"
        ),
        "line 11, column 8: each of the subscribers has its own path (write subscribers = [{ node = \"\u{2026}\", \
         path = [\u{2026}] }])"
    );
    assert_eq!(
        of("subscribers = [\"host2\", \"host3\"]\nreturn_path = []"),
        "line 11, column 15: only an application with a loopback has a way back"
    );
}

/// In a ring there are two ways to each bridge. A bridge that receives a message by both would forward it twice.
#[test]
fn paths_that_meet_again_are_a_mistake() {
    let meeting = "subscribers = [\"host3\",\n{ node = \"host2\", path = [\"host1\", \"bridge1\", \"bridge4\", \
                   \"bridge3\", \"bridge2\", \"host2\"] }]";
    assert_eq!(
        mistake(&format!("{SIZE}{meeting}")),
        "line 11, column 26: the messages come to `bridge3` from `bridge2` and from `bridge4`, so it would forward \
         each twice (the paths of an application must be a tree)"
    );
}

#[test]
fn messages_leave_a_host_by_one_link() {
    let text = r#"version = 1
nodes = [{ name = "a" }, { name = "b" }, { name = "c" }]
links = [{ ends = ["a", "b"] }, { ends = ["a", "c"] }]
[[applications]]
name = "state"
publisher = "a"
cycle = "1 ms"
payload = "100 B"
subscribers = ["b", "c"]
"#;
    let error = Scenario::parse(text, "test.toml").unwrap_err();
    assert_eq!(
        error.to_string(),
        "test.toml: line 9, column 21: the messages leave `a` by the links to `b` and to `c`, but a message is sent \
         once (choose paths with the same first link, or make two applications)"
    );
}

#[test]
fn a_thousand_subscribers_are_read() {
    let names = (2..=1000).map(|host| format!("\"host{host}\""));
    let names = names.collect::<Vec<_>>().join(", ");
    let text = format!(
        "version = 1\ntopology = {{ kind = \"star\", hosts = 1000 }}\n[[applications]]\nname = \"state\"\n\
         publisher = \"host1\"\nsubscribers = [{names}]\ncycle = \"1 ms\"\npayload = \"100 B\"\n"
    );
    let scenario = Scenario::parse(&text, "test.toml").unwrap();
    assert_eq!(scenario.flows().len(), 999);
    let own = scenario.flows().iter().map(|flow| flow.own_ports().len());
    assert_eq!(own.sum::<usize>(), 1000);
}

#[test]
fn writers_and_security_add_to_the_message() {
    let payload = |fields: &str| {
        let scenario = parse(&format!("subscriber = \"host2\"\n{fields}"));
        scenario.flows()[0].frame.payload()
    };
    assert_eq!(payload("writers = [8]"), payload("fields = 8"));
    assert_eq!(payload("writers = [8, 3]"), 16 + 2 * 18 + 11 * 9);
    assert_eq!(payload(SIZE), 100);
    for mode in ["\"Sign\"", "\"SignAndEncrypt\"", "{ mode = \"Sign\" }"] {
        assert_eq!(payload(&format!("{SIZE}security = {mode}")), 146);
    }
    assert_eq!(payload(&format!("{SIZE}security = \"None\"")), 100);
    let scenario = parse(
        "subscriber = \"host2\"\nwriters = [8, 3]\nsecurity = { mode = \"SignAndEncrypt\", protect = \"4 us\", verify = \"5 us\" }",
    );
    let application = &scenario.applications[0];
    assert_eq!(application.writers, [8, 3]);
    let security = application.security;
    assert_eq!(security.mode, SecurityMode::SignAndEncrypt);
    let us = |count: u64| Duration(count * 1_000_000);
    assert_eq!((security.protect, security.verify), (us(4), us(5)));
    let ApplicationReceiver::Subscribers(nodes) = &application.receiver else {
        panic!("{:?}", application.receiver)
    };
    assert_eq!(nodes.len(), 1);
}

/// A sweep from no security to some keeps the times, which count only with it.
#[test]
fn no_security_takes_no_time() {
    let times = "protect = \"4 us\", verify = \"5 us\"";
    let of = |mode: &str| {
        let security = format!("security = {{ mode = \"{mode}\", {times} }}");
        let scenario = parse(&format!("{SIZE}subscriber = \"host2\"\n{security}"));
        let security = scenario.applications[0].security;
        (security.protect, security.verify)
    };
    assert_eq!(of("None"), (Duration::ZERO, Duration::ZERO));
    assert_eq!(of("Sign"), (Duration(4_000_000), Duration(5_000_000)));
}

/// Returns two applications with groups in line 11 and 18: from host1 and from host4.
fn two(first: &str, second: &str) -> String {
    let one = application(&format!("{SIZE}{first}"));
    format!(
        "{one}[[applications]]\nname = \"other\"\npublisher = \"host4\"\ncycle = \"1 ms\"\n{SIZE}{second}\n"
    )
}

/// A bridge forwards a group to the same ports, whoever sends it.
#[test]
fn applications_share_a_group_if_bridges_forward_it_alike() {
    let group = "group = \"01-00-5E-00-00-07\"";
    let state = format!("subscribers = [\"host2\", \"host4\"]\n{group}");
    // The default path goes by bridge3.
    let path = "path = [\"host4\", \"bridge4\", \"bridge1\", \"bridge2\", \"host2\"]";
    let other = format!("subscribers = [\"host1\", {{ node = \"host2\", {path} }}]\n{group}");
    let scenario = Scenario::parse(&two(&state, &other), "test.toml").unwrap();
    let groups = scenario.applications.iter().map(|it| it.group);
    assert!(groups.into_iter().all(|it| it == [1, 0, 0x5E, 0, 0, 7]));
    // host4 sends only to host1, but bridge1 also has an entry at the port to bridge2, for the messages of host1.
    let one = format!("subscribers = [\"host1\"]\n{group}");
    let error = Scenario::parse(&two(&state, &one), "test.toml").unwrap_err();
    assert_eq!(
        error.to_string(),
        "test.toml: line 18, column 9: `bridge1` forwards these messages to `bridge2` as well, because those of `state` have \
         the same group and VLAN (choose another group, or name all receivers of the group as subscribers)"
    );
    // Another VLAN has entries of its own.
    let apart = format!("{one}\nvlan = 7");
    Scenario::parse(&two(&state, &apart), "test.toml").unwrap();
    // So has another IP address, unless its Ethernet group is the same.
    for (address, shares) in [("239.128.0.7", true), ("239.0.0.8", false)] {
        let one = one.replace("01-00-5E-00-00-07", address);
        let found = Scenario::parse(&two(&state, &one), "test.toml");
        assert_eq!(found.is_err(), shares, "{address}");
    }
}

/// A bridge that sends has the entries of all senders at its ports, for its own messages and for those of others.
#[test]
fn a_bridge_sends_its_own_messages_to_all_ports_of_the_group() {
    let network = "version = 1\nname = \"bridge\"\nnodes = [{ name = \"a\" }, { name = \"b\" }, { name = \"c\" }, \
                   { name = \"x\", kind = \"bridge\" }]\n\
                   links = [{ ends = [\"a\", \"x\"] }, { ends = [\"b\", \"x\"] }, { ends = [\"c\", \"x\"] }]\n";
    let application = |name: &str, publisher: &str, subscribers: &str| {
        format!(
            "[[applications]]\nname = \"{name}\"\npublisher = \"{publisher}\"\nsubscribers = [{subscribers}]\n\
             cycle = \"1 ms\"\n{SIZE}group = \"01-00-5E-00-00-07\"\n"
        )
    };
    let both = |own: &str, other: &str| {
        let own = application("own", "x", own);
        let other = application("other", "b", other);
        Scenario::parse(&format!("{network}{own}{other}"), "test.toml")
    };
    let error = |own: &str, other: &str| both(own, other).unwrap_err().to_string();
    let found = error("\"a\"", "\"c\"");
    assert!(
        found.contains("`x` forwards these messages to `c` as well, because those of `other`"),
        "{found}"
    );
    let found = error("\"a\"", "\"a\", \"c\"");
    assert!(
        found.contains("`x` forwards these messages to `c` as well, because those of `other`"),
        "{found}"
    );
    both("\"a\"", "\"a\"").unwrap();
}

/// A group that is the default one of another application.
#[test]
fn default_groups_are_shared_like_written_ones() {
    let one = "subscribers = [\"host2\", \"host3\"]";
    let of_first = "subscribers = [\"host1\"]\ngroup = \"01-00-5E-00-54-01\"";
    let error = Scenario::parse(&two(one, of_first), "test.toml").unwrap_err();
    assert!(
        error.to_string().contains("have the same group and VLAN"),
        "{error}"
    );
}

#[test]
fn mistakes_of_groups_have_their_place() {
    for group in [
        "239.0.0",
        "02-00-00-00-00-01",
        "FF-FF-FF-FF-FF-FF",
        "224.0.0.1",
    ] {
        let found = mistake(&format!(
            "{SIZE}subscriber = \"host2\"\ngroup = \"{group}\""
        ));
        assert!(
            found.starts_with(&format!(
                "line 11, column 9: `{group}` is not a group of receivers"
            )),
            "{found}"
        );
    }
}

/// Results have one row for each flow, found by its name.
#[test]
fn flows_have_different_names() {
    let text = two(
        "subscribers = [\"host2\", \"host3\"]",
        "subscriber = \"host1\"",
    );
    for name in ["state \u{2192} host2", "state \u{2192} host3"] {
        let text = text.replace("\"other\"", &format!("\"{name}\""));
        let error = Scenario::parse(&text, "test.toml").unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "test.toml: line 12, column 8: there are two flows named `{name}` (choose another name)"
            )
        );
    }
    let text = text.replace("\"other\"", "\"state \u{2192} host4\"");
    Scenario::parse(&text, "test.toml").unwrap();
}

#[test]
fn mistakes_of_messages_have_their_place() {
    let of = |fields: &str| mistake(&format!("subscriber = \"host2\"\n{fields}"));
    assert_eq!(
        of("payload = \"1460 B\"\nsecurity = \"Sign\""),
        "line 10, column 11: a message of 1460 B with 46 B of security does not fit in an Ethernet frame, which holds \
         1500 B"
    );
    assert_eq!(
        of("writers = []"),
        "line 10, column 11: a message has at least one writer (write the number of fields of each: writers = [8, 3])"
    );
    assert_eq!(
        of("writers = [8, 0]"),
        "line 10, column 15: expected an integer from 1 to 1000000, not 0"
    );
    assert_eq!(
        of("writers = [100, 100]"),
        "line 10, column 11: a payload of 1852 B does not fit in an Ethernet frame, which holds 1500 B"
    );
    assert_eq!(
        of("writers = [8]\nfields = 8"),
        "line 10, column 11: an application has only one of `payload`, `repeated_node_count`, `fields`, `writers`"
    );
    assert_eq!(
        of("payload = \"100 B\"\nsecurity = \"sign\""),
        "line 11, column 12: `sign` is not one of \"None\", \"Sign\", \"SignAndEncrypt\", or a table: security (did you \
         mean `Sign`?)"
    );
    assert_eq!(
        of("payload = \"100 B\"\nsecurity = { protect = \"4 us\" }"),
        "line 11, column 12: security needs `mode`, one of \"None\", \"Sign\", \"SignAndEncrypt\""
    );
}

/// Sweeps and settings lead into both forms.
#[test]
fn security_can_be_swept() {
    let text = application(&format!("{SIZE}subscriber = \"host2\""));
    let text = format!(
        "{text}[[sweeps]]\nparameter = \"applications.state.security\"\nvalues = [\"None\", \"Sign\"]\n"
    );
    let variants = ScenarioFile::parse(&text, "test.toml")
        .unwrap()
        .variants()
        .unwrap();
    let payloads = variants
        .iter()
        .map(|variant| variant.scenario.flows()[0].frame.payload());
    assert_eq!(payloads.collect::<Vec<_>>(), [100, 146]);
}
