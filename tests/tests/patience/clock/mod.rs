//! Clocks that are not right: a host whose clock begins in 1970, and restarts with another time.

mod line;

use line::{ENDS, Keys, Line, waited_for};
use takt_app::DateTime;

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// The last second but three that a signed number of 32 bits holds.
const YEAR_2038: i64 = (1 << 31) - 3;

/// Returns the seconds from now to a time in seconds since 1970.
fn to(time: i64) -> i64 {
    time - DateTime::now().to_unix_nanos() / 1_000_000_000
}

/// A host without a battery makes its keys and certificates in the first seconds of 1970. They count when the clock is set.
#[test]
fn a_host_that_begins_in_1970_goes_on_when_its_clock_is_set() {
    let Some(mut line) = Line::start(to(5), Keys::Pulled) else {
        return;
    };
    let report = line.registry().process.report();
    assert!(
        report.contains("the clock of this host is not right"),
        "{report}"
    );
    let check = |line: &mut Line, when: &str| {
        let _ = line.read_encrypted().expect_success();
        line.check_values(when);
        line.check_messages(when);
    };
    check(&mut line, "1970");
    line.set_clock(0);
    check(&mut line, "the right time");
    line.restart_registry();
    check(&mut line, "a restart of the registry");
    line.restart_provider();
    line.restart_ends();
    check(&mut line, "a restart of the others");
    // The certificates end before; everything else goes on, also over a restart.
    line.set_clock(to(YEAR_2038));
    for when in ["2038", "a restart in 2038"] {
        let refused = line.read_encrypted().expect_failure();
        assert!(refused.contains("correct the clock"), "{refused}");
        line.check_values(when);
        line.check_messages(when);
        line.restart_registry();
        line.restart_provider();
        line.restart_ends();
    }
    line.set_clock(0);
    check(&mut line, "the right time again");
}

#[test]
fn pushed_keys_are_valid_over_restarts_with_another_clock() {
    // The certificates are made two days ago, so that the clock can be set back.
    let Some(mut line) = Line::start(-2 * DAY, Keys::Pushed) else {
        return;
    };
    let data = line.sandbox.data_directory();
    let folder = data.join("pki");
    let name = line.registry().name.clone();
    let own = folder.join(format!("own/certs/{name}.der"));
    let _ = line
        .run(&["trust", "add", own.to_str().unwrap()])
        .expect_success();
    for end in ENDS {
        let own = data.join(format!("takt/pki/own/certs/{end}.der"));
        waited_for(end, || own.exists().then_some(()));
        let add = ["trust", "add", own.to_str().unwrap(), "--certificates"];
        let add = [&add[..], &[folder.to_str().unwrap()]].concat();
        let _ = line.run(&add).expect_success();
    }
    line.check_messages("the start");
    for (when, shift) in [
        ("an hour forward", HOUR - 2 * DAY),
        ("a day forward", HOUR - DAY),
        ("an hour back", -DAY),
        ("a day back", HOUR / 2 - 2 * DAY),
    ] {
        line.set_clock(shift);
        line.check_messages(when);
        line.restart_registry();
        line.check_messages(&format!("{when}, registry"));
        line.restart_ends();
        line.check_messages(&format!("{when}, both ends"));
    }
}
