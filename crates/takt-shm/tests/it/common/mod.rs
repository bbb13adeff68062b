//! Server that echoes, in a thread of this process or in a process of its own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_rt::readiness::{Events, Interest, Readiness, Waker, tagged_key};
use takt_shm::{
    ApplicationName, ClientConfig, PeerCredentials, ServerConfig, ShmChannels, ShmClient, ShmError,
    ShmServer, WaitPolicy,
};
use takt_ua::binary::Encoder;
use takt_ua::request_handler::{CompletionWaker, RequestHandler, RequestOutcome};

pub(crate) const TAG: u8 = 3;
/// Longest wait for an expected event, on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// Handler that answers a body with the same body, except:
///
/// * `hang`: never;
/// * `sleep N`: after N milliseconds, blocking the whole server;
/// * `block`: when [`Echo::release`] releases it, blocking the whole server;
/// * `defer N`: after N milliseconds, from another thread;
/// * `wait`: when [`Echo::release`] releases it, from another thread;
/// * `size N`: with N bytes, each the low byte of its index;
/// * `peer`: with the user and process of the peer.
#[derive(Default, Clone)]
pub(crate) struct Echo {
    pub(crate) connections: Arc<AtomicUsize>,
    pub(crate) disconnections: Arc<AtomicUsize>,
    /// True if each request ends the turn of its connection.
    ends_turns: bool,
    gate: Arc<Gate>,
}

/// Gate that holds back answers until each is released.
#[derive(Default)]
struct Gate {
    released: Mutex<usize>,
    changed: Condvar,
}

impl Gate {
    fn pass(&self) {
        let released = self.released.lock().unwrap();
        let mut released = self.changed.wait_while(released, |it| *it == 0).unwrap();
        *released -= 1;
    }
}

impl Echo {
    /// Makes a handler of whose requests each ends the turn of its client.
    pub(crate) fn that_ends_turns() -> Self {
        Self {
            ends_turns: true,
            ..Self::default()
        }
    }

    /// Releases this number of answers that are held back, or will be.
    pub(crate) fn release(&self, answers: usize) {
        *self.gate.released.lock().unwrap() += answers;
        self.gate.changed.notify_all();
    }
}

type Answer = (u32, Vec<u8>);

pub(crate) struct EchoConnection {
    peer: Option<PeerCredentials>,
    waker: CompletionWaker,
    completed: Arc<Mutex<Vec<Answer>>>,
}

impl EchoConnection {
    /// Answers from another thread, after a wait.
    fn defer(
        &self,
        request_id: u32,
        request: &[u8],
        wait: impl FnOnce() + Send + 'static,
    ) -> RequestOutcome {
        let completed = Arc::clone(&self.completed);
        let waker = Arc::clone(&self.waker);
        let body = request.to_vec();
        std::thread::spawn(move || {
            wait();
            completed.lock().unwrap().push((request_id, body));
            waker();
        });
        RequestOutcome::Deferred
    }
}

impl RequestHandler for Echo {
    type Connection = EchoConnection;

