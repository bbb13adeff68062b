//! `takt ps` and `takt clean` in a group.

use serde_json::{Value, json};

use crate::groups::shared::{ANNA, BERT, CARL, DORA, GROUP, Shared, User, wait_for};

/// Returns the row of the Machine.
fn machine(shared: &Shared, rows: &[Value]) -> Option<Value> {
    let endpoint = format!("opc.iox2://{}", shared.application("Machine"));
    let row = rows.iter().find(|row| row["endpoint"] == *endpoint);
    row.cloned()
}

fn ps(shared: &Shared, user: User) -> Option<Value> {
    machine(shared, &shared.rows(&mut shared.takt(user, &["ps"])))
}

fn clean(shared: &Shared, user: User) -> Value {
    shared.rows(&mut shared.takt(user, &["clean"])).remove(0)
}

pub fn members_list_applications_of_each_other() {
    let shared = Shared::new();
    let first = shared.machine(BERT);
    let is_seen = |row: &Value| {
        assert_eq!(row["group"], GROUP.to_string(), "{row}");
        assert_eq!(row["process"], first.id(), "{row}");
        assert!(row["clients"].is_u64(), "{row}");
        assert!(
            ["running", "sleeping"]
                .iter()
                .any(|state| row["state"] == **state),
            "{row}"
        );
    };
    // On a loaded machine it may not run in time, and is listed as not answering then.
    let answering =
        |rows: Vec<Value>| machine(&shared, &rows).filter(|row| row["clients"].is_u64());
    let of_group = || answering(shared.rows(&mut shared.takt(ANNA, &["ps"])));
    is_seen(&wait_for("an answer", of_group));
    // Without a group, a user sees the applications of all his groups, and his own.
    let of = |user| shared.rows(&mut shared.takt_for_all(user, &["ps"]));
    is_seen(&wait_for("an answer", || answering(of(CARL))));
    assert!(of(DORA).is_empty());
    let said = shared.fails(DORA, &["ps"]);
    assert!(said.contains("does not belong to the group"), "{said}");
    assert!(said.contains("usermod"), "{said}");
}

pub fn clean_removes_names_of_dead_applications_of_a_group() {
    let shared = Shared::new();
    let _registry = shared.registry(ANNA);
    let mut provider = shared.machine(BERT);
    provider.kill();
    let row = ps(&shared, CARL).unwrap();
    assert_eq!(
        (&row["state"], &row["process"]),
        (&json!("dead"), &json!(null))
    );
    // Applications of a group are only cleaned if the group is named.
    let own = shared.rows(&mut shared.takt_for_all(CARL, &["clean"]));
    assert_eq!(own[0]["applications"], json!([]));
    let cleaned = clean(&shared, CARL);
    assert_eq!(
        cleaned["applications"],
        json!([shared.application("Machine")])
    );
    assert_eq!(cleaned["left"], json!([]));
    assert!(!shared.socket(&shared.application("Machine")).exists());
    assert!(shared.socket(&shared.application("Registry")).exists());
    assert_eq!(shared.rows(&mut shared.takt(CARL, &["ps"])).len(), 1);
    assert_eq!(clean(&shared, CARL)["applications"], json!([]));
    let said = shared.fails(DORA, &["clean"]);
    assert!(said.contains("does not belong to the group"), "{said}");
}

pub fn names_of_others_stay_in_a_sticky_directory() {
    let shared = Shared::with_mode(0o3770);
    let mut provider = shared.machine(BERT);
    let alive = ps(&shared, ANNA).unwrap();
    assert_eq!(alive["process"], provider.id(), "{alive}");
    provider.kill();
    assert_eq!(ps(&shared, ANNA).unwrap()["state"], "dead");
    let name = shared.application("Machine");
    let cleaned = clean(&shared, ANNA);
    assert_eq!(
        (&cleaned["applications"], &cleaned["left"]),
        (&json!([]), &json!([name]))
    );
    let cleaned = clean(&shared, BERT);
    assert_eq!(
        (&cleaned["applications"], &cleaned["left"]),
        (&json!([name]), &json!([]))
    );
}
