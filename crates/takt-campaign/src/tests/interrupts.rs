//! Interrupts of every kind, and what changed in between.

use std::fs;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::{CampaignError, CampaignRunOptions, run_campaign};

use super::folder::{CAMPAIGN, Folder, SCENARIO, Stop};

fn resumed(folder: &Folder, to: &str) -> CampaignRunOptions {
    CampaignRunOptions {
        resume: true,
        ..folder.options(to)
    }
}

/// Copies a folder of results.
fn copied(folder: &Folder, from: &str, to: &str) {
    let _ = fs::remove_dir_all(folder.path(to));
    fs::create_dir(folder.path(to)).unwrap();
    for file in fs::read_dir(folder.path(from)).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.path(to).join(file.file_name())).unwrap();
    }
}

#[test]
fn an_interrupted_run_goes_on() {
    let folder = Folder::new(CAMPAIGN);
    folder.run(&folder.options("whole")).unwrap();
    let mut runs = 0;
    loop {
        // Each run computes one row or a few.
        let mut stop = Stop::after(1);
        let options = resumed(&folder, "parts");
        match folder.run_with(&options, &mut stop) {
            Ok(_) => break,
            Err(CampaignError::Interrupted { done, of }) => {
                assert!(done > runs && done <= of && of == 16, "{done} {of}");
            }
            Err(error) => panic!("{error}"),
        }
        runs += 1;
    }
    assert!(runs > 3, "{runs}");
    assert_eq!(folder.result("parts"), folder.result("whole"));
    // A complete campaign has nothing left to do.
    let again = folder.run(&resumed(&folder, "parts")).unwrap();
    assert_eq!((again.computed, again.rows), (0, 16));
    assert_eq!(folder.result("parts"), folder.result("whole"));
}

/// A kill in the middle of a write leaves a part of a row, and a power cut a line that was never written.
#[test]
fn a_journal_that_ends_anywhere_is_completed() {
    let folder = Folder::new(CAMPAIGN);
    folder.run(&folder.options("whole")).unwrap();
    let whole = folder.result("whole");
    let stopped = folder.run_with(&folder.options("part"), &mut Stop::after(5));
    assert!(matches!(stopped, Err(CampaignError::Interrupted { .. })));
    let journal = fs::read(folder.path("part").join("journal.jsonl")).unwrap();
    let line = journal.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for end in [0, 1, line / 2, line - 1, line, line + 1, journal.len() - 1] {
        copied(&folder, "part", "cut");
        fs::write(folder.path("cut").join("journal.jsonl"), &journal[..end]).unwrap();
        let mut stop = Stop::never();
        folder
            .run_with(&resumed(&folder, "cut"), &mut stop)
            .unwrap();
        assert_eq!(stop.start.unwrap().damaged, 0, "{end}");
        assert_eq!(folder.result("cut"), whole, "{end}");
    }
    // Blocks that the disk never got are zeros. The row is computed again, and the run says so.
    copied(&folder, "part", "cut");
    let mut damaged = journal.clone();
    damaged[..line - 1].fill(0);
    fs::write(folder.path("cut").join("journal.jsonl"), &damaged).unwrap();
    let mut stop = Stop::never();
    folder
        .run_with(&resumed(&folder, "cut"), &mut stop)
        .unwrap();
    assert_eq!(stop.start.unwrap().damaged, 1);
    assert_eq!(folder.result("cut"), whole);
    // Killed at the very beginning, between the files of the folder, or between the result and the end of the journal.
    copied(&folder, "part", "begun");
    for name in ["campaign.json", "campaign.toml", "facts.jsonl"] {
        fs::remove_file(folder.path("begun").join(name)).unwrap();
    }
    fs::write(folder.path("begun").join("journal.jsonl"), "").unwrap();
    fs::write(folder.path("begun").join("campaign.json.partial"), "{").unwrap();
    folder.run(&resumed(&folder, "begun")).unwrap();
    assert_eq!(folder.result("begun"), whole);
    copied(&folder, "whole", "ended");
    fs::write(folder.path("ended").join("journal.jsonl"), &journal).unwrap();
    fs::write(folder.path("ended").join("rows.csv.partial"), "case,").unwrap();
    folder.run(&resumed(&folder, "ended")).unwrap();
    assert_eq!(folder.result("ended"), whole);
}

#[test]
fn a_folder_has_one_campaign() {
    let folder = Folder::new(CAMPAIGN);
    folder.run(&folder.options("out")).unwrap();
    let again = folder.run(&folder.options("out")).unwrap_err();
    assert!(
        again
            .to_string()
            .ends_with("has the campaign `campaign` already, with 16 rows"),
        "{again}"
    );
    fs::create_dir(folder.path("full")).unwrap();
    // Also a campaign of the user's own, which would be overwritten.
    folder.write("full/campaign.toml", "mine");
    for options in [folder.options("full"), resumed(&folder, "full")] {
        let error = folder.run(&options).unwrap_err();
        assert!(matches!(error, CampaignError::NotEmpty(_)), "{error}");
    }
    // Another process, here another lock.
    let lock = fs::File::open(folder.path("out")).unwrap();
    lock.lock().unwrap();
    let error = folder.run(&resumed(&folder, "out")).unwrap_err();
    assert!(matches!(error, CampaignError::Locked(_)), "{error}");
    let _ = lock.as_fd();
}

