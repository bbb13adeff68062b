//! Archives of runs without names of users and hosts.

use std::fs;
use std::path::{Path, PathBuf};

use takt_capture::{CaptureReader, carried, packets};
use takt_lab::bundle::{BundleError, PrivateNames, RunBundle};
use takt_lab::run_directory::RunDescription;
use takt_lab::{CaseRecord, LoopEnd};

use crate::files::{Files, RUN, START, TEXT, wanted};

/// Names that must not be in an archive: of a host, a user, a home directory, an interface, and a disk.
const PRIVATE: [&str; 5] = ["machine7", "ada", "/home/ada", "enp3s0f1", "0a1b2c3d"];

/// Makes a run whose files have these names wherever a user or a tool may put them.
fn run() -> Files {
    let files = Files::new();
    let mut publisher = wanted(LoopEnd::Publisher);
    let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    publisher.host = vec![
        fact("kernel", "6.12"),
        fact(
            "kernel command line",
            "root=UUID=0a1b2c3d isolcpus=2 ip=::::machine7:enp3s0f1",
        ),
        fact("disciplines", "not as planned: enp3s0f1 has nothing"),
        fact("owner", "ada"),
        fact("driver", "igb"),
    ];
    let traces = [
        files.trace("ada.trace", &publisher),
        files.trace("machine7.trace", &wanted(LoopEnd::Loopback)),
    ];
    let capture = files.capture("enp3s0f1.pcapng", 1, RUN, START);
    describe(&capture);
    let all = [traces[0].clone(), traces[1].clone(), capture];
    files.collect(&all).unwrap();
    let case = files.path("run/001");
    let mut record = CaseRecord::read(&case).unwrap();
    let text = "enp3s0f1 of machine7: /home/ada/x";
    record.remarks.push(text.to_owned());
    for end in &mut record.ends {
        end.last_error = Some(text.to_owned());
        end.unset.push(format!("SCHED_FIFO: {text}"));
    }
    record.write(&case).unwrap();
    let mut run = RunDescription::read(&files.path("run")).unwrap();
    let mut failed = run.cases[0].clone();
    failed.directory = "002".into();
    failed.failure = Some(text.to_owned());
    failed.applications.clear();
    run.cases.push(failed);
    run.write(&files.path("run")).unwrap();
    files
}

/// Adds to a capture what dumpcap and Wireshark write: a section with hardware, system and comment, and a packet of another protocol.
fn describe(path: &PathBuf) {
    let option = |code: u16, text: &str| {
        let length = u16::try_from(text.len()).unwrap();
        let mut option = [code.to_le_bytes(), length.to_le_bytes()].concat();
        option.extend(text.bytes());
        option.resize(option.len().next_multiple_of(4), 0);
        option
    };
    let block = |kind: u32, body: &[u8]| {
        let length = u32::try_from(body.len() + 12).unwrap().to_le_bytes();
        [&kind.to_le_bytes()[..], &length, body, &length].concat()
    };
    let mut section = [
        &0x1A2B_3C4D_u32.to_le_bytes()[..],
        &[1, 0, 0, 0],
        &[0xFF; 8],
    ]
    .concat();
    section.extend(option(1, "of ada at /home/ada"));
    section.extend(option(2, "machine7"));
    section.extend([0; 4]);
    let mut interface = vec![1, 0, 0, 0, 0, 0, 0, 0];
    interface.extend(option(2, "enp3s0f1"));
    interface.extend([0; 4]);
    let mut frame = vec![0xFF; 12];
    frame.extend([0x08, 0x06]);
    frame.extend(b"I am machine7 of ada");
    frame.resize(60, 0);
    let mut packet = vec![0; 12];
    packet.extend([60, 0, 0, 0, 60, 0, 0, 0]);
    packet.extend(frame);
    let mut file = fs::read(path).unwrap();
    file.extend(block(0x0A0D_0D0A, &section));
    file.extend(block(1, &interface));
    file.extend(block(6, &packet));
    fs::write(path, file).unwrap();
}

/// Packs a run. The folder has its files as they are packed.
fn packed(directory: &Path) -> (tempfile::TempDir, RunBundle) {
    let folder = tempfile::tempdir().unwrap();
    let bundle = RunBundle::of(directory, folder.path()).unwrap();
    (folder, bundle)
}

fn archive(bundle: &RunBundle) -> Vec<u8> {
    let mut archive = Vec::new();
    let length = bundle.archive(&mut archive).unwrap();
    assert_eq!(archive.len() as u64, length);
    archive
}

fn names(of: &[&str]) -> PrivateNames {
    PrivateNames::new(of.iter().map(|name| (*name).to_owned()))
}

