//! Mistakes of machine builders: each is an error or a warning that names table, entry and key.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use super::*;
use crate::configuration::from_toml;

/// Files without a mistake.
const PUBLISHER: &str = include_str!("publisher.toml");
const SUBSCRIBER: &str = include_str!("subscriber.toml");
const BROKER: &str = include_str!("broker.toml");

fn checked(text: &str) -> Vec<ConfigurationMistake> {
    check(&from_toml(text).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

/// Returns the lines of a block that begin with this sign.
fn lines(block: &str, sign: char) -> String {
    let lines = block.lines().filter_map(|line| line.strip_prefix(sign));
    let lines: Vec<&str> = lines
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    lines.join("\n")
}

/// Makes each mistake of a list in a file, and checks that it is found at its place. Returns their number.
fn find_each(base: &str, mistakes: &str) -> usize {
    assert_eq!(checked(base), [], "{base}");
    let blocks = mistakes
        .split("\n\n")
        .filter(|block| !block.starts_with('#'));
    let mut count = 0;
    for block in blocks {
        let (from, to) = (lines(block, '-'), lines(block, '+'));
        assert_eq!(base.matches(&from).count(), 1, "{block}");
        let (severity, place) = block.lines().next().unwrap().split_once(' ').unwrap();
        let severity = match severity {
            "error" => MistakeSeverity::Error,
            _ => MistakeSeverity::Warning,
        };
        let place: Vec<&str> = place.split(" | ").collect();
        let found = checked(&base.replace(&from, &to));
        let text = |text: &str| if text.is_empty() { "-" } else { text }.to_owned();
        let fits = found.iter().find(|it| {
            let shown = [
                text(it.table),
                text(&mistake::escaped(&it.entry)),
                text(it.key),
            ];
            it.severity == severity && shown == *place
        });
        let Some(mistake) = fits else {
            panic!("{block}\n\nis not in {found:#?}");
        };
        assert!(!mistake.what.is_empty() && !mistake.fix.is_empty());
        let shown = mistake.to_string();
        let parts = place.iter().filter(|part| **part != "-");
        assert!(parts.clone().all(|part| shown.contains(part)), "{shown}");
        count += 1;
    }
    count
}

#[test]
fn mistakes_of_publishers_are_found() {
    assert_eq!(
        find_each(PUBLISHER, include_str!("publisher_mistakes.txt")),
        94
    );
}

#[test]
fn mistakes_of_subscribers_are_found() {
    assert_eq!(
        find_each(SUBSCRIBER, include_str!("subscriber_mistakes.txt")),
        31
    );
}

#[test]
fn mistakes_with_a_broker_are_found() {
    assert_eq!(find_each(BROKER, include_str!("broker_mistakes.txt")), 21);
}

#[test]
fn the_timeout_of_a_reader_is_longer_than_the_pause_of_its_writer() {
    let both = format!(
        "{PUBLISHER}{}",
        SUBSCRIBER
            .replace(
                "namespaces = [\"http://opcfoundation.org/UA/\", \"urn:plant\"]",
                ""
            )
            .replace(
                "publisher_id = 5\nwriter_group_id = 1",
                "publisher_id = { UInt64 = 5 }\nwriter_group_id = 1"
            )
            .replace(
                "message_receive_timeout = \"250ms\"",
                "message_receive_timeout = \"100ms\""
            )
    );
    let found = checked(&both);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].key, "message_receive_timeout");
}

/// In the standard, each negative number of these stands for a parameter that is not configured.
#[test]
fn offsets_that_are_not_configured_are_no_mistakes() {
    for none in ["-1", "-0.5", "-3600000"] {
        let uadp = format!("\nuadp = {{ publishing_offset = [{none}], sampling_offset = {none} }}");
        let interval = "publishing_interval = \"10ms\"";
        let hint = format!("name = \"Force\"\nsampling_interval_hint = {none}");
        let publisher = PUBLISHER
            .replace(interval, &format!("{interval}{uadp}"))
            .replace("name = \"Force\"", &hint);
        assert_eq!(checked(&publisher), []);
        let timeout = "message_receive_timeout = \"250ms\"";
        let uadp = format!(
            "\nuadp = {{ publishing_interval = \"10ms\", receive_offset = {none}, processing_offset = {none} }}"
        );
        let subscriber = SUBSCRIBER.replace(timeout, &format!("{timeout}{uadp}"));
        assert_eq!(checked(&subscriber), []);
    }
}

#[test]
fn a_group_of_the_same_publisher_at_another_address_is_a_warning() {
    let other = PUBLISHER.split_once("[[connections]]").unwrap().1;
    let other = other
        .replace("239.0.0.1", "239.0.0.2")
        .replace("name = \"Out\"", "name = \"Spare\"");
    let found = checked(&format!("{PUBLISHER}[[connections]]{other}"));
    assert_eq!(found.len(), 4, "{found:#?}");
    let is_warning = |mistake: &ConfigurationMistake| mistake.severity == MistakeSeverity::Warning;
    assert!(found.iter().all(is_warning), "{found:#?}");
}

/// Chunks name their DataSetWriter in the PayloadHeader.
#[test]
fn a_long_message_without_a_payload_header_is_an_error() {
    let long = PUBLISHER.replace("Float[6]", "Float[20000]").replace(
        "publishing_interval = \"10ms\"",
        "publishing_interval = \"10ms\"\nheader_layout = \"UADP-Periodic-Fixed\"",
    );
    let found = checked(&long);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(
        (found[0].severity, found[0].key),
        (MistakeSeverity::Error, "max_network_message_size")
    );
}

/// A terminal or a shell that shows a mistake gets no command from the file.
#[test]
fn texts_of_the_file_are_escaped() {
    let bad = PUBLISHER.replace(
        "name = \"Oven\"\nfields",
        "name = \"Ov\\u001B]0;x\\u0007\\u202Een\\r\"\nfields",
    );
    let found = checked(&bad);
    assert!(!found.is_empty());
    for mistake in found {
        let text = mistake.to_string();
        assert!(!text.chars().any(mistake::commands), "{text:?}");
    }
}

#[test]
fn a_start_is_refused_for_errors_only() {
    let configuration = |text: &str| from_toml(text).unwrap().configuration;
    assert_eq!(refuse(&configuration(PUBLISHER)), Ok(()));
    let warned = PUBLISHER.replace("keep_alive_time = \"100ms\"", "keep_alive_time = \"5ms\"");
    assert_eq!(refuse(&configuration(&warned)), Ok(()));
    let clear = PUBLISHER.replace(
        "keep_alive_time = \"100ms\"",
        "security_group_id = \"Plant\"",
    );
    assert_eq!(
        refuse(&configuration(&clear)).unwrap_err().key,
        "security_mode"
    );
}

#[test]
fn the_examples_have_no_mistake() {
    for example in [
        include_str!("../../../../../examples/pubsub/publisher.toml"),
        include_str!("../../../../../examples/pubsub/subscriber.toml"),
        include_str!("../../../../../examples/mixer_publisher.toml"),
    ] {
        assert_eq!(checked(example), []);
    }
}
