//! A Provider with an alarm: `cargo run --example oven_alarm`, then `takt watch opc.iox2://Oven --events`.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use takt_app::{Cell, DateTime, LimitAlarm, Provider, StatusCode, Variable, Variant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let temperature = Arc::new(Cell::of(&Variant::Double(20.0)));
    let _provider = Provider::builder("Oven")
        .variable(Variable::cell("Chamber/Temperature", &temperature))
        .alarm(
            LimitAlarm::new("Chamber/Overtemperature", "Chamber/Temperature")
                .high(180.0, 500)
                .high_high(200.0, 900)
                .deadband(2.0),
        )
        .start()?;
    for second in 0_u32.. {
        // Heats up and cools down within a minute.
        let phase = f64::from(second) / 60.0 * std::f64::consts::TAU;
        let celsius = 120.0 - 100.0 * phase.cos();
        temperature.set_f64(celsius, StatusCode::Good, DateTime::now())?;
        thread::sleep(Duration::from_secs(1));
    }
    Ok(())
}
