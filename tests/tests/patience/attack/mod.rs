//! One client attacks a server while another one uses it, over TCP and over shared memory: the second client is
//! served, the server stays within its budgets, and soon returns to its previous state.

mod dead_clients;
mod limited;

use takt_app::{Client, ClientOptions, Endpoint, Identity};
use takt_attack::{Attack, AttackTarget};
use takt_tests::Sandbox;
use takt_tests::attacked::{Kind, PATIENCE, Server};
use takt_tests::withstanding::withstands;

/// Password of the user whose password is guessed.
const PASSWORD: &str = "hammer and nail";

/// Checks that others who guess do not lock out the user with the right password.
fn a_right_password_is_accepted(target: &AttackTarget) {
    let endpoint: Endpoint = target.opc_iox2.parse().unwrap();
    for _ in 0..3 {
        let options = ClientOptions {
            identity: Identity::UserName {
                name: takt_attack::USER.to_owned(),
                password: PASSWORD.to_owned(),
            },
            timeout: PATIENCE,
            runtime_directory: target.runtime_directory.clone(),
            ..ClientOptions::named("TaktBenchOwner")
        };
        let mut owner = Client::connect(&endpoint, options).unwrap();
        let _ = owner.namespace_array().unwrap();
    }
}

/// Makes the user whose password is guessed.
fn add_user(sandbox: &Sandbox) {
    let path = |name: &str| {
        let path = sandbox.data_directory().join(name);
        path.to_str().unwrap().to_owned()
    };
    std::fs::write(path("password"), format!("{PASSWORD}\n")).unwrap();
    let (users, password) = (path("users"), path("password"));
    let add = ["user", "--users", &users, "add", takt_attack::USER];
    let add = [
        &add[..],
        &["--role", "operator", "--password-file", &password],
    ]
    .concat();
    let _ = sandbox.run(&add).expect_success();
}

/// Defines a test for each attack, with its server and the divisor of its counts.
macro_rules! attacks {
    ($($test:ident: $attack:ident on $kind:ident / $divisor:literal;)*) => {$(
        #[test]
        fn $test() {
            let sandbox = Sandbox::new();
            if Attack::$attack == Attack::Guesses {
                add_user(&sandbox);
            }
            let server = Server::start_for(&sandbox, Kind::$kind, Attack::$attack);
            withstands(&server, Attack::$attack, $divisor, || {
                if Attack::$attack == Attack::Guesses {
                    a_right_password_is_accepted(&server.target());
                }
            });
            server.has_names_left();
        }
    )*};
}

attacks! {
    translate_browse_paths_of_54_kb: TranslateSmall on Registry / 1;
    translate_browse_paths_of_1_mb: TranslateMedium on Registry / 1;
    translate_browse_paths_of_16_mb: TranslateLarge on Registry / 1;
    translate_browse_paths_over_shared_memory: TranslateShm on Registry / 1;
    browse_of_what_all_refer_to: Browse on Registry / 4;
    browse_of_what_all_refer_to_over_shared_memory: BrowseShm on Registry / 4;
    many_short_browses: BrowseMany on Registry / 1;
    browse_next_again_and_again: BrowseNext on Registry / 1;
    reads_of_many_structures: Read on Registry / 10;
    monitored_items_each_millisecond: MonitoredItems on Registry / 10;
    monitored_items_left_behind: AbandonedItems on Registry / 10;
    subscriptions_of_dead_clients: DeadClients on Registry / 1;
    monitored_items_deleted_with_their_subscription: DeletedItems on Registry / 10;
    monitored_items_deleted_with_their_session: ClosedItems on Registry / 10;
    event_filters: EventFilters on Registry / 1;
    refreshes_of_many_items: RefreshStorm on Registry / 1;
    reads_of_a_history: HistoryReads on Values / 1;
    guessed_passwords: Guesses on Registry / 1;
    registrations_of_servers: RegisterServers on Registry / 1;
    searches_for_servers: FindServers on Registry / 1;
    nodes_added_and_deleted: AddNodes on Registry / 20;
    nodes_added_and_deleted_over_shared_memory: AddNodesShm on Registry / 20;
    answers_that_nobody_reads: Unread on Registry / 10;
    answers_that_nobody_reads_without_session: UnreadEndpoints on Registry / 1;
    large_values: LargeValues on Values / 1;
    arrays_of_texts_of_one_byte: Elements on Registry / 1;
    connections_that_say_nothing: HalfOpen on Registry / 1;
    connections_that_say_hello: HelloOnly on Registry / 1;
    connections_opened_and_closed: ConnectFlood on Registry / 1;
    unix_sockets_opened_and_closed: ShmFlood on Registry / 1;
    unix_sockets_that_open_no_channel: ShmHalfOpen on Registry / 1;
    more_clients_than_descriptors: ShmClients on Registry / 1;
    more_clients_than_descriptors_of_a_provider: ShmClients on Provider / 1;
    unfinished_messages: Unfinished on Registry / 2;
    chunks_that_come_byte_by_byte: SlowChunks on Registry / 1;
    channels_without_session: Channels on Registry / 1;
    sessions_that_are_not_activated: NotActivated on Registry / 1;
    names_and_namespaces: Names on Registry / 1;
    names_and_namespaces_over_shared_memory: NamesShm on Registry / 1;
    secured_channels_at_once: SecureStorm on Registry / 1;
    secured_channels_of_strangers: SecureStrangers on Registry / 1;
    tokens_renewed_again_and_again: SecureRenewals on Registry / 1;
    rules_of_secured_channels_broken: SecureViolations on Registry / 1;
    sessions_whose_connection_closes: AbandonedSessions on Registry / 1;
    large_requests_over_shared_memory: ShmLarge on Registry / 5;
    stopped_clients: ShmStopped on Registry / 2;
    hostile_servers_that_are_mirrored: HostileMirror on Registry / 1;
}
