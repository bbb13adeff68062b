//! The tutorial works when its commands are run from a clean clone.

#[test]
fn the_tutorial_works_from_a_clean_clone() {
    takt_tests::tutorial::run("docs/tutorial.md");
}
