//! Making a connection; [`open`](crate::open) describes the steps.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use takt_rt::readiness::Waker;

use super::public::Exchange;
use super::{ClientConfig, Connected, ShmClient};
use crate::address::ApplicationName;
use crate::channel::{Receiver, Sender};
use crate::error::ShmError;
use crate::header::{HeaderError, VERSION};
use crate::name_lock;
use crate::names::{channel_open_name, channel_request_name, channel_response_name};
use crate::open::{Hello, OpenRequest, OpenResponse, WaitCode};
use crate::runtime::Runtime;
use crate::socket::{self, Ending};

impl ShmClient {
    /// Connects to an application on this host, in at most `timeout`.
    ///
    /// # Errors
    /// [`ShmError::NoSuchApplication`] at once if none of that name is running, [`ShmError::Busy`] if it takes no more
    /// connections, [`ShmError::Timeout`] if it does not answer.
    pub fn connect(
        name: &ApplicationName,
        config: &ClientConfig,
        timeout: Duration,
    ) -> Result<Self, ShmError> {
        let deadline = Instant::now() + timeout;
        let runtime = Runtime::open(config.runtime_directory.as_deref())?;
        let socket = connect_socket(&runtime, name, deadline)?;
        let server = socket::peer(&socket).map_err(|e| ShmError::io("identify the server", e))?;
        let (hello, server_doorbell, doorbell) = receive_hello(&socket, deadline)?;
        let socket = Connected(socket);

        let node = runtime.node(name.as_str())?;
        let request = OpenRequest {
            token: hello.token,
            wait: WaitCode::from(config.wait),
            max_response: config.max_response,
        };
        let response = Exchange {
            node: &node,
            name,
            service: &channel_open_name(name),
            deadline,
            max_response: u32::MAX,
        }
        .call(&request.to_bytes(), || {
            socket::ending(&socket.0) == Ending::None
        })?;
        let opened = OpenResponse::parse(&response).ok_or(ShmError::Protocol(
            "the answer to Channel/Open is too short",
        ))?;
        let id = opened.channel_id;
        let sender = Sender::new(
            &node,
            &channel_request_name(name, id),
            opened.max_request,
            false,
        )?;
        let receiver = Receiver::new(&node, &channel_response_name(name, id), false)?;
        Ok(Self {
            sender,
            receiver,
            _node: node,
            socket,
            server: (opened.wait == WaitCode::Sleeps).then_some(server_doorbell),
            doorbell,
            wait: config.wait,
            max_response: opened.max_response,
            next_id: 1,
            answered: 0,
            outstanding: 0,
            closed: false,
            response: Vec::new(),
            server_process: server.process,
            _runtime: runtime,
        })
    }
}

fn connect_socket(
    runtime: &Runtime,
    name: &ApplicationName,
    deadline: Instant,
) -> Result<OwnedFd, ShmError> {
    let path = name_lock::socket_path(runtime, name);
    loop {
        match socket::connect(&path) {
            Ok(Some(socket)) => return Ok(socket),
            Ok(None) => return Err(ShmError::NoSuchApplication(name.clone())),
            Err(ShmError::Busy(_)) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(error) => return Err(error),
        }
    }
}

/// The hello, the server's doorbell and ours.
fn receive_hello(socket: &OwnedFd, deadline: Instant) -> Result<(Hello, Waker, Waker), ShmError> {
    let failed = "receive the server's hello";
    wait_readable(socket, deadline)?;
    let mut buffer = [0; 64];
    let (length, descriptors) = socket::receive_with_descriptors(socket, &mut buffer)
        .map_err(|e| ShmError::io(failed, e))?;
    if length == 0 {
        return Err(ShmError::Busy("connections"));
    }
    let hello = buffer
        .get(..length)
        .and_then(Hello::parse)
        .ok_or(ShmError::Header(HeaderError::Magic))?;
    if hello.version != VERSION {
        return Err(ShmError::Header(HeaderError::Version(hello.version)));
    }
    let descriptors: [OwnedFd; 2] = descriptors
        .try_into()
        .map_err(|_| ShmError::Protocol("the hello came without its two descriptors"))?;
    let [server, client] = descriptors.map(Waker::from_eventfd);
    match (server, client) {
        (Ok(server), Ok(client)) => Ok((hello, server, client)),
        (Err(e), _) | (_, Err(e)) => Err(ShmError::io(failed, e)),
    }
}

fn wait_readable(socket: &OwnedFd, deadline: Instant) -> Result<(), ShmError> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ShmError::Timeout);
        }
        let left = Timespec::try_from(left).ok();
        let mut descriptors = [PollFd::new(socket, PollFlags::IN)];
        match rustix::event::poll(&mut descriptors, left.as_ref()) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(e) => return Err(ShmError::io("wait for the server", e)),
        }
    }
}
