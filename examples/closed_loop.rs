//! A controller: one cell in, one cell out. It holds a position of 10 with a torque, for as many cycles as the argument says.
use std::{collections::HashMap, ops::ControlFlow, sync::Arc, sync::atomic::AtomicBool};

use takt_app::control::{ControlCycle, ControlLoop, ControlOptions, from_toml};
use takt_app::{Cell, DateTime, NodeId, StatusCode, Variant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cell = || Arc::new(Cell::of(&Variant::Double(0.0)));
    let (position, torque) = (cell(), cell());
    let configuration = from_toml(include_str!("closed_loop.toml"))?.configuration;
    let mut outputs = HashMap::from([(NodeId::string(1, "Torque"), torque.clone())]);
    let mut inputs = HashMap::from([(NodeId::string(1, "Position"), position.clone())]);
    let options = ControlOptions {
        cycles: std::env::args()
            .nth(1)
            .map(|count| count.parse())
            .transpose()?,
        ..ControlOptions::default()
    };
    let control = ControlLoop::new(&configuration, &mut outputs, &mut inputs, options)?;
    let mut update = |_: &ControlCycle| {
        let position = position
            .read_scalar()
            .map_or(0.0, |(value, _)| value.unwrap_or(0.0));
        let output: f64 = 2.0 * (10.0 - position);
        match torque.set_f64(output, StatusCode::Good, DateTime::now()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    };
    let report = control.run(&mut update, &AtomicBool::new(false))?;
    println!(
        "{} cycles, position {:?}",
        report.cycles,
        position.get()?.value
    );
    Ok(())
}
