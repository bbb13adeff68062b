import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.milo.opcua.sdk.core.AccessLevel;
import org.eclipse.milo.opcua.sdk.core.Reference;
import org.eclipse.milo.opcua.sdk.server.ManagedNamespaceWithLifecycle;
import org.eclipse.milo.opcua.sdk.server.OpcUaServer;
import org.eclipse.milo.opcua.sdk.server.items.DataItem;
import org.eclipse.milo.opcua.sdk.server.items.MonitoredItem;
import org.eclipse.milo.opcua.sdk.server.methods.AbstractMethodInvocationHandler;
import org.eclipse.milo.opcua.sdk.server.nodes.UaFolderNode;
import org.eclipse.milo.opcua.sdk.server.nodes.UaMethodNode;
import org.eclipse.milo.opcua.sdk.server.nodes.UaVariableNode;
import org.eclipse.milo.opcua.sdk.server.util.SubscriptionModel;
import org.eclipse.milo.opcua.stack.core.NodeIds;
import org.eclipse.milo.opcua.stack.core.StatusCodes;
import org.eclipse.milo.opcua.stack.core.UaException;
import org.eclipse.milo.opcua.stack.core.types.builtin.ByteString;
import org.eclipse.milo.opcua.stack.core.types.builtin.DataValue;
import org.eclipse.milo.opcua.stack.core.types.builtin.DateTime;
import org.eclipse.milo.opcua.stack.core.types.builtin.ExtensionObject;
import org.eclipse.milo.opcua.stack.core.types.builtin.LocalizedText;
import org.eclipse.milo.opcua.stack.core.types.builtin.NodeId;
import org.eclipse.milo.opcua.stack.core.types.builtin.StatusCode;
import org.eclipse.milo.opcua.stack.core.types.builtin.Variant;
import org.eclipse.milo.opcua.stack.core.types.builtin.unsigned.Unsigned;
import org.eclipse.milo.opcua.stack.core.types.enumerated.TimestampsToReturn;
import org.eclipse.milo.opcua.stack.core.types.structured.Argument;
import org.eclipse.milo.opcua.stack.core.types.structured.HistoryData;
import org.eclipse.milo.opcua.stack.core.types.structured.HistoryReadDetails;
import org.eclipse.milo.opcua.stack.core.types.structured.HistoryReadResult;
import org.eclipse.milo.opcua.stack.core.types.structured.HistoryReadValueId;
import org.eclipse.milo.opcua.stack.core.types.structured.ReadRawModifiedDetails;

/** The nodes of a server of Milo: a part of those in peers/README.md. */
final class Nodes extends ManagedNamespaceWithLifecycle {
  private final SubscriptionModel subscriptions;

  Nodes(OpcUaServer server) {
    super(server, "urn:takt:peer");
    subscriptions = new SubscriptionModel(server, this);
    getLifecycleManager().addLifecycle(subscriptions);
    getLifecycleManager().addStartupTask(this::add);
  }

  private void add() {
    UaFolderNode peer =
        new UaFolderNode(
            getNodeContext(),
            newNodeId("Peer"),
            newQualifiedName("Peer"),
            LocalizedText.english("Peer"));
    getNodeManager().addNode(peer);
    peer.addReference(
        new Reference(
            peer.getNodeId(), NodeIds.Organizes, NodeIds.ObjectsFolder.expanded(), false));
    variable(peer, "UInt32", NodeIds.UInt32, Unsigned.uint(42));
    variable(peer, "Double", NodeIds.Double, 2.5);
    variable(peer, "String", NodeIds.String, "Grüße");
    UaVariableNode recorded = variable(peer, "Recorded", NodeIds.Double, 49.0);
    recorded.setAccessLevel(AccessLevel.toValue(AccessLevel.CurrentRead, AccessLevel.HistoryRead));
    recorded.setUserAccessLevel(recorded.getAccessLevel());
    recorded.setHistorizing(true);
    UaMethodNode multiply =
        UaMethodNode.builder(getNodeContext())
            .setNodeId(newNodeId("Multiply"))
            .setBrowseName(newQualifiedName("Multiply"))
            .setDisplayName(LocalizedText.english("Multiply"))
            .setExecutable(true)
            .setUserExecutable(true)
            .build();
    Multiply handler = new Multiply(multiply);
    multiply.setInputArguments(handler.getInputArguments());
    multiply.setOutputArguments(handler.getOutputArguments());
    multiply.setInvocationHandler(handler);
    getNodeManager().addNode(multiply);
    peer.addComponent(multiply);
  }

