//! The language: types, values and positions of mistakes.

use crate::expression::{
    CellSide, Expression, ExpressionCells, ExpressionValue, KnownNames, Undecided, ValueKind,
};

/// Columns a, b and c; a row of times and one of shares.
struct Cells;

const TIMES: [f64; 3] = [250e3, 500e3, f64::NAN];
const SHARES: [f64; 3] = [0.01, 0.0, 0.02];

impl ExpressionCells for Cells {
    fn quantity(&self, name: &str) -> Result<f64, Undecided> {
        match name {
            "control.round_trip.mean_ns" => Ok(250_808.0),
            _ => Err(Undecided(format!("no {name}"))),
        }
    }

    fn cells(
        &self,
        side: CellSide,
        row: Option<&str>,
        column: Option<&str>,
    ) -> Result<Vec<(String, f64)>, Undecided> {
        if side == CellSide::Paper {
            return Err(Undecided("no paper".to_owned()));
        }
        let values = match row {
            Some("RTT") => TIMES,
            _ => SHARES,
        };
        let all = ["a", "b", "c"].iter().zip(values);
        let all = all.filter(|(name, _)| column.is_none_or(|column| column == **name));
        Ok(all
            .map(|(name, value)| ((*name).to_owned(), value))
            .collect())
    }
}

fn parse(text: &str) -> Result<Expression, (String, std::ops::Range<usize>)> {
    let rows = [
        ("RTT".to_owned(), ValueKind::Time),
        ("loss".to_owned(), ValueKind::Number),
    ];
    let columns = ["a", "b", "c"].map(str::to_owned);
    let known = KnownNames::Cells {
        rows: &rows,
        columns: &columns,
    };
    Expression::parse(text, &known).map_err(|mistake| (mistake.message, mistake.span))
}

fn value(text: &str) -> ExpressionValue {
    parse(text).unwrap().evaluate(&Cells).unwrap()
}

