//! Line protocol of a peer of `takt bench middleware` for Rust libraries: options, commands, payload, timing and
//! output.

mod certificate;
mod node;

use std::collections::HashSet;
use std::fmt::Display;
use std::io::{BufRead, Read, Write};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

pub use certificate::{authority, certificate};
pub use node::{NodeLinks, NodeOptions, node_topic, run_node};

/// Time after which a request counts as lost.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Largest payload.
pub const LARGEST: usize = 1 << 20;

/// Way in which the server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// With the same bytes.
    Echo,
    /// With one byte, the sum of all bytes.
    Ack,
}

impl Mode {
    /// Both modes.
    pub const BOTH: [Self; 2] = [Self::Echo, Self::Ack];

    /// Returns the topics of requests and replies.
    #[must_use]
    pub const fn topics(self) -> (&'static str, &'static str) {
        match self {
            Self::Echo => ("e", "E"),
            Self::Ack => ("a", "A"),
        }
    }
}

/// Command line.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// True for the server.
    pub server: bool,
    /// Address of the server or the broker.
    pub address: String,
    /// First port.
    pub port: u16,
    /// Private folder.
    pub folder: String,
    /// MQTT's quality of service.
    pub qos: u8,
    /// True for `security=tls`.
    pub tls: bool,
    /// True for `transport=shm`.
    pub shared_memory: bool,
}

/// Client of a library.
#[expect(async_fn_in_trait, reason = "both sides are in this package")]
pub trait Client {
    /// Bytes of an answer.
    type Answer: AsRef<[u8]>;
    /// Sends a request.
    async fn send(&mut self, mode: Mode, data: &[u8]) -> Result<(), String>;
    /// Waits for the next answer.
    async fn receive(&mut self) -> Result<Self::Answer, String>;
    /// Returns the time at which the library gave the answer to the program: by default now, when `receive` has ended.
    fn received(_: &Self::Answer) -> Instant {
        Instant::now()
    }
}

/// Text of an error.
pub fn text(error: impl Display) -> String {
    error.to_string()
}

/// Prints `info KEY VALUE`.
pub fn info(key: &str, value: impl Display) {
    print_line(&format!("info {key} {value}"));
}

/// Prints `ready`.
pub fn ready() {
    print_line("ready");
}

fn print_line(line: &str) {
    let mut output = std::io::stdout().lock();
    // A runner that has gone away ends the process by the end of stdin.
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}

/// Adds all bytes, modulo 256: the answer of an ACK.
#[must_use]
pub fn sum(data: &[u8]) -> u8 {
    data.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}

/// Returns the answer of a server.
#[must_use]
pub fn answer(mode: Mode, data: &[u8]) -> Vec<u8> {
    match mode {
        Mode::Echo => data.to_vec(),
        Mode::Ack => vec![sum(data)],
    }
}

/// Reads the command line. `known` are the options that the peer has, each with its value: `qos=1`. A wrong command
/// line ends the process with code 2.
#[must_use]
pub fn options(known: &[&str]) -> Options {
    or_exit(parse(std::env::args().skip(1), known))
}

/// Ends the process with code 2 if the command line is wrong.
fn or_exit<T>(parsed: Result<T, String>) -> T {
    parsed.unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(2)
    })
}

/// Returns the arguments after the role, each with its value.
fn arguments(mut words: impl Iterator<Item = String>) -> Result<Vec<(String, String)>, String> {
    let mut arguments = Vec::new();
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} has no value"))?;
        arguments.push((word, value));
    }
    Ok(arguments)
}

fn number(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("`{text}` is no number from 0 to 65535"))
}

fn parse(mut words: impl Iterator<Item = String>, known: &[&str]) -> Result<Options, String> {
    let mut options = Options {
        server: match words.next().as_deref() {
            Some("server") => true,
            Some("client") => false,
            _ => return Err("the first argument is server or client".to_owned()),
        },
        ..Options::default()
    };
    for (word, value) in arguments(words)? {
        match word.as_str() {
            "--address" => options.address = value,
            "--port" => options.port = number(&value)?,
            "--folder" => options.folder = value,
            "--option" if known.contains(&value.as_str()) => match value.split_once('=') {
                Some(("qos", qos)) => options.qos = qos.parse().map_err(text)?,
                Some(("security", security)) => options.tls = security == "tls",
                Some(("transport", transport)) => options.shared_memory = transport == "shm",
                _ => return Err(format!("unknown option `{value}`")),
            },
            "--option" => return Err(format!("this peer has no option `{value}`")),
            _ => return Err(format!("unknown argument {word}")),
        }
    }
    if options.address.is_empty() || options.port == 0 || options.folder.is_empty() {
        return Err("--address, --port and --folder are necessary".to_owned());
    }
    Ok(options)
}

