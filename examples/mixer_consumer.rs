//! A Consumer that finds the Mixer's data in the registry, then reads, writes and calls at the Mixer itself.
use takt_client::{ClientOptions, Consumer, Variant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = "opc.iox2://SemanticRegistryServer";
    let mut consumer = Consumer::connect(registry, ClientOptions::named("Example"))?;
    for provider in consumer.providers()? {
        println!("{} available: {}", provider.name, provider.available);
    }

    let speed = consumer.find("Mixer/Speed")?;
    let value = consumer.read(&speed)?.value;
    println!("Speed  = {value:?} by {}", speed.endpoint()?);

    let recipe = consumer.find("Mixer/Recipe")?;
    consumer.write(&recipe, "Strawberry")?;
    // The same node over the other transport: only the endpoint differs.
    let recipe = recipe.via("opc.tcp").ok_or("the Mixer has no opc.tcp")?;
    let value = consumer.read(&recipe)?.value;
    println!("Recipe = {value:?} by {}", recipe.endpoint()?);

    let add = consumer.find("Mixer/Add")?;
    let sum = consumer.call(&add, vec![Variant::Double(1.5), Variant::Double(2.0)])?;
    println!("Add    = {sum:?}");
    Ok(())
}
