//! The Cargo profile of this build.
//!
//! Figures are those of users only with the profile `release`. Other profiles are for tests, or for a quick start; the level of
//! optimization alone does not tell them apart. Results of other builds are marked, and not refused: tests run them.

#![forbid(unsafe_code)]

use takt_figures::Report;

/// Profile whose figures are not marked.
const MEASURED: &str = "release";

/// Name of the folder of this build's profile below target/: `release`, `debug` for the profiles `dev` and `test`, or that of a
/// profile of its own.
pub const PROFILE: &str = env!("TAKT_PROFILE");

/// Returns the name of the profile if it is another one than `release`.
#[must_use]
pub fn other_profile() -> Option<&'static str> {
    (PROFILE != MEASURED).then_some(PROFILE)
}

/// Returns the remark on figures of another profile than `release`; `None` for those of `release`.
#[must_use]
pub fn mark() -> Option<String> {
    other_profile().map(|profile| {
        format!(
            "NOT A RELEASE BUILD: the profile is `{profile}`, so these figures of Takt mean nothing. `cargo build --release -p takt-bench` \
             builds the program to measure with."
        )
    })
}

/// Returns a title, marked in builds of another profile than `release`.
#[must_use]
pub fn titled(title: &str) -> String {
    match other_profile() {
        Some(profile) => format!("{title} (profile {profile}: no figures)"),
        None => title.to_owned(),
    }
}

/// Returns the output of a benchmark for people or, with `json`, for programs. In builds of another profile than `release`, a remark
/// comes first and behind each table, and each JSON row has the field `profile`.
pub fn results<L: FnMut(String)>(line: L, json: bool) -> Report<L> {
    let report = Report::new(line, json);
    match (mark(), other_profile()) {
        (Some(remark), Some(profile)) => report.marked(("profile", profile), remark),
        _ => report,
    }
}
