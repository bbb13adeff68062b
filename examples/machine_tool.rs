//! A machine of the companion specification MachineTool (OPC 40501-1), in few lines.
//!
//! Usage: `cargo run --example machine_tool -- FILE...`, with the NodeSets of MachineTool and of all that it requires, in any order.
//! The registry loads the same files: `takt registry --nodeset FILE` for each of them.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use takt_app::{Cell, DateTime, LocalizedText, StatusCode, Variant};
use takt_app::{Instance, NodeSets, Provider, TypeName};

const MACHINE_TOOL: &str = "http://opcfoundation.org/UA/MachineTool/";

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let nodesets = NodeSets::load(files)?;

    let feed = Arc::new(Cell::of(&Variant::Double(100.0)));
    let mill = Instance::new("Mill", TypeName::new(MACHINE_TOOL, "MachineToolType"))
        .bind("Identification/Manufacturer", LocalizedText::from("Acme"))
        .bind("Identification/SerialNumber", "4711")
        .bind("Identification/ProductInstanceUri", "urn:acme:mill:4711")
        .bind("Identification/YearOfConstruction", 2026_u16)
        .bind("Monitoring/MachineTool/FeedOverride", &feed)
        .organized_in("Machines");
    let provider = Provider::builder("Hall")
        .endpoint("opc.tcp://127.0.0.1:0")
        .nodesets(&nodesets)
        .instance(mill)
        .start()?;
    println!(
        "{} serves {:?}",
        provider.application_name(),
        provider.endpoints()
    );

    // A real-time thread can set the cell at any time.
    for percent in (0..=120).cycle() {
        feed.set_f64(f64::from(percent), StatusCode::Good, DateTime::now())?;
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}
