//! Tests of `takt bench attack`.

use takt_bench::attack::Row;
use takt_tests::{Sandbox, binary};

use crate::support;

#[test]
fn a_measured_attack_has_both_clients() {
    let sandbox = Sandbox::new();
    let takt = binary::takt().to_str().unwrap();
    let mut bench = support::bench(
        "attack",
        &["--only", "hello-only", "--server", takt, "--json"],
    );
    bench.args([
        "--rounds",
        "2",
        "--seconds",
        "1",
        "--divide",
        "20",
        "--rate",
        "50",
    ]);
    sandbox.confine(&mut bench);
    let rows: Vec<Row> = support::objects(bench)
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
    let output = support::bench("attack", &["--only", "nonsense"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("takt bench attack --list"), "{said}");
}
