//! Tests of the command `takt bench attack`.

use takt_bench::attack::Row;
use takt_tests::Sandbox;

#[test]
fn takt_bench_attack_shows_each_attack_and_both_clients() {
    let sandbox = Sandbox::new();
    let short = ["--seconds", "1", "--divide", "20", "--rate", "50"];
    let arguments = ["bench", "attack", "--only", "hello-only"];
    let rows = sandbox.rows(&[&arguments[..], &short].concat());
    let rows: Vec<Row> = rows
        .into_iter()
        .map(|row| serde_json::from_value(row).unwrap())
        .collect();
    let [row] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    assert_eq!(row.attack, "hello-only");
    assert!(row.attackers.connections > 0, "{row:?}");
    assert!(row.memory_peak > 0 && row.descriptors_before > 0, "{row:?}");
    let transports: Vec<&str> = row
        .clients
        .iter()
        .map(|client| client.transport.as_str())
        .collect();
    assert_eq!(transports, ["opc.tcp", "opc.iox2"]);
    for client in &row.clients {
        assert_eq!(client.failures, [""; 0]);
        assert!(
            client.idle.samples > 10 && client.attacked.samples > 10,
            "{row:?}"
        );
    }
}

#[test]
fn an_unknown_attack_is_an_error_with_a_hint() {
    let sandbox = Sandbox::new();
    let said = sandbox
        .run(&["bench", "attack", "--only", "nonsense"])
        .expect_failure();
    assert!(said.contains("takt bench attack --list"), "{said}");
}