/// Runs a peer until it ends or SIGTERM comes. An error ends the process with code 1.
pub fn run(threads: usize, work: impl Future<Output = Result<(), String>>) {
    let mut builder = match threads {
        0 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.worker_threads(threads.max(1)).enable_all().build();
    let result = runtime.map_err(text).and_then(|runtime| {
        let result = runtime.block_on(async {
            let terminate = tokio::signal::unix::SignalKind::terminate();
            let mut terminate = tokio::signal::unix::signal(terminate).map_err(text)?;
            tokio::select! {
                result = work => result,
                _ = terminate.recv() => Ok(()),
            }
        });
        runtime.shutdown_timeout(Duration::from_secs(1));
        result
    });
    if let Err(error) = result {
        eprintln!("{}", error.replace('\n', " "));
        std::process::exit(1);
    }
}

/// Waits for the end of stdin.
pub async fn stdin_closed() {
    let (sender, mut receiver) = mpsc::channel::<()>(1);
    std::thread::spawn(move || {
        let mut bytes = [0; 256];
        while matches!(std::io::stdin().read(&mut bytes), Ok(1..)) {}
        drop(sender);
    });
    receiver.recv().await;
}

/// Request that waits for its answer, and counts of a run.
struct Run {
    mode: Mode,
    payload: Vec<u8>,
    number: usize,
    lost: HashSet<usize>,
    counts: [u64; 4],
}

impl Run {
    const WRONG: usize = 0;
    const LOST: usize = 1;
    const LATE: usize = 2;
    const DUPLICATE: usize = 3;

    fn fill(&mut self, number: usize) {
        self.number = number;
        fill(&mut self.payload, number);
    }

    /// Takes an answer; true if it belongs to the present request.
    fn take(&mut self, answer: &[u8]) -> bool {
        let right = match self.mode {
            Mode::Echo => answer == self.payload,
            Mode::Ack => answer == [sum(&self.payload)],
        };
        if right {
            return true;
        }
        let earlier = self.lost.iter().copied().find(|number| match self.mode {
            Mode::Echo => answer.starts_with(&low(*number)),
            Mode::Ack => {
                let mut payload = vec![0; self.payload.len()];
                fill(&mut payload, *number);
                answer == [sum(&payload)]
            }
        });
        if let Some(number) = earlier {
            self.lost.remove(&number);
            self.counts[Self::LATE] += 1;
            return false;
        }
        if self.mode == Mode::Echo && answer.len() == self.payload.len() && !answer.starts_with(&low(self.number)) {
            self.counts[Self::DUPLICATE] += 1;
            return false;
        }
        self.counts[Self::WRONG] += 1;
        true
    }
}

fn low(number: usize) -> [u8; 2] {
    [number.to_le_bytes()[0], number.to_le_bytes()[1]]
}

fn fill(payload: &mut [u8], number: usize) {
    for (at, byte) in payload.iter_mut().enumerate() {
        *byte = number.wrapping_add(at.wrapping_mul(31)).to_le_bytes()[0];
    }
    if let Some(head) = payload.first_chunk_mut() {
        *head = low(number);
    }
}

/// Sends requests in both modes until each has an answer: discovery is complete on both sides then.
pub async fn discover(client: &mut impl Client) -> Result<(), String> {
    let end = Instant::now() + Duration::from_secs(10);
    for mode in Mode::BOTH {
        loop {
            client.send(mode, &[0, 0]).await?;
            match tokio::time::timeout(Duration::from_millis(200), client.receive()).await {
                Ok(answer) => break drop(answer?),
                Err(_) if Instant::now() > end => return Err("no answer of the server within 10 s".to_owned()),
                Err(_) => (),
            }
        }
    }
    // Answers of repeated requests shall not come during the first run.
    while let Ok(answer) = tokio::time::timeout(Duration::from_millis(100), client.receive()).await {
        answer?;
    }
    Ok(())
}

/// Returns the lines of stdin; nothing comes after its end.
fn input_lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(4);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Prints `ready` and serves the commands on stdin until `quit` or its end.
pub async fn serve_commands(client: &mut impl Client) -> Result<(), String> {
    let mut lines = input_lines();
    ready();
    while let Some(line) = lines.recv().await {
        if line == "quit" {
            break;
        }
        run_command(client, &line).await?;
    }
    Ok(())
}

async fn run_command(client: &mut impl Client, line: &str) -> Result<(), String> {
    let wrong = || format!("`{line}` is no command");
    let words: Vec<_> = line.split_whitespace().collect();
    let ["run", mode, size, count, wait_ms, seed] = words[..] else {
        return Err(wrong());
    };
    let mode = match mode {
        "echo" => Mode::Echo,
        "ack" => Mode::Ack,
        _ => return Err(wrong()),
    };
    let number = |word: &str| word.parse::<u64>().map_err(|_| wrong());
    let (size, count) = (size.parse().unwrap_or(0), count.parse().unwrap_or(0));
    let (wait_ms, seed) = (number(wait_ms)?, number(seed)?);
    if !(2..=LARGEST).contains(&size) || !(1..=1_000_000).contains(&count) || wait_ms > 60_000 {
        return Err(wrong());
    }
    let mut state = seed.wrapping_mul(2_654_435_769).wrapping_add(88_172_645_463_325_252);
    let mut run = Run { mode, payload: vec![0; size], number: 0, lost: HashSet::new(), counts: [0; 4] };
    let mut samples = Vec::with_capacity(count);
    for number in 0..count {
        if wait_ms > 0 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            tokio::time::sleep(Duration::from_micros(state % (wait_ms * 1000 + 1))).await;
        }
        run.fill(number);
        samples.push(request(client, &mut run).await?);
    }
    let mut output = String::new();
    for sample in samples {
        match sample {
            Some(time) => output.push_str(&format!("sample {}\n", time.as_nanos())),
            None => output.push_str("sample lost\n"),
        }
    }
    let [wrong, lost, late, duplicate] = run.counts;
    output.push_str(&format!("errors wrong={wrong} lost={lost} late={late} duplicate={duplicate}\ndone"));
    print_line(&output);
    Ok(())
}

