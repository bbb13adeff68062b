//! Traces of an element, as its file describes them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Kind of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceKind {
    /// Time between the arrivals of two frames of the first application.
    Spacing,
    /// Positions of the arrivals of each flow in a period.
    Positions,
    /// Credit of the shaper of the first application's class over time.
    Credit,
}

/// A trace of an element.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperTrace {
    /// Name, which is unique in the element.
    pub name: String,
    /// Kind.
    pub kind: TraceKind,
    /// Path of the campaign's file that has the case.
    pub campaign: PathBuf,
    /// Settings that choose the case.
    pub settings: BTreeMap<String, String>,
    /// Port at whose other end frames are observed, as `takt simulate` names it.
    pub port: String,
    /// Number of messages.
    pub messages: u64,
    /// Length of the period in nanoseconds, for positions.
    pub period: f64,
}
