//! Latency of a Read with open62541's client, from request to response.

use std::time::Instant;

use open62541_sys as sys;
use serde_json::{Value, json};

use crate::client::Client;
use crate::data::Owned;
use crate::status::status_name;

/// Measured node, number of samples, and placement of the thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    node: String,
    samples: usize,
    warmup: usize,
    core: Option<usize>,
    fifo: Option<u8>,
}

impl Options {
    /// Reads the command line after the endpoint; `None` if nothing is to be measured.
    ///
    /// # Errors
    /// A message that names the invalid argument.
    pub fn parse(arguments: &[String]) -> Result<Option<Self>, String> {
        if arguments.is_empty() {
            return Ok(None);
        }
        let mut options = Self {
            node: String::new(),
            samples: 20_000,
            warmup: 2_000,
            core: None,
            fifo: None,
        };
        for pair in arguments.chunks(2) {
            let [name, value] = pair else {
                return Err(format!("{} needs a value", pair[0]));
            };
            let fault = |_| format!("{name}: `{value}` is no number that fits");
            match name.as_str() {
                "--bench" => options.node.clone_from(value),
                "--samples" => options.samples = value.parse().map_err(fault)?,
                "--warmup" => options.warmup = value.parse().map_err(fault)?,
                "--core" => options.core = Some(value.parse().map_err(fault)?),
                "--fifo" => options.fifo = Some(value.parse().map_err(fault)?),
                other => return Err(format!("unknown option {other}")),
            }
        }
        if options.node.is_empty() || options.samples == 0 {
            return Err("--bench needs a node and at least one sample".to_owned());
        }
        Ok(Some(options))
    }
}

/// Pins this thread to a core and gives it a SCHED_FIFO priority, where wanted.
///
/// # Errors
/// What is missing for that.
pub fn prepare_thread(core: Option<usize>, fifo: Option<u8>) -> Result<(), String> {
    if let Some(core) = core {
        takt_rt::affinity::pin(core).map_err(|error| error.to_string())?;
    }
    if let Some(priority) = fifo {
        takt_rt::priority::set(takt_rt::priority::Policy::Fifo(priority))
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Measures: nanoseconds from before a Read is sent until its response is decoded, the previous response freed.
///
/// # Errors
/// What failed.
pub fn run(mut client: Client, options: &Options) -> Result<Value, String> {
    let request = json!({
        "TimestampsToReturn": 0,
        "NodesToRead": [{"NodeId": options.node, "AttributeId": 13}],
    });
    let response = client
        .request::<sys::UA_ReadRequest>(&request)
        .map_err(|error| error.to_string())?;
    let status = crate::convert::status(&response["Results"][0]["Status"]);
    if status != "Good" {
        return Err(format!("{} cannot be read: {status}", options.node));
    }
    let request =
        Owned::<sys::UA_ReadRequest>::from_json(&request).map_err(|error| error.to_string())?;
    prepare_thread(options.core, options.fifo)?;
    let mut times = Vec::with_capacity(options.samples);
    for sample in 0..options.warmup + options.samples {
        let start = Instant::now();
        let response = client.send(&request);
        let time = start.elapsed();
        let status = response.get().responseHeader.serviceResult;
        if status != 0 || response.get().resultsSize != 1 {
            return Err(format!("Read failed: {}", status_name(status)));
        }
        if sample >= options.warmup {
            times.push(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        }
    }
    Ok(summary(times))
}

/// Minimum, percentiles and maximum.
fn summary(mut times: Vec<u64>) -> Value {
    times.sort_unstable();
    let at = |part_per_mille: usize| {
        let rank = (times.len() * part_per_mille).div_ceil(1000);
        times[rank.clamp(1, times.len()) - 1]
    };
    json!({
        "samples": times.len(),
        "unit": "ns",
        "min": at(0),
        "p50": at(500),
        "p99": at(990),
        "p999": at(999),
        "max": at(1000),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options() {
        assert_eq!(Options::parse(&[]), Ok(None));
        let options = Options::parse(&words("--bench i=2258 --samples 10 --core 1 --fifo 50"))
            .unwrap()
            .unwrap();
        assert_eq!(
            (
                options.node.as_str(),
                options.samples,
                options.core,
                options.fifo
            ),
            ("i=2258", 10, Some(1), Some(50))
        );
        for wrong in [
            "--bench",
            "--samples 10",
            "--bench i=1 --core x",
            "--what 1",
        ] {
            assert!(Options::parse(&words(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn percentiles_by_nearest_rank() {
        let summary = summary((1..=1000).rev().collect());
        for (name, expected) in [
            ("min", 1),
            ("p50", 500),
            ("p99", 990),
            ("p999", 999),
            ("max", 1000),
        ] {
            assert_eq!(summary[name], expected, "{name}");
        }
    }
}
