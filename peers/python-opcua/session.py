"""Services of one Session, as python-opcua's UaClient has them.

python-opcua has the structures of all Services, but no method for Publish that returns the response, SetTriggering,
Republish and TransferSubscriptions: these requests are sent through its socket.
"""

import contextlib

from opcua import Client, ua
from opcua.ua.ua_binary import struct_from_binary

# Seconds until a request has failed, long enough for a loaded machine.
PATIENCE = 60
ALL_ATTRIBUTES = range(1, 28)
UINT32 = ua.VariantType.UInt32
DOUBLE = ua.VariantType.Double


class Failed(Exception):
    """A check that has failed."""


def expect(condition, text):
    """Fails unless the condition holds."""
    if not condition:
        raise Failed(text)


def name(status):
    """The name of a StatusCode."""
    return status.name if isinstance(status, ua.StatusCode) else ua.StatusCode(status).name


def text(value):
    """A value in messages."""
    return repr(value)[:300]


class Session:
    """One connection with an activated Session."""

    def __init__(self, endpoint, namespace=None, lifetime=None):
        self.client = Client(endpoint, timeout=PATIENCE)
        if lifetime is not None:
            self.client.secure_channel_timeout = lifetime
        self.client.connect()
        self.services = self.client.uaclient
        self.index = None if namespace is None else self.client.get_namespace_index(namespace)

    def close(self):
        """Closes the Session with its Subscriptions."""
        # A server that has been killed does not answer.
        with contextlib.suppress(Exception):
            self.client.disconnect()

    def node(self, path):
        """The NodeId of a node of the Provider."""
        return ua.NodeId(path, self.index)

    def send(self, request, response):
        """Sends a request for which UaClient has no method."""
        data = self.services._uasocket.send_request(request, timeout=PATIENCE * 1000)
        answer = struct_from_binary(response, data)
        answer.ResponseHeader.ServiceResult.check()
        return answer

    def browse(self, node, most=0, direction=ua.BrowseDirection.Forward, reference=33):
        """Browses hierarchical references; returns the result."""
        description = ua.BrowseDescription()
        description.NodeId = node
        description.BrowseDirection = direction
        description.ReferenceTypeId = ua.NodeId(reference, 0)
        description.IncludeSubtypes = True
        description.NodeClassMask = 0
        description.ResultMask = ua.BrowseResultMask.All
        parameters = ua.BrowseParameters()
        parameters.RequestedMaxReferencesPerNode = most
        parameters.NodesToBrowse = [description]
        return self.services.browse(parameters)[0]

    def browse_next(self, point, release=False):
        """Continues, or releases the continuation point; returns the results."""
        parameters = ua.BrowseNextParameters()
        parameters.ReleaseContinuationPoints = release
        parameters.ContinuationPoints = [point]
        return self.services.browse_next(parameters)

    def read(self, items, timestamps=ua.TimestampsToReturn.Both):
        """Reads (NodeId, attribute, IndexRange); returns DataValues."""
        parameters = ua.ReadParameters()
        parameters.TimestampsToReturn = timestamps
        for node, attribute, index_range in items:
            item = ua.ReadValueId()
            item.NodeId = node
            item.AttributeId = ua.AttributeIds(attribute)
            item.IndexRange = index_range
            parameters.NodesToRead.append(item)
        return self.services.read(parameters)

    def value(self, path, index_range=None):
        """Reads one Value of the Provider."""
        return self.read([(self.node(path), 13, index_range)])[0]

    def write(self, path, data_value, index_range=None):
        """Writes one Value of the Provider; returns the name of the StatusCode."""
        item = ua.WriteValue()
        item.NodeId = self.node(path)
        item.AttributeId = ua.AttributeIds.Value
        item.IndexRange = index_range
        item.Value = data_value
        parameters = ua.WriteParameters()
        parameters.NodesToWrite = [item]
        return name(self.services.write(parameters)[0])

    def set(self, path, value, kind):
        """Writes a plain value, which must succeed."""
        status = self.write(path, plain(value, kind))
        expect(status == "Good", f"Write of {path}: {status}")

    def call(self, method, arguments):
        """Calls a Method of the Provider."""
        item = ua.CallMethodRequest()
        parents = self.browse(self.node(method), direction=ua.BrowseDirection.Inverse).References
        item.ObjectId = parents[0].NodeId
        item.MethodId = self.node(method)
        item.InputArguments = arguments
        return self.services.call([item])[0]

    def create_subscription(self, interval=50):
        """Creates a Subscription whose messages are fetched by `publish`."""
        request = ua.CreateSubscriptionRequest()
        request.Parameters.RequestedPublishingInterval = interval
        request.Parameters.RequestedLifetimeCount = 10_000
        request.Parameters.RequestedMaxKeepAliveCount = 20
        request.Parameters.PublishingEnabled = True
        return self.send(request, ua.CreateSubscriptionResponse).Parameters.SubscriptionId

    def create_items(self, subscription, items):
        """Creates MonitoredItems of (handle, path, mode, filter); returns their ids."""
        parameters = ua.CreateMonitoredItemsParameters()
        parameters.SubscriptionId = subscription
        parameters.TimestampsToReturn = ua.TimestampsToReturn.Both
        for handle, path, mode, data_filter in items:
            item = ua.MonitoredItemCreateRequest()
            item.ItemToMonitor.NodeId = self.node(path)
            item.ItemToMonitor.AttributeId = ua.AttributeIds.Value
            item.MonitoringMode = mode
            item.RequestedParameters.ClientHandle = handle
            item.RequestedParameters.SamplingInterval = 0
            item.RequestedParameters.QueueSize = 100
            item.RequestedParameters.DiscardOldest = True
            if data_filter is not None:
                item.RequestedParameters.Filter = data_filter
            parameters.ItemsToCreate.append(item)
        results = self.services.create_monitored_items(parameters)
        for result in results:
            result.StatusCode.check()
        return [result.MonitoredItemId for result in results]

    def publish(self, acknowledged=()):
        """Sends a Publish request and waits for its response."""
        request = ua.PublishRequest()
        for subscription, number in acknowledged:
            acknowledgement = ua.SubscriptionAcknowledgement()
            acknowledgement.SubscriptionId = subscription
            acknowledgement.SequenceNumber = number
            request.Parameters.SubscriptionAcknowledgements.append(acknowledgement)
        return self.send(request, ua.PublishResponse).Parameters

    def delete_subscription(self, subscription):
        """Deletes a Subscription."""
        request = ua.DeleteSubscriptionsRequest()
        request.Parameters.SubscriptionIds = [subscription]
        self.send(request, ua.DeleteSubscriptionsResponse).Results[0].check()


def plain(value, kind):
    """A DataValue with a value alone."""
    data_value = ua.DataValue(ua.Variant(value, kind))
    # DataValue() sets them, and python-opcua sends what is set.
    data_value.SourceTimestamp = data_value.ServerTimestamp = data_value.StatusCode = None
    return data_value


def changes(message):
    """The (handle, value) of all MonitoredItemNotifications of a NotificationMessage."""
    found = []
    for data in message.NotificationData or []:
        if isinstance(data, ua.DataChangeNotification):
            found += [(item.ClientHandle, item.Value.Value.Value) for item in data.MonitoredItems]
    return found
