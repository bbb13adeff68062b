//! Effort of runs, as options tell it.

use takt_papers::PaperEffort;

/// Returns the effort that two options ask for.
pub(super) fn effort(quick: bool, messages: Option<u64>) -> PaperEffort {
    match (quick, messages) {
        (true, _) => PaperEffort::Quick,
        (false, Some(messages)) => PaperEffort::Messages(messages),
        (false, None) => PaperEffort::Full,
    }
}
