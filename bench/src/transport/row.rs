//! Rows of the result.

use serde::{Deserialize, Serialize};

use crate::measure::{Percentiles, Samples};

/// Result of one measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Software: `takt`, `open62541`, or `floor` for the bare mechanism.
    pub peer: String,
    /// `in-process`, `opc.iox2`, `opc.tcp`, or the mechanism of a floor.
    pub transport: String,
    /// Service, for example `Read`.
    pub service: String,
    /// Bytes of the value in the response.
    pub payload_bytes: usize,
    /// Placement `same` or `diff`: both sides pinned to one core, or to two; `none` if there is one side.
    pub placement: String,
    /// Waiting method of both sides: `spin`, `adaptive`, `sleep`, `blocking`; `none` without a second side.
    pub wait: String,
    /// Scheduling policy of the measured threads.
    pub scheduling: String,
    /// Durations in µs.
    #[serde(flatten)]
    pub percentiles: Percentiles,
    /// Calls of malloc for one request, if they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocations: Option<f64>,
    /// Median divided by the median of the floor in the same run, if there is a floor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_to_floor: Option<f64>,
    /// Name of the floor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<String>,
}

/// Head of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) peer: &'static str,
    pub(crate) transport: &'static str,
    pub(crate) service: &'static str,
    pub(crate) payload_bytes: usize,
    pub(crate) placement: &'static str,
    pub(crate) wait: &'static str,
}

impl Head {
    /// Creates the head of a row of one thread that does not wait for another one.
    pub(crate) const fn new(
        peer: &'static str,
        transport: &'static str,
        service: &'static str,
        payload_bytes: usize,
    ) -> Self {
        Self {
            peer,
            transport,
            service,
            payload_bytes,
            placement: "none",
            wait: "none",
        }
    }

    /// Returns the label; see [`Row::label`].
    pub(crate) fn label(&self) -> String {
        let bytes = self.payload_bytes.to_string();
        [
            self.peer,
            self.transport,
            self.service,
            &bytes,
            self.placement,
            self.wait,
        ]
        .join(" ")
    }

    /// Returns a row without floor.
    pub(crate) fn row(&self, samples: &Samples) -> Row {
        Row {
            peer: self.peer.to_owned(),
            transport: self.transport.to_owned(),
            service: self.service.to_owned(),
            payload_bytes: self.payload_bytes,
            placement: self.placement.to_owned(),
            wait: self.wait.to_owned(),
            scheduling: crate::seat::policy().to_string(),
            percentiles: samples.percentiles(),
            allocations: None,
            ratio_to_floor: None,
            floor: None,
        }
    }
}

impl Row {
    /// Sets the ratio to the median of `floor`.
    #[must_use]
    pub(crate) fn over(mut self, floor: &Self) -> Self {
        self.ratio_to_floor = Some(self.percentiles.p50 / floor.percentiles.p50);
        self.floor = Some(floor.mechanism());
        self
    }

    /// Returns the name of the row as a floor.
    pub(crate) fn mechanism(&self) -> String {
        format!("{} {}", self.transport, self.service)
    }

    /// Returns the label for `--only`, with everything that distinguishes this row from the others.
    #[must_use]
    pub fn label(&self) -> String {
        [
            self.peer.as_str(),
            &self.transport,
            &self.service,
            &self.payload_bytes.to_string(),
            &self.placement,
            &self.wait,
        ]
        .join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(nanos: u64) -> Row {
        let mut samples = Samples::nanos();
        samples.record(nanos);
        Head::new("takt", "opc.tcp", "Read", 4).row(&samples)
    }

    #[test]
    fn json_has_all_documented_fields() {
        let row = Row {
            placement: "diff".to_owned(),
            wait: "blocking".to_owned(),
            allocations: Some(0.0),
            ..row(30_000).over(&row(20_000))
        };
        let json = serde_json::to_value(&row).unwrap();
        for (field, expected) in [
            ("peer", "takt"),
            ("transport", "opc.tcp"),
            ("service", "Read"),
            ("placement", "diff"),
            ("wait", "blocking"),
            ("floor", "opc.tcp Read"),
        ] {
            assert_eq!(json[field], expected, "{field}");
        }
        for (field, expected) in [("payload_bytes", 4), ("samples", 1)] {
            assert_eq!(json[field], expected, "{field}");
        }
        for field in ["min", "p50", "p99", "p999", "max"] {
            let micros = json[field].as_f64().unwrap();
            assert!((micros - 30.0).abs() < 0.1, "{field}: {micros}");
        }
        assert!((json["ratio_to_floor"].as_f64().unwrap() - 1.5).abs() < 0.01);
        assert_eq!(json["allocations"], 0.0);
        assert_eq!(serde_json::from_value::<Row>(json).unwrap(), row);
    }

    #[test]
    fn fields_that_do_not_apply_are_left_out() {
        let json = serde_json::to_value(row(1)).unwrap();
        for field in ["allocations", "ratio_to_floor", "floor"] {
            assert!(json.get(field).is_none(), "{field}");
        }
    }
}
