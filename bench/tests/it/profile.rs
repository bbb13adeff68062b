//! Marks of results in builds of another profile than `release`.

use crate::support;

#[test]
fn results_of_another_build_than_a_release_build_are_marked() {
    let profile = takt_profile::other_profile();
    let arguments = ["--samples", "20", "--only", "in-process"];
    let output = support::bench("transport", &arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let marks = text.matches("NOT A RELEASE BUILD").count();
    let rows = support::objects(support::bench(
        "transport",
        &[&arguments[..], &["--json"]].concat(),
    ));
    assert!(!rows.is_empty());
    // One mark at the beginning, and one behind each table.
    assert_eq!(marks >= 2, profile.is_some(), "{text}");
    for row in rows {
        assert_eq!(row["profile"].as_str(), profile, "{row}");
    }
}

#[test]
fn a_test_is_no_release_build_unless_it_is_one() {
    let profile = takt_profile::PROFILE;
    assert!(!profile.is_empty() && !profile.contains('/'), "{profile}");
    let is_marked = takt_profile::mark().is_some_and(|mark| mark.contains(profile));
    assert_eq!(is_marked, profile != "release");
    assert!(is_marked || !cfg!(debug_assertions), "{profile}");
}
