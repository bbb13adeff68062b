//! Cases of the conformance suite: networks, disciplines, traffic.

/// Case of the suite.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: &'static str,
    /// Text of the scenario.
    pub scenario: String,
    /// True if the case is about queueing disciplines. Others run without them where the kernel may lack them.
    pub is_about_disciplines: bool,
    /// Number of messages of each application.
    pub messages: u64,
}

/// Disciplines that the cases name, at 1 Gbit/s.
const DISCIPLINES: &str = r#"
[disciplines.fq_codel]
scheduler = "fq_codel"
[disciplines.mqprio]
scheduler = "mqprio"
classes = [{ name = "A", priorities = [6] }, { name = "BE" }]
[disciplines.cbs]
scheduler = "mqprio"
classes = [{ name = "A", priorities = [6], queue = "cbs", provisioning = "20%" }, { name = "BE" }]
[disciplines.etf]
scheduler = "mqprio"
classes = [{ name = "A", priorities = [6], queue = "etf", delta = "400 us", offload = false }, { name = "BE" }]
[disciplines.taprio]
scheduler = "taprio"
classes = [{ name = "A", priorities = [6] }, { name = "BE" }]
entries = [{ gates = ["A"], interval = "500 us" }, { gates = ["BE"], interval = "500 us" }]
[disciplines.etf_offload]
scheduler = "mqprio"
classes = [{ name = "A", priorities = [6], queue = "etf", delta = "400 us" }, { name = "BE" }]
[disciplines.taprio_offload]
scheduler = "taprio"
offload = true
classes = [{ name = "A", priorities = [6] }, { name = "BE" }]
entries = [{ gates = ["A"], interval = "500 us" }, { gates = ["BE"], interval = "500 us" }]
"#;

/// Application from host1 to another host.
fn application(name: &str, publisher: &str, loopback: &str, more: &str) -> String {
    format!(
        r#"
[[applications]]
name = "{name}"
publisher = "{publisher}"
loopback = "{loopback}"
cycle = "2 ms"
payload = "100 B"
immediate = true
{more}
"#
    )
}

/// Application without a loopback.
fn one_way(name: &str, publisher: &str, receivers: &str, more: &str) -> String {
    let loopback = "loopback = \"\"";
    application(name, publisher, "", more).replace(loopback, receivers)
}

/// Tag of the first application.
const TAG: &str = "vlan = 5\npcp = 6";

fn scenario(topology: &str, parts: &[String]) -> String {
    format!(
        "version = 1\nname = \"conformance\"\ntopology = {{ {topology}, rate = \"1 Gbit/s\" }}\n{}",
        parts.concat()
    )
}

fn topology(name: &'static str, topology: &str, parts: &[String]) -> Case {
    Case {
        name,
        scenario: scenario(topology, parts),
        is_about_disciplines: false,
        messages: 200,
    }
}

fn discipline(name: &'static str, more: &str) -> Case {
    let chosen = format!("discipline = \"{name}\"\n");
    let application = application("control", "host1", "host2", &format!("{TAG}\n{more}"));
    let application = match more.contains("txtime") {
        true => application.replace("immediate = true\n", ""),
        false => application,
    };
    // A bridge knows no launch times.
    let bridge = match name {
        "etf" | "etf_offload" => "[[ports]]\nnode = \"bridge1\"\ndiscipline = \"mqprio\"\n",
        _ => "",
    };
    let parts = [DISCIPLINES.to_owned(), bridge.to_owned(), application];
    Case {
        name,
        scenario: scenario(r#"kind = "bridged""#, &parts).replacen(
            "topology =",
            &format!("{chosen}topology ="),
            1,
        ),
        is_about_disciplines: true,
        messages: 200,
    }
}

/// Returns all cases.
pub fn all() -> Vec<Case> {
    let first = || application("control", "host1", "host2", TAG);
    let load = |name: &str, pattern: &str| {
        format!(
            r#"
[[cross_traffic]]
name = "{name}"
from = "host1"
to = "host2"
payload = "1400 B"
rate = "20 Mbit/s"
vlan = 9
pcp = 1
{pattern}
"#
        )
    };
    vec![
        topology("p2p", r#"kind = "p2p""#, &[first()]),
        topology("bridged", r#"kind = "bridged""#, &[first()]),
        topology("line_of_3", r#"kind = "line", hops = 3"#, &[first()]),
        topology("line_of_7", r#"kind = "line", hops = 7"#, &[first()]),
        topology(
            "ring",
            r#"kind = "ring", bridges = 4"#,
            &[application("control", "host1", "host3", TAG)],
        ),
        topology(
            "ring_in_both_directions",
            r#"kind = "ring", bridges = 4"#,
            &[application(
                "control",
                "host1",
                "host3",
                "path = [\"host1\", \"bridge1\", \"bridge2\", \"bridge3\", \"host3\"]\n\
                 return_path = [\"host3\", \"bridge3\", \"bridge4\", \"bridge1\", \"host1\"]",
            )],
        ),
        topology(
            "star",
            r#"kind = "star", hosts = 3"#,
            &[application("control", "host3", "host1", TAG)],
        ),
        topology(
            "several_applications",
            r#"kind = "star", hosts = 3"#,
            &[
                application("first", "host1", "host2", TAG),
                application("second", "host1", "host3", "vlan = 7\npcp = 2"),
                application("third", "host3", "host2", ""),
            ],
        ),
        topology(
            "cross_traffic",
            r#"kind = "bridged""#,
            &[
                first(),
                load("constant", ""),
                load("random", "pattern = \"poisson\""),
                load("tcp", "pattern = { burst = 45 }"),
            ],
        ),
        topology(
            "several_subscribers",
            r#"kind = "ring", bridges = 4"#,
            &[
                one_way(
                    "state",
                    "host1",
                    "subscribers = [\"host2\", \"host3\"]",
                    TAG,
                ),
                one_way(
                    "answer",
                    "host3",
                    "subscribers = [\"host1\", \"host4\", \"host2\"]",
                    "",
                ),
                one_way("report", "host2", "subscriber = \"host1\"", "vlan = 7"),
                application("control", "host1", "host3", "vlan = 5"),
            ],
        ),
        discipline("fq_codel", ""),
        discipline("mqprio", ""),
        discipline("cbs", ""),
        discipline("etf", "txtime = true\noffset = \"600 us\""),
        discipline("taprio", ""),
        // Where the devices have no offloads, these are etf and taprio in software.
        discipline("etf_offload", "txtime = true\noffset = \"600 us\""),
        discipline("taprio_offload", ""),
    ]
}
