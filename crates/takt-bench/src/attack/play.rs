//! An attacker in a process of its own: what is measured beside it shares neither its memory nor its descriptors.

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

/// No attack lasts longer, whatever becomes of those who started it.
const LONGEST: Duration = Duration::from_secs(300);

/// What an attacker is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Assignment {
    pub(super) attack: Attack,
    pub(super) target: Target,
    /// Counts are divided by this.
    pub(super) divisor: u32,
}

/// An attack under way. It ends when this is dropped.
#[derive(Debug)]
pub struct UnderWay {
    attack: Attack,
    process: Process,
}

impl Attack {
    /// Has `program`, the command line `takt`, attack `target`, with counts divided by `divisor`.
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
    /// Ends the attack and gives what it did.
    ///
    /// # Errors
    /// The attacker does not end in order.
    pub fn finish(mut self) -> Result<Tally, BenchError> {
        let line = self.process.ask(self.attack.name())?;
        serde_json::from_str(&line).map_err(|error| BenchError::Process {
            what: self.attack.name().to_owned(),
            reason: format!("printed {line:?}: {error}"),
        })
    }
}

/// Attacks until a line or the end of the standard input comes, and prints what was done.
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
    // Nobody to tell if nobody listens.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
