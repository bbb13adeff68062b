//! `takt bench overhead`: sizes that follow from the standards, computed here, in captures of real exchanges. `takt bench nodes`: messages
//! through servers.

use std::time::Duration;

use serde_json::Value;
use takt_tests::process;

use crate::support;

/// Longest time of a count.
const PATIENCE: Duration = Duration::from_secs(120);

/// Counts the bytes of the peers whose label contains one of `only`, and returns a row for each.
fn count(only: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    // Without foreign peers.
    let peers = folder.path().join("peers.toml");
    std::fs::write(&peers, "").unwrap();
    let mut command = support::bench("overhead", &["--json", "--require", "--sizes", "2,100"]);
    command.args(["--only", only, "--output"]).args([
        folder.path().as_os_str(),
        "--peers".as_ref(),
        peers.as_os_str(),
    ]);
    let finished = process::run("takt bench overhead", &mut command, PATIENCE);
    assert!(finished.status.success(), "{finished:?}");
    let csv = std::fs::read_to_string(folder.path().join("overhead.csv")).unwrap();
    assert!(csv.starts_with("peer,phase,category,payload"), "{csv}");
    for line in finished.stdout.lines() {
        assert!(!line.contains("not recognised"), "{line}");
    }
    let rows = finished.stdout.lines().map(serde_json::from_str);
    rows.map(Result::unwrap).collect()
}

fn row<'r>(rows: &'r [Value], peer: &str) -> &'r Value {
    rows.iter().find(|row| row["peer"] == peer).unwrap()
}

/// Returns the bytes of request and answer of each size.
fn sizes(row: &Value) -> Vec<[u64; 2]> {
    let numbers = |size: &Value| ["request", "answer"].map(|side| size[side].as_u64().unwrap());
    row["sizes"]
        .as_array()
        .unwrap()
        .iter()
        .map(numbers)
        .collect()
}

/// Returns the sizes of all messages of this name from a side, in the phases beside the runs.
fn connection(row: &Value, from: &str, name: &str) -> Vec<u64> {
    let entries = row["entries"].as_array().unwrap().iter();
    entries
        .filter(|entry| entry["name"] == name && entry["from"] == from && entry["phase"] != "run")
        .map(|entry| entry["bytes"].as_u64().unwrap())
        .collect()
}

/// Bytes of a MessageHeader with SecureChannelId, token, sequence number and request id (OPC 10000-6, 6.7.2).
const SYMMETRIC: u64 = 8 + 4 + 4 + 4 + 4;
/// Bytes of the TypeId of a body: a NodeId of four bytes.
const TYPE: u64 = 4;
/// Bytes of a RequestHeader without its AuthenticationToken (OPC 10000-4, 7.32): Timestamp, RequestHandle, ReturnDiagnostics,
/// AuditEntryId, TimeoutHint, AdditionalHeader.
const REQUEST: u64 = 8 + 4 + 4 + 4 + 4 + 3;
/// Bytes of a ResponseHeader: Timestamp, RequestHandle, ServiceResult, ServiceDiagnostics, StringTable, AdditionalHeader.
const RESPONSE: u64 = 8 + 4 + 4 + 1 + 4 + 3;
/// Bytes of a NodeId with a Guid: Takt's AuthenticationToken.
const TOKEN: u64 = 1 + 2 + 16;

#[test]
fn sizes_over_tcp_are_those_of_the_standards() {
    if !support::may_make_networks() {
        return;
    }
    let rows = count("tcp");
    // Raw TCP has a header of four bytes.
    let raw = row(&rows, "tcp");
    assert_eq!(sizes(raw), [[6, 6], [104, 104]]);
    assert_eq!(raw["connection"], 0);

    let plain = row(&rows, "takt-tcp");
    // The object is a NodeId of four bytes, the Method one with a String of four letters, the argument a Variant with a ByteString.
    let call = SYMMETRIC + TYPE + TOKEN + REQUEST + 4 + (4 + (1 + 2 + 4 + 4) + 4 + (1 + 4));
    // StatusCode, results and diagnostics of the arguments, output arguments; diagnostics.
    let answer = SYMMETRIC + TYPE + RESPONSE + 4 + (4 + 4 + 4 + 4 + (1 + 4)) + 4;
    let expected = [2, 100].map(|payload| [call + payload, answer + payload]);
    assert_eq!(sizes(plain), expected);
    // UACP (OPC 10000-6, 7.1.2): five numbers, and the URL `opc.tcp://127.0.0.1:20000`, whose port has five digits.
    let url = "opc.tcp://127.0.0.1:20000".len() as u64;
    assert_eq!(connection(plain, "client", "Hello"), [8 + 5 * 4 + 4 + url]);
    assert_eq!(connection(plain, "server", "Acknowledge"), [8 + 5 * 4]);
    // A CloseSecureChannelRequest has no field of its own, and no token.
    let close = SYMMETRIC + TYPE + 2 + REQUEST;
    assert_eq!(connection(plain, "client", "CloseSecureChannel"), [close]);
    let close = SYMMETRIC + TYPE + TOKEN + REQUEST + 1;
    assert_eq!(connection(plain, "client", "CloseSessionRequest"), [close]);
    // Without security there is no certificate; nonces of 32 bytes may be there.
    let policy = "http://opcfoundation.org/UA/SecurityPolicy#None".len() as u64;
    let open = (8 + 4 + (4 + policy) + 4 + 4 + 8) + TYPE + 2 + REQUEST + (4 + 4 + 4 + 4 + 4);
    let found = connection(plain, "client", "OpenSecureChannel");
    assert!(
        found == [open] || found == [open + 32],
        "{found:?}, not {open}"
    );

    // Basic256Sha256: padding to blocks of 16 bytes with its size, then a signature of 32 bytes; sequence number, request id and
    // body are encrypted (OPC 10000-6, 6.7.2.5).
    let secured = row(&rows, "takt-tcp security=basic256sha256");
    let encrypted = |message: u64| 16 + (message - 16 + 1 + 32).next_multiple_of(16);
    let expected = expected.map(|sides| sides.map(encrypted));
    assert_eq!(sizes(secured), expected);
}

