//! Networks whose streams arrive in steps, beside the same with the lines above them. Fewer arrivals are never worse for Total Flow Analysis without
//! circles; other analyses choose between curves of which neither is lower than the other. Since the bounds of both hold, the lesser counts.

use super::analyses::NotApplicable;
use super::bounds::{FixedPoint, PortBounds};
use super::network::{PortNetwork, PortNetworkError};
use crate::curve::Extended;

/// The network with lines, and its Total Flow Analysis with shaping.
pub(super) struct Lines {
    /// Whether the network is so large that only lines are tried where streams are analysed one by one.
    pub(super) only: bool,
    pub(super) network: PortNetwork,
    pub(super) bounds: PortBounds,
}

impl PortNetwork {
    /// The same network, where a stream that arrives in steps does by the line above them; `None` if none does.
    pub(super) fn with_lines(&self) -> Result<Option<Self>, PortNetworkError> {
        let mut lines: Option<Self> = None;
        for (index, stream) in self.streams.iter().enumerate() {
            if stream.arrival == stream.arrival.concave_above() {
                continue;
            }
            let line = stream.arrival.line_above();
            if let Some(line) = line.map_err(super::PortError::from)? {
                lines.get_or_insert_with(|| self.clone()).streams[index].arrival = line;
            }
        }
        Ok(lines)
    }

    pub(super) fn lines(
        &self,
        fixed_point: &FixedPoint,
    ) -> Result<Option<Lines>, PortNetworkError> {
        let Some(network) = self.with_lines()? else {
            return Ok(None);
        };
        let bounds = network.total_flow(true, fixed_point)?;
        Ok(Some(Lines {
            only: self.hops() > fixed_point.exact_up_to,
            network,
            bounds,
        }))
    }
}

/// The lesser of two bounds, as far as they are known.
pub(super) fn lesser(
    one: Result<Extended, NotApplicable>,
    other: Result<Extended, NotApplicable>,
) -> Result<Extended, NotApplicable> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok(one.min(other)),
        (Err(_), Ok(other)) => Ok(other),
        (one, Err(_)) => one,
    }
}
