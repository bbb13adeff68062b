//! Service type of iceoryx2.

use iceoryx2::prelude::ipc_threadsafe;

/// Service type of iceoryx2 for the public services. Its layout in shared memory is that of `ipc::Service`, so programs that use
/// `ipc::Service` can call them; in addition, a server may move to another thread.
pub(crate) type Ipc = ipc_threadsafe::Service;
