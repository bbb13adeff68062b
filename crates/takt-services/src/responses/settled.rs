//! Notice that the changes of a request are durable.

use takt_ua::StatusCode;

/// Notice to the server that the changes of a request are durable, or lost.
///
/// It is given once, by any thread; a server that is not told waits with its response. Dropping it means that the changes are
/// lost (`BadResourceUnavailable`).
pub struct Settled(Option<Notify>);

type Notify = Box<dyn FnOnce(Result<(), StatusCode>) + Send>;

impl Settled {
    /// Creates a notice that is passed to `notify`.
    pub fn new(notify: impl FnOnce(Result<(), StatusCode>) + Send + 'static) -> Self {
        Self(Some(Box::new(notify)))
    }

    /// Gives the notice. The StatusCode is for all operations of the request that rest on the
    /// changes: good ones, and those that found that something exists.
    pub fn done(mut self, result: Result<(), StatusCode>) {
        self.give(result);
    }

    fn give(&mut self, result: Result<(), StatusCode>) {
        if let Some(notify) = self.0.take() {
            notify(result);
        }
    }
}

impl Drop for Settled {
    fn drop(&mut self) {
        self.give(Err(StatusCode::BadResourceUnavailable));
    }
}

impl std::fmt::Debug for Settled {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Settled").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_notice_is_given_once_and_a_dropped_one_means_that_the_changes_are_lost() {
        let (told, heard) = mpsc::channel();
        let settled = || {
            let told = told.clone();
            Settled::new(move |result| told.send(result).unwrap())
        };
        settled().done(Ok(()));
        drop(settled());
        drop(told);
        let heard: Vec<_> = heard.iter().collect();
        assert_eq!(heard, [Ok(()), Err(StatusCode::BadResourceUnavailable)]);
    }
}
