//! Other middleware that goals compare Takt with.

use crate::condition::Condition;
use crate::row::{MiddlewareRow, Subject};

/// Option of peers that look for messages without sleep.
pub(crate) const POLL: &str = " poll=true";

/// Returns the fastest other middleware in the same case: no floor, and not Takt through shared memory. If `polls` is true, peers that
/// can poll do so.
pub(crate) fn fastest_other<'a>(
    subjects: &[Subject],
    rows: &'a [MiddlewareRow],
    row: &MiddlewareRow,
    polls: bool,
) -> Option<&'a MiddlewareRow> {
    let is_other = |other: &&MiddlewareRow| {
        let subject = subjects.iter().find(|it| it.label == other.peer);
        let is_other = subject.is_some_and(|it| {
            let is_own_memory = !it.is_networked && it.label.starts_with("takt-");
            !it.is_floor && !is_own_memory
        });
        is_other
            && other.key() == row.key()
            && other.is_right()
            && (polls || !other.peer.contains(POLL))
    };
    // Rows have the fastest peer first.
    rows.iter().find(is_other)
}

/// Returns Takt's fastest resting round trip through a network, and that of the fastest other middleware. Those that poll are compared
/// with each other.
pub(crate) fn shortest_rest<'a>(
    subjects: &[Subject],
    rows: &'a [MiddlewareRow],
    polls: bool,
) -> Option<[&'a MiddlewareRow; 2]> {
    let is_compared = |row: &&MiddlewareRow| {
        let subject = subjects.iter().find(|it| it.label == row.peer);
        let is_middleware = subject.is_some_and(|it| it.is_networked && !it.is_floor);
        is_middleware
            && row.condition == Condition::Resting
            && row.is_right()
            && row.peer.contains(POLL) == polls
    };
    // Rows have the fastest peer first.
    let mut takt = rows.iter().filter(is_compared);
    let mut others = rows.iter().filter(is_compared);
    let is_takt = |row: &&MiddlewareRow| row.peer.starts_with("takt-");
    Some([takt.find(is_takt)?, others.find(|row| !is_takt(row))?])
}

/// Returns true if the fastest other middleware in the case of a row is known: some foreign middleware was measured in it, and each
/// variant of required foreign peers. `is_other` chooses the variants that the goal is about.
pub(crate) fn are_measured<'a>(
    subjects: impl Iterator<Item = &'a Subject>,
    rows: &[MiddlewareRow],
    row: &MiddlewareRow,
    is_other: &dyn Fn(&Subject) -> bool,
) -> bool {
    let is_measured = |subject: &Subject| {
        let mut rows = rows.iter();
        rows.any(|it| it.peer == subject.label && it.key() == row.key())
    };
    let mut is_any = false;
    for subject in subjects.filter(|it| is_foreign(it) && is_other(it)) {
        match (is_measured(subject), subject.required) {
            (true, _) => is_any = true,
            (false, true) => return false,
            (false, false) => {}
        }
    }
    is_any
}

/// Returns true for a variant of middleware that is not Takt.
fn is_foreign(subject: &Subject) -> bool {
    !subject.is_floor && !subject.label.starts_with("takt-")
}
