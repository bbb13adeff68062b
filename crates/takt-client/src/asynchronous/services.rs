//! The services of an asynchronous session, as the blocking client has them.

use std::time::Duration;

use takt_ua::Aggregate;
use takt_ua::structures::ReferenceDescription;
use takt_ua::{DataValue, DateTime, NodeId, QualifiedName, Variant};

use super::AsyncClient;
use crate::client::{
    Attribute, AttributeServices, EventQuery, Follow, HistoryRange, HistoryServices, ViewServices,
};
use crate::error::ClientError;

macro_rules! services {
    ($($(#[$doc:meta])* $trait:ident::$name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        /// All futures may be dropped: the connection stays usable. A request may have been executed then.
        impl AsyncClient {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// The server cannot be reached, or refuses the request or the operation.
                pub async fn $name(&self, $($argument: $type),*) -> Result<$result, ClientError> {
                    $trait::$name(&mut self.clone(), $($argument),*).await
                }
            )*
        }
    };
}

services! {
    /// Returns the Value of `node`.
    AttributeServices::read(node: &NodeId) -> DataValue;
    /// Returns the Value of `node`, at most `max_age` old.
    AttributeServices::read_within(node: &NodeId, max_age: Duration) -> DataValue;
    /// Returns the Value of `node`; a bad StatusCode is an error.
    AttributeServices::read_good(node: &NodeId) -> Variant;
    /// Returns one attribute of `node`. The StatusCode of the result is not an error.
    AttributeServices::read_attribute(node: &NodeId, attribute: Attribute) -> DataValue;
    /// Reads many attributes at once; the results are in the order of the items.
    AttributeServices::read_attributes(attributes: &[(NodeId, Attribute)]) -> Vec<DataValue>;
    /// Writes the Value of `node`.
    AttributeServices::write(node: &NodeId, value: Variant) -> ();
    /// Calls `method` on `object` and returns the output arguments (OPC 10000-4, 5.12).
    AttributeServices::call_method(object: &NodeId, method: &NodeId, inputs: Vec<Variant>) -> Vec<Variant>;
    /// Returns the references of `node`.
    ViewServices::browse(node: &NodeId, follow: &Follow) -> Vec<ReferenceDescription>;
    /// Returns the node that `path` leads to from `start` along hierarchical references.
    ViewServices::translate(start: &NodeId, path: &[QualifiedName]) -> NodeId;
    /// Returns the node that `path` names, as [`Client::find`](crate::Client::find) does.
    ViewServices::find(path: &str) -> ReferenceDescription;
    /// Returns the recorded values of a Variable.
    HistoryServices::history_raw(node: &NodeId, range: HistoryRange) -> Vec<DataValue>;
    /// Returns the values of a Variable at these times, interpolated where nothing was recorded.
    HistoryServices::history_at(node: &NodeId, times: &[DateTime]) -> Vec<DataValue>;
    /// Returns an aggregate of each interval between two times (OPC 10000-13), with the defaults of the server.
    HistoryServices::history_processed(
        node: &NodeId, aggregate: Aggregate, range: (DateTime, DateTime), interval: Duration
    ) -> Vec<DataValue>;
    /// Returns the recorded Events of a notifier in a range, with the selected fields. The bounds of the range are not used.
    HistoryServices::history_events(notifier: &NodeId, range: HistoryRange, query: &EventQuery) -> Vec<Vec<Variant>>;
}