fn holds(text: &str) -> bool {
    match value(text) {
        ExpressionValue::Truth(truth) => truth,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn numbers_and_times_are_computed() {
    for (text, expected) in [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("-2 + 5", 3.0),
        ("1 ms / 250 us", 4.0),
        ("5 %", 0.05),
        ("ours(\"RTT\", \"a\") - 50 us", 200e3),
        ("min(ours(\"loss\"))", 0.0),
        ("max(ours(\"loss\"))", 0.02),
        ("mean(ours(\"loss\"))", 0.01),
        ("spread(ours(\"loss\"))", 0.02),
        ("first(ours(\"loss\"))", 0.01),
        ("last(differences(ours(\"loss\")))", 0.02),
        ("size(without(ours(\"loss\"), \"a\"))", 2.0),
        ("count(ours(\"loss\") > 0)", 2.0),
        ("abs(0 - 3)", 3.0),
    ] {
        let found = value(text).number();
        assert!((found - expected).abs() < 1e-9, "{text}: {found}");
    }
}

#[test]
fn comparisons_hold_or_not() {
    for (text, expected) in [
        ("1 < 2 and 2 <= 2", true),
        ("1 > 2 or not 3 == 3", false),
        ("not (1 > 2)", true),
        ("102 within 2 % of 100", true),
        ("103 within 2 % of 100", false),
        ("251 us within 1 us of 250 us", true),
        ("252 us within 1 us of 250 us", false),
        ("argmin(ours(\"loss\")) == \"b\"", true),
        ("argmax(ours(\"loss\")) != \"b\"", true),
        ("every(ours(\"loss\") < 3 %)", true),
        ("every(ours(\"loss\") < 2 %)", false),
        ("some(ours(\"loss\") == 0)", true),
        ("increasing(only(ours(\"RTT\"), \"a\", \"b\"))", true),
        ("decreasing(only(ours(\"loss\"), \"a\", \"b\"))", true),
        ("nondecreasing(ours(\"loss\"))", false),
        ("every(only(ours(\"loss\"), \"z\") < 1)", false),
    ] {
        assert_eq!(holds(text), expected, "{text}");
    }
}

#[test]
fn no_comparison_with_a_missing_number_holds() {
    // Column c has no round trip.
    for text in [
        "ours(\"RTT\", \"c\") > 0 us",
        "ours(\"RTT\", \"c\") <= 0 us",
        "ours(\"RTT\", \"c\") != 1 us",
        "ours(\"RTT\", \"c\") within 1 s of 0 us",
        "every(ours(\"RTT\") > 0 us)",
        "min(ours(\"RTT\")) < 1 s",
        "increasing(ours(\"RTT\"))",
        "argmin(ours(\"RTT\")) == \"a\"",
    ] {
        assert!(!holds(text), "{text}");
    }
}

#[test]
fn truth_does_not_change_decidability() {
    let undecided = |text: &str| parse(text).unwrap().evaluate(&Cells).unwrap_err().0;
    assert_eq!(
        undecided("1 > 2 and paper(\"loss\", \"a\") > 1"),
        "no paper"
    );
    assert_eq!(undecided("1 < 2 or paper(\"loss\", \"a\") > 1"), "no paper");
}

#[test]
fn mistakes_have_a_place_and_a_reason() {
    for (text, part, reason) in [
        (
            "1 us < 2",
            "1 us < 2",
            "a time cannot be compared with a number",
        ),
        (
            "1 us + 2 < 3",
            "1 us + 2",
            "a time and a number do not fit together",
        ),
        ("1 us * 2 us < 3", "1 us * 2 us", "do not fit together"),
        (
            "ours(\"RTX\", \"a\") > 0",
            "\"RTX\"",
            "there is no row `RTX`; known: RTT, loss",
        ),
        (
            "ours(\"RTT\", \"z\") > 0 us",
            "\"z\"",
            "there is no column `z`; known: a, b, c",
        ),
        ("ours() > 0", "ours()", "name the row"),
        (
            "medium(ours(\"RTT\"))",
            "medium",
            "there is no function `medium`",
        ),
        ("min(1)", "min(1)", "expected one series"),
        (
            "every(1 < 2)",
            "every(1 < 2)",
            "expected one comparison of a series",
        ),
        (
            "ours(\"loss\") < 1 and 1 < 2",
            "ours(\"loss\") < 1",
            "use `every(...)`",
        ),
        (
            "only(ours(\"loss\"), 1) < 1",
            "only(ours(\"loss\"), 1)",
            "names of cells",
        ),
        (
            "1 within ours(\"loss\") of 2",
            "ours(\"loss\")",
            "a tolerance is a share",
        ),
        ("1 within 1 us of 2", "1 us", "a tolerance is a share"),
        ("1 within 5 % 2", "2", "expected `of`"),
        ("1 < 2 3", "3", "has an end before this"),
        ("loss < 1", "loss", "texts are in quotes"),
        ("1 <", "", "expected a value"),
        ("(1 < 2", "", "expected `)`"),
        ("1 ? 2", "?", "has no meaning"),
        ("not \"a\"", "\"a\"", "expected a comparison, not a text"),
        ("\"a\" < \"b\"", "\"a\"", "expected a number, not a text"),
    ] {
        let (message, span) = parse(text).unwrap_err();
        assert!(message.contains(reason), "{text}: {message}");
        assert_eq!(&text[span.clone()], part, "{text}: {message}");
        if part.is_empty() {
            assert_eq!(span.start, text.len(), "{text}");
        }
    }
    // Brackets of a file must not exhaust the stack.
    let deep = format!("{}1{} < 2", "(".repeat(140), ")".repeat(140));
    assert!(
        parse(&deep)
            .unwrap_err()
            .0
            .contains("less than 60 brackets")
    );
    let long = format!("1{} < 2", " + 1".repeat(100_000));
    assert!(parse(&long).unwrap_err().0.contains("at most 300"));
    assert!(holds(&format!("1{} < 149", " + 1".repeat(147))));
    assert!(parse(&"-".repeat(100_000)).is_err());
    assert!(parse(&"not ".repeat(100_000)).is_err());
}

#[test]
fn quantities_have_types() {
    let known = KnownNames::Quantities;
    let parse = |text: &str| Expression::parse(text, &known);
    let time = parse("control.round_trip.mean_ns - 808 ns").unwrap();
    assert_eq!(time.result().kind, ValueKind::Time);
    assert_eq!(time.evaluate(&Cells).unwrap().number(), 250_000.0);
    let share = parse("`a b.messages.lost` / control.messages.published").unwrap();
    assert_eq!(share.result().kind, ValueKind::Number);
    assert_eq!(
        share.evaluate(&Cells).unwrap_err().0,
        "no a b.messages.lost"
    );
    assert!(parse("lost").unwrap_err().message.contains("no quantity"));
    assert!(parse("ours(\"a\")").is_err());
}
