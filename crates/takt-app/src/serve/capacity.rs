//! Number of connections of each endpoint, from the limits on Sessions and on file descriptors.

use takt_client::Endpoint;

use super::error::ServeError;

/// Number of file descriptors reserved for other purposes than connections of clients: endpoints, databases, logs,
/// connections to other servers. A process with few descriptors reserves a quarter.
const RESERVE: usize = 256;

/// File descriptors of the process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descriptors {
    /// Limit of the process.
    pub(super) limit: usize,
    /// Number of open descriptors.
    pub(super) open: usize,
}

impl Descriptors {
    /// Raises the limit of this process to the hard limit, and counts the open descriptors.
    pub(super) fn of_this_process() -> Self {
        Self {
            limit: takt_rt::descriptors::raise_limit(),
            open: takt_rt::descriptors::open(),
        }
    }

    fn for_connections(self) -> usize {
        let reserve = RESERVE.min(self.limit / 4);
        self.limit.saturating_sub(self.open).saturating_sub(reserve)
    }
}

/// Returns the largest number of connections of each of `endpoints`: `wanted`, or a quarter more than the largest
/// number of Sessions if the descriptors are sufficient.
///
/// # Errors
/// An error if there are not enough descriptors for `wanted`.
pub(super) fn max_connections(
    wanted: Option<usize>,
    max_sessions: u32,
    endpoints: &[Endpoint],
    descriptors: Descriptors,
) -> Result<usize, ServeError> {
    let of_each = endpoints.iter().map(Endpoint::descriptors_per_connection);
    let of_each: usize = of_each.sum();
    let possible = descriptors.for_connections() / of_each.max(1);
    if let Some(wanted) = wanted {
        if wanted > possible {
            let others = descriptors.limit - descriptors.for_connections().min(descriptors.limit);
            return Err(ServeError::Descriptors {
                wanted,
                possible,
                needed: wanted.saturating_mul(of_each).saturating_add(others),
                limit: descriptors.limit,
            });
        }
        return Ok(wanted);
    }
    // OPC 10000-4, 5.7.2.1: at least N + 1 channels for N Sessions.
    let sessions = usize::try_from(max_sessions).unwrap_or(usize::MAX);
    let enough = sessions.saturating_add(sessions / 4 + 1);
    // At least one Session, with the further channel that the standard demands.
    Ok(enough.min(possible).max(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoints() -> Vec<Endpoint> {
        ["opc.iox2://Boiler", "opc.tcp://127.0.0.1:0"]
            .map(|endpoint| endpoint.parse().unwrap())
            .into()
    }

    fn possible(limit: usize, max_sessions: u32) -> usize {
        let descriptors = Descriptors { limit, open: 20 };
        max_connections(None, max_sessions, &endpoints(), descriptors).unwrap()
    }

    #[test]
    fn there_are_more_connections_than_sessions_unless_descriptors_are_few() {
        assert_eq!(possible(1 << 20, 1024), 1281);
        assert_eq!(possible(usize::MAX, 1), 2);
        // 7 descriptors for one connection of each endpoint.
        assert_eq!(possible(1024, 1024), (1024 - 20 - 256) / 7);
        assert_eq!(possible(100, 1024), (100 - 20 - 25) / 7);
        assert_eq!(possible(16, 1024), 2);
    }

    #[test]
    fn too_many_connections_are_refused_with_a_fix() {
        let descriptors = Descriptors {
            limit: 1024,
            open: 24,
        };
        let allow = |wanted| max_connections(Some(wanted), 1024, &endpoints(), descriptors);
        assert_eq!(allow(106).unwrap(), 106);
        let text = allow(107).unwrap_err().to_string();
        assert_eq!(
            text,
            "107 connections of each endpoint take 1029 file descriptors with everything else, and this process may have 1024: \
             raise the hard limit (`ulimit -Hn 1029` as root, `LimitNOFILE=` of a service, `--ulimit nofile=1029` of a container), \
             or allow 106 connections"
        );
    }
}
