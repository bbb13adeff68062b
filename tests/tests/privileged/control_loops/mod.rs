//! `takt publish SCENARIO` and `takt loopback` over Ethernet, and `takt tsn` on the kernel of this machine.
//!
//! Each test makes network namespaces of its own, which vanish with the processes that hold them.

mod by_hand;
mod configured;
mod ends;
mod launch;
mod sending;
mod strays;
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
        configured::a_group_has_launch_times_only_at_a_port_that_keeps_them,
        configured::few_messages_of_a_real_time_group_wait_in_the_kernel,
        configured::received_messages_have_the_time_of_the_kernel,
        launch::a_port_without_etf_is_refused,
        launch::the_commands_are_named_if_no_scenario_has_them,
        launch::force_sends_with_a_warning,
        launch::etf_of_the_class_is_accepted_and_of_another_one_is_not,
        sending::a_message_that_the_port_drops_is_counted_once,
        sending::no_message_waits_for_a_newer_one,
        sending::few_messages_wait_in_the_kernel,
        strays::another_vlan_is_named,
        strays::another_group_of_ethernet_is_named,
        strays::another_number_of_fields_is_no_torn_data,
        strays::another_writer_group_is_named,
        strays::another_application_elsewhere_is_no_error,
        wire::frames_have_the_tag_and_the_length_of_the_scenario,
        wire::frames_have_the_messages_of_udp,
        tsn::a_missing_discipline_is_explained_and_the_earlier_state_restored,
        tsn::nothing_is_cleared_that_was_not_applied,
        tsn::classes_are_shown,
    ]
    .to_vec()
}
