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
import org.eclipse.milo.opcua.stack.core.types.builtin.DataValue;
import org.eclipse.milo.opcua.stack.core.types.builtin.LocalizedText;
import org.eclipse.milo.opcua.stack.core.types.builtin.NodeId;
import org.eclipse.milo.opcua.stack.core.types.builtin.Variant;
import org.eclipse.milo.opcua.stack.core.types.builtin.unsigned.Unsigned;
import org.eclipse.milo.opcua.stack.core.types.structured.Argument;

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

  private void variable(UaFolderNode peer, String name, NodeId type, Object value) {
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
