//! `takt lab run`: conformance of a backend, clean-up, mistakes.
//!
//! `TAKT_LAB_BACKEND` names the backend: `netns` (default) or `uml`. The list of cases is the same. A case whose queueing disciplines
//! the kernel lacks counts as ignored on `netns`, and as failed elsewhere.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]
#![allow(unreachable_pub, reason = "a binary has no public interface")]

mod agreement;
mod campaign;
mod case;
mod cases;
mod checks;
mod cleanup;
mod clock;
mod device;
mod disciplines;
mod events;
mod gates;
mod mistakes;
mod ready_made;
mod recorded;
mod report;
mod shipped;
mod uml;

use std::panic::catch_unwind;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use takt_tests::privileged::Selection;

/// Time limit of a run on a loaded machine.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// Result of a test.
pub enum Outcome {
    /// It passed.
    Passed,
    /// It could not run.
    Ignored(String),
}

/// Backend of the runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestedBackend {
    /// Name on the command line.
    pub name: String,
}

impl TestedBackend {
    fn of_environment() -> Self {
        let name = std::env::var("TAKT_LAB_BACKEND").unwrap_or_else(|_| "netns".to_owned());
        Self { name }
    }

    /// Returns true for the kernel of this host: wake-up latencies are those of a busy machine, and disciplines may be missing.
    pub fn is_host(&self) -> bool {
        self.name == "netns"
    }
}

type TestFunction = Box<dyn Fn(&TestedBackend) -> Outcome + std::panic::RefUnwindSafe>;

fn tests(backend: &TestedBackend) -> Vec<(String, TestFunction)> {
    let mut tests: Vec<(String, TestFunction)> = Vec::new();
    for case in cases::all() {
        let name = format!("conformance::{}", case.name);
        tests.push((name, Box::new(move |backend| case::run(&case, backend))));
    }
    let of_run: TestFunction = Box::new(report::a_run_is_beside_its_bounds);
    tests.push(("report::a_run_is_beside_its_bounds".to_owned(), of_run));
    tests.push((
        "events::each_case_is_an_object".to_owned(),
        Box::new(events::each_case_is_an_object),
    ));
    if !backend.is_host() {
        for discipline in [
            "fq_codel",
            "mqprio",
            "cbs",
            "etf",
            "taprio",
            "etf_offload",
            "taprio_offload",
            "assist",
        ] {
            let name = format!("agreement::{discipline}");
            let test = move |_: &TestedBackend| {
                agreement::compare(discipline);
                Outcome::Passed
            };
            tests.push((name, Box::new(test)));
        }
        let disciplines: [(&str, fn()); 7] = [
            (
                "etf_releases_and_drops",
                disciplines::etf_releases_and_drops,
            ),
            ("taprio_windows", disciplines::taprio_windows),
            (
                "etf_of_the_device_keeps_launch_times",
                disciplines::etf_of_the_device_keeps_launch_times,
            ),
            (
                "taprio_windows_of_the_device",
                disciplines::taprio_windows_of_the_device,
            ),
            (
                "cbs_keeps_its_idle_slope",
                disciplines::cbs_keeps_its_idle_slope,
            ),
            ("mqprio_order", disciplines::mqprio_order),
            ("fq_codel_fairness", disciplines::fq_codel_fairness),
        ];
        for (name, test) in disciplines {
            let test = move |_: &TestedBackend| {
                test();
                Outcome::Passed
            };
            tests.push((format!("disciplines::{name}"), Box::new(test)));
        }
        tests.push((
            "shipped::no_run_exceeds_its_bound".to_owned(),
            Box::new(|_: &TestedBackend| {
                shipped::no_run_exceeds_its_bound();
                Outcome::Passed
            }),
        ));
        tests.push((
            "uml::repeats_are_the_same_bit_by_bit".to_owned(),
            Box::new(|_| uml::repeats_are_the_same_bit_by_bit()),
        ));
        tests.push((
            "uml::the_ready_made_kernel_has_all_disciplines".to_owned(),
            Box::new(|_| uml::the_ready_made_kernel_has_all_disciplines()),
        ));
        tests.push((
            "clock::publishers_and_loops_follow_it_in_the_ready_made_kernel".to_owned(),
            Box::new(|_| clock::publishers_and_loops_follow_a_clock_that_is_set()),
        ));
        tests.push((
            "device::the_link_device_keeps_its_promises".to_owned(),
            Box::new(|_| device::the_link_device_keeps_its_promises()),
        ));
        tests.push((
            "gates::frozen_ones_are_found_in_the_ready_made_kernel".to_owned(),
            Box::new(|_| ready_made::boot("gates")),
        ));
        let campaigns: [(&str, fn()); 2] = [
            (
                "rows_of_uml_are_the_same_in_each_repeat",
                campaign::rows_of_uml_are_the_same_in_each_repeat,
            ),
            (
                "a_killed_run_on_uml_goes_on",
                campaign::a_killed_run_on_uml_goes_on,
            ),
        ];
        for (name, test) in campaigns {
            let test = move |_: &TestedBackend| {
                test();
                Outcome::Passed
            };
            tests.push((format!("campaign::{name}"), Box::new(test)));
        }
        tests.push((
            "uml::a_killed_run_leaves_no_process".to_owned(),
            Box::new(|_| uml::a_killed_run_leaves_no_process()),
        ));
        return tests;
    }
    let mut add = |name: &str, test: fn()| {
        let test = move |_: &TestedBackend| {
            test();
            Outcome::Passed
        };
        tests.push((name.to_owned(), Box::new(test)));
    };
    if backend.is_host() {
        add(
            "cleanup::a_killed_run_leaves_nothing",
            cleanup::a_killed_run_leaves_nothing,
        );
        add(
            "cleanup::an_interrupted_run_says_so",
            cleanup::an_interrupted_run_says_so,
        );
        add(
            "cleanup::two_runs_at_the_same_time",
            cleanup::two_runs_at_the_same_time,
        );
        add(
            "campaign::rows_of_netns_are_measured",
            campaign::rows_of_netns_are_measured,
        );
        add(
            "campaign::each_subscriber_on_netns_has_quantities",
            campaign::each_subscriber_on_netns_has_quantities,
        );
        add(
            "campaign::a_killed_run_on_netns_goes_on",
            campaign::a_killed_run_on_netns_goes_on,
        );
        add(
            "campaign::a_lab_that_cannot_run_is_named_at_once",
            campaign::a_lab_that_cannot_run_is_named_at_once,
        );
        add(
            "mistakes::missing_disciplines_are_named_at_once",
            mistakes::missing_disciplines_are_named_at_once,
        );
        add(
            "mistakes::other_users_are_told_what_to_do",
            mistakes::other_users_are_told_what_to_do,
        );
        add(
            "mistakes::a_directory_is_not_used_twice",
            mistakes::a_directory_is_not_used_twice,
        );
        add(
            "mistakes::scenarios_that_cannot_run_are_explained",
            mistakes::scenarios_that_cannot_run_are_explained,
        );
    }
    tests
}

