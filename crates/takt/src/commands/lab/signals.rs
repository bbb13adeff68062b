//! Signals that end a command which writes files. What it has written so far is removed first.

use miette::IntoDiagnostic;
use takt_rt::interrupt::Interrupt;

use crate::output;

/// Exit status after Ctrl-C, as shells have it.
const INTERRUPTED: i32 = 130;

/// End of the process at a signal, so that the work itself needs no checks for signals.
pub(super) struct EndAtSignal(Interrupt);

impl EndAtSignal {
    /// Holds signals back until [`start`](Self::start).
    pub(super) fn install() -> miette::Result<Self> {
        Interrupt::install().map(Self).into_diagnostic()
    }

    /// From now on, a signal runs `removal`, which returns true if the work was complete, and ends the process. Otherwise `nothing` says
    /// that there is no result.
    pub(super) fn start(
        &self,
        removal: impl FnOnce() -> bool + Send + 'static,
        nothing: &'static str,
    ) -> miette::Result<()> {
        let interrupt = self.0.clone();
        let thread = std::thread::Builder::new().name("signals".to_owned());
        let waiting = thread.spawn(move || {
            interrupt.wait(None);
            output::complain(match removal() {
                // The signal came at the very end.
                true => "interrupted".to_owned(),
                false => format!("interrupted: {nothing}"),
            });
            std::process::exit(INTERRUPTED);
        });
        waiting.map(drop).into_diagnostic()
    }

    /// Returns the result of the work that came after [`start`](Self::start). After a signal it does not return with an error, which
    /// would be that the files are gone: the other thread ends the process.
    pub(super) fn outcome<T>(&self, result: miette::Result<T>) -> miette::Result<T> {
        while result.is_err() && self.0.is_set() {
            std::thread::park();
        }
        result
    }
}