  private UaVariableNode variable(UaFolderNode peer, String name, NodeId type, Object value) {
    UaVariableNode node =
        new UaVariableNode.UaVariableNodeBuilder(getNodeContext())
            .setNodeId(newNodeId(name))
            .setBrowseName(newQualifiedName(name))
            .setDisplayName(LocalizedText.english(name))
            .setDataType(type)
            .setTypeDefinition(NodeIds.BaseDataVariableType)
            .setAccessLevel(AccessLevel.READ_WRITE)
            .setUserAccessLevel(AccessLevel.READ_WRITE)
            .setValue(new DataValue(new Variant(value)))
            .build();
    getNodeManager().addNode(node);
    peer.addComponent(node);
    return node;
  }

  /** The library has no store of values: these are 0 to 49, one each second until the server was started. */
  private final DataValue[] history = new DataValue[50];

  {
    Instant last = Instant.now();
    for (int i = 0; i < history.length; i++) {
      DateTime time = new DateTime(last.minusSeconds(history.length - 1 - i));
      history[i] = new DataValue(new Variant((double) i), StatusCode.GOOD, time, time);
    }
  }

  @Override
  public List<HistoryReadResult> historyRead(
      HistoryReadContext context,
      HistoryReadDetails details,
      TimestampsToReturn timestamps,
      List<HistoryReadValueId> nodes) {
    return nodes.stream().map(node -> historyOf(node.getNodeId(), details)).toList();
  }

  private HistoryReadResult historyOf(NodeId node, HistoryReadDetails details) {
    if (!node.equals(newNodeId("Recorded")) || !(details instanceof ReadRawModifiedDetails raw)) {
      StatusCode refused = new StatusCode(StatusCodes.Bad_HistoryOperationUnsupported);
      return new HistoryReadResult(refused, ByteString.NULL_VALUE, null);
    }
    long start = raw.getStartTime().getUtcTime();
    long end = raw.getEndTime().getUtcTime();
    // Without a start, the values before the end are requested, the newest one first.
    boolean isBackward = start == 0 || (end != 0 && end < start);
    long from = start == 0 ? 0 : isBackward ? end : start;
    long to = start != 0 && isBackward ? start : end;
    List<DataValue> found = new ArrayList<>();
    for (DataValue value : history) {
      long time = value.sourceTime().getUtcTime();
      if (time >= from && (to == 0 || time <= to)) {
        found.add(isBackward ? 0 : found.size(), value);
      }
    }
    int most = raw.getNumValuesPerNode().intValue();
    if (most > 0 && most < found.size()) {
      found = found.subList(0, most);
    }
    HistoryData data = new HistoryData(found.toArray(DataValue[]::new));
    return new HistoryReadResult(
        StatusCode.GOOD,
        ByteString.NULL_VALUE,
        ExtensionObject.encode(getServer().getStaticEncodingContext(), data));
  }

  /** Reports an Event whose Severity goes from 100 to 1000. */
  void report(int number) {
    int severity = 100 + number % 10 * 100;
    try {
      var event =
          getServer().getEventFactory().createEvent(newNodeId("Event" + number), NodeIds.BaseEventType);
      event.setBrowseName(newQualifiedName("Event"));
      event.setDisplayName(LocalizedText.english("Event"));
      event.setEventId(ByteString.of(("Event" + number).getBytes(StandardCharsets.UTF_8)));
      event.setEventType(NodeIds.BaseEventType);
      event.setSourceNode(NodeIds.Server);
      event.setSourceName("Server");
      event.setTime(DateTime.now());
      event.setReceiveTime(DateTime.NULL_VALUE);
      event.setMessage(LocalizedText.english("Severity " + severity));
      event.setSeverity(Unsigned.ushort(severity));
      getServer().getEventNotifier().fire(event);
      event.delete();
    } catch (UaException failed) {
      throw new Main.Failed(failed.toString());
    }
  }

  /** The Method's body. */
  private static final class Multiply extends AbstractMethodInvocationHandler {
    Multiply(UaMethodNode node) {
      super(node);
    }

    private static Argument argument(String name) {
      return new Argument(name, NodeIds.Double, -1, null, LocalizedText.NULL_VALUE);
    }

    @Override
    public Argument[] getInputArguments() {
      return new Argument[] {argument("A"), argument("B")};
    }

    @Override
    public Argument[] getOutputArguments() {
      return new Argument[] {argument("Product")};
    }

    @Override
    protected Variant[] invoke(InvocationContext context, Variant[] inputs) {
      double product = 1;
      for (Variant input : inputs) {
        product *= (Double) input.getValue();
      }
      return new Variant[] {new Variant(product)};
    }
  }

  @Override
  public void onDataItemsCreated(List<DataItem> items) {
    subscriptions.onDataItemsCreated(items);
  }

  @Override
  public void onDataItemsModified(List<DataItem> items) {
    subscriptions.onDataItemsModified(items);
  }

  @Override
  public void onDataItemsDeleted(List<DataItem> items) {
    subscriptions.onDataItemsDeleted(items);
  }

  @Override
  public void onMonitoringModeChanged(List<MonitoredItem> items) {
    subscriptions.onMonitoringModeChanged(items);
  }
}
