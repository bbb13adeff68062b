//! A full disk: recording stops, lost records are counted, serving goes on, and recording begins again when there is space.
//!
//! The disk is a small file system in memory, in a mount namespace of its own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use takt_app::serve::ServeOptions;
use takt_app::{
    Client, ClientOptions, Event, EventQuery, HistoryRange, Provider, Recording, Variable,
};
use takt_ua::{DataValue, DateTime, NodeId, StatusCode, Variant, ids};

/// Environment variable of the process in the namespace, with its folder.
const FOLDER: &str = "TAKT_TEST_SMALL_DISK";

const PATIENCE: Duration = Duration::from_secs(60);

/// Runs in the namespace: only if the other test starts it.
#[test]
fn on_the_small_disk() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    let disk = folder.join("disk");
    let filler = disk.join("filler");
    // Half of the disk: there is space again when this is deleted.
    std::fs::write(&filler, vec![0_u8; 6 << 20]).unwrap();
    let runtime = Some(folder.join("runtime"));
    let provider = Provider::builder("Press")
        .without_registry()
        .variable(
            Variable::stored("Data", Vec::<u8>::new())
                .writable()
                .historized(Recording::changes()),
        )
        .historized_events()
        .serve(ServeOptions {
            runtime_directory: runtime.clone(),
            ..ServeOptions::default()
        })
        .state_directory(&disk)
        .start()
        .unwrap();
    let options = ClientOptions {
        runtime_directory: runtime,
        ..ClientOptions::named("test")
    };
    let mut client = Client::connect(&"opc.iox2://Press".parse().unwrap(), options).unwrap();
    let node = NodeId::string(1, "Data");
    let event = || Event::new(ids::SYSTEM_EVENT_TYPE, ids::SERVER);
    let mut number = 0_u64;
    let mut write_until = |what: &str, client: &mut Client, is_reached: &dyn Fn() -> bool| {
        let started = Instant::now();
        while !is_reached() {
            assert!(started.elapsed() < PATIENCE, "{what}");
            number += 1;
            let mut value = vec![0; 20_000];
            value[..8].copy_from_slice(&number.to_le_bytes());
            // Serving goes on.
            client.write(&node, Variant::from(value)).unwrap();
            let event = event().message("x".repeat(500));
            assert!(provider.events().report(event));
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    let last = HistoryRange {
        end: Some(DateTime(i64::MAX)),
        limit: 1,
        ..HistoryRange::default()
    };
    let newest = |client: &mut Client| {
        let server = NodeId::from(ids::SERVER);
        let events = client.history_events(&server, last, &EventQuery::new(["Time"]));
        events.unwrap().pop()
    };
    let before = provider.history_counts();
    client.write(&node, Variant::from(vec![1_u8])).unwrap();
    assert!(provider.events().report(event()));
    let started = Instant::now();
    while provider.history_counts().recorded == before.recorded || newest(&mut client).is_none() {
        assert!(started.elapsed() < PATIENCE, "nothing is recorded");
        std::thread::sleep(Duration::from_millis(10));
    }
    write_until("the disk is full", &mut client, &|| {
        provider.history_counts().lost > 0
    });
    let lost = provider.history_counts().lost;
    write_until("more is lost", &mut client, &|| {
        provider.history_counts().lost > lost
    });
    // What was durable before can be read.
    assert_eq!(client.history_raw(&node, last).unwrap().len(), 1);
    let before = newest(&mut client);

    std::fs::remove_file(filler).unwrap();
    let recorded = provider.history_counts().recorded;
    write_until("values are recorded again", &mut client, &|| {
        provider.history_counts().recorded > recorded
    });
    let started = Instant::now();
    while newest(&mut client) == before {
        assert!(
            started.elapsed() < PATIENCE,
            "Events are not recorded again"
        );
        assert!(provider.events().report(event()));
        std::thread::sleep(Duration::from_millis(10));
    }
    // The lost values are a gap: what was recorded before does not hold in it.
    let all = HistoryRange {
        start: Some(DateTime(1)),
        end: Some(DateTime(i64::MAX)),
        ..HistoryRange::default()
    };
    let values = client.history_raw(&node, all).unwrap();
    let gap = |pair: &[DataValue]| {
        let [before, after] = [&pair[0], &pair[1]].map(|value| value.source_timestamp);
        let is_gap = pair[0].status_code() == StatusCode::BadNoData;
        is_gap.then_some((before?, after?))
    };
    let gaps: Vec<_> = values.windows(2).filter_map(gap).collect();
    let longest = gaps.iter().max_by_key(|(from, to)| to.0 - from.0);
    let (from, to) = *longest.expect("there is no gap");
    let middle = DateTime(i64::midpoint(from.0, to.0));
    let found = client.history_at(&node, &[middle]).unwrap();
    assert_eq!(found[0].status_code(), StatusCode::BadNoData, "{gaps:?}");
    println!("passed on the small disk");
}

#[test]
fn a_full_disk_loses_records_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount = format!(
        "mount -t tmpfs -o size=12m,mode=700 tmpfs {} && exec \"$@\"",
        disk.display()
    );
    let mut command = Command::new("unshare");
    command.args([
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        &mount,
        "sh",
    ]);
    command.arg(std::env::current_exe().unwrap());
    command.args(["history_disk::on_the_small_disk", "--exact", "--nocapture"]);
    let output = command.env(FOLDER, folder.path()).output();
    let Ok(output) = output else {
        println!("left out: there is no unshare");
        return;
    };
    let (out, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    if is_forbidden(&errors) {
        println!("left out: no namespaces here: {errors}");
        return;
    }
    assert!(out.contains("passed on the small disk"), "{out}\n{errors}");
}

/// Returns true if this system does not let tests make namespaces.
fn is_forbidden(errors: &str) -> bool {
    errors.starts_with("unshare:") && Path::new("/proc/self/ns/mnt").exists()
}