    fn handle(
        &self,
        connection: &mut EchoConnection,
        request_id: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> RequestOutcome {
        let (word, number) = command(request);
        match word {
            "hang" => return RequestOutcome::Deferred,
            "sleep" => std::thread::sleep(Duration::from_millis(number)),
            "block" => self.gate.pass(),
            "defer" => {
                let wait = move || std::thread::sleep(Duration::from_millis(number));
                return connection.defer(request_id, request, wait);
            }
            "wait" => {
                let gate = Arc::clone(&self.gate);
                return connection.defer(request_id, request, move || gate.pass());
            }
            "size" => {
                for index in 0..number {
                    if response.u8(index as u8).is_err() {
                        response.truncate(0);
                        response.bytes(b"too large").unwrap();
                        break;
                    }
                }
                return RequestOutcome::Complete;
            }
            "peer" => {
                let text = match &connection.peer {
                    Some(peer) => format!("{} {}", peer.user, peer.process),
                    None => "public".to_owned(),
                };
                response.bytes(text.as_bytes()).unwrap();
                return RequestOutcome::Complete;
            }
            _ => {}
        }
        if response.bytes(request).is_err() {
            response.bytes(b"too large").unwrap();
        }
        RequestOutcome::Complete
    }

    fn is_turn_over(&self) -> bool {
        self.ends_turns
    }

    fn take_completed(&self, connection: &mut EchoConnection) -> Option<(u32, Vec<u8>)> {
        connection.completed.lock().unwrap().pop()
    }

    fn disconnect(&self, _connection: EchoConnection) {
        self.disconnections.fetch_add(1, Ordering::Relaxed);
    }
}

impl ShmChannels for Echo {
    fn connect(
        &self,
        peer: Option<PeerCredentials>,
        _name: &ApplicationName,
        waker: CompletionWaker,
    ) -> EchoConnection {
        self.connections.fetch_add(1, Ordering::Relaxed);
        EchoConnection {
            peer,
            waker,
            completed: Arc::default(),
        }
    }
}

fn command(request: &[u8]) -> (&str, u64) {
    let text = std::str::from_utf8(request.get(..32).unwrap_or(request)).unwrap_or("");
    let (word, number) = text.split_once(' ').unwrap_or((text, "0"));
    (word, number.trim_end_matches('\0').parse().unwrap_or(0))
}

pub(crate) fn name(text: &str) -> ApplicationName {
    ApplicationName::new(text).unwrap()
}

pub(crate) fn server_config(directory: &Path) -> ServerConfig {
    ServerConfig {
        runtime_directory: Some(directory.to_path_buf()),
        ..ServerConfig::default()
    }
}

pub(crate) fn client_config(directory: &Path, wait: WaitPolicy) -> ClientConfig {
    ClientConfig {
        wait,
        runtime_directory: Some(directory.to_path_buf()),
        ..ClientConfig::default()
    }
}

pub(crate) fn connect(directory: &Path, application: &str) -> Result<ShmClient, ShmError> {
    ShmClient::connect(
        &name(application),
        &client_config(directory, WaitPolicy::default()),
        TIMEOUT,
    )
}

pub(crate) fn request<'a>(client: &'a mut ShmClient, body: &[u8]) -> Result<&'a [u8], ShmError> {
    client.request(|encoder| encoder.bytes(body), TIMEOUT)
}

/// Drives a server until `stop` is set.
pub(crate) fn serve<H: ShmChannels>(
    server: &mut ShmServer<H>,
    readiness: &Readiness,
    wait: WaitPolicy,
    mut stop: impl FnMut() -> bool,
) {
    let mut events = Events::with_capacity(64);
    let mut busy = Instant::now();
    while !stop() {
        let timeout = match wait {
            WaitPolicy::Spin => {
                server.set_awake(true);
                for _ in 0..10_000 {
                    server.turn();
                    std::hint::spin_loop();
                }
                Some(Duration::ZERO)
            }
            WaitPolicy::Adaptive { spin_for } => {
                server.set_awake(true);
                while busy.elapsed() < spin_for {
                    if server.turn() > 0 {
                        busy = Instant::now();
                    }
                    std::hint::spin_loop();
                }
                server.set_awake(false);
                (server.turn() > 0).then_some(Duration::ZERO)
            }
            WaitPolicy::Sleep => None,
        };
        readiness.wait(&mut events, timeout).unwrap();
        for event in events.iter() {
            server.ready(event.key);
        }
        busy = Instant::now();
    }
}

/// Server in a thread of its own.
pub(crate) struct ServerThread {
    stop: Arc<AtomicBool>,
    waker: Waker,
    echo: Echo,
    thread: Option<JoinHandle<()>>,
}

impl ServerThread {
    /// Starts a server that sleeps.
    pub(crate) fn start(application: &str, config: ServerConfig) -> Result<Self, ShmError> {
        Self::start_waiting(application, config, WaitPolicy::Sleep)
    }

