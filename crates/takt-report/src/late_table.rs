//! Table of the longest delays during which a thread was late, with the causes.

use takt_figures::{Column, Table};

use crate::comparison::{ComparedApplication, RoundTripKind, worst_during};

/// Greatest number of rows.
const ROWS: usize = 10;

/// Greatest number of causes in a row.
const CAUSES: usize = 4;

/// Returns the table of a kind of round trip: the longest ones during which a thread was late, and the number of all of these.
pub(crate) fn of(application: &ComparedApplication, kind: RoundTripKind) -> Option<(Table, usize)> {
    let delays = application.round_trip(kind).delay.longest.iter();
    let late = delays.filter_map(|delay| {
        let late = worst_during(&application.late_wake_ups, delay)?;
        Some((delay, late))
    });
    let late: Vec<_> = late.collect();
    if late.is_empty() {
        return None;
    }
    let columns = [
        Column::number("time").unit("ms"),
        Column::number("round trip").unit("\u{b5}s"),
        Column::text("late thread"),
        Column::number("late").unit("\u{b5}s"),
        Column::text("causes, \u{b5}s"),
    ];
    let mut table = Table::new(columns);
    for (delay, late) in late.iter().take(ROWS) {
        let since = application.since_the_first(delay) as f64 / 1e6;
        table.row([
            format!("{since:.1}"),
            format!("{:.1}", delay.nanos as f64 / 1e3),
            late.end.to_owned(),
            format!("{:.1}", late.wake_up.nanos as f64 / 1e3),
            late.wake_up.causes_text(CAUSES),
        ]);
    }
    Some((table, late.len()))
}

/// Returns a line about the late wake-ups in the traces of an application; `None` without any.
pub(crate) fn line(application: &ComparedApplication) -> Option<String> {
    let count = |end: &str| {
        let all = application.late_wake_ups.iter();
        all.filter(|it| it.end == end).count()
    };
    let [publisher, loopback] = ["publisher", "loopback"].map(count);
    (publisher + loopback > 0).then(|| {
        format!(
            "The traces have the causes of {publisher} late wake-ups of the Publisher and {loopback} of the loopback, the worst ones."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{LongDelay, application_for_tests, late_for_tests};

    #[test]
    fn rows_have_the_causes_of_the_longest_delays() {
        let mut application = application_for_tests();
        application.began.system = Some(0);
        assert!(of(&application, RoundTripKind::Application).is_none());
        assert_eq!(line(&application), None);
        let delay = |number: i64| LongDelay {
            nanos: 900_000 - number,
            began: number * 1_000_000,
            counter: 0,
            is_of_card: false,
        };
        let [_, trip] = &mut application.round_trips;
        trip.delay.longest = (0..20).map(delay).collect();
        let late = (4..20)
            .map(|number| late_for_tests("loopback", number * 1_000_000 + 5, 300_000, "softirq"));
        application.late_wake_ups = late.collect();
        let found = of(&application, RoundTripKind::Application);
        let lines = found.map(|(table, count)| (table.lines(None).join("\n"), count));
        let (lines, count) = lines.unwrap_or_default();
        assert_eq!(count, 16, "{lines}");
        assert_eq!(lines.matches("softirq x 300.0").count(), ROWS, "{lines}");
        assert!(lines.contains("\n 4.0  900.0"), "{lines}");
        assert!(!lines.contains("\n 3.0  "), "{lines}");
        assert!(of(&application, RoundTripKind::Wire).is_none());
        let line = line(&application).unwrap_or_default();
        assert!(line.contains("16 of the loopback"), "{line}");
    }
}
