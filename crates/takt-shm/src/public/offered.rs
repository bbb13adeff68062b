//! The public services of a server, with the node of iceoryx2 to which they belong.

use std::os::fd::BorrowedFd;

use iceoryx2::prelude::Node;
use takt_ua::request_handler::CompletionWaker;

use crate::address::ApplicationName;
use crate::channel::scratch::Scratch;
use crate::directory::ipc::Ipc;
use crate::directory::name_lock::NameLock;
use crate::directory::runtime::Runtime;
use crate::error::ShmError;
use crate::handler::ShmChannels;
use crate::public::room;
use crate::public::server::Public;
use crate::server_config::ServerConfig;

/// Public services that a server offers.
pub(crate) struct Offered<C> {
    // The order matters when they are dropped: ports before the node.
    public: Public<C>,
    node: Node<Ipc>,
}

impl<C> Offered<C> {
    /// Offers the services, unless the configuration or a group leaves them out.
    pub(crate) fn offer<H: ShmChannels<Connection = C>>(
        runtime: &Runtime,
        name_lock: &NameLock,
        name: &ApplicationName,
        handler: &H,
        completed: CompletionWaker,
        config: &ServerConfig,
    ) -> Result<Option<Self>, ShmError> {
        if !config.public_services || runtime.group().is_some() {
            return Ok(None);
        }
        name_lock.clean_up(runtime);
        room::check(room::PUBLIC_SERVICES)?;
        let node = runtime.node(name.as_str())?;
        let connection = handler.connect(None, name, completed);
        let (max_request, max_response) = (config.max_request, config.max_response);
        let public = Public::new(&node, name, max_request, max_response, connection)?;
        Ok(Some(Self { public, node }))
    }

    /// Returns a descriptor that becomes readable when there may be requests.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.public.descriptor()
    }

    /// Ends the services, and returns the state of their connection.
    pub(crate) fn into_connection(self) -> C {
        let Self { public, node } = self;
        let connection = public.into_connection();
        drop(node);
        connection
    }

    /// Answers waiting requests. Returns their number, and whether there are more.
    pub(crate) fn poll<H: ShmChannels<Connection = C>>(
        &mut self,
        handler: &H,
        scratch: &mut Scratch,
    ) -> (usize, bool) {
        self.public.poll(handler, scratch)
    }

    /// Sends a completed response, if there is one.
    pub(crate) fn complete<H: ShmChannels<Connection = C>>(&mut self, handler: &H) -> bool {
        self.public.complete(handler)
    }
}