/// Returns true if this user may make namespaces.
fn is_possible() -> bool {
    let probe = Command::new("unshare")
        .args(["--net", "--mount", "ip", "link", "add", "takt0", "type"])
        .args(["veth", "peer", "name", "takt1"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    rustix::process::geteuid().is_root() && probe.is_ok_and(|status| status.success())
}

/// Runs the tests that the command line selects. The output is that of libtest, so that `./test` adds it up like any other.
fn main() -> ExitCode {
    if let Some(test) = std::env::var_os(ready_made::INSIDE) {
        let folder = std::env::var_os(ready_made::FOLDER).unwrap_or_default();
        match test.to_str() {
            Some("clock") => clock::inside(folder.as_ref()),
            Some("device") => device::inside(folder.as_ref()),
            Some("gates") => gates::inside(folder.as_ref()),
            _ => panic!("no test has a part with the name {}", test.display()),
        }
        return ExitCode::SUCCESS;
    }
    let start = Instant::now();
    let backend = TestedBackend::of_environment();
    let selection = Selection::of_command_line();
    let (chosen, others): (Vec<_>, Vec<_>) = tests(&backend)
        .into_iter()
        .partition(|(name, _)| selection.has(name));
    if selection.is_list() {
        for (name, _) in &chosen {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let possible = !backend.is_host() || is_possible();
    let (mut passed, mut failed, mut ignored) = (0, 0, 0);
    println!("\nrunning {} tests", chosen.len());
    for (name, test) in &chosen {
        let outcome = match possible {
            true => catch_unwind(|| test(&backend)),
            false => Ok(Outcome::Ignored("needs root and namespaces".to_owned())),
        };
        let said = match outcome {
            Ok(Outcome::Passed) => {
                passed += 1;
                "ok".to_owned()
            }
            Ok(Outcome::Ignored(reason)) => {
                ignored += 1;
                format!("ignored, {reason}")
            }
            Err(_) => {
                failed += 1;
                "FAILED".to_owned()
            }
        };
        println!("test {name} ... {said}");
    }
    println!(
        "\ntest result: {}. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; {} filtered out; \
         finished in {:.2}s\n",
        if failed == 0 { "ok" } else { "FAILED" },
        others.len(),
        start.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(failed > 0))
}
