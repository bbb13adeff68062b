//! Client side of the line protocol: runs requests, checks answers, prints samples.

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use super::error::OwnPeerError;
use super::payload::{Mode, answer_to, fill};
use crate::random::Random;

/// Time after which a request counts as lost.
pub(super) const TIMEOUT: Duration = Duration::from_secs(2);
/// Largest size of a payload in bytes.
const LARGEST: usize = 1 << 20;
/// Largest number of requests of a run.
const MOST: usize = 10_000_000;

/// Function that gets an answer, and the time at which the client could read it. It returns true if the request is over.
pub(super) type Answered<'a> = &'a mut dyn FnMut(Instant, &[u8]) -> bool;

/// Connection of a client that waits for the answer to each request.
pub(super) trait Exchange {
    /// Sends a request, and passes each answer on until the request is over, or [`TIMEOUT`] is.
    fn exchange(
        &mut self,
        mode: Mode,
        request: &[u8],
        answered: Answered<'_>,
    ) -> Result<(), OwnPeerError>;
}

/// Connection of a client with messages in two directions.
pub(super) trait Messages {
    /// Sends a request.
    fn send(&mut self, mode: Mode, request: &[u8]) -> Result<(), OwnPeerError>;

    /// Waits for the next answer, at most for this time. Returns its payload, in place: a copy would count as time of the peer.
    fn receive(&mut self, timeout: Duration) -> Result<Option<&[u8]>, OwnPeerError>;
}

impl<T: Messages> Exchange for T {
    fn exchange(
        &mut self,
        mode: Mode,
        request: &[u8],
        answered: Answered<'_>,
    ) -> Result<(), OwnPeerError> {
        let begin = Instant::now();
        self.send(mode, request)?;
        loop {
            let left = TIMEOUT.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return Ok(());
            }
            let Some(answer) = self.receive(left)? else {
                return Ok(());
            };
            if answered(Instant::now(), answer) {
                return Ok(());
            }
        }
    }
}

/// Command of the runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    mode: Mode,
    size: usize,
    count: usize,
    wait_ms: u64,
    seed: u64,
}

impl Run {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        if words.next() != Some("run") {
            return None;
        }
        let run = Self {
            mode: words.next()?.parse().ok()?,
            size: words.next()?.parse().ok()?,
            count: words.next()?.parse().ok()?,
            wait_ms: words.next()?.parse().ok()?,
            seed: words.next()?.parse().ok()?,
        };
        let fits = (2..=LARGEST).contains(&run.size) && run.count <= MOST && words.next().is_none();
        fits.then_some(run)
    }
}

/// Faults of a run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Faults {
    wrong: u64,
    lost: u64,
    late: u64,
    duplicate: u64,
}

/// Result of a run: the time of each request, `None` for a lost one.
type Times = Vec<Option<Duration>>;

/// Serves the commands on the standard input with a connection, until `quit` or the end of the input.
pub(super) fn serve_commands(exchange: &mut dyn Exchange) -> Result<(), OwnPeerError> {
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(OwnPeerError::system("read a command"))?;
        match line.trim() {
            "" => continue,
            "quit" => break,
            _ => {}
        }
        let run = Run::parse(&line).ok_or(OwnPeerError::Command(line))?;
        let (times, faults) = carry_out(run, exchange)?;
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        print(&mut out, &times, &faults).map_err(OwnPeerError::system("print samples"))?;
    }
    Ok(())
}

fn print(out: &mut impl Write, times: &Times, faults: &Faults) -> std::io::Result<()> {
    for time in times {
        match time {
            Some(time) => writeln!(out, "sample {}", time.as_nanos())?,
            None => writeln!(out, "sample lost")?,
        }
    }
    let Faults {
        wrong,
        lost,
        late,
        duplicate,
    } = faults;
    writeln!(
        out,
        "errors wrong={wrong} lost={lost} late={late} duplicate={duplicate}"
    )?;
    writeln!(out, "done")?;
    out.flush()
}

