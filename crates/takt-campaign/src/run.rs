//! A run: computes the rows that a folder lacks, and writes the result when all are there.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use takt_scenario::CampaignBackend;

use crate::case::RowKey;
use crate::compute::{ComputedRow, compute_any_row};
use crate::error::CampaignError;
use crate::facts::{Facts, session};
use crate::folder::{FolderLock, ROWS, SOURCE, TABLE, write_whole};
use crate::items::owned;
use crate::lab::{CampaignLab, needs_lab, remove_left};
use crate::lab_error::CampaignLabError;
use crate::lab_runner::LabRunner;
use crate::options::{CampaignObserver, CampaignOutcome, CampaignRunOptions, CampaignStart};
use crate::plan::{CampaignPlan, stop_text};
use crate::progress::{CampaignProgress, ItemProgress};
use crate::queue::RowQueue;
use crate::resume::{check, check_rows, described, earlier, stop_of_folder};
use crate::shard::Shard;
use crate::store::RowStore;
use crate::table::write_table;

/// Interval of checks for an interrupt.
const STEP: Duration = Duration::from_millis(50);

/// Runs a campaign on the backends `simulate` and `bounds`. `interrupt` ends the run early. Rows that are there stay, however the run ends.
///
/// # Errors
/// [`CampaignError`].
pub fn run_campaign(
    plan: &Arc<CampaignPlan>,
    options: &CampaignRunOptions,
    observer: &mut dyn CampaignObserver,
    interrupt: &AtomicBool,
) -> Result<CampaignOutcome, CampaignError> {
    match needs_lab(plan.backends()) {
        None => run(plan, options, None, observer, interrupt),
        Some(backend) => Err(CampaignError::NoLab(backend)),
    }
}

/// Runs a campaign on all backends. Rows of `uml` are the same in each repeat; those of `netns` are measured, one after the other, while
/// nothing else is computed. When this returns, no run of the lab goes on, and none has left files.
///
/// # Errors
/// [`CampaignError`].
pub fn run_campaign_in_lab(
    plan: &Arc<CampaignPlan>,
    options: &CampaignRunOptions,
    lab: &CampaignLab,
    observer: &mut dyn CampaignObserver,
    interrupt: &AtomicBool,
) -> Result<CampaignOutcome, CampaignError> {
    let lab = needs_lab(plan.backends()).map(|_| lab.prepare(plan, options.shard, options.jobs));
    let lab = lab.transpose().map_err(CampaignError::Lab)?;
    run(plan, options, lab.map(Arc::new), observer, interrupt)
}

fn run(
    plan: &Arc<CampaignPlan>,
    options: &CampaignRunOptions,
    lab: Option<Arc<LabRunner>>,
    observer: &mut dyn CampaignObserver,
    interrupt: &AtomicBool,
) -> Result<CampaignOutcome, CampaignError> {
    let directory = options.directory.as_path();
    let kernel = lab.as_ref().and_then(|lab| lab.kernel());
    let description = described(plan, options, kernel);
    fs::create_dir_all(directory).map_err(|error| CampaignError::io(directory, error))?;
    let _lock = FolderLock::take(directory)?;
    let before = earlier(directory, options.resume)?;
    let is_extended = match &before {
        Some(before) => check(directory, before, &description)?,
        None => false,
    };
    let quantity = plan.file.stop.as_ref();
    let quantity = quantity.map(|stop| stop.quantity.text.as_str());
    let store = RowStore::open(directory, quantity)?;
    if let Err(error) = check_rows(plan, options, &store) {
        store.abandon();
        return Err(error);
    }
    let mut run = Run::new(plan, options.shard, store);
    // With the same rule, rows behind an end were not part of the earlier result either.
    if is_extended && stop_of_folder(directory) != stop_text(&plan.file) {
        let (rows, lost) = (run.store.rows().count(), run.rows_behind_ends());
        if lost > 0 {
            run.store.abandon();
            let directory = directory.to_owned();
            return Err(CampaignError::RowsLost {
                directory,
                rows,
                lost,
            });
        }
    }
    // The folder is that of a campaign, and nobody else works in it.
    remove_left(directory).map_err(CampaignError::Lab)?;
    if before.as_ref() != Some(&description) {
        description.write(directory)?;
    }
    // After the description: a folder without one has files of others.
    write_whole(&directory.join(SOURCE), |file| {
        file.write_all(plan.file.text().as_bytes())
    })?;
    let mut facts = Facts::open(directory)?;
    facts.add("began", session(plan, options, kernel))?;
    let start = CampaignStart {
        present: run.progress().done,
        damaged: run.store.damaged,
        is_extended,
    };
    observer.begins(start, run.progress());
    if let Some(lab) = &lab {
        lab.open(directory).map_err(CampaignError::Lab)?;
    }
    let computed = run.compute(options.jobs, lab.as_ref(), observer, interrupt, &mut facts);
    if let Some(lab) = &lab {
        lab.end();
    }
    computed?;
    let outcome = run.finish(directory)?;
    let ended = json!({"rows": outcome.rows, "computed": outcome.computed});
    facts.add("ended", ended)?;
    Ok(outcome)
}