#[test]
fn a_campaign_that_only_grows_keeps_its_rows() {
    let folder = Folder::new(CAMPAIGN);
    let stopped = folder.run_with(&folder.options("out"), &mut Stop::after(6));
    assert!(stopped.is_err());
    let grown = CAMPAIGN
        .replace("repetitions = 3", "repetitions = 4")
        .replace("[\"59 B\", \"600 B\"]", "[\"100 B\", \"59 B\", \"600 B\"]");
    folder.write("campaign.toml", &grown);
    let mut stop = Stop::never();
    let outcome = folder
        .run_with(&resumed(&folder, "out"), &mut stop)
        .unwrap();
    let start = stop.start.unwrap();
    assert!(start.is_extended && start.present >= 6, "{start:?}");
    assert_eq!((outcome.rows, outcome.computed), (30, 30 - start.present));
    folder.run(&folder.options("anew")).unwrap();
    assert_eq!(folder.result("out"), folder.result("anew"));
    // From a complete campaign, too.
    folder.write("campaign.toml", &grown.replace("= 4", "= 5"));
    let outcome = folder.run(&resumed(&folder, "out")).unwrap();
    assert_eq!((outcome.rows, outcome.computed), (36, 6));
    // A comment changes nothing.
    folder.write("campaign.toml", &(grown.replace("= 4", "= 5") + "# note\n"));
    let mut stop = Stop::never();
    folder
        .run_with(&resumed(&folder, "out"), &mut stop)
        .unwrap();
    assert!(!stop.start.unwrap().is_extended);
}

#[test]
fn rows_that_would_be_lost_are_counted() {
    let folder = Folder::new(CAMPAIGN);
    folder.run(&folder.options("out")).unwrap();
    let before = folder.result("out");
    let refused = |options: &CampaignRunOptions| {
        let error = folder.run(options).unwrap_err();
        assert_eq!(folder.result("out"), before, "{error}");
        error.to_string()
    };
    let change = |from: &str, to: &str| {
        assert!(CAMPAIGN.contains(from));
        folder.write("campaign.toml", &CAMPAIGN.replace(from, to));
    };
    change("[\"250 us\", \"1 ms\"]", "[\"250 us\"]");
    let options = resumed(&folder, "out");
    assert!(refused(&options).contains("8 of 16 rows"));
    change("repetitions = 3", "repetitions = 2");
    assert!(refused(&options).contains("4 of 16 rows"));
    change("messages = 20", "messages = 21");
    assert!(refused(&options).contains("16 rows of the campaign `campaign`"));
    change("repetitions = 3", "repetitions = 3\nseed = 2");
    assert!(refused(&options).contains("seeds differ"));
    folder.write("campaign.toml", CAMPAIGN);
    folder.write("plant.toml", &SCENARIO.replace("1000]", "1001]"));
    assert!(refused(&options).contains("scenarios"));
    folder.write("plant.toml", SCENARIO);
    let newer = CampaignRunOptions {
        takt: "1.0.1".to_owned(),
        ..options.clone()
    };
    let text = refused(&newer);
    assert!(
        text.contains("16 rows of version 1.0.0 of Takt, and this is 1.0.1"),
        "{text}"
    );
    let shard = CampaignRunOptions {
        shard: "1/2".parse().ok(),
        ..options.clone()
    };
    let text = refused(&shard);
    assert!(
        text.ends_with("has a whole campaign, and this is share 1/2"),
        "{text}"
    );
    // Nothing has changed: nothing is lost.
    assert_eq!(folder.run(&options).unwrap().computed, 0);
    assert_eq!(folder.result("out"), before);
}

const STOP: &str =
    "[stop]\nquantity = \"control.application_round_trip.mean_ns\"\ninterval = \"90%\"\n";

