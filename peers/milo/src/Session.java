import static org.eclipse.milo.opcua.stack.core.types.builtin.unsigned.Unsigned.ubyte;
import static org.eclipse.milo.opcua.stack.core.types.builtin.unsigned.Unsigned.uint;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.eclipse.milo.opcua.sdk.client.OpcUaClient;
import org.eclipse.milo.opcua.stack.core.AttributeId;
import org.eclipse.milo.opcua.stack.core.StatusCodes;
import org.eclipse.milo.opcua.stack.core.UaException;
import org.eclipse.milo.opcua.stack.core.channel.EncodingLimits;
import org.eclipse.milo.opcua.stack.core.types.builtin.ByteString;
import org.eclipse.milo.opcua.stack.core.types.builtin.DataValue;
import org.eclipse.milo.opcua.stack.core.types.builtin.DateTime;
import org.eclipse.milo.opcua.stack.core.types.builtin.ExtensionObject;
import org.eclipse.milo.opcua.stack.core.types.builtin.NodeId;
import org.eclipse.milo.opcua.stack.core.types.builtin.QualifiedName;
import org.eclipse.milo.opcua.stack.core.types.builtin.StatusCode;
import org.eclipse.milo.opcua.stack.core.types.builtin.Variant;
import org.eclipse.milo.opcua.stack.core.types.builtin.unsigned.UInteger;
import org.eclipse.milo.opcua.stack.core.types.enumerated.BrowseDirection;
import org.eclipse.milo.opcua.stack.core.types.enumerated.MonitoringMode;
import org.eclipse.milo.opcua.stack.core.types.enumerated.TimestampsToReturn;
import org.eclipse.milo.opcua.stack.core.types.structured.*;
import org.eclipse.milo.opcua.stack.core.util.EndpointUtil;
import org.eclipse.milo.opcua.stack.transport.client.tcp.OpcTcpClientTransportConfigBuilder;

/** One connection with an activated Session. */
final class Session {
  /** Milliseconds until a request has failed, long enough for a loaded machine. */
  static final int PATIENCE = 60_000;

  /** A value of 1 000 000 elements has 4 MB. */
  private static final EncodingLimits LIMITS = new EncodingLimits(65_536, 1_024, 64 << 20, 64);

  final OpcUaClient client;
  private final int index;

  Session(
      String endpoint,
      String namespace,
      Security security,
      Consumer<OpcTcpClientTransportConfigBuilder> transport)
      throws UaException {
    URI address = URI.create(endpoint);
    client =
        OpcUaClient.create(
            endpoint,
            // A server names its own address, not that of a relay.
            endpoints ->
                endpoints.stream()
                    .filter(security::isOf)
                    .map(one -> EndpointUtil.updateUrl(one, address.getHost(), address.getPort()))
                    .findFirst(),
            transport,
            config ->
                security.configure(
                    config.setRequestTimeout(uint(PATIENCE)).setEncodingLimits(LIMITS)));
    client.connect();
    index = client.readNamespaceTable().getIndex(namespace).intValue();
  }

  static String name(StatusCode status) {
    return StatusCodes.lookup(status.value()).map(words -> words[0]).orElse(status.toString()).replace("_", "");
  }

  NodeId node(String path) {
    return new NodeId(index, path);
  }

  /** Browses hierarchical references. */
  BrowseResult browse(NodeId node, int most, BrowseDirection direction) throws UaException {
    BrowseDescription description =
        new BrowseDescription(node, direction, new NodeId(0, 33), true, uint(0), uint(63));
    ViewDescription view = new ViewDescription(NodeId.NULL_VALUE, DateTime.MIN_VALUE, uint(0));
    return client.browse(view, uint(most), List.of(description)).getResults()[0];
  }

  /** Continues, or releases the continuation point. */
  BrowseResult[] browseNext(ByteString point, boolean release) throws UaException {
    return client.browseNext(release, List.of(point)).getResults();
  }

  DataValue[] read(List<ReadValueId> items) throws UaException {
    return client.read(0, TimestampsToReturn.Both, items).getResults();
  }

  static ReadValueId item(NodeId node, int attribute, String range) {
    return new ReadValueId(node, uint(attribute), range, QualifiedName.NULL_VALUE);
  }

