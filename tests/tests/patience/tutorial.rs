//! The program that `./run` builds: tutorial and README work when their commands are run from a clean clone.

use takt_tests::Sandbox;

#[test]
fn the_tutorial_works_from_a_clean_clone() {
    takt_tests::tutorial::run("docs/tutorial.md");
}

#[test]
fn the_readme_works_from_a_clean_clone() {
    takt_tests::tutorial::run("README.md");
}

#[test]
fn parquet_is_refused_without_its_feature() {
    let sandbox = Sandbox::new();
    for command in ["analyze", "report"] {
        let output = sandbox.takt(&[command, ".", "--parquet", "x"]).output();
        let said = String::from_utf8(output.unwrap().stderr).unwrap();
        assert!(said.contains("unexpected argument '--parquet'"), "{said}");
    }
}
