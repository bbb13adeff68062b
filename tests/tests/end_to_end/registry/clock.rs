//! Jumps of the real-time clock, of a server and of a client.

use std::time::Duration;

use takt_tests::Process;
use takt_tests::clock_steps::STEPS;
use takt_tests::process;
use takt_tests::shifted_clock::ShiftedClock;
use takt_ua::{DateTime, StatusCode};

use crate::registry::PATIENCE;
use crate::registry::operations::{Operation, Plant};
use crate::registry::trust::TwoUsers;

/// Seconds of a day.
pub(crate) const DAY: i64 = 24 * 3600;
/// Seconds of five years: less than from now to 2038, and within the validity of Takt's own certificates.
const FIVE_YEARS: i64 = 5 * 365 * DAY;
/// Seconds of fifty years: longer than the validity of any certificate.
pub(crate) const FIFTY_YEARS: i64 = 50 * 365 * DAY;

/// Waits for values that come now.
fn expect_values(watch: &mut Process) {
    while watch.try_line().is_some() {}
    for _ in 0..3 {
        let line = watch.next_line(PATIENCE);
        assert!(!line.contains("Bad"), "{line}");
    }
}

#[test]
fn a_jump_of_the_clock_of_a_server_ends_no_session_and_no_subscription() {
    let clock_directory = takt_tests::Sandbox::new();
    let Some(clock) = ShiftedClock::new(&clock_directory.data_directory()) else {
        return;
    };
    let users = TwoUsers::start(&[], |command| clock.apply(command));
    // Without security no certificate counts, so nothing may end. In the times of the certificates, neither does a secured channel.
    let watch = ["watch", &users.registry.endpoint, "i=2258", "--security"];
    let mut watch = users.sandbox.takt(&[&watch[..], &["none"]].concat());
    let mut watch = Process::spawn("takt watch", &mut watch);
    let mut secured = Some(users.watch());
    let now = DateTime::now().to_unix_nanos() / 1_000_000_000;
    // Certificates are valid from an hour before they are made, for some years: exactly an hour is neither inside nor outside.
    let steps = STEPS.map(|step| match step.shift(now) {
        -3600 => -3540,
        shift => shift,
    });
    let is_valid = |shift: &i64| (-3600..FIVE_YEARS).contains(shift);
    let (inside, outside): (Vec<i64>, Vec<i64>) = steps.into_iter().partition(is_valid);
    for shift in [inside, outside, vec![FIFTY_YEARS, 0]].concat() {
        clock.shift(shift);
        expect_values(&mut watch);
        // A secured channel ends with the validity.
        secured = secured.filter(|_| is_valid(&shift));
        if let Some(secured) = &mut secured {
            expect_values(secured);
        }
        let read = users.read();
        match is_valid(&shift) {
            true => drop(read.expect_success()),
            // The certificate of the client is not valid yet, or not any more.
            false => {
                let refused = read.expect_failure();
                assert!(refused.contains("BadCertificateTimeInvalid"), "{refused}");
            }
        }
    }
    assert!(!watch.has_ended(), "{}", watch.report());
}

#[test]
fn a_client_after_a_jump_of_its_clock_refuses_the_certificate_of_the_server() {
    let users = TwoUsers::new(&[]);
    let Some(clock) = ShiftedClock::new(&users.sandbox.data_directory()) else {
        return;
    };
    let read = |shift: i64| {
        clock.shift(shift);
        let endpoint = &users.registry.endpoint;
        let read = ["read", endpoint, "i=2258", "--security", "encrypt"];
        let mut command = users.elsewhere.takt(&read);
        clock.apply(&mut command);
        process::run("takt read", &mut command, PATIENCE)
    };
    let _ = read(DAY).expect_success();
    for shift in [-2 * DAY, FIFTY_YEARS] {
        let refused = read(shift).expect_failure();
        assert!(refused.contains("correct the clock"), "{refused}");
    }
    let _ = read(0).expect_success();
}

/// Operations on open channels go on when the certificates are outside of their validity; new channels are refused.
#[test]
fn a_jump_of_the_clock_of_a_server_ends_no_operation_on_an_open_channel() {
    let clock_directory = takt_tests::Sandbox::new();
    let Some(clock) = ShiftedClock::new(&clock_directory.data_directory()) else {
        return;
    };
    let plant = Plant::start(|command| clock.apply(command));
    let mut desks = plant.all_work();
    let now = DateTime::now().to_unix_nanos() / 1_000_000_000;
    let steps = STEPS.map(|step| step.shift(now));
    for shift in steps.into_iter().chain([FIFTY_YEARS, 0]) {
        // The certificates may or may not be valid after an hour.
        if shift == -3600 {
            continue;
        }
        let are_valid = (-3600..=DAY).contains(&shift);
        clock.shift(shift);
        for desk in &mut desks {
            let operation = desk.operation();
            let done = desk.work();
            // The new certificate, and that of its issuer, are expired for the server.
            match operation == Operation::Renewal && !are_valid {
                true => assert!(done.is_err_and(StatusCode::is_bad), "{done:?}"),
                false => assert_eq!(done, Ok(()), "{operation:?} {shift}"),
            }
            assert_eq!(desk.client().epoch(), 1, "{operation:?} {shift}");
        }
        match are_valid {
            true => drop(plant.all_work()),
            false => {
                let refused = plant.desk(Operation::Write).map(drop).unwrap_err();
                let expected = StatusCode::BadCertificateTimeInvalid;
                assert_eq!(refused.status_code(), expected, "{refused}");
            }
        }
        // The server looks at its trust list every 2 s while channels are open. A Renewal has changed the list before, but a change
        // says nothing about times.
        if shift == FIFTY_YEARS {
            std::thread::sleep(Duration::from_secs(3));
        }
    }
}

/// Both sides are fifty years late: their certificates are expired, and are renewed without a working channel.
#[test]
fn expired_certificates_are_renewed() {
    let clock_directory = takt_tests::Sandbox::new();
    let Some(clock) = ShiftedClock::new(&clock_directory.data_directory()) else {
        return;
    };
    let users = TwoUsers::start(&[], |command| clock.apply(command));
    let run = |sandbox: &takt_tests::Sandbox, arguments: &[&str]| {
        let mut command = sandbox.takt(arguments);
        clock.apply(&mut command);
        process::run("takt", &mut command, PATIENCE)
    };
    let endpoint = &users.registry.endpoint;
    let read = ["read", endpoint, "i=2258", "--security", "encrypt"];
    clock.shift(FIFTY_YEARS);
    let refused = run(&users.elsewhere, &read).expect_failure();
    assert!(refused.contains("correct the clock"), "{refused}");
    let folder = ["--certificates", &users.folder];
    let renew = ["trust", "renew", &users.registry.name];
    let _ = run(&users.sandbox, &[&renew[..], &folder].concat()).expect_success();
    let _ = run(&users.elsewhere, &["trust", "renew", "takt"]).expect_success();
    // Each side trusts the new certificate of the other one.
    users.client_changes(&["add", &users.certificate]);
    let list = users.elsewhere.rows(&["trust", "list"]);
    let own = list.iter().find(|row| row["folder"] == "own").unwrap();
    users.server_runs(&["add", own["file"].as_str().unwrap()]);
    let _ = run(&users.elsewhere, &read).expect_success();
}
