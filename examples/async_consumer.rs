//! A Consumer in an asynchronous program: many requests at the same time on one connection, and changes with a time limit.
//!
//! ```text
//! ./run
//! cargo run -p takt-client --features async --example async_consumer -- opc.tcp://localhost:4840
//! ```
use std::time::Duration;

use takt_client::asynchronous::AsyncClient;
use takt_client::{ClientOptions, MonitoredItemOptions, NodeId, SubscriptionOptions};

/// Variables below `Server_ServerStatus` (OPC 10000-5, 12.10): StartTime, CurrentTime and State.
const STATUS: [(&str, u32); 3] = [("StartTime", 2257), ("CurrentTime", 2258), ("State", 2259)];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let endpoint = std::env::args().nth(1);
    let endpoint = endpoint.as_deref().unwrap_or("opc.tcp://localhost:4840");
    let client = AsyncClient::connect(&endpoint.parse()?, ClientOptions::named("Example")).await?;

    // Three requests are under way at the same time. Clones are the same session.
    let reads = STATUS.map(|(name, id)| {
        let client = client.clone();
        let read = async move { client.read(&NodeId::numeric(0, id)).await };
        (name, tokio::spawn(read))
    });
    for (name, read) in reads {
        println!("{name:<11} = {:?}", read.await??.value);
    }

    // A future may be dropped at any time: the connection stays usable, and no change is lost.
    let mut subscription = client.subscribe(SubscriptionOptions::default()).await?;
    let time = NodeId::numeric(0, 2258);
    subscription
        .monitor(&time, MonitoredItemOptions::default())
        .await?;
    for _ in 0..5 {
        match tokio::time::timeout(Duration::from_secs(3), subscription.next_change()).await {
            Ok(change) => println!("CurrentTime = {:?}", change?.value.value),
            Err(_) => println!("no change within 3 s"),
        }
    }
    client.close().await;
    Ok(())
}
