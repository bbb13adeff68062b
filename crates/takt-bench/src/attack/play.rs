//! An attacker in a process of its own. It shares neither memory nor descriptors with the measured client.

use std::io::{BufRead, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::kind::Attack;
use super::target::{Attacker, Tally, Target};
use crate::error::BenchError;
use crate::process::Process;
use crate::serve;

/// Longest duration of an attack, even if the process that started it is gone.
const LONGEST: Duration = Duration::from_secs(300);

/// Assignment of an attacker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Assignment {
    pub(super) attack: Attack,
    pub(super) target: Target,
    /// Divisor of the counts.
    pub(super) divisor: u32,
}

/// An attack under way. Dropping it ends the attack.
#[derive(Debug)]
pub struct UnderWay {
    attack: Attack,
    process: Process,
}

impl Attack {
    /// Starts `program`, the command line `takt`, as an attacker of `target`. The counts are divided by `divisor`.
    ///
    /// # Errors
    /// The process cannot be started.
    pub fn start(
        self,
        program: &Path,
        target: &Target,
        divisor: u32,
    ) -> Result<UnderWay, BenchError> {
        let assignment = Assignment {
            attack: self,
            target: target.clone(),
            divisor,
        };
        let assignment = serde_json::to_string(&assignment)
            .map_err(|error| BenchError::Option(error.to_string()))?;
        let mut command = Command::new(program);
        command.args(["bench", "attack", "--play", &assignment]);
        let process = Process::start(self.name(), &mut command)?;
        Ok(UnderWay {
            attack: self,
            process,
        })
    }
}

impl UnderWay {
    /// Ends the attack and returns its counts.
    ///
    /// # Errors
    /// The attacker does not end in order.
    pub fn finish(mut self) -> Result<Tally, BenchError> {
        let line = self.process.ask()?;
        serde_json::from_str(&line).map_err(|error| BenchError::Process {
            what: self.attack.name().to_owned(),
            reason: format!("printed {line:?}: {error}"),
        })
    }
}

/// Attacks until a line or the end of the standard input comes, and prints the counts.
pub(super) fn play(assignment: &str) -> Result<(), BenchError> {
    let assignment: Assignment = serde_json::from_str(assignment)
        .map_err(|error| BenchError::Option(format!("no assignment: {error}")))?;
    serve::raise_descriptors();
    let stop = Arc::new(AtomicBool::new(false));
    std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            let _ = std::io::stdin().lock().read_line(&mut String::new());
            stop.store(true, Ordering::Release);
        }
    });
    let mut attacker = Attacker::new(&assignment.target, assignment.divisor, LONGEST, &stop)?;
    let mut announce = Some(|| say(&json!({"ready": true}).to_string()));
    while attacker.goes_on() {
        let announce = announce.take();
        let ran = assignment.attack.run(&mut attacker, || {
            if let Some(announce) = announce {
                announce();
            }
        });
        if let Err(lost) = ran {
            attacker.refused(lost);
            attacker.wait(Duration::from_millis(10));
        }
    }
    let tally = serde_json::to_string(&attacker.tally);
    say(&tally.map_err(|error| BenchError::Option(error.to_string()))?);
    Ok(())
}

/// Prints a line for the process that started this one.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // A failure is ignored, because it means that the reader is gone.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
