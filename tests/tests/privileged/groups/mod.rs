//! Applications of different users that share within a Unix group, and users without access.
//!
//! The numbers of users and groups are unused; the users and groups need not exist.

mod containers;
mod keys;
mod loopback;
mod members;
mod names;
mod presence;
mod roles;
mod shared;
mod socket;
mod strangers;

use takt_tests::privileged::{NAMESPACES, Test, USERS};

/// A test that switches users.
macro_rules! with_users {
    ($($module:ident :: $name:ident),* $(,)?) => {
        [$(Test { name: concat!(stringify!($module), "::", stringify!($name)), needs: USERS, run: $module::$name }),*]
    };
}

pub(crate) fn tests() -> Vec<Test> {
    let mut tests = with_users![
        members::members_use_data_of_each_other,
        members::the_api_shares_within_a_group,
        members::a_demonstration_runs_within_a_group,
        strangers::users_outside_the_group_are_denied,
        strangers::users_without_access_are_refused_at_the_socket,
        loopback::other_users_only_read_over_tcp,
        loopback::root_and_the_user_of_the_server_have_all_rights_over_tcp,
        loopback::a_trusted_loopback_interface_lets_everybody_write,
        names::a_stranger_cannot_take_a_name,
        names::a_living_name_is_taken_a_dead_one_is_free,
        names::a_sticky_directory_keeps_names_for_their_users,
        names::the_registry_knows_a_provider_by_its_user,
        keys::only_permitted_users_get_keys,
        roles::unix_users_have_the_roles_of_the_table,
        presence::members_list_applications_of_each_other,
        presence::clean_removes_names_of_dead_applications_of_a_group,
        presence::names_of_others_stay_in_a_sticky_directory,
    ]
    .to_vec();
    tests.push(Test {
        name: "containers::a_full_dev_shm_is_reported",
        needs: NAMESPACES,
        run: containers::a_full_dev_shm_is_reported,
    });
    tests.push(Test {
        name: "containers::two_containers_share_one_directory",
        needs: NAMESPACES,
        run: containers::two_containers_share_one_directory,
    });
    tests
}