async fn request<C: Client>(client: &mut C, run: &mut Run) -> Result<Option<Duration>, String> {
    let start = Instant::now();
    let deadline = tokio::time::Instant::from_std(start) + ANSWER_TIMEOUT;
    client.send(run.mode, &run.payload).await?;
    loop {
        let Ok(answer) = tokio::time::timeout_at(deadline, client.receive()).await else {
            run.lost.insert(run.number);
            run.counts[Run::LOST] += 1;
            return Ok(None);
        };
        let answer = answer?;
        let time = C::received(&answer).duration_since(start);
        if run.take(answer.as_ref()) {
            return Ok(Some(time));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn words(text: &str) -> impl Iterator<Item = String> {
        text.split_whitespace().map(str::to_owned)
    }

    #[test]
    fn command_line() {
        let line = "server --address 127.0.0.1 --port 4000 --folder /x --option qos=2 --option security=tls";
        let options = parse(words(line), &["qos=2", "security=tls"]).unwrap();
        assert!(options.server && options.port == 4000 && options.qos == 2 && options.tls && !options.shared_memory);
        assert!(parse(words(line), &["qos=2"]).is_err());
        assert!(parse(words("client --port 1"), &[]).is_err());
        assert!(parse(words("neither"), &[]).is_err());
    }

    #[test]
    fn answers_are_checked() {
        let mut run = Run { mode: Mode::Echo, payload: vec![0; 4], number: 0, lost: HashSet::new(), counts: [0; 4] };
        run.fill(3);
        assert_eq!(run.payload, [3, 0, 65, 96]);
        assert!(run.take(&[3, 0, 65, 96]));
        assert!(run.take(&[3, 0, 65, 97]));
        assert_eq!(run.counts, [1, 0, 0, 0]);
        run.lost.insert(2);
        assert!(!run.take(&[2, 0, 64, 95]) && !run.take(&[2, 0, 64, 95]));
        assert_eq!(run.counts, [1, 0, 1, 1]);
        run.mode = Mode::Ack;
        assert!(run.take(&[164]));
    }
}
