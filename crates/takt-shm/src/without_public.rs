//! The public services, in a build without the feature `iceoryx2`: no server offers them.

pub(crate) mod abandoned {
    use crate::directory::public_files::PublicFiles;

    /// Returns the number of removed services: there are none.
    pub(crate) fn remove_all(_files: &PublicFiles) -> usize {
        0
    }
}

pub(crate) mod offered {
    use std::convert::Infallible;
    use std::marker::PhantomData;
    use std::os::fd::BorrowedFd;

    use takt_ua::request_handler::{CompletionWaker, RequestHandler};

    use crate::address::ApplicationName;
    use crate::channel::scratch::Scratch;
    use crate::directory::name_lock::NameLock;
    use crate::directory::runtime::Runtime;
    use crate::error::ShmError;
    use crate::handler::ShmChannels;
    use crate::server_config::ServerConfig;

    /// Public services that a server offers; there is no value of this type.
    pub(crate) struct Offered<C>(Infallible, PhantomData<C>);

    impl<C> Offered<C> {
        pub(crate) fn offer<H: ShmChannels<Connection = C>>(
            runtime: &Runtime,
            name_lock: &NameLock,
            _name: &ApplicationName,
            _handler: &H,
            _completed: CompletionWaker,
            _config: &ServerConfig,
        ) -> Result<Option<Self>, ShmError> {
            name_lock.clean_up(runtime);
            Ok(None)
        }

        pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
            match self.0 {}
        }

        pub(crate) fn into_connection(self) -> C {
            match self.0 {}
        }

        pub(crate) fn poll<H: RequestHandler<Connection = C>>(
            &mut self,
            _handler: &H,
            _scratch: &mut Scratch,
        ) -> (usize, bool) {
            match self.0 {}
        }

        pub(crate) fn complete<H: RequestHandler<Connection = C>>(&mut self, _handler: &H) -> bool {
            match self.0 {}
        }
    }
}
