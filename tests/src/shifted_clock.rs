//! A real-time clock that a test shifts for single processes, while they run.
//!
//! A library that the dynamic linker loads first (`LD_PRELOAD`) adds the shift to CLOCK_REALTIME. The C compiler of the machine
//! builds it.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The library.
const SOURCE: &str = include_str!("shifted_clock.c");

/// The clock of the processes that it is [applied](ShiftedClock::apply) to.
#[derive(Debug)]
pub struct ShiftedClock {
    library: PathBuf,
    shift: PathBuf,
}

impl ShiftedClock {
    /// Builds the library in a directory; `None` without a C compiler.
    ///
    /// # Panics
    /// If the directory cannot be written, or the compiler refuses the library.
    #[must_use]
    pub fn new(directory: &Path) -> Option<Self> {
        let clock = Self {
            library: directory.join("shifted_clock.so"),
            shift: directory.join("shift"),
        };
        let source = directory.join("shifted_clock.c");
        std::fs::write(&source, SOURCE).unwrap();
        std::fs::write(&clock.shift, 0_i64.to_ne_bytes()).unwrap();
        let mut compiler = Command::new("cc");
        compiler
            .args(["-shared", "-fPIC", "-o"])
            .args([&clock.library, &source]);
        let built = compiler.arg("-ldl").status();
        let Ok(status) = built else {
            println!("skipped: there is no C compiler");
            return None;
        };
        assert!(status.success(), "the library cannot be built");
        Some(clock)
    }

    /// Gives a process this clock, before it starts.
    pub fn apply(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("TAKT_SHIFTED_CLOCK", &self.shift);
    }

    /// Shifts the clock by this many seconds against that of the machine.
    ///
    /// # Panics
    /// If the file of the shift cannot be written.
    pub fn shift(&self, seconds: i64) {
        let file = std::fs::File::options().write(true).open(&self.shift);
        file.unwrap()
            .write_all_at(&seconds.to_ne_bytes(), 0)
            .unwrap();
    }
}