  /** Reads one Value of the Provider, or a part of it. */
  DataValue value(String path, String range) throws UaException {
    return read(List.of(item(node(path), AttributeId.Value.id(), range)))[0];
  }

  /** Reads one Value of the Provider, which must be Good. */
  Object good(String path) throws UaException {
    DataValue value = value(path, null);
    Main.expect(value.statusCode().isGood(), "%s: %s", path, value.statusCode());
    return value.value().value();
  }

  /** Writes one Value of the Provider; returns the name of the StatusCode. */
  String write(String path, DataValue value, String range) throws UaException {
    WriteValue write = new WriteValue(node(path), AttributeId.Value.uid(), range, value);
    return name(client.write(List.of(write)).getResults()[0]);
  }

  /** Writes a plain value, which must succeed. */
  void set(String path, Object value) throws UaException {
    String status = write(path, plain(value), null);
    Main.expect(status.equals("Good"), "Write of %s: %s", path, status);
  }

  static DataValue plain(Object value) {
    return DataValue.valueOnly(new Variant(value));
  }

  CallMethodResult call(String method, Object... arguments) throws UaException {
    ReferenceDescription[] parents =
        browse(node(method), 0, BrowseDirection.Inverse).getReferences();
    NodeId object = parents[0].getNodeId().toNodeId(client.getNamespaceTable()).orElseThrow();
    Variant[] inputs = new Variant[arguments.length];
    for (int i = 0; i < inputs.length; i++) {
      inputs[i] = new Variant(arguments[i]);
    }
    return client.call(List.of(new CallMethodRequest(object, node(method), inputs))).getResults()[0];
  }

  /** Creates a Subscription whose messages are fetched by `publish`. */
  UInteger subscribe() throws UaException {
    return client
        .createSubscription(50.0, uint(10_000), uint(20), uint(0), true, ubyte(0))
        .getSubscriptionId();
  }

  /** A MonitoredItem to be created. */
  record Item(int handle, String path, MonitoringMode mode, DataChangeFilter filter) {
    Item(int handle, String path, MonitoringMode mode) {
      this(handle, path, mode, null);
    }
  }

  /** Creates MonitoredItems; returns their ids. */
  List<UInteger> monitor(UInteger subscription, Item... items) throws UaException {
    List<MonitoredItemCreateRequest> requests = new ArrayList<>();
    for (Item item : items) {
      ExtensionObject filter =
          item.filter == null
              ? null
              : ExtensionObject.encode(client.getStaticEncodingContext(), item.filter);
      requests.add(
          new MonitoredItemCreateRequest(
              item(node(item.path), AttributeId.Value.id(), null),
              item.mode,
              new MonitoringParameters(uint(item.handle), 0.0, filter, uint(100), true)));
    }
    List<UInteger> ids = new ArrayList<>();
    var response = client.createMonitoredItems(subscription, TimestampsToReturn.Both, requests);
    for (MonitoredItemCreateResult result : response.getResults()) {
      Main.expect(result.getStatusCode().isGood(), "an item: %s", result.getStatusCode());
      ids.add(result.getMonitoredItemId());
    }
    return ids;
  }

  /** A MonitoredItemNotification. */
  record Change(int handle, Object value) {}

  /** Returns all MonitoredItemNotifications of a message. */
  List<Change> changes(NotificationMessage message) {
    List<Change> found = new ArrayList<>();
    ExtensionObject[] notifications = message.getNotificationData();
    for (ExtensionObject data : notifications == null ? new ExtensionObject[0] : notifications) {
      if (data.decode(client.getStaticEncodingContext()) instanceof DataChangeNotification change) {
        for (MonitoredItemNotification item : change.getMonitoredItems()) {
          found.add(new Change(item.getClientHandle().intValue(), item.getValue().value().value()));
        }
      }
    }
    return found;
  }

  static SubscriptionAcknowledgement acknowledge(UInteger subscription, UInteger number) {
    return new SubscriptionAcknowledgement(subscription, number);
  }

  void unsubscribe(UInteger subscription) throws UaException {
    StatusCode status = client.deleteSubscriptions(List.of(subscription)).getResults()[0];
    Main.expect(status.isGood(), "DeleteSubscriptions: %s", status);
  }
}
