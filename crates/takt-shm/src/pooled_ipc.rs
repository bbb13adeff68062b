//! The flavour of iceoryx2 that this crate uses: `ipc`, but for how it counts the owners of a loaned message.
//!
//! `ipc::Service` allocates a counter for every message that is loaned. Here the memory for it comes from a
//! [pool](crate::pooled), so that a request allocates nothing. What is in shared memory is the same, and programs that use
//! `ipc::Service` are understood.

use std::fmt::Debug;

use iceoryx2::prelude::{Service, ZeroCopySend, ipc};
use iceoryx2::service::internal::ServiceInternal;
use iceoryx2_bb_elementary_traits::testing::abandonable::Abandonable;

use crate::pooled::Pooled;

type Ipc = ipc::Service;

/// See the [module](self).
#[derive(Debug, Clone)]
pub(crate) struct PooledIpc;

impl Service for PooledIpc {
    type ServiceNameHasher = <Ipc as Service>::ServiceNameHasher;
    type StaticStorage = <Ipc as Service>::StaticStorage;
    type ConfigSerializer = <Ipc as Service>::ConfigSerializer;
    type PersistentDynamicStorage<T: Debug + Send + Sync + ZeroCopySend + 'static> =
        <Ipc as Service>::PersistentDynamicStorage<T>;
    type Bag = <Ipc as Service>::Bag;
    type DynamicStorage<T: Debug + Send + Sync + ZeroCopySend + 'static> =
        <Ipc as Service>::DynamicStorage<T>;
    type SharedMemory = <Ipc as Service>::SharedMemory;
    type ResizableSharedMemory = <Ipc as Service>::ResizableSharedMemory;
    type Connection = <Ipc as Service>::Connection;
    type Event = <Ipc as Service>::Event;
    type Monitoring = <Ipc as Service>::Monitoring;
    type Reactor = <Ipc as Service>::Reactor;
    type ArcThreadSafetyPolicy<T: Send + Debug + Abandonable> = Pooled<T>;
    type BlackboardMgmt<T: Send + Sync + Debug + ZeroCopySend + 'static> =
        <Ipc as Service>::BlackboardMgmt<T>;
    type BlackboardPayload = <Ipc as Service>::BlackboardPayload;
    type UniqueId = <Ipc as Service>::UniqueId;
}

impl ServiceInternal<PooledIpc> for PooledIpc {}
