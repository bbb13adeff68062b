//! Latency of the threads of a device: from a timer until the message is in the queue of the port.

use takt_scenario::{Distribution, Duration, NodeIndex, PlantDevice, PlantFile};

/// Default of the greatest wake-up latency of a device; the least one is 0.
pub(crate) const WAKE_UP: Duration = Duration(100_000_000);
/// Default of the processing time of a device.
pub(crate) const PROCESSING: Duration = Duration(50_000_000);

/// Returns the device of a node.
pub(crate) fn device_of(plant: &PlantFile, node: NodeIndex) -> Option<&PlantDevice> {
    plant.devices.iter().find(|it| it.node == node)
}

/// Returns the wake-up latency of a node and the position of the field that states it; `None` without such a field.
pub(crate) fn wake_up(plant: &PlantFile, node: NodeIndex) -> (Distribution, Option<usize>) {
    let assumed = Distribution::Uniform {
        least: Duration::ZERO,
        most: WAKE_UP,
    };
    let Some(node) = plant.network.nodes.get(node.0) else {
        return (assumed, None);
    };
    match plant.node_field(&node.name, "wake_up_latency") {
        Some(place) => (node.wake_up_latency.clone(), Some(place)),
        None => (assumed, None),
    }
}

/// Returns the longest time from a timer until a message is in the queue.
pub(crate) fn latest_wake_up(plant: &PlantFile, node: NodeIndex) -> Duration {
    let processing = device_of(plant, node).map_or(Duration::ZERO, |device| {
        device.processing_time.unwrap_or(PROCESSING)
    });
    wake_up(plant, node).0.most().plus(processing)
}

/// Returns a latency to which up to this time is added, as TOML.
pub(crate) fn later(latency: &Distribution, time: Duration) -> String {
    let range =
        |least: Duration, most: Duration| format!("{{ least = \"{least}\", most = \"{most}\" }}");
    match latency {
        Distribution::Constant(value) if time == Duration::ZERO => format!("\"{value}\""),
        Distribution::Constant(value) => range(*value, value.plus(time)),
        Distribution::Uniform { least, most } => range(*least, most.plus(time)),
        Distribution::Histogram(histogram) => {
            let mut bins = histogram.bins().to_vec();
            // Empty bins behind the last count say nothing but where its bin ends.
            let last = bins.iter().rposition(|bin| bin.1 > 0).unwrap_or(0);
            let end = bins
                .get(last + 1)
                .or(bins.get(last))
                .map_or(0, |bin| bin.0.0);
            let ends_elsewhere = bins.len() > last + 1;
            bins.truncate(last + 1);
            if ends_elsewhere || time > Duration::ZERO {
                bins.push((Duration(end).plus(time), 0));
            }
            let bins: Vec<String> = bins
                .iter()
                .map(|(bound, count)| format!("[\"{bound}\", {count}]"))
                .collect();
            format!("{{ histogram = [{}] }}", bins.join(", "))
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use takt_scenario::Histogram;

    use super::*;

    fn us(micros: u64) -> Duration {
        Duration(micros * 1_000_000)
    }

    #[test]
    fn processing_makes_the_longest_latency_longer() {
        let constant = Distribution::Constant(us(3));
        assert_eq!(later(&constant, Duration::ZERO), "\"3 us\"");
        assert_eq!(
            later(&constant, us(2)),
            "{ least = \"3 us\", most = \"5 us\" }"
        );
        for (bins, time, written) in [
            (
                vec![(us(1), 5), (us(4), 2), (us(9), 0)],
                us(0),
                "[[\"1 us\", 5], [\"4 us\", 2], [\"9 us\", 0]]",
            ),
            (
                vec![(us(1), 5), (us(4), 2), (us(9), 0)],
                us(6),
                "[[\"1 us\", 5], [\"4 us\", 2], [\"15 us\", 0]]",
            ),
            (
                vec![(us(1), 5), (us(4), 2)],
                us(0),
                "[[\"1 us\", 5], [\"4 us\", 2]]",
            ),
            (
                vec![(us(1), 5), (us(4), 2)],
                us(6),
                "[[\"1 us\", 5], [\"4 us\", 2], [\"10 us\", 0]]",
            ),
        ] {
            let histogram = Histogram::new(bins).unwrap();
            let most = histogram.most().plus(time);
            let text = later(&Distribution::Histogram(histogram), time);
            assert_eq!(text, format!("{{ histogram = {written} }}"));
            assert!(text.contains(&format!("{most}")), "{text}");
        }
    }
}