#[test]
fn a_stop_rule_that_excludes_rows_is_refused() {
    let many = CAMPAIGN.replace("repetitions = 3", "repetitions = 6");
    let folder = Folder::new(&many);
    folder.run(&folder.options("out")).unwrap();
    let before = folder.result("out");
    folder.write("campaign.toml", &(many.clone() + STOP));
    let error = folder.run(&resumed(&folder, "out")).unwrap_err();
    let CampaignError::RowsLost { rows, lost, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((rows, lost), (28, 12));
    assert_eq!(folder.result("out"), before);
    // A narrower interval needs all of the rows.
    folder.write("campaign.toml", &(many + &STOP.replace("90%", "0.001%")));
    let outcome = folder.run(&resumed(&folder, "out")).unwrap();
    assert_eq!((outcome.rows, outcome.computed), (28, 0));
}

/// Several jobs leave such rows in the journal of a run that is interrupted.
#[test]
fn rows_behind_the_end_of_the_same_rule_do_not_hinder_growth() {
    let many = CAMPAIGN.replace("repetitions = 3", "repetitions = 6");
    let folder = Folder::new(&many);
    folder.run(&folder.options("all")).unwrap();
    folder.write("campaign.toml", &(many.clone() + STOP));
    let stopped = folder.run_with(&folder.options("out"), &mut Stop::after(1));
    assert!(matches!(stopped, Err(CampaignError::Interrupted { .. })));
    let journal = folder.path("out").join("journal.jsonl");
    fs::copy(folder.path("all").join("rows.jsonl"), journal).unwrap();
    folder.write("campaign.toml", &(many.replace("= 6", "= 7") + STOP));
    let outcome = folder.run(&resumed(&folder, "out")).unwrap();
    assert_eq!((outcome.rows, outcome.computed), (16, 0));
    folder.run(&folder.options("anew")).unwrap();
    assert_eq!(folder.result("out"), folder.result("anew"));
}

#[test]
fn a_changed_histogram_of_a_swept_field_is_refused() {
    let sweep = "[[sweeps]]\nfield = \"nodes.host1.wake_up_latency.histogram\"\n\
                 values = [\"one.csv\"]\n";
    let folder = Folder::new(&(CAMPAIGN.to_owned() + sweep));
    let bins = "2 us,10\n10 us,0\n";
    folder.write("one.csv", bins);
    folder.write("two.csv", bins);
    folder.run(&folder.options("out")).unwrap();
    let rows = folder.result("out")["rows.jsonl"].clone();
    folder.write("one.csv", "2 us,10\n20 us,0\n");
    let error = folder.run(&resumed(&folder, "out")).unwrap_err();
    assert!(
        matches!(error, CampaignError::OtherCampaign { .. }),
        "{error}"
    );
    assert_eq!(folder.result("out")["rows.jsonl"], rows);
    // A further histogram is a further case.
    folder.write("one.csv", bins);
    let grown = CAMPAIGN.to_owned() + &sweep.replace("\"]", "\", \"two.csv\"]");
    folder.write("campaign.toml", &grown);
    let outcome = folder.run(&resumed(&folder, "out")).unwrap();
    assert_eq!((outcome.rows, outcome.computed), (32, 16));
}

/// The file is read with the plan: rows that are computed after a change of it are those of its old contents.
#[test]
fn a_histogram_that_changes_during_a_run_mixes_no_rows() {
    let sweep = "[[sweeps]]\nfield = \"nodes.host1.wake_up_latency.histogram\"\n\
                 values = [\"one.csv\"]\n";
    let folder = Folder::new(&(CAMPAIGN.to_owned() + sweep));
    let bins = "2 us,10\n10 us,0\n";
    let changed = "2 us,10\n20 us,0\n";
    // Also that of the unchanged scenario.
    let node = "[[nodes]]\nname = \"host2\"\nwake_up_latency = { histogram = \"two.csv\" }\n";
    folder.write("one.csv", bins);
    folder.write("two.csv", bins);
    folder.write("plant.toml", &(SCENARIO.to_owned() + node));
    folder.run(&folder.options("before")).unwrap();
    let plan = Arc::new(folder.plan().unwrap());
    folder.write("one.csv", changed);
    folder.write("two.csv", changed);
    let options = folder.options("during");
    run_campaign(&plan, &options, &mut (), &AtomicBool::new(false)).unwrap();
    assert_eq!(folder.result("during"), folder.result("before"));
    folder.run(&folder.options("after")).unwrap();
    let rows = |of: &str| folder.result(of)["rows.jsonl"].clone();
    assert_ne!(rows("after"), rows("before"));
    // Each run tells the contents that it had.
    let digests = |of: &str| {
        let facts = fs::read_to_string(folder.path(of).join("facts.jsonl")).unwrap();
        let began: serde_json::Value = serde_json::from_str(facts.lines().next().unwrap()).unwrap();
        began["histograms"].clone()
    };
    assert_eq!(digests("during"), digests("before"));
    assert_eq!(digests("during").as_object().unwrap().len(), 2);
    for name in ["plant.toml: one.csv", "plant.toml: two.csv"] {
        assert!(digests("during")[name].is_string(), "{name}");
        assert_ne!(digests("during")[name], digests("after")[name], "{name}");
    }
    let error = folder.run(&resumed(&folder, "during")).unwrap_err();
    assert!(
        matches!(error, CampaignError::OtherCampaign { .. }),
        "{error}"
    );
}
