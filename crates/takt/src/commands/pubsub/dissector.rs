//! `takt pubsub dissector`: UADP for Wireshark.

use crate::output;

pub fn run() {
    output::line(takt_wire::lua_dissector().trim_end());
}
