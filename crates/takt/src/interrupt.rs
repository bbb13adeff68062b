//! Ctrl-C and SIGTERM as a flag that long-running commands look at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use miette::IntoDiagnostic;

/// Whether the user wants the command to end.
#[derive(Debug, Clone)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on SIGINT, SIGTERM and SIGHUP set the flag; a second one ends the process at once.
    pub fn install() -> miette::Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [
            signal_hook::consts::SIGINT,
            signal_hook::consts::SIGTERM,
            signal_hook::consts::SIGHUP,
        ] {
            // First so that it sees the flag as the earlier signal left it.
            signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))
                .into_diagnostic()?;
            signal_hook::flag::register(signal, Arc::clone(&flag)).into_diagnostic()?;
        }
        Ok(Self(flag))
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Sleeps until the time has passed (`None`: for ever) or the user has had enough.
    pub fn wait(&self, time: Option<Duration>) {
        const STEP: Duration = Duration::from_millis(50);
        let end = time.map(|time| Instant::now() + time);
        while !self.is_set() {
            match end.map(|end| end.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => return,
                Some(left) => std::thread::sleep(left.min(STEP)),
                None => std::thread::sleep(STEP),
            }
        }
    }

    /// The flag itself, for loops in other crates.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