    pub(crate) fn start_waiting(
        application: &str,
        config: ServerConfig,
        wait: WaitPolicy,
    ) -> Result<Self, ShmError> {
        let stop = Arc::new(AtomicBool::new(false));
        let waker = Waker::new().unwrap();
        let echo = Echo::default();
        let readiness = Arc::new(Readiness::new().unwrap());
        let key = tagged_key(0, 0);
        readiness.add(waker.as_fd(), key, Interest::READ).unwrap();
        let mut server = ShmServer::new(name(application), echo.clone(), &readiness, TAG, config)?;
        let thread = std::thread::spawn({
            let stop = stop.clone();
            move || {
                serve(&mut server, &readiness, wait, || {
                    stop.load(Ordering::Relaxed)
                })
            }
        });
        Ok(Self {
            stop,
            waker,
            echo,
            thread: Some(thread),
        })
    }

    /// Releases this number of answers that are held back, or will be.
    pub(crate) fn release(&self, answers: usize) {
        self.echo.release(answers);
    }

    /// Ends the server and returns its handler with the counts.
    pub(crate) fn stop(mut self) -> Echo {
        self.end();
        self.echo.clone()
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.waker.wake();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for ServerThread {
    fn drop(&mut self) {
        self.end();
    }
}

/// Environment variable with the role of a process that a test started.
const ROLE: &str = "TAKT_SHM_TEST_ROLE";

/// Runs the test named `role` of this binary as a process of its own, with arguments; returns when it prints `ready`.
pub(crate) fn spawn(role: &str, arguments: &[&str]) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([role, "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, arguments.join("\n"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let ready = lines.any(|line| line.unwrap().ends_with("ready"));
    assert!(ready, "{role} has ended");
    child
}

/// Returns the arguments of this process, if [`spawn`] started it.
pub(crate) fn role() -> Option<Vec<String>> {
    let arguments = std::env::var(ROLE).ok()?;
    Some(arguments.lines().map(str::to_owned).collect())
}

pub(crate) fn report_ready() {
    println!("\nready");
}

/// Runs an echo server until the process is killed. Arguments: directory, name, policy.
pub(crate) fn run_server(arguments: &[String]) {
    let [directory, application, policy] = arguments else {
        panic!("wrong arguments");
    };
    let wait = policy_of(policy);
    let readiness = Arc::new(Readiness::new().unwrap());
    let config = server_config(Path::new(directory));
    let mut server =
        ShmServer::new(name(application), Echo::default(), &readiness, TAG, config).unwrap();
    report_ready();
    serve(&mut server, &readiness, wait, || false);
}

pub(crate) fn policy_of(text: &str) -> WaitPolicy {
    match text {
        "spin" => WaitPolicy::Spin,
        "sleep" => WaitPolicy::Sleep,
        _ => WaitPolicy::ADAPTIVE,
    }
}

/// Returns the files of the shared memory of this runtime directory.
pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::metadata(directory).unwrap();
    let prefix = format!("takt_{:x}_{:x}_", meta.dev(), meta.ino());
    let mut files: Vec<PathBuf> = std::fs::read_dir("/dev/shm")
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with(&prefix))
        })
        .collect();
    collect(directory, &mut files);
    files.sort();
    files
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        if entry.path().is_dir() {
            collect(&entry.path(), files);
        }
        files.push(entry.path());
    }
}

/// Waits until `condition` holds.
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}: not within {TIMEOUT:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runtime directory of one test. It must be empty, and nothing may be left in /dev/shm, when the test ends well.
pub(crate) struct RuntimeDirectory(tempfile::TempDir);

impl RuntimeDirectory {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for RuntimeDirectory {
    fn drop(&mut self) {
        // Processes that other tests are just starting hold copies of these locks until they run their own program, so removal by
        // the last process may need a second call. The leftovers of killed processes need one anyway.
        for _ in 0..2000 {
            takt_shm::clean_dead(Some(self.path())).unwrap();
            if files(self.path()).is_empty() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        if !std::thread::panicking() {
            panic!("left behind: {:#?}", files(self.path()));
        }
    }
}
