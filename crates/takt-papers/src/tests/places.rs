//! Mistakes in files of elements: line and column.

use std::path::Path;

use crate::element::PaperElement;
use crate::error::PaperError;

const FILE: &str = r#"version = 1
place = "Table 1"
title = "Title"
source = "section 1"
campaigns = ["../../../../scenarios/campaigns/line-load.toml"]
heading = "load"
columns = [
    { name = "a", where = { "topology.hops" = 1 } },
    { name = "b" },
]

[[rows]]
name = "RTT"
unit = "us"
value = "control.round_trip.mean_ns"
paper = [250, "N/A"]

[[rows]]
name = "more"
unit = "us"
cells = 'ours("RTT") + 1 us'

[[findings]]
name = "one"
claim = "A claim."
holds = '''
ours("RTT", "a") < 1 ms
and ours("RTT", "b") < 1 ms
'''
expect = "reproduced"
"#;

/// Reads the file with one change, and returns line, column and message of its mistake.
fn mistake(from: &str, to: &str) -> (usize, usize, String) {
    assert_eq!(FILE.matches(from).count(), 1, "{from}");
    match read(&FILE.replace(from, to)) {
        Err(PaperError::File { error, .. }) => {
            let first = error.mistakes.first().unwrap();
            (first.line, first.column, first.message.clone())
        }
        other => panic!("{to}: {other:?}"),
    }
}

fn read(text: &str) -> Result<PaperElement, PaperError> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/element.toml");
    PaperElement::parse(text.to_owned(), &path, "P")
}

#[test]
fn mistakes_have_line_and_column() {
    assert_eq!(read(FILE).unwrap().rows.len(), 2);
    for (from, to, line, column, reason) in [
        // In expressions: of one line, and of several ones.
        (
            "\"control.round_trip.mean_ns\"",
            "\"control.round_trip.mean_ns + 1\"",
            15,
            10,
            "do not fit",
        ),
        (
            "'ours(\"RTT\") + 1 us'",
            "'ours(\"RTX\") + 1 us'",
            21,
            15,
            "there is no row `RTX`",
        ),
        (
            "\"b\") < 1 ms",
            "\"z\") < 1 ms",
            28,
            17,
            "there is no column `z`",
        ),
        (
            "and ours(\"RTT\", \"b\") < 1 ms",
            "and ours(\"RTT\") < 1 ms",
            28,
            5,
            "use `every(...)`",
        ),
        // Of the file.
        ("version = 1", "version = 2", 1, 11, "reads version 1"),
        ("line-load", "no-load", 5, 14, "there is no campaign"),
        (
            "{ name = \"b\" }",
            "{ name = \"a\" }",
            9,
            14,
            "`a` occurs twice",
        ),
        (
            "name = \"more\"",
            "name = \"RTT\"",
            19,
            8,
            "`RTT` occurs twice",
        ),
        ("[250, \"N/A\"]", "[250]", 16, 9, "expected 2 figures"),
        (
            "cells = 'ours",
            "other = 'ours",
            21,
            1,
            "unknown field `other`",
        ),
        (
            "expect = \"reproduced\"",
            "expect = \"perhaps\"",
            30,
            10,
            "unknown variant",
        ),
        (
            "expect = \"reproduced\"",
            "expect = \"not-reproduced\"",
            30,
            10,
            "needs a `reason`",
        ),
        (
            "expect = \"reproduced\"",
            "expect = \"fitted\"",
            30,
            10,
            "`fitted` tells",
        ),
        (
            "expect = \"reproduced\"",
            "expect = \"reproduced\"\nfitted = \"x\"",
            30,
            10,
            "never reproduced",
        ),
        (
            "expect = \"reproduced\"",
            "expect = \"not-decidable\"\nreason = \"x\"",
            30,
            10,
            "has no `holds`",
        ),
        (
            "paper = [250",
            "decimals = 99999\npaper = [250",
            16,
            12,
            "from 0 to 15",
        ),
        (
            "heading = \"load\"",
            "heading = \"load\"\nquick = { messages = 0 }",
            7,
            9,
            "at least one message",
        ),
        (
            "expect = \"reproduced\"",
            "expect = \"reproduced\"\n[[charts]]\ntitle = \"t\"\nrows = [\"RTT\"]\naxis = \"a\"\nfrom = nan",
            35,
            8,
            "expected a finite number",
        ),
        (
            "expect = \"reproduced\"",
            "expect = \"reproduced\"\n[[pictures]]\ntitle = \"t\"\ntraces = []\nrange = [2.0, 1.0]",
            34,
            9,
            "the smaller one first",
        ),
        (
            "unit = \"us\"\nvalue",
            "unit = \"%\"\nvalue",
            15,
            9,
            "the row has no unit of time",
        ),
    ] {
        let (found_line, found_column, message) = mistake(from, to);
        assert!(message.contains(reason), "{to}: {message}");
        assert_eq!(
            (found_line, found_column),
            (line, column),
            "{to}: {message}"
        );
    }
}

#[test]
fn a_truth_is_needed() {
    let text = FILE.replace(
        "ours(\"RTT\", \"a\") < 1 ms\nand ours(\"RTT\", \"b\") < 1 ms\n",
        "1 + 2",
    );
    match read(&text) {
        Err(PaperError::File { error, .. }) => {
            assert!(
                error
                    .to_string()
                    .contains("a finding is true or false, and this is a number")
            );
        }
        other => panic!("{other:?}"),
    }
}
