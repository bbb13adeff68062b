//! `takt publish SCENARIO` and `takt loopback` over Ethernet, and `takt tsn` on the kernel of this machine.
//!
//! Each test makes network namespaces of its own, which vanish with the processes that hold them.

mod by_hand;
mod ends;
mod tsn;
mod wire;

use std::time::Duration;

use takt_tests::network::NETWORKS;
use takt_tests::privileged::Test;

/// Time limit of required events, long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

macro_rules! with_networks {
    ($($module:ident :: $name:ident),* $(,)?) => {
        [$(Test {
            name: concat!(stringify!($module), "::", stringify!($name)),
            needs: NETWORKS,
            run: $module::$name,
        }),*]
    };
}

pub(crate) fn tests() -> Vec<Test> {
    with_networks![
        by_hand::traces_of_one_run_are_collected,
        by_hand::traces_of_two_runs_are_refused,
        ends::counters_come_back_in_order,
        ends::an_interrupted_loop_has_a_result,
        ends::killed_ends_leave_nothing_behind,
        ends::a_missing_interface_is_explained,
        wire::frames_have_the_tag_and_the_length_of_the_scenario,
        wire::frames_have_the_messages_of_udp,
        tsn::a_missing_discipline_is_explained_and_the_earlier_state_restored,
        tsn::nothing_is_cleared_that_was_not_applied,
        tsn::classes_are_shown,
    ]
    .to_vec()
}