/// A row that a worker has computed: item, number of the repetition, row, and time.
type Computed = (usize, u32, Result<ComputedRow, NoRow>, Duration);

/// Reason why a worker has no row.
enum NoRow {
    Panicked,
    Lab(CampaignLabError),
}

/// Rows of a run.
struct Run<'a> {
    plan: &'a Arc<CampaignPlan>,
    store: RowStore,
    items: Vec<(usize, CampaignBackend)>,
    states: Vec<ItemProgress>,
    computed: usize,
    began: Instant,
}

impl<'a> Run<'a> {
    fn new(plan: &'a Arc<CampaignPlan>, shard: Option<Shard>, store: RowStore) -> Self {
        let items: Vec<(usize, CampaignBackend)> = owned(plan, shard).collect();
        let states = items.iter();
        let states = states.map(|(_, backend)| ItemProgress::new(plan.repetitions(*backend)));
        let mut run = Self {
            plan,
            store,
            states: states.collect(),
            items,
            computed: 0,
            began: Instant::now(),
        };
        for item in 0..run.items.len() {
            run.note(item);
        }
        run
    }

    fn key(&self, item: usize, repetition: u32) -> RowKey {
        let (case, backend) = self.items[item];
        CampaignPlan::key(&self.plan.cases[case], backend, repetition)
    }

    /// Notes the rows of an item that are there without a gap.
    fn note(&mut self, item: usize) {
        let stop = self.plan.file.stop.as_ref();
        while self.states[item].result.is_none() {
            let key = self.key(item, self.states[item].next());
            let Some(row) = self.store.get(&key) else {
                return;
            };
            let value = row.value;
            self.states[item].add(value, stop);
        }
    }

    /// Returns the repetitions of an item that are there, out of these.
    fn present(&self, item: usize, of: RangeInclusive<u32>) -> impl Iterator<Item = u32> {
        of.filter(move |it| self.store.get(&self.key(item, *it)).is_some())
    }

    /// Returns the number of rows that the stop rule excludes from the result.
    fn rows_behind_ends(&self) -> usize {
        let items = self.states.iter().enumerate();
        let behind = items.map(|(item, state)| {
            let (_, backend) = self.items[item];
            let most = self.plan.repetitions(backend);
            self.present(item, state.rows() + 1..=most).count()
        });
        behind.sum()
    }

    fn progress(&self) -> CampaignProgress {
        let items = || self.states.iter().enumerate();
        let there = items().map(|(item, state)| self.present(item, 1..=state.rows()).count());
        CampaignProgress {
            done: there.sum(),
            of: items().map(|(_, state)| state.rows() as usize).sum(),
            computed: self.computed,
            elapsed: self.began.elapsed(),
        }
    }

    fn compute(
        &mut self,
        jobs: usize,
        lab: Option<&Arc<LabRunner>>,
        observer: &mut dyn CampaignObserver,
        interrupt: &AtomicBool,
        facts: &mut Facts,
    ) -> Result<(), CampaignError> {
        let items = self.states.iter().enumerate();
        let present = items.flat_map(|(item, state)| {
            let there = self.present(item, 1..=state.rows());
            there.map(move |repetition| (item, repetition))
        });
        let present: HashSet<(usize, u32)> = present.collect();
        let repetitions: Vec<u32> = self.states.iter().map(ItemProgress::rows).collect();
        let queue = RowQueue::new(&repetitions, present, self.plan.file.order_seed);
        let queue = Arc::new(Mutex::new(queue));
        let rows = self.start(jobs, lab, &queue)?;
        let outcome = self.collect(&rows, &queue, observer, interrupt, facts);
        // Workers end after the row at which they are. Nobody waits for simulations: the rest of them is computed again.
        queue.lock().unwrap_or_else(PoisonError::into_inner).close();
        outcome
    }

    /// Starts the workers.
    fn start(
        &self,
        jobs: usize,
        lab: Option<&Arc<LabRunner>>,
        queue: &Arc<Mutex<RowQueue>>,
    ) -> Result<Receiver<Computed>, CampaignError> {
        let (sender, receiver) = sync_channel(jobs.max(1));
        let items = Arc::new(self.items.clone());
        for number in 0..jobs.max(1) {
            let (plan, queue) = (Arc::clone(self.plan), Arc::clone(queue));
            let (items, sender, lab) = (Arc::clone(&items), sender.clone(), lab.cloned());
            std::thread::Builder::new()
                .name(format!("campaign {number}"))
                .spawn(move || work(&plan, &items, lab.as_deref(), &queue, &sender))
                .map_err(|error| CampaignError::io(Path::new("a thread"), error))?;
        }
        Ok(receiver)
    }

