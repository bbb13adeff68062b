use super::*;

fn table() -> Table {
    let mut table = Table::new([
        Column::text("flow"),
        Column::number("delay").unit("µs"),
        Column::number("jitter").unit("µs"),
        Column::text("reason"),
    ]);
    table.row(["control (round trip)", "954.123", "0.5", ""]);
    table.row([
        "video",
        "infinite",
        "1.25",
        "100 % too much at bridge1 → bridge2",
    ]);
    table
}

#[test]
fn columns_stand_below_their_headings() {
    assert_eq!(
        table().lines(None),
        [
            "                         delay  jitter",
            "flow                      (µs)    (µs)  reason",
            "control (round trip)   954.123     0.5",
            "video                 infinite    1.25  100 % too much at bridge1 → bridge2",
        ]
    );
}

#[test]
fn texts_are_wrapped_in_narrow_columns() {
    let lines = table().lines(Some(55));
    assert_eq!(
        lines,
        [
            "                       delay  jitter",
            "flow                    (µs)    (µs)  reason",
            "control (round       954.123     0.5",
            "trip)",
            "video               infinite    1.25  100 % too much at",
            "                                      bridge1 → bridge2",
        ]
    );
    for width in 45..80 {
        for line in table().lines(Some(width)) {
            assert!(length(&line) <= width, "{width}: {line}");
        }
    }
}

#[test]
fn columns_without_room_go_into_further_blocks() {
    let numbers = |group: &str| ["M1", "M2"].map(|name| Column::number(name).group(group));
    let columns = [
        vec![Column::text("subject")],
        numbers("min").into(),
        numbers("max").into(),
    ];
    let mut table = Table::new(columns.concat());
    table.text("section");
    table.row(["takt", "1.000", "2.000", "30.000", "4.000"]);
    assert_eq!(
        table.lines(None),
        [
            "         ─── min ────  ──── max ────",
            "subject     M1     M2      M1     M2",
            "section",
            "takt     1.000  2.000  30.000  4.000",
        ]
    );
    assert_eq!(
        table.lines(Some(24)),
        [
            "         ─── min ────",
            "subject     M1     M2",
            "section",
            "takt     1.000  2.000",
            "",
            "         ──── max ────",
            "subject      M1     M2",
            "takt     30.000  4.000",
        ]
    );
}

#[test]
fn rows_can_come_after_the_heading() {
    let table = Table::new([
        Column::text("attack").at_least(8),
        Column::number("p99").unit("ms").at_least(6),
    ]);
    let layout = table.layout(None);
    assert_eq!(layout.head(), ["             p99", "attack      (ms)"]);
    assert_eq!(layout.row(["browse", "1.5"]), ["browse       1.5"]);
}

#[test]
fn words_longer_than_a_line_are_broken() {
    assert_eq!(wrapped("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
    assert_eq!(wrapped("  one two", 5), ["  one", "  two"]);
    assert_eq!(wrapped("", 5), [""]);
    assert_eq!(wrapped("äöü", 0), ["ä", "ö", "ü"]);
}
