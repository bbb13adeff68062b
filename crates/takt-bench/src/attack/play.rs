//! An attacker in a process of its own. It shares neither memory nor descriptors with the measured client.

use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use super::attack_assignment::AttackAssignment;
use super::kind::Attack;
use super::target::{AttackTarget, Attacker, Tally};
use crate::assignment::Assignment;
use crate::error::BenchError;
use crate::parent::print;
use crate::process::Process;

/// Longest duration of an attack, even if the process that started it is gone.
const LONGEST: Duration = Duration::from_secs(300);

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
        target: &AttackTarget,
        divisor: u32,
    ) -> Result<UnderWay, BenchError> {
        let assignment = AttackAssignment {
            attack: self,
            target: target.clone(),
            divisor,
        };
        let mut command = assignment.command(program)?;
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

impl Assignment for AttackAssignment {
    const NAME: &'static str = "attack";

    fn carry_out(self) -> Result<(), BenchError> {
        play(&self)
    }
}

/// Attacks until a line or the end of the standard input comes, and prints the counts.
fn play(assignment: &AttackAssignment) -> Result<(), BenchError> {
    let stop = Arc::new(AtomicBool::new(false));
    std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            let _ = std::io::stdin().lock().read_line(&mut String::new());
            stop.store(true, Ordering::Release);
        }
    });
    let mut attacker = Attacker::new(&assignment.target, assignment.divisor, LONGEST, &stop)?;
    let mut announce = Some(|| print(&json!({"ready": true})));
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
    print(&attacker.tally);
    Ok(())
}
