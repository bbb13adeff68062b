//! The Consumer of the paper `opcua-shared-memory-iceoryx2`, section 4.3: finds data in the SemanticRegistryServer,
//! then talks to the Provider itself.
//!
//! A Consumer holds one connection to the registry and one to each Provider endpoint that it uses. The connections
//! fail and recover independently: while the registry is down, items found before are still readable.

mod directory;
mod item;

use std::collections::HashMap;
use std::time::Duration;

use takt_ua::{DataValue, NodeId, Variant};

use crate::client::{Client, ClientOptions, CurrentValue, ValueInPlace};
use crate::endpoint::Endpoint;
use crate::error::ClientError;
use crate::model::NAMESPACE_URI;
use crate::subscription::{MonitoredItemOptions, Subscription, SubscriptionOptions};

pub use directory::ProviderEntry;
pub use item::Item;

/// A Consumer: finds data and Methods in a registry and uses them at their Providers.
pub struct Consumer {
    registry: Client,
    providers: HashMap<Endpoint, Client>,
}

impl Consumer {
    /// Connects to the registry at `endpoint`.
    pub fn connect(endpoint: &str, options: ClientOptions) -> Result<Self, ClientError> {
        let endpoint: Endpoint = endpoint.parse()?;
        Ok(Self {
            registry: Client::connect(&endpoint, options)?,
            providers: HashMap::new(),
        })
    }

    /// Returns the session with the registry.
    pub fn registry(&mut self) -> &mut Client {
        &mut self.registry
    }

    /// Returns the Value of `item`, from its Provider.
    pub fn read(&mut self, item: &Item) -> Result<DataValue, ClientError> {
        let (client, node) = self.provider(item)?;
        client.read(&node)
    }

    /// Returns the Value of `item`, passed to `look` in the memory where its Provider wrote it: see
    /// [`Client::read_in_place`].
    pub fn read_in_place<R>(
        &mut self,
        item: &Item,
        look: impl FnOnce(&ValueInPlace<'_>) -> R,
    ) -> Result<R, ClientError> {
        let (client, node) = self.provider(item)?;
        client.read_in_place(&node, look)
    }

    /// Returns the current value of `item` if its Provider publishes it; it can be read repeatedly without a request.
    /// `None` if it has to be [read](Self::read) from the Provider.
    pub fn current_value(&mut self, item: &Item) -> Result<Option<CurrentValue>, ClientError> {
        let (client, node) = self.provider(item)?;
        client.current_value(&node)
    }

    /// Returns the value of `item`, at most `max_age` old: from memory if `current`, its [current
    /// value](Self::current_value), is recent enough, otherwise from its Provider. See [`Client::read_current`].
    pub fn read_current(
        &mut self,
        item: &Item,
        current: &CurrentValue,
        max_age: Duration,
    ) -> Result<DataValue, ClientError> {
        if let Ok(Some(value)) = current.get_within(max_age) {
            return Ok(value);
        }
        let (client, node) = self.provider(item)?;
        client.read_within(&node, max_age)
    }

    /// Writes the Value of `item` at its Provider.
    pub fn write(&mut self, item: &Item, value: impl Into<Variant>) -> Result<(), ClientError> {
        let (client, node) = self.provider(item)?;
        client.write(&node, value.into())
    }

    /// Calls the Method `item` at its Provider.
    pub fn call(&mut self, item: &Item, inputs: Vec<Variant>) -> Result<Vec<Variant>, ClientError> {
        let (client, method) = self.provider(item)?;
        let object = client.local_node(&item.object.namespace_uri, &item.object.node_id)?;
        client.call_method(&object, &method, inputs)
    }

    /// Returns the session at the endpoint that serves `item`, and the item's NodeId there.
    pub fn provider(&mut self, item: &Item) -> Result<(&mut Client, NodeId), ClientError> {
        let endpoint = item.endpoint()?;
        let client = self
            .providers
            .entry(endpoint.clone())
            .or_insert_with(|| Client::new(endpoint, self.registry.options().clone()));
        let node = client.local_node(&item.namespace_uri, &item.node_id)?;
        Ok((client, node))
    }

    /// Monitors `items`, which are served at the same endpoint, on a separate connection. The handles of their
    /// changes are 1, 2, 3 and so on, in the order of the items.
    pub fn subscribe(
        &mut self,
        items: &[(Item, MonitoredItemOptions)],
        options: SubscriptionOptions,
    ) -> Result<Subscription, ClientError> {
        let [(first, _), ..] = items else {
            return Err(ClientError::Invalid(
                "there are no items to monitor".to_owned(),
            ));
        };
        let endpoint = first.endpoint()?;
        let client = Client::connect(endpoint, self.registry.options().clone())?;
        let mut subscription = Subscription::create(client, options)?;
        let mut wanted = Vec::with_capacity(items.len());
        for (item, options) in items {
            if item.endpoint()? != endpoint {
                return Err(ClientError::Invalid(format!(
                    "`{}` and `{}` are served at different endpoints",
                    first.path, item.path
                )));
            }
            let client = subscription.client();
            let node = client.local_node(&item.namespace_uri, &item.node_id)?;
            wanted.push((node, options.clone()));
        }
        let results = subscription.monitor_all(wanted)?;
        for ((item, _), result) in items.iter().zip(results) {
            result.map_err(|status| ClientError::operation(&item.path, status))?;
        }
        Ok(subscription)
    }

    /// Returns the index of the registry model's namespace at the registry.
    fn model_namespace(&mut self) -> Result<u16, ClientError> {
        self.registry
            .namespace_index(NAMESPACE_URI)?
            .ok_or_else(|| {
                ClientError::Invalid(format!(
                    "{} is not a registry: its NamespaceArray lacks {NAMESPACE_URI}",
                    self.registry.endpoint()
                ))
            })
    }
}
