//! open62541 as a publisher or subscriber of UADP, as `peers/README.md` describes it.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use takt_peer_open62541::pubsub::PubSub;

const USAGE: &str = "usage: open62541-pubsub publish|subscribe DESCRIPTION";

static ENDED: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), String> {
    let [role, description] = arguments else {
        return Err(USAGE.to_owned());
    };
    let description: Value =
        serde_json::from_str(description).map_err(|error| format!("{USAGE}: {error}"))?;
    let mut pubsub = PubSub::start(role, description)?;
    // Nothing is ever sent to us: the end of the input is the end.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        ENDED.store(true, Ordering::Relaxed);
    });
    print(&json!({"ready": true}));
    let mut last = json!(0);
    while !ENDED.load(Ordering::Relaxed) {
        pubsub.iterate();
        if role == "publish" {
            pubsub.count().map_err(|error| error.to_string())?;
        } else {
            let values = pubsub.values().map_err(|error| error.to_string())?;
            let count = values.get("Count").map_or(&Value::Null, |it| &it["value"]);
            if *count != last {
                last = count.clone();
                print(&json!({"fields": values}));
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

fn print(line: &Value) {
    let mut out = std::io::stdout().lock();
    // Nobody to tell if nobody listens.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
