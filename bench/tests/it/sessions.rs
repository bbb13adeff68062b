//! `takt bench sessions`: few sessions, for a second.

use takt_tests::Sandbox;

use crate::support;

#[test]
fn sessions_with_items_lose_nothing() {
    for security in ["none", "encrypt", "ECC_nistP256"] {
        let sandbox = Sandbox::new();
        let arguments = [
            "--sessions",
            "3",
            "--items",
            "2",
            "--seconds",
            "1",
            "--json",
        ];
        let mut bench = support::bench("sessions", &arguments);
        bench.args(["--security", security]);
        sandbox.confine(&mut bench);
        let rows = support::objects(bench);
        let row = rows.last().unwrap();
        assert_eq!(row["lost"], 0, "{row}");
        // Ten changes of each value in a second; a loaded machine is late, but not by half.
        let notifications = row["notifications"].as_u64().unwrap();
        assert!(notifications >= 30, "{row}");
    }
}
