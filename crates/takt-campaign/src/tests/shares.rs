//! Shares, and all of them together.

use std::fs;
use std::path::PathBuf;

use crate::{CampaignError, CampaignRunOptions, MergeFlaw, Shard, merge_shards};

use super::folder::{CAMPAIGN, Folder};

fn shares(folder: &Folder, of: u32) -> Vec<PathBuf> {
    (1..=of)
        .map(|number| {
            let name = format!("share{number}");
            folder.share(number, of, &name);
            folder.path(&name)
        })
        .collect()
}

fn flaw(directories: &[PathBuf], folder: &Folder) -> MergeFlaw {
    match merge_shards(directories, &folder.path("merged")) {
        Err(CampaignError::NotMerged(flaw)) => flaw,
        other => panic!("{other:?}"),
    }
}

/// More shares than pairs of case and backend: some are empty.
#[test]
fn sixteen_shares_are_what_one_run_writes() {
    let stop = "[stop]\nquantity = \"control.application_round_trip.mean_ns\"\ninterval = \"5%\"\n";
    let campaign = CAMPAIGN.replace("repetitions = 3", "repetitions = 12") + stop;
    let folder = Folder::new(&campaign);
    let outcome = folder.run(&folder.options("whole")).unwrap();
    let mut directories = shares(&folder, 16);
    directories.reverse();
    let rows = merge_shards(&directories, &folder.path("merged")).unwrap();
    assert_eq!(rows, outcome.rows);
    assert_eq!(folder.result("merged"), folder.result("whole"));
    let facts = fs::read_to_string(folder.path("merged").join("facts.jsonl")).unwrap();
    let began = facts.lines().filter(|line| line.contains("\"began\""));
    assert_eq!(began.count(), 16);
    let again = merge_shards(&directories, &folder.path("merged")).unwrap_err();
    assert!(matches!(again, CampaignError::Occupied { .. }), "{again}");
    // Merged rows are a campaign that goes on.
    let options = CampaignRunOptions {
        resume: true,
        ..folder.options("merged")
    };
    assert_eq!(folder.run(&options).unwrap().computed, 0);
}

#[test]
fn shares_that_do_not_fit_are_named() {
    let folder = Folder::new(CAMPAIGN);
    let all = shares(&folder, 3);
    let missing = flaw(&all[..1], &folder);
    let expected = [2, 3].map(|number| Shard { number, of: 3 });
    assert_eq!(missing, MergeFlaw::Missing(expected.to_vec()));
    assert_eq!(missing.to_string(), "shares are missing: 2/3, 3/3");
    let twice = [all[0].clone(), all[0].clone()];
    assert!(matches!(flaw(&twice, &folder), MergeFlaw::Twice(..)));
    folder.run(&folder.options("whole")).unwrap();
    let whole = flaw(&[folder.path("whole")], &folder);
    assert!(matches!(whole, MergeFlaw::Whole(_)));
    // Another number of shares, and another campaign.
    folder.share(3, 4, "other");
    let mixed = [all[0].clone(), all[1].clone(), folder.path("other")];
    assert!(matches!(flaw(&mixed, &folder), MergeFlaw::Different(..)));
    folder.write(
        "campaign.toml",
        &CAMPAIGN.replace("messages = 20", "messages = 21"),
    );
    folder.share(3, 3, "changed");
    let mixed = [all[0].clone(), all[1].clone(), folder.path("changed")];
    assert!(matches!(flaw(&mixed, &folder), MergeFlaw::Different(..)));
    // One that was killed.
    fs::write(all[2].join("journal.jsonl"), "").unwrap();
    let error = merge_shards(&all, &folder.path("merged")).unwrap_err();
    assert!(matches!(error, CampaignError::Incomplete(_)), "{error}");
    fs::remove_file(all[2].join("journal.jsonl")).unwrap();
    // One whose rows were cut off.
    let rows = all[2].join("rows.jsonl");
    let text = fs::read_to_string(&rows).unwrap();
    let first = text.split_inclusive('\n').next().unwrap();
    fs::write(&rows, first).unwrap();
    let error = merge_shards(&all, &folder.path("merged")).unwrap_err();
    assert!(matches!(error, CampaignError::Damaged { .. }), "{error}");
    assert!(!folder.path("merged").exists(), "no part of a result");
    fs::write(&rows, text).unwrap();
    merge_shards(&all, &folder.path("merged")).unwrap();
}

#[test]
fn a_few_of_many_missing_shares_are_named() {
    let missing = (2..=100).map(|number| Shard { number, of: 100 });
    let text = MergeFlaw::Missing(missing.collect()).to_string();
    assert!(text.ends_with("8/100, 9/100 and 91 more"), "{text}");
}
