//! One client attacks a server while another one uses it, over TCP and over shared memory: the second client is
//! served, the server stays within its budgets, and soon returns to its previous state.

mod dead_clients;
mod limited;

use std::time::{Duration, Instant};

use takt_app::{Client, ClientOptions, Endpoint, Identity};
use takt_attack::{Attack, AttackObserver, AttackTarget, Slices, Usage};
use takt_services::ServerBudgets;
use takt_tests::Sandbox;
use takt_tests::attacked::{Kind, Limit, PATIENCE, RATE, Server};

/// Duration of an attack, from its first message on.
const ATTACK: Duration = Duration::from_millis(2500);

/// Time limit for a server to return to its previous state.
const RECOVERY: Duration = Duration::from_secs(10);

/// Memory in bytes that is not counted: memory kept by the allocator, and buffers of fixed size.
const SLACK: u64 = 8 << 20;

/// Length of the longest value over TCP in KiB. Its KiB count in one slice, once when it is checked and once when it is stored.
const VALUE: u64 = 16 << 10;

/// KiB of memory of the elements of one operation.
const ELEMENTS: u64 = 16 << 10;

/// Attacks `server` with counts divided by `divisor`, and checks everything that holds against every attack.
fn withstands(server: &Server, attack: Attack, divisor: u32) {
    let target = server.target();
    let observe = |endpoint: &str, with_newcomers: bool| {
        AttackObserver::start(&target, endpoint, RATE, with_newcomers).unwrap()
    };
    let clients = [&target.opc_tcp, &target.opc_iox2].map(|endpoint| observe(endpoint, false));
    for client in &clients {
        assert!(client.catches_up(PATIENCE));
    }
    let before = Usage::of(server.id()).unwrap();
    Usage::reset_peak(server.id()).unwrap();

    let newcomers: Vec<AttackObserver> = match attack {
        // All places are used by clients of the same user.
        Attack::ShmClients => Vec::new(),
        _ => vec![
            observe(&target.opc_tcp, true),
            observe(&target.opc_iox2, true),
        ],
    };
    let under_way = attack
        .start(&takt_tests::binary::attacker(), &target, divisor)
        .unwrap();
    std::thread::sleep(ATTACK);
    // A new client gets in during the attack, although many attackers wait for the same place.
    for newcomer in &newcomers {
        let _ = newcomer.take();
        eventually_served(attack, newcomer);
    }
    if attack == Attack::Guesses {
        a_right_password_is_accepted(&target);
    }
    let tally = under_way.finish().unwrap();
    for client in clients.iter().chain(&newcomers) {
        assert!(
            client.catches_up(PATIENCE),
            "{}: a client hangs",
            attack.name()
        );
    }
    drop(newcomers);
    let peak = Usage::of(server.id()).unwrap().peak;
    let after = Usage::recovered(server.id(), &before, RECOVERY).unwrap();
    println!(
        "{}: {tally:?}, before {before:?}, peak {peak}, after {after:?}",
        attack.name()
    );

    let sent = tally.connections + tally.messages;
    assert!(
        sent > 0,
        "{}: there was no attack: {tally:?}",
        attack.name()
    );
    for client in &clients {
        let seen = client.take();
        assert_eq!(seen.failures, [""; 0], "{}: {tally:?}", attack.name());
        assert!(seen.latency.count() > 0, "{}", attack.name());
    }
    let budgets = ServerBudgets::default();
    let budget = match attack.is_without_session() {
        true => budgets.max_memory_without_session,
        false => budgets.max_memory,
    };
    let taken = peak.saturating_sub(before.resident);
    let most = u64::try_from(budget).unwrap() + SLACK;
    assert!(
        taken <= most,
        "{} took {taken} bytes of {most}",
        attack.name()
    );
    assert!(
        after.is_recovered(&before) || attack.leaves_memory(),
        "{}: {before:?}, then {after:?}",
        attack.name()
    );
    let slices = Slices::of(&mut server.client()).unwrap().unwrap();
    let limit = match attack {
        Attack::LargeValues => slices.limit + 2 * VALUE,
        // One operation with the largest number of elements, decoded once in a slice: each KiB of their memory is two units.
        Attack::Elements => slices.limit + 2 * ELEMENTS,
        _ => slices.limit,
    };
    assert!(slices.longest <= limit, "{}: {slices:?}", attack.name());
}

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

/// Waits until a new client has connected, read and disconnected.
fn eventually_served(attack: Attack, newcomer: &AttackObserver) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let seen = newcomer.take();
        assert_eq!(seen.failures, [""; 0], "{}", attack.name());
        if seen.newcomers > 0 {
            return;
        }
        let name = attack.name();
        assert!(Instant::now() < deadline, "{name}: nobody new is served");
        std::thread::sleep(Duration::from_millis(50));
    }
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
            let server = Server::start(&sandbox, Kind::$kind, Limit::of(Attack::$attack));
            withstands(&server, Attack::$attack, $divisor);
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
}
