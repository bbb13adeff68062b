//! Wake-up latencies and their causes: `takt wakeup`, and the recorder with causes that are made on purpose.
//!
//! Each test has a mount namespace of its own, in which tracefs is mounted.

mod causes;
mod command;
mod disturbance;
mod moves;
mod threads;
mod tracefs;

use takt_tests::privileged::Test;

/// Requirement: tracefs with the events, and priorities.
const TRACING: &[&str] = &[
    "unshare",
    "--mount",
    "sh",
    "-c",
    "{ test -d /sys/kernel/tracing/instances || mount -t tracefs nodev /sys/kernel/tracing; } && \
     test -d /sys/kernel/tracing/events/raw_syscalls && chrt -f 80 true",
];

/// Requirement: the same, and an idle state that takes at least 20 µs to leave.
const DEEP_IDLE: &[&str] = &[
    "unshare",
    "--mount",
    "sh",
    "-c",
    "{ test -d /sys/kernel/tracing/instances || mount -t tracefs nodev /sys/kernel/tracing; } && chrt -f 80 true && \
     cat /sys/devices/system/cpu/cpu*/cpuidle/state*/latency | awk '$1 >= 20 { deep = 1 } END { exit !deep }'",
];

macro_rules! with_tracing {
    ($($module:ident :: $name:ident),* $(,)?) => {
        [$(Test {
            name: concat!(stringify!($module), "::", stringify!($name)),
            needs: TRACING,
            run: || tracefs::run($module::$name),
        }),*]
    };
}

pub(crate) fn tests() -> Vec<Test> {
    let deep_idle = Test {
        name: "threads::idle_states_are_named",
        needs: DEEP_IDLE,
        run: || tracefs::run(threads::idle_states_are_named),
    };
    let mut tests = with_tracing![
        causes::a_thread_of_higher_priority_is_named,
        causes::own_code_is_named,
        causes::a_long_system_call_is_named,
        causes::page_faults_are_named,
        causes::a_softirq_is_named,
        causes::calls_of_other_processors_are_named,
        moves::a_migration_is_named,
        moves::a_thread_that_is_moved_has_the_cause_of_its_old_processor,
        threads::many_threads_have_causes,
        command::a_stopped_process_is_named,
        command::an_interrupted_measurement_has_a_result_and_leaves_nothing,
        command::an_instance_of_a_killed_measurement_is_removed,
        command::measurements_that_start_together_leave_each_other_alone,
        command::without_permission_or_tracefs_the_error_says_what_is_needed,
        command::a_scenario_reads_the_histogram,
    ]
    .to_vec();
    tests.push(deep_idle);
    tests
}
