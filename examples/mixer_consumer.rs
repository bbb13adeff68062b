//! A Consumer that finds the Mixer's data in the registry, then reads, writes and calls at the Mixer itself.
//!
//!     cargo run --example mixer_consumer

use takt_app::{ClientOptions, Consumer};
use takt_ua::Variant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut consumer =
        Consumer::connect("opc.iox2://SemanticRegistryServer", ClientOptions::named("Example"))?;

    for provider in consumer.providers()? {
        println!("{} is {}", provider.name, if provider.available { "here" } else { "away" });
    }

    let speed = consumer.find("Mixer/Speed")?;
    println!("Speed  = {:?} by {}", consumer.read(&speed)?.value, speed.endpoint()?);

    let recipe = consumer.find("Mixer/Recipe")?;
    consumer.write(&recipe, "Strawberry")?;
    // The same node by the other way: nothing changes but the endpoint.
    let recipe = recipe.via("opc.tcp").ok_or("the Mixer has no opc.tcp endpoint")?;
    println!("Recipe = {:?} by {}", consumer.read(&recipe)?.value, recipe.endpoint()?);

    let add = consumer.find("Mixer/Add")?;
    let sum = consumer.call(&add, vec![Variant::Double(1.5), Variant::Double(2.0)])?;
    println!("Add    = {sum:?}");
    Ok(())
}
