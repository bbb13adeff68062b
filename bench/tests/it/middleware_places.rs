//! Tests of the places of `takt bench middleware`: a link between two namespaces, and servers on another host. Only root may make
//! namespaces.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{self, other_host::OtherHost};

/// Peers that need no installation.
const PEERS: &str = "tcp,udp,takt-tcp,takt-pubsub-udp,iceoryx2";

/// Runs a comparison of a few requests with these options. Returns its objects, and its tables.
fn compare(mut bench: Command, output: &Path, options: &[&str]) -> (Vec<Value>, String) {
    let common = ["--quick", "--sizes", "16", "--json", "--output"];
    bench.args(common).arg(output).args(options);
    let objects = support::objects(bench);
    let tables = std::fs::read_to_string(output.join("tables.md")).unwrap();
    (objects, tables)
}

/// Returns the baseline of a link.
fn link<'a>(objects: &'a [Value], name: &str) -> &'a Value {
    let found = objects.iter().find(|it| it["link"] == name);
    found.unwrap_or_else(|| panic!("no link `{name}`"))
}

/// Returns the results of a peer.
fn rows<'a>(objects: &'a [Value], peer: &str) -> Vec<&'a Value> {
    let is_row = |it: &&Value| it["peer"] == peer && it["mode"].is_string();
    let rows: Vec<&Value> = objects.iter().filter(is_row).collect();
    assert_eq!(rows.len(), 2, "{peer}: echo and ACK");
    rows
}

/// Checks that each peer over the network has answered each request.
fn all_have_answered(objects: &[Value]) {
    for peer in ["tcp", "udp", "takt-tcp", "takt-pubsub-udp"] {
        for row in rows(objects, peer) {
            assert_eq!(row["faults"], serde_json::json!([0, 0, 0, 0]), "{row}");
            assert_eq!(row["answered"], 20, "{row}");
        }
    }
}

#[test]
fn peers_answer_over_a_link_whose_rate_is_limited() {
    if !support::may_make_networks() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let options = [
        "--link",
        "veth,rate=10mbit",
        "--only",
        PEERS,
        "--samples",
        "20",
    ];
    let bench = support::bench("middleware", &[]);
    let (objects, tables) = compare(bench, folder.path(), &options);
    all_have_answered(&objects);
    let rate = link(&objects, "link")["mbit_per_second"].as_f64().unwrap();
    // The bucket of the limit, and headers, are the difference. A loaded machine has less.
    assert!((0.5..11.0).contains(&rate), "{rate}");
    for text in ["to 10 Mbit/s", "shared memory takes no link"] {
        assert!(tables.contains(text), "no `{text}` in {tables}");
    }
}

#[test]
fn delay_and_loss_of_a_link_are_in_the_results() {
    if !support::may_make_networks() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let setting = "veth,delay=20ms,loss=3%,reorder=3%";
    let options = [
        "--link",
        setting,
        "--only",
        "udp",
        "--samples",
        "10",
        "--require",
    ];
    let bench = support::bench("middleware", &[]);
    let (objects, tables) = compare(bench, folder.path(), &options);
    let round_trip = |name| {
        link(&objects, name)["round_trip_us"]["value"]
            .as_f64()
            .unwrap()
    };
    assert!(round_trip("link") >= 40_000.0, "{}", link(&objects, "link"));
    // A kernel without netem needs a relay, whose own floor is beside it.
    let frames = &link(&objects, "link")["frames"];
    if frames.is_null() {
        assert!(round_trip("without impairment") < round_trip("link"));
    } else {
        let passed = |it: &Value| it["passed"].as_u64() > Some(0);
        let clean = &link(&objects, "relay without impairment")["frames"];
        assert!(passed(frames) && passed(clean) && clean["lost"] == 0);
        assert!(frames["lost"].as_u64() > Some(0), "{frames}");
        assert!(frames["reordered"].as_u64() > Some(0), "{frames}");
        assert!(round_trip("relay without impairment") < round_trip("link"));
        assert!(link(&objects, "without relay")["frames"].is_null());
    }
    // Some requests are lost, and the peers count as right.
    let of_link = &link(&objects, "link")["lost"][0];
    let both = [rows(&objects, "udp"), rows(&objects, "takt-pubsub-udp")].concat();
    let of_peers = both.iter().map(|row| &row["faults"][1]);
    let lost: u64 = of_peers.chain([of_link]).filter_map(Value::as_u64).sum();
    assert!(lost > 0 && tables.contains("LOSSES"), "{tables}");
    assert!(!tables.contains("WRONG"), "{tables}");
}

#[test]
fn mistakes_in_a_link_are_explained() {
    let said = |link: &str| {
        let output = support::bench("middleware", &["--link", link])
            .output()
            .unwrap();
        assert!(!output.status.success(), "{link}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(said("veth,reorder=1%").contains("reorder needs a delay"));
    assert!(said("veth,rate=fast").contains("kbit, mbit or gbit"));
}

#[test]
fn the_end_of_a_comparison_leaves_no_namespace() {
    if !support::may_make_networks() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "--link",
        "veth,delay=1ms",
        "--only",
        "takt-tcp",
        "--samples",
        "1000000",
        "--output",
        folder.path().to_str().unwrap(),
    ];
    // Three namespaces, the relay, server and client. The namespaces end with these processes.
    support::interrupt_leaves_nothing(support::bench("middleware", &arguments), 6);
    support::kill_leaves_nothing(support::bench("middleware", &arguments), 6);
}

/// The other host is a namespace with an sshd.
#[test]
#[ignore = "needs openssh-server: ./test middleware"]
fn servers_run_on_another_host() {
    if !support::may_make_networks() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let host = OtherHost::start(folder.path());
    let results = folder.path().join("results");
    let config = host.config.to_str().unwrap();
    let place = ["--server-host", "other-host", "--ssh-config", config];
    let options = [&place[..], &["--only", PEERS, "--samples", "20"]].concat();
    let bench = host.with_link(&support::bench("middleware", &[]));
    let (objects, tables) = compare(bench, &results, &options);
    all_have_answered(&objects);
    for text in [
        "run on other-host (198.51.100.1",
        "clients on this host (198.51.100.2",
        "shared memory does not reach another host",
    ] {
        assert!(tables.contains(text), "no `{text}` in {tables}");
    }
    // The client got the server's certificates.
    for row in rows(&objects, "takt-tcp security=basic256sha256") {
        assert_eq!(row["answered"], 20, "{row}");
    }
    // Processor time and memory of a server are read there.
    let tcp = objects.iter().find(|it| it["label"] == "tcp").unwrap();
    let server = &tcp["resources"][0]["usage"][1];
    assert!(server["memory"].as_u64() > Some(0), "{tcp}");
    host.wait_until_idle();
}

#[test]
#[ignore = "needs openssh-server: ./test middleware"]
fn an_interrupt_leaves_nothing_on_another_host() {
    if !support::may_make_networks() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let host = OtherHost::start(folder.path());
    let output = folder.path().join("results");
    let arguments = [
        "--server-host",
        "other-host",
        "--ssh-config",
        host.config.to_str().unwrap(),
        "--only",
        "takt-tcp",
        "--samples",
        "1000000",
        "--output",
        output.to_str().unwrap(),
    ];
    // The connection, the folder, server and client.
    let bench = host.with_link(&support::bench("middleware", &arguments));
    support::interrupt_leaves_nothing(bench, 4);
    host.wait_until_idle();
}
