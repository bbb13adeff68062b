//! Connecting to a server; [`mail`](crate::channel::mail) describes the mails.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use takt_rt::clock::after;
use takt_rt::memory_budget::MemoryBudget;
use takt_rt::readiness::{Events, Interest, Readiness};
use takt_ua::StatusCode;

use super::{ClientConfig, Connected, ShmClient};
use crate::address::ApplicationName;
use crate::channel::attention::ServerState;
use crate::channel::doorbell::Doorbell;
use crate::channel::inbox::Inbox;
use crate::channel::mail::{Mail, Received};
use crate::channel::outbox::Outbox;
use crate::channel::post::PostBox;
use crate::channel::socket::{self, Post};
use crate::directory::name_lock;
use crate::directory::runtime::Runtime;
use crate::error::ShmError;

/// Number of attempts of a client. A server without a place for connections that have no channel yet closes them again.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(1);

impl ShmClient {
    /// Connects to an application on this host, in at most `timeout`.
    ///
    /// # Errors
    /// [`ShmError::NoSuchApplication`] at once if none of that name is running, [`ShmError::AccessDenied`] if this process may
    /// not connect to it, or if the user that runs it has no right to the name, [`ShmError::Refused`] if it refuses the client,
    /// [`ShmError::Busy`] if it takes no more connections, [`ShmError::Timeout`] if it does not answer.
    pub fn connect(
        name: &ApplicationName,
        config: &ClientConfig,
        timeout: Duration,
    ) -> Result<Self, ShmError> {
        let deadline = after(Instant::now(), timeout);
        let runtime = Runtime::find(config.group.as_deref(), config.runtime_directory.as_deref())?;
        let mut attempts = ATTEMPTS;
        loop {
            let socket = connect_socket(&runtime, name, deadline)?;
            match Self::open(socket, Arc::clone(&runtime), config, deadline) {
                Err(ShmError::ConnectionClosed) if attempts > 0 && Instant::now() < deadline => {
                    attempts -= 1;
                    std::thread::sleep(PAUSE);
                }
                // The server has no descriptors left for this client, or it ends.
                Err(ShmError::ConnectionClosed) => return Err(ShmError::Busy("connections")),
                result => return result,
            }
        }
    }

    /// Opens a channel over a connected socket.
    pub(crate) fn open(
        socket: OwnedFd,
        runtime: Arc<Runtime>,
        config: &ClientConfig,
        deadline: Instant,
    ) -> Result<Self, ShmError> {
        let peer = socket::peer(&socket).map_err(|e| ShmError::io("identify the server", e))?;
        let Hello {
            mut post,
            doorbell,
            state,
        } = hello(socket, &runtime, deadline)?;

        // The memory of a client is not limited.
        let memory = MemoryBudget::unlimited();
        // The limit of the server is not known yet.
        let mut outbox = Outbox::new(u32::MAX, &memory)?;
        let open = Mail::Open {
            max_response: config.max_response,
        };
        socket::send(post.socket(), open, &[outbox.fd()]).map_err(asking_failed)?;
        let Received {
            mail,
            mut descriptors,
        } = wait_for_mail(&mut post, deadline)?;
        let Mail::Opened {
            max_request,
            max_response,
        } = mail
        else {
            return Err(refused(mail));
        };
        let theirs = descriptors
            .pop()
            .ok_or(ShmError::Protocol("the server has no outbox"))?;
        // The server may have raised the limit that was requested.
        let limit = max_response.min(config.max_response);
        let inbox = Inbox::new(&theirs, limit, &memory)?;
        outbox.set_limit(max_request);

        let failed = |e| ShmError::io("wait for a descriptor", e);
        let readiness = Readiness::new().map_err(failed)?;
        readiness
            .add(post.socket().as_fd(), 0, Interest::READ)
            .map_err(failed)?;
        Ok(Self {
            outbox,
            inbox,
            socket: post,
            state,
            doorbell,
            readiness,
            events: Events::with_capacity(1),
            wait: config.wait,
            budget: config.wait.budget(),
            next_id: 1,
            refused: 0,
            closed: false,
            response: Vec::new(),
            peer,
            values: HashMap::new(),
            alive: None,
            _runtime: runtime,
        })
    }
}

