//! A Provider that also publishes: one cell is served to clients and sent every 10 ms by PubSub. The argument is the priority
//! of the sending thread, for which Linux demands a privilege: `cargo run --example mixer_publisher -- 60`.
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use takt_app::pubsub::{PubSub, RealTime, RuntimeOptions, from_toml};
use takt_app::real_time::Policy;
use takt_app::{Cell, DateTime, NodeId, Provider, StatusCode, Variable, Variant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let priority = std::env::args().nth(1);
    let priority = priority.map(|text| text.parse()).transpose()?;
    let speed = Arc::new(Cell::of(&Variant::Double(0.0)));
    let _provider = Provider::builder("Mixer")
        .variable(Variable::cell("Speed", &speed))
        .start()?;

    let file = from_toml(include_str!("mixer_publisher.toml"))?;
    let mut published = HashMap::from([(NodeId::string(1, "Speed"), Arc::clone(&speed))]);
    let mut received: HashMap<NodeId, Arc<Cell>> = HashMap::new();
    let options = RuntimeOptions {
        publishing: RealTime {
            policy: priority.map(Policy::Fifo),
            ..RealTime::default()
        },
        ..RuntimeOptions::default()
    };
    let _running = PubSub::start(
        &file.configuration,
        &mut published,
        &mut received,
        &mut |_| Box::new(()),
        &options,
    )?;
    for second in 0_u32.. {
        let value = 150.0 + 10.0 * f64::from(second).sin();
        speed.set_f64(value, StatusCode::Good, DateTime::now())?;
        std::thread::sleep(Duration::from_secs(1));
    }
    Ok(())
}
