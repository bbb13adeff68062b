//! An attacker in a process of its own. It shares neither memory nor descriptors with the observing client.

use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use takt_rt::child::{ChildProcess, Ending};

use crate::attack_assignment::AttackAssignment;
use crate::error::AttackError;
use crate::kind::Attack;
use crate::target::{AttackTarget, Attacker, Tally};

/// Longest duration of an attack, even if the process that started it is gone.
const LONGEST: Duration = Duration::from_secs(300);

/// Longest time that an attacker may take to begin, and to end. A mirror looks for its server each second, and after answers that it
/// cannot use each 20 s.
const START: Duration = Duration::from_secs(30);

/// Line of an attacker that has begun.
const READY: &str = "ready";

/// An attack under way. Dropping it ends the attack.
#[derive(Debug)]
pub struct UnderWay {
    process: ChildProcess,
}

impl Attack {
    /// Starts `program` as an attacker of `target`. The program passes the second argument of `process attack ASSIGNMENT` to
    /// [`carry_out`]. The counts are divided by `divisor`.
    ///
    /// # Errors
    /// The process cannot be started.
    pub fn start(
        self,
        program: &Path,
        target: &AttackTarget,
        divisor: u32,
    ) -> Result<UnderWay, AttackError> {
        let assignment = AttackAssignment {
            attack: self,
            target: target.clone(),
            divisor,
        };
        let mut command = assignment.command(program)?;
        let failed = || AttackError::process(self.name());
        let process =
            ChildProcess::start(self.name(), &mut command, Ending::Input).map_err(failed())?;
        let line = process.line(START, &AtomicBool::new(false));
        match line.map_err(failed())? {
            line if line == READY => Ok(UnderWay { process }),
            line => Err(AttackError::Process {
                what: self.name().to_owned(),
                reason: format!("printed {line:?}"),
            }),
        }
    }
}

impl UnderWay {
    /// Ends the attack and returns its counts.
    ///
    /// # Errors
    /// The attacker does not end in order.
    pub fn finish(mut self) -> Result<Tally, AttackError> {
        let name = self.process.name().to_owned();
        let line = self
            .process
            .ask(START)
            .map_err(AttackError::process(&name))?;
        serde_json::from_str(&line).map_err(|error| AttackError::Process {
            what: name,
            reason: format!("printed {line:?}: {error}"),
        })
    }
}

/// Carries out the assignment of an attacker: attacks until a line or the end of the standard input comes, and prints the counts.
///
/// # Errors
/// This is no assignment, or its target is not on this host.
pub fn carry_out(assignment: &str) -> Result<(), AttackError> {
    let assignment: AttackAssignment = serde_json::from_str(assignment)?;
    // Connections take several descriptors each. With too few, each failure to open one is an error of its own.
    takt_rt::descriptors::raise_limit();
    let stop = Arc::new(AtomicBool::new(false));
    std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            let _ = std::io::stdin().lock().read_line(&mut String::new());
            stop.store(true, Ordering::Release);
        }
    });
    let mut attacker = Attacker::new(&assignment.target, assignment.divisor, LONGEST, &stop)?;
    let mut is_announced = false;
    while attacker.goes_on() {
        let ran = assignment.attack.run(&mut attacker, || {
            if !std::mem::replace(&mut is_announced, true) {
                print(READY);
            }
        });
        if let Err(lost) = ran {
            attacker.refused(lost);
            attacker.wait(Duration::from_millis(10));
        }
    }
    print(&serde_json::to_string(&attacker.tally)?);
    Ok(())
}

/// Prints a line for the process that started this one.
fn print(line: &str) {
    let mut out = std::io::stdout().lock();
    // A failure is ignored, because it means that the reader is gone.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
