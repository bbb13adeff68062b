//! `takt pubsub dissector`: UADP for Wireshark.

use crate::output;

pub fn run() {
    output::lines(takt_wire::lua_dissector().lines());
}