    /// Writes the rows as they come.
    fn collect(
        &mut self,
        rows: &Receiver<Computed>,
        queue: &Mutex<RowQueue>,
        observer: &mut dyn CampaignObserver,
        interrupt: &AtomicBool,
        facts: &mut Facts,
    ) -> Result<(), CampaignError> {
        let mut progress = self.progress();
        loop {
            // The flag carries no data.
            if interrupt.load(Ordering::Relaxed) {
                let CampaignProgress { done, of, .. } = progress;
                return Err(CampaignError::Interrupted { done, of });
            }
            let (item, repetition, row, time) = match rows.recv_timeout(STEP) {
                Ok(computed) => computed,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            let key = self.key(item, repetition);
            let ComputedRow { row, facts: of_run } = match row {
                Ok(row) => row,
                Err(NoRow::Panicked) => return Err(CampaignError::Panicked { case: key.case }),
                Err(NoRow::Lab(error)) => {
                    let RowKey { case, backend, .. } = key;
                    return Err(CampaignError::LabRow {
                        case,
                        backend,
                        error,
                    });
                }
            };
            let planned = self.states[item].rows();
            // A row behind the end of its item was begun before the end was known.
            progress.done += usize::from(repetition <= planned);
            self.store.add(key, &row)?;
            let mut known = json!({
                "case": row.case,
                "backend": row.backend,
                "repetition": row.repetition,
                "elapsedS": time.as_secs_f64(),
            });
            if !of_run.is_null() {
                known["run"] = of_run;
            }
            facts.add("row", known)?;
            self.computed += 1;
            self.note(item);
            let rows = self.states[item].rows();
            if rows < planned {
                // Further rows of this item are not part of the result.
                let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
                queue.end(item);
                progress.done -= self.present(item, rows + 1..=planned).count();
                progress.of -= (planned - rows) as usize;
            }
            progress.computed = self.computed;
            progress.elapsed = self.began.elapsed();
            observer.row(&row, progress);
        }
    }

    /// Writes the result in the order of the plan.
    fn finish(self, directory: &Path) -> Result<CampaignOutcome, CampaignError> {
        let path = directory.join(ROWS);
        let (mut count, mut failed) = (0, 0);
        let mut reading = Ok(());
        let written = write_whole(&path, |file| {
            for (item, state) in self.states.iter().enumerate() {
                for repetition in 1..=state.rows() {
                    let Some(row) = self.store.get(&self.key(item, repetition)) else {
                        return Err(io::Error::other("a row is missing"));
                    };
                    match self.store.line(row) {
                        Ok(line) => file.write_all(&line)?,
                        Err(error) => {
                            reading = Err(error);
                            return Err(io::Error::other("a row cannot be read"));
                        }
                    }
                    count += 1;
                    failed += usize::from(row.has_failed);
                }
            }
            Ok(())
        });
        reading?;
        written?;
        write_table(&path, &directory.join(TABLE))?;
        self.store.finish()?;
        Ok(CampaignOutcome {
            rows: count,
            failed,
            computed: self.computed,
        })
    }
}

/// Computes rows until none is left.
fn work(
    plan: &CampaignPlan,
    items: &[(usize, CampaignBackend)],
    lab: Option<&LabRunner>,
    queue: &Mutex<RowQueue>,
    sender: &SyncSender<Computed>,
) {
    let take = || queue.lock().unwrap_or_else(PoisonError::into_inner).take();
    while let Some((item, repetition)) = take() {
        let (case, backend) = items[item];
        let case = &plan.cases[case];
        let key = CampaignPlan::key(case, backend, repetition);
        // Its time is not that of other rows.
        let _host = lab.and_then(|lab| lab.host(backend));
        let began = Instant::now();
        // A fault in one row must not look like the end of all rows.
        let compute = AssertUnwindSafe(|| compute_any_row(plan, case, &key, lab));
        let row = match catch_unwind(compute) {
            Ok(Ok(row)) => Ok(row),
            // Nobody waits for the row any more.
            Ok(Err(error)) if error.is_interrupt() => return,
            Ok(Err(error)) => Err(NoRow::Lab(error)),
            Err(_) => Err(NoRow::Panicked),
        };
        if sender
            .send((item, repetition, row, began.elapsed()))
            .is_err()
        {
            return;
        }
    }
}
