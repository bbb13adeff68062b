//! `takt lab setup`: builds the kernel of the backend `uml`.

use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

use miette::IntoDiagnostic;
use serde_json::{Value, json};
use takt_lab::uml::{
    BuildObserver, BuildStep, KernelCache, KernelSource, SPACE_MEGABYTES, build_kernel,
};
use takt_rt::interrupt::Interrupt;

use super::advice;
use crate::arguments::LabSetupArguments;
use crate::output;

/// Processor time of a build, in minutes, on a processor of 2.25 GHz.
const PROCESSOR_MINUTES: usize = 9;

/// Interval of the lines of progress if the error output is no terminal.
const INTERVAL: Duration = Duration::from_secs(30);

pub(super) fn run(arguments: &LabSetupArguments) -> miette::Result<()> {
    let interrupt = Interrupt::install().into_diagnostic()?;
    let explained = |error| advice::explained_uml(&error);
    let cache = KernelCache::of_environment().map_err(explained)?;
    if let (Ok(kernel), false) = (cache.built(), arguments.again) {
        let text = format!("the kernel is built already: {}", kernel.display());
        output::tell(arguments.json, || built(&kernel, None), text);
        return Ok(());
    }
    let source = match &arguments.source {
        Some(folder) => KernelSource::tree(folder),
        None => KernelSource::installed(),
    };
    let source = source.map_err(explained)?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = arguments.jobs.unwrap_or(processors);
    if arguments.json {
        output::line(json!({
            "event": "started",
            "source": source.path().display().to_string(),
            "folder": cache.folder().display().to_string(),
            "neededMegabytes": SPACE_MEGABYTES,
            "jobs": jobs,
        }));
    } else {
        output::line(format_args!(
            "Building User-Mode Linux from {}",
            source.path().display(),
        ));
        output::line(format_args!(
            "needs {SPACE_MEGABYTES} MB in {} until the end, and about {} min with {jobs} jobs; the result has 9 MB",
            cache.folder().display(),
            (PROCESSOR_MINUTES / jobs.max(1)).max(1) + 1,
        ));
    }
    let mut progress = BuildProgress::new(arguments.json);
    let kernel = build_kernel(&source, &cache, jobs, &mut progress, &interrupt.flag());
    output::clear_status();
    let kernel = kernel.map_err(explained)?;
    let elapsed = progress.start.elapsed();
    output::tell(
        arguments.json,
        || built(&kernel, Some(elapsed)),
        format_args!("built in {}: {}", duration(elapsed), kernel.display()),
    );
    if !arguments.json {
        output::line("`takt lab run SCENARIO --backend uml` runs a scenario on it");
    }
    Ok(())
}

/// Returns the event of a kernel that is there, for programs. The time is that of the build, if there was one.
fn built(kernel: &Path, elapsed: Option<Duration>) -> Value {
    json!({
        "event": "built",
        "kernel": kernel.display().to_string(),
        "elapsedS": elapsed.map(|elapsed| elapsed.as_secs_f64()),
    })
}

/// Display of the progress on the error output.
struct BuildProgress {
    start: Instant,
    step: &'static str,
    shown: Option<Instant>,
    is_terminal: bool,
    /// True if steps are events for programs.
    json: bool,
}

impl BuildProgress {
    fn new(json: bool) -> Self {
        Self {
            json,
            start: Instant::now(),
            step: "",
            shown: None,
            is_terminal: std::io::stderr().is_terminal(),
        }
    }

    fn show(&mut self, compiled: usize) {
        let interval = match self.is_terminal {
            true => Duration::from_millis(200),
            false => INTERVAL,
        };
        if self.shown.is_some_and(|shown| shown.elapsed() < interval) {
            return;
        }
        self.shown = Some(Instant::now());
        let elapsed = duration(self.start.elapsed());
        let mut text = format!("{elapsed}  {}", self.step);
        if compiled > 0 {
            text.push_str(&format!(", {compiled} files"));
        }
        output::status(text);
    }
}

impl BuildObserver for BuildProgress {
    fn begins(&mut self, step: BuildStep) {
        self.step = match step {
            BuildStep::Unpack => "unpacking",
            BuildStep::Configure => "configuring",
            BuildStep::Compile => "compiling",
        };
        if self.json {
            output::line(json!({"event": "step", "step": self.step}));
        }
        // A new step shows at once, whatever was shown before.
        self.shown = None;
        self.show(0);
    }

    fn goes_on(&mut self, compiled: usize) {
        self.show(compiled);
    }
}

/// Returns a duration for people.
fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds / 60 {
        0 => format!("{seconds} s"),
        minutes => format!("{minutes} min {} s", seconds % 60),
    }
}
