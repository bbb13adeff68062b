//! Bare iceoryx2: the floor of all peers over shared memory. Publish-subscribe with a service for each direction, without safe
//! overflow; a side that does not poll waits at an event service. The kind of the request is the user header of a sample. Payloads are
//! written and read in place.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::{Node, NodeBuilder, ServiceName, SignalHandlingMode, ipc};
use iceoryx2::sample::Sample;
use takt_shm::Runtime;

use super::client::{Messages, serve_commands};
use super::error::OwnPeerError;
use super::payload::{Mode, sum};
use super::server::until_input_ends;
use super::setting::PeerSetting;

/// Bytes of the longest message.
const LONGEST: usize = 1 << 20;
/// Interval at which a server that waits looks at its end.
const LOOK: Duration = Duration::from_millis(500);

/// Received sample, in shared memory.
type Message = Sample<ipc::Service, [u8], u8>;

/// Ports of one side.
struct Ports {
    // The order matters for Drop: ports before the node, the node before its directory.
    publisher: Publisher<ipc::Service, [u8], u8>,
    subscriber: Subscriber<ipc::Service, [u8], u8>,
    /// Wakes the other side, and waits for it, unless both poll.
    events: Option<(Notifier<ipc::Service>, Listener<ipc::Service>)>,
    _node: Node<ipc::Service>,
    _runtime: Arc<Runtime>,
}

impl Ports {
    fn open(setting: &PeerSetting, poll: bool, is_server: bool) -> Result<Self, OwnPeerError> {
        let runtime = Runtime::open(Some(&setting.folder.join("runtime")));
        let runtime = runtime.map_err(OwnPeerError::failed)?;
        let node = NodeBuilder::new()
            .config(runtime.iceoryx2_config())
            .signal_handling_mode(SignalHandlingMode::Disabled)
            .create::<ipc::Service>()
            .map_err(|error| OwnPeerError::Failed(format!("{error:?}")))?;
        let name = |topic: &str| {
            ServiceName::new(&format!("takt-echo/{}/{topic}", setting.port))
                .map_err(OwnPeerError::failed)
        };
        let service = |topic: &str| {
            node.service_builder(&name(topic)?)
                .publish_subscribe::<[u8]>()
                .user_header::<u8>()
                .enable_safe_overflow(false)
                .history_size(0)
                .max_publishers(1)
                .max_subscribers(1)
                .max_nodes(2)
                .subscriber_max_buffer_size(4)
                .subscriber_max_borrowed_samples(1)
                .open_or_create()
                .map_err(OwnPeerError::failed)
        };
        let event = |topic: &str| {
            node.service_builder(&name(topic)?)
                .event()
                .open_or_create()
                .map_err(OwnPeerError::failed)
        };
        let [send, receive] = match is_server {
            true => ["reply", "request"],
            false => ["request", "reply"],
        };
        let publisher = service(send)?
            .publisher_builder()
            .initial_max_slice_len(LONGEST)
            .max_loaned_samples(1)
            .create()
            .map_err(OwnPeerError::failed)?;
        let subscriber = service(receive)?
            .subscriber_builder()
            .create()
            .map_err(OwnPeerError::failed)?;
        let events = match poll {
            true => None,
            false => {
                let notifier = event(send)?.notifier_builder().create();
                let listener = event(receive)?.listener_builder().create();
                Some((
                    notifier.map_err(OwnPeerError::failed)?,
                    listener.map_err(OwnPeerError::failed)?,
                ))
            }
        };
        Ok(Self {
            publisher,
            subscriber,
            events,
            _node: node,
            _runtime: runtime,
        })
    }

    fn send(&self, mode: Mode, payload: &[u8]) -> Result<(), OwnPeerError> {
        let loan = self.publisher.loan_slice_uninit(payload.len());
        let mut loan = loan.map_err(OwnPeerError::failed)?;
        *loan.user_header_mut() = mode.code();
        let sample = loan.write_from_slice(payload);
        sample.send().map_err(OwnPeerError::failed)?;
        if let Some((notifier, _)) = &self.events {
            notifier.notify().map_err(OwnPeerError::failed)?;
        }
        Ok(())
    }

    /// Waits for a message; `None` if there was none.
    fn receive(&self, timeout: Duration) -> Result<Option<Message>, OwnPeerError> {
        let begin = Instant::now();
        let mut looks = 0_u32;
        loop {
            let sample = self.subscriber.receive().map_err(OwnPeerError::failed)?;
            if sample.is_some() {
                return Ok(sample);
            }
            looks = looks.wrapping_add(1);
            let Some((_, listener)) = &self.events else {
                if looks.is_multiple_of(1024) && begin.elapsed() > timeout {
                    return Ok(None);
                }
                std::hint::spin_loop();
                continue;
            };
            let left = timeout.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return Ok(None);
            }
            let woken = listener.timed_wait(|_| (), left);
            woken.map_err(|error| OwnPeerError::Failed(format!("{error:?}")))?;
        }
    }
}

/// Runs the server.
pub(super) fn serve(setting: &PeerSetting) -> Result<(), OwnPeerError> {
    let given = setting.given(&["poll"])?;
    let setting = setting.clone();
    until_input_ends(
        move |ready, stop| {
            let ports = Ports::open(&setting, given.poll, true)?;
            ready();
            while !stop.load(Ordering::Relaxed) {
                let Some(request) = ports.receive(LOOK)? else {
                    continue;
                };
                match Mode::of_code(*request.user_header()) {
                    Mode::Echo => ports.send(Mode::Echo, request.payload())?,
                    Mode::Ack => ports.send(Mode::Ack, &[sum(request.payload())])?,
                }
            }
            Ok(())
        },
        || (),
    )
}

struct SharedExchange {
    // Before the ports, because it belongs to the subscriber.
    answer: Option<Message>,
    ports: Ports,
}

/// Runs the client.
pub(super) fn connect(setting: &PeerSetting) -> Result<(), OwnPeerError> {
    let given = setting.given(&["poll"])?;
    let ports = Ports::open(setting, given.poll, false)?;
    println!("info setting safe_overflow=false");
    serve_commands(&mut SharedExchange {
        answer: None,
        ports,
    })
}

impl Messages for SharedExchange {
    fn send(&mut self, mode: Mode, request: &[u8]) -> Result<(), OwnPeerError> {
        self.ports.send(mode, request)
    }

    fn receive(&mut self, timeout: Duration) -> Result<Option<&[u8]>, OwnPeerError> {
        // A subscriber borrows one sample at a time.
        self.answer = None;
        self.answer = self.ports.receive(timeout)?;
        Ok(self.answer.as_ref().map(|answer| answer.payload()))
    }
}
