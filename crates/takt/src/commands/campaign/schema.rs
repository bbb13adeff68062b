//! `takt campaign schema`.

use crate::output;

pub(super) fn run() {
    output::lines(format!("{:#}", takt_scenario::campaign_schema()).lines());
}