#[test]
fn sizes_of_messages_in_datagrams_and_memory() {
    if !support::may_make_networks() {
        return;
    }
    let rows = count("udp,takt-iox2");
    // A byte with the kind of the request precedes the payload of raw UDP.
    assert_eq!(sizes(row(&rows, "udp")), [[3, 2], [101, 100]]);
    // A byte in a Variant, and a ByteString in another one; the rest are headers of UADP, the same ones in both directions.
    let [[small, answer], [large, _]] = sizes(row(&rows, "takt-pubsub-udp"))[..] else {
        panic!("not two sizes")
    };
    assert_eq!((small, large - small), (answer, 98));
    let fields = 2 + (1 + 4 + 2);
    assert!((fields + 10..fields + 30).contains(&small), "{small}");

    let shared = row(&rows, "takt-iox2");
    let [[small, small_answer], [large, large_answer]] = sizes(shared)[..] else {
        panic!("not two sizes")
    };
    // The layout pads values to words.
    let padded = |bytes: u64| (96..=104).contains(&bytes);
    assert!(
        padded(large - small) && padded(large_answer - small_answer),
        "{shared}"
    );
    // Nothing of it is on the network.
    assert_eq!(shared["connection"], Value::Null);
}

/// Runs `takt bench nodes` with two streams through three servers each. `table` is the foreign peers' table.
fn nodes(table: &str, arguments: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let peers = folder.path().join("peers.toml");
    std::fs::write(&peers, table).unwrap();
    let mut command = support::bench("nodes", &["--json", "--streams", "2", "--hops", "3"]);
    command
        .args(["--bytes", "2000", "--repetitions", "3", "--peers"])
        .arg(peers)
        .args(arguments);
    let finished = process::run("takt bench nodes", &mut command, PATIENCE);
    assert!(finished.status.success(), "{finished:?}");
    let rows = finished.stdout.lines().map(serde_json::from_str::<Value>);
    rows.map(Result::unwrap).collect()
}

#[test]
fn messages_go_through_all_servers() {
    if !support::may_make_networks() {
        return;
    }
    let rows = nodes("", &[]);
    let names: Vec<&str> = rows.iter().filter_map(|row| row["peer"].as_str()).collect();
    let own = [
        "tcp",
        "takt-tcp",
        "takt-iox2",
        "takt-pubsub-udp",
        "takt-pubsub-iox2",
    ];
    assert_eq!(names, own);
    for row in rows {
        // The end is one of the nodes that were ready.
        assert_eq!(row["ready"], 7, "{row}");
        assert_eq!(row["faults"], 0, "{row}");
        assert_eq!(row["failure"], Value::Null, "{row}");
        assert!(row["median_ms"].as_f64().unwrap() > 0.0 && row["memory"].as_u64().unwrap() > 0);
    }
}

/// Names and scripts of nodes that end, that never connect, and that deliver nothing.
const WRONG_NODES: [[&str; 2]; 3] = [
    ["ends", "echo a reason >&2; exit 1"],
    ["waits", "echo ready; while read line; do :; done"],
    [
        "loses",
        "echo ready; read line; echo connected; read line; echo sample lost; echo errors wrong=1 lost=2; echo done; cat",
    ],
];

#[test]
fn nodes_that_fail_are_results() {
    if !support::may_make_networks() {
        return;
    }
    let table = WRONG_NODES.map(|[name, script]| {
        format!(
            "[[peer]]\nname = \"{name}\"\ntitle = \"{name}\"\ngroup = \"floor\"\nprogram = [\"false\"]\n\
             node = [\"sh\", \"-c\", \"{script}\"]\n"
        )
    });
    let rows = nodes(
        &table.concat(),
        &["--only", "ends,waits,loses", "--patience", "2"],
    );
    let [ends, waits, loses] = rows.as_slice() else {
        panic!("not three rows: {rows:?}");
    };
    let failure = |row: &Value| row["failure"].as_str().unwrap_or_default().to_owned();
    assert!(failure(ends).contains("a reason"), "{ends}");
    assert_eq!(ends["ready"], 0);
    assert!(failure(waits).contains("did not answer"), "{waits}");
    assert_eq!(waits["ready"], 0);
    assert!(waits["start_s"].is_number() && waits["connect_s"].is_null());
    assert_eq!(failure(loses), "");
    assert_eq!(loses["faults"], 3);
    assert!(loses["median_ms"].is_null());
}