/// Sends all requests of a run one after the other.
fn carry_out(run: Run, exchange: &mut dyn Exchange) -> Result<(Times, Faults), OwnPeerError> {
    let mut times = Vec::with_capacity(run.count);
    let mut faults = Faults::default();
    let mut request = vec![0; run.size];
    let mut expected = Vec::new();
    let mut outstanding = Outstanding::default();
    let mut random = Random::new(run.seed);
    for number in 0..run.count {
        if run.wait_ms > 0 {
            std::thread::sleep(Duration::from_millis(random.next() % (run.wait_ms + 1)));
        }
        let number = number as u16;
        fill(&mut request, number);
        answer_to(run.mode, &request, &mut expected);
        let begin = Instant::now();
        let mut time = None;
        exchange.exchange(run.mode, &request, &mut |end, answer| {
            if answer != expected {
                match outstanding.find(run, answer, number) {
                    Earlier::Lost => {
                        faults.late += 1;
                        return false;
                    }
                    Earlier::Answered => {
                        faults.duplicate += 1;
                        return false;
                    }
                    // A wrong answer ends the request. Its time is shown, so that a peer that answers early is seen.
                    Earlier::No => faults.wrong += 1,
                }
            }
            time = Some(end.duration_since(begin));
            true
        })?;
        if time.is_none() {
            faults.lost += 1;
            outstanding.lost.push(number);
        }
        times.push(time);
    }
    Ok((times, faults))
}

/// Request to which an unexpected answer belongs.
enum Earlier {
    Lost,
    Answered,
    No,
}

/// Requests without an answer.
#[derive(Default)]
struct Outstanding {
    lost: Vec<u16>,
}

impl Outstanding {
    /// Finds the earlier request that `answer` belongs to. A lost one is taken off the list.
    fn find(&mut self, run: Run, answer: &[u8], number: u16) -> Earlier {
        let mut payload = vec![0; run.size];
        let mut expected = Vec::new();
        let mut is_answer_to = |earlier: u16| {
            fill(&mut payload, earlier);
            answer_to(run.mode, &payload, &mut expected);
            expected == answer
        };
        if let Some(place) = self.lost.iter().position(|earlier| is_answer_to(*earlier)) {
            self.lost.remove(place);
            return Earlier::Lost;
        }
        // The byte of an ACK is often that of another request, too.
        if run.mode == Mode::Ack {
            return Earlier::No;
        }
        // An answer comes twice at once, or not at all.
        let mut recent = (1..=4.min(number)).map(|back| number - back);
        match recent.any(is_answer_to) {
            true => Earlier::Answered,
            false => Earlier::No,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// Answers of a peer, one list for each request.
    struct Script {
        answers: Vec<Vec<Vec<u8>>>,
        waiting: Vec<Vec<u8>>,
        answer: Vec<u8>,
    }

    impl Messages for Script {
        fn send(&mut self, _: Mode, _: &[u8]) -> Result<(), OwnPeerError> {
            self.waiting.extend(self.answers.remove(0));
            Ok(())
        }

        fn receive(&mut self, _: Duration) -> Result<Option<&[u8]>, OwnPeerError> {
            if self.waiting.is_empty() {
                return Ok(None);
            }
            self.answer = self.waiting.remove(0);
            Ok(Some(&self.answer))
        }
    }

    #[test]
    fn each_fault_of_a_peer_is_counted() {
        let run = Run::parse("run echo 8 6 0 1").unwrap();
        let right = |number: u16| {
            let mut payload = vec![0; 8];
            fill(&mut payload, number);
            payload
        };
        let mut script = Script {
            answers: vec![
                vec![right(0), right(0)],
                vec![right(1)],
                vec![],
                vec![right(2), right(3)],
                vec![vec![7; 8]],
                vec![right(5)],
            ],
            waiting: Vec::new(),
            answer: Vec::new(),
        };
        let (times, faults) = carry_out(run, &mut script).unwrap();
        let expected = Faults {
            wrong: 1,
            lost: 1,
            late: 1,
            duplicate: 1,
        };
        assert_eq!(faults, expected);
        assert_eq!(times.len(), 6);
        assert!(times[2].is_none());
        let mut out = Vec::new();
        print(&mut out, &times, &faults).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.ends_with("errors wrong=1 lost=1 late=1 duplicate=1\ndone\n"));
        assert_eq!(out.matches("sample ").count(), 6);
    }

    #[test]
    fn commands_have_limits() {
        for line in [
            "run echo 1 1 0 1",
            "run echo 2000000 1 0 1",
            "run all 2 1 0 1",
            "run ack 2 1 0",
            "run ack 2 1 0 1 1",
            "stop",
        ] {
            assert_eq!(Run::parse(line), None, "{line}");
        }
    }
}
