//! Links on separate network interfaces: `opc.eth`, and links whose interfaces go down, vanish and come back.
//!
//! Each test runs on a thread with its own network namespace, in which it creates a pair of virtual Ethernet
//! interfaces. Both vanish with the thread.

#[path = "../../../../crates/takt-link/tests/it/common/mod.rs"]
mod common;
#[path = "../../../../crates/takt-link/tests/it/counting.rs"]
mod counting;
mod ethernet;
mod namespace;
mod udp;

use takt_tests::privileged::Test;

/// A namespace with a pair of interfaces.
const NETWORKS: &[&str] = &[
    "unshare", "--net", "ip", "link", "add", "takt0", "type", "veth", "peer", "name", "takt1",
];

macro_rules! with_networks {
    ($($module:ident :: $name:ident),* $(,)?) => {
        [$(Test {
            name: concat!(stringify!($module), "::", stringify!($name)),
            needs: NETWORKS,
            run: || namespace::run($module::$name),
        }),*]
    };
}

pub(crate) fn tests() -> Vec<Test> {
    with_networks![
        ethernet::multicast_frames,
        ethernet::tagged_frames,
        ethernet::unicast_frames,
        ethernet::tags_are_on_the_wire_as_in_the_standard,
        ethernet::frames_of_other_networks_are_left_alone,
        ethernet::frames_for_which_there_was_no_room_are_counted,
        ethernet::frames_have_the_time_of_their_reception,
        ethernet::frames_with_launch_times,
        ethernet::refused_frames_are_counted,
        ethernet::messages_are_sent_without_allocation,
        ethernet::few_messages_wait_at_a_slow_port,
        ethernet::chunks_wait_together_at_a_slow_port,
        ethernet::a_link_that_goes_down_comes_back,
        ethernet::an_interface_that_vanishes_comes_back,
        udp::multicast_is_looped_back_if_that_is_wanted,
        udp::refused_messages_with_a_launch_time_are_counted,
        udp::a_link_that_goes_down_comes_back,
        udp::a_link_without_a_route_is_opened_and_comes_up,
        udp::an_interface_that_vanishes_comes_back,
    ]
    .to_vec()
}
