//! The example `closed_loop` as a user starts it, beside a simulated axis.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use takt_app::control::{ControlCycle, ControlLoop, ControlOptions, from_toml};
use takt_cell::Cell;
use takt_ua::{DateTime, NodeId, StatusCode, Variant};

/// Returns the example, which `cargo test -p takt-app` builds.
fn example() -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    let path = path.join("examples/closed_loop");
    assert!(
        path.exists(),
        "`cargo build -p takt-app --example closed_loop` builds it"
    );
    path
}

#[test]
fn the_controller_moves_a_simulated_axis_to_its_position() {
    // The configuration of the axis is that of the controller, the other way round.
    let swap = |text: &str, first: &str, second: &str| {
        let text = text.replace(first, "\u{1}");
        text.replace(second, first).replace('\u{1}', second)
    };
    let text = include_str!("../../../../examples/closed_loop.toml");
    let text = swap(text, "48401", "48402");
    let text = swap(&text, "Torque", "Position");
    let text = swap(&text, "publisher_id = 1", "publisher_id = 2");
    let configuration = from_toml(&text).unwrap().configuration;
    let cell = || Arc::new(Cell::of(&Variant::Double(0.0)));
    let (torque, position) = (cell(), cell());
    let mut outputs = HashMap::from([(NodeId::string(1, "Position"), position.clone())]);
    let mut inputs = HashMap::from([(NodeId::string(1, "Torque"), torque.clone())]);
    let options = ControlOptions::default();
    let axis = ControlLoop::new(&configuration, &mut outputs, &mut inputs, options).unwrap();
    let example = example();
    let stop = AtomicBool::new(false);
    let output = std::thread::scope(|scope| {
        let stop = &stop;
        let running = scope.spawn(move || {
            let mut at = 0.0;
            let mut moves = |_: &ControlCycle| {
                // The torque moves the axis against friction.
                let torque: f64 = torque.read_scalar().unwrap().0.unwrap();
                at += 0.02 * torque;
                position
                    .set_f64(at, StatusCode::Good, DateTime::now())
                    .unwrap();
                ControlFlow::Continue(())
            };
            axis.run(&mut moves, stop).unwrap()
        });
        let output = Command::new(example).arg("300").output();
        stop.store(true, Ordering::Relaxed);
        assert!(running.join().unwrap().received > 100);
        output.unwrap()
    });
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(
        text.starts_with("300 cycles, position Some(Double("),
        "{text}"
    );
    let position: f64 = text
        .split("Double(")
        .nth(1)
        .unwrap()
        .split(')')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!((9.5..10.5).contains(&position), "{text}");
}