/// First mail of a server.
pub(crate) struct Hello {
    pub(super) post: Connected,
    pub(super) doorbell: Doorbell,
    pub(crate) state: ServerState,
}

/// Waits for the Hello.
pub(crate) fn hello(
    socket: OwnedFd,
    runtime: &Runtime,
    deadline: Instant,
) -> Result<Hello, ShmError> {
    let mut post = Connected(PostBox::new(socket));
    let Received { mail, descriptors } = wait_for_mail(&mut post, deadline)?;
    let Mail::Hello { connection } = mail else {
        return Err(refused(mail));
    };
    let mut descriptors = descriptors.into_iter();
    let (Some(state), Some(map)) = (descriptors.next(), descriptors.next()) else {
        return Err(ShmError::Protocol("the Hello has no descriptors"));
    };
    Ok(Hello {
        post,
        doorbell: Doorbell::new(descriptors.next(), runtime.group().is_some())?,
        state: ServerState::new(&state, map, connection)?,
    })
}

/// Returns the error of a server that has closed the connection, and can be asked again.
fn asking_failed(error: Errno) -> ShmError {
    match error {
        // `connect` tries again then.
        Errno::PIPE | Errno::CONNRESET => ShmError::ConnectionClosed,
        error => ShmError::io("ask for a channel", error),
    }
}

/// Returns the error of a mail that was not expected.
fn refused(mail: Mail) -> ShmError {
    match mail {
        Mail::Refused {
            status: StatusCode::BadTcpServerTooBusy,
        } => ShmError::Busy("connections"),
        Mail::Refused {
            status: StatusCode::BadUserAccessDenied,
        } => ShmError::AccessDenied("the application refuses this user".to_owned()),
        Mail::Refused { status } => ShmError::Refused(status),
        _ => ShmError::Protocol("an unexpected mail"),
    }
}

fn connect_socket(
    runtime: &Runtime,
    name: &ApplicationName,
    deadline: Instant,
) -> Result<OwnedFd, ShmError> {
    loop {
        match reach(runtime, name) {
            Ok(Some(socket)) => return Ok(socket),
            Ok(None) => return Err(ShmError::NoSuchApplication(name.clone())),
            // So many connections wait that the kernel takes no more: the server will accept them.
            Err(ShmError::Busy(_)) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(error) => return Err(error),
        }
    }
}

/// Connects to the application of that name, if there is one, and if its user is one of those who share here: any process that
/// can make files in the directory can listen there.
pub(crate) fn reach(
    runtime: &Runtime,
    name: &ApplicationName,
) -> Result<Option<OwnedFd>, ShmError> {
    let socket = socket::connect(&name_lock::socket_path(runtime, name))?;
    match &socket {
        Some(socket) if !runtime.admits(socket) => Err(ShmError::AccessDenied(format!(
            "the process that listens as {name} belongs to a user without access"
        ))),
        _ => Ok(socket),
    }
}

fn wait_for_mail(post: &mut Connected, deadline: Instant) -> Result<Received, ShmError> {
    loop {
        match post.0.receive() {
            Post::Mail(received) => return Ok(received),
            Post::Garbage(reason) => return Err(ShmError::Protocol(reason)),
            Post::Closed => return Err(ShmError::ConnectionClosed),
            Post::Nothing | Post::Kept => {}
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ShmError::Timeout);
        }
        // A time that the kernel cannot express is an endless one.
        let left = Timespec::try_from(left).ok();
        let mut descriptors = [PollFd::new(post.socket(), PollFlags::IN)];
        match rustix::event::poll(&mut descriptors, left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(e) => return Err(ShmError::io("wait for the server", e)),
        }
    }
}
