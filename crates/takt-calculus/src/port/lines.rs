//! Networks whose streams arrive in steps are also analysed with the lines above the steps. For Total Flow Analysis without
//! circles, fewer arrivals are never worse. Other analyses choose between curves of which neither is lower than the other. Since
//! the bounds of both networks hold, the lesser one counts.

use super::answer::NotApplicable;
use super::bounds::{FixedPoint, PortBounds};
use super::network::{PortNetwork, PortNetworkError};
use crate::curve::Extended;

/// The network with lines, and its Total Flow Analysis with shaping.
pub(super) struct Lines {
    /// True if the network is so large that analyses of single streams use the lines only.
    pub(super) only: bool,
    pub(super) network: PortNetwork,
    pub(super) bounds: PortBounds,
}

impl PortNetwork {
    /// Returns the same network with the lines above all arrivals in steps; `None` if no stream arrives in steps.
    pub(super) fn with_lines(&self) -> Result<Option<Self>, PortNetworkError> {
        let mut lines: Option<Self> = None;
        for (index, stream) in self.streams.iter().enumerate() {
            // This stream does not arrive in steps.
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

/// Returns the lesser of two bounds, as far as they are known.
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