#[test]
fn an_archive_has_no_names() {
    let files = run();
    let directory = files.path("run");
    // They are in the directory.
    let all = fs::read(directory.join("001/publisher-port-1.pcapng")).unwrap();
    let description = fs::read(directory.join("run.json")).unwrap();
    for name in PRIVATE {
        let found = [&all, &description].map(|bytes| names(&[name]).found_in(bytes).is_some());
        assert!(found.contains(&true), "{name}");
    }
    let (_folder, bundle) = packed(&directory);
    bundle.check(&names(&PRIVATE)).unwrap();
    let archive = archive(&bundle);
    assert_eq!(names(&PRIVATE).found_in(&archive), None);
    // Nor is the hardware address of a sender.
    let address = [2, 0, 0, 0, 0xAB, 0xCD];
    assert!(all.windows(6).any(|window| window == address));
    assert!(!archive.windows(6).any(|window| window == address));
    // One frame of ARP.
    assert_eq!(bundle.left_out(), 1);
    let found: Vec<String> = bundle.names().collect();
    let expected = [
        "takt-run/001/application-1.loopback.trace",
        "takt-run/001/application-1.publisher.trace",
        "takt-run/001/capture-1.pcapng",
        "takt-run/001/case.json",
        "takt-run/run.json",
        "takt-run/scenario.toml",
    ];
    assert_eq!(found, expected);
    let (_folder, again) = packed(&directory);
    assert_eq!(archive, self::archive(&again));
}

#[test]
fn an_unpacked_archive_is_a_run() {
    let files = run();
    let (judged, bundle) = packed(&files.path("run"));
    fs::write(files.path("run.tar"), archive(&bundle)).unwrap();
    let mut tar = std::process::Command::new("tar");
    tar.args(["-xf", "run.tar"]).current_dir(files.path(""));
    assert!(tar.status().unwrap().success());
    let unpacked = files.path("takt-run");
    // The files that the verdicts are of are the same.
    for name in bundle.names() {
        let name = name.strip_prefix("takt-run/").unwrap();
        let [one, other] =
            [unpacked.as_path(), judged.path()].map(|it| fs::read(it.join(name)).unwrap());
        assert!(one == other, "{name}");
    }
    let run = RunDescription::read(&unpacked).unwrap();
    let application = &run.cases[0].applications[0];
    let [publisher, loopback, capture] =
        application.files(&unpacked.join("001")).try_into().unwrap();
    for (path, _) in [&publisher, &loopback, &capture] {
        assert!(path.is_file(), "{}", path.display());
    }
    // All messages of both ends are there, as they were.
    let frames = |path: PathBuf| {
        let (packets, damage) = packets(&fs::read(path).unwrap());
        assert_eq!(damage, None);
        let messages = packets.iter().filter_map(|packet| {
            let carried = carried(packet.linktype, &packet.bytes)?;
            Some((packet.time, carried.bytes.to_vec()))
        });
        messages.collect::<Vec<_>>()
    };
    let original = files.path("run/001/publisher-port-1.pcapng");
    assert_eq!(frames(capture.0), frames(original));
    // The traces have the records that they had.
    let end = |path: PathBuf| fs::read(path).unwrap().split_off(2000);
    let length = |path: &PathBuf| fs::metadata(path).unwrap().len();
    let before = files.path("run/001/control.loopback.trace");
    assert_eq!(length(&loopback.0), length(&before));
    assert_eq!(end(loopback.0), end(before));
}

/// The verdicts have the resolution of the times: a packed run must not look more exact than it is.
#[test]
fn the_steps_of_times_stay() {
    let files = run();
    let (folder, _bundle) = packed(&files.path("run"));
    let step = |path: PathBuf| {
        let file = fs::read(path).unwrap();
        let mut reader = CaptureReader::new(file.as_slice()).unwrap();
        assert!(reader.by_ref().all(|packet| packet.is_ok()));
        reader.step_nanos()
    };
    // The interface that `describe` adds has microseconds.
    let before = step(files.path("run/001/publisher-port-1.pcapng"));
    assert_eq!(before, Some(1_000));
    assert_eq!(step(folder.path().join("001/capture-1.pcapng")), before);
}

#[test]
fn a_name_in_the_scenario_is_refused() {
    let files = run();
    let scenario = files.path("run/scenario.toml");
    fs::write(&scenario, format!("# by ada\n{TEXT}")).unwrap();
    let (_folder, bundle) = packed(&files.path("run"));
    let refused = bundle.check(&names(&["ada"])).unwrap_err();
    let BundleError::Name { file, name } = refused else {
        panic!("{refused}");
    };
    assert_eq!(
        (file.as_str(), name.as_str()),
        ("takt-run/scenario.toml", "ada")
    );
    let allowed = names(&["ada"]).without(&["ada".to_owned()]);
    assert!(bundle.check(&allowed).is_ok());
}

#[test]
fn files_outside_of_the_run_are_refused() {
    let files = run();
    let description = files.path("run/run.json");
    let text = fs::read_to_string(&description).unwrap();
    for (from, to) in [
        ("publisher-port-1.pcapng", "../../ada.trace"),
        ("\"001\"", "\"..\""),
        ("control.loopback.trace", "/etc/hostname"),
    ] {
        assert!(text.contains(from), "{from}");
        fs::write(&description, text.replace(from, to)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let refused = RunBundle::of(&files.path("run"), folder.path()).unwrap_err();
        assert!(matches!(refused, BundleError::Outside(_)), "{refused}");
    }
}
