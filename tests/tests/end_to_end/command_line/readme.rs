//! README's commands, and the outputs that it shows.

#[test]
fn the_readme_shows_what_its_commands_print() {
    takt_tests::tutorial::run_built("README.md");
}
