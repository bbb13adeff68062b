import static org.eclipse.milo.opcua.stack.core.types.builtin.unsigned.Unsigned.uint;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.eclipse.milo.opcua.stack.core.StatusCodes;
import org.eclipse.milo.opcua.stack.core.types.builtin.ByteString;
import org.eclipse.milo.opcua.stack.core.types.builtin.DataValue;
import org.eclipse.milo.opcua.stack.core.types.builtin.DateTime;
import org.eclipse.milo.opcua.stack.core.types.builtin.Matrix;
import org.eclipse.milo.opcua.stack.core.types.builtin.NodeId;
import org.eclipse.milo.opcua.stack.core.types.builtin.StatusCode;
import org.eclipse.milo.opcua.stack.core.types.builtin.Variant;
import org.eclipse.milo.opcua.stack.core.types.builtin.unsigned.UInteger;
import org.eclipse.milo.opcua.stack.core.types.enumerated.BrowseDirection;
import org.eclipse.milo.opcua.stack.core.types.structured.BrowseResult;
import org.eclipse.milo.opcua.stack.core.types.structured.CallMethodResult;
import org.eclipse.milo.opcua.stack.core.types.structured.ReadValueId;
import org.eclipse.milo.opcua.stack.core.types.structured.ReferenceDescription;

/** The checks without Subscriptions, and the list of all. */
final class Checks {
  /** A check, which returns the number of things that it has counted. */
  interface Check {
    int run(Main.Task task) throws Exception;
  }

  static final Map<String, Check> ALL = new LinkedHashMap<>();

  static {
    ALL.put("browse_continuation", Checks::browseContinuation);
    ALL.put("all_attributes", Checks::allAttributes);
    ALL.put("index_range", Checks::indexRange);
    ALL.put("write_plain", Checks::writePlain);
    ALL.put("write_timestamps", Checks::writeTimestamps);
    ALL.put("call", Checks::call);
    ALL.put("renewal", Checks::renewal);
    ALL.put("ten_thousand_nodes", Checks::tenThousandNodes);
    ALL.put("million_elements", Checks::millionElements);
    ALL.put("subscription", Subscriptions::subscription);
    ALL.put("deadband", Subscriptions::deadband);
    ALL.put("triggering", Subscriptions::triggering);
    ALL.put("republish", Subscriptions::republish);
    ALL.put("transfer", Subscriptions::transfer);
    ALL.put("restart", Subscriptions::restart);
    ALL.put("machine", Subscriptions::machine);
    ALL.put("event", Alarms::event);
    ALL.put("history", Alarms::history);
  }

  private static final NodeId SERVER = new NodeId(0, 2253);

  private static void expect(boolean condition, String format, Object... arguments) {
    Main.expect(condition, format, arguments);
  }

  private static ReferenceDescription[] references(BrowseResult result) {
    expect(result.getStatusCode().isGood(), "%s", result.getStatusCode());
    ReferenceDescription[] references = result.getReferences();
    return references == null ? new ReferenceDescription[0] : references;
  }

  private static boolean continues(BrowseResult result) {
    ByteString point = result.getContinuationPoint();
    return point != null && point.isNotNull() && point.length() > 0;
  }

  /** Browse and BrowseNext with 1 to 3 references give all references in their order. */
  private static int browseContinuation(Main.Task task) throws Exception {
    Session session = task.session();
    int continued = 0;
    List<String> whole = new ArrayList<>();
    for (var reference : references(session.browse(SERVER, 0, BrowseDirection.Forward))) {
      whole.add(reference.getNodeId().toParseableString());
    }
    for (int most = 1; most <= 3; most++) {
      List<String> found = new ArrayList<>();
      BrowseResult result = session.browse(SERVER, most, BrowseDirection.Forward);
      while (true) {
        ReferenceDescription[] references = references(result);
        expect(references.length <= most, "%d references instead of %d", references.length, most);
        for (ReferenceDescription reference : references) {
          found.add(reference.getNodeId().toParseableString());
        }
        if (!continues(result)) {
          break;
        }
        result = session.browseNext(result.getContinuationPoint(), false)[0];
        continued++;
      }
      expect(found.equals(whole), "%s instead of %s", found, whole);
      ByteString point =
          session.browse(SERVER, most, BrowseDirection.Forward).getContinuationPoint();
      session.browseNext(point, true);
      String gone = Session.name(session.browseNext(point, false)[0].getStatusCode());
      expect(gone.equals("BadContinuationPointInvalid"), "released: %s", gone);
    }
    return continued;
  }

  /** Returns all nodes below one, without those below `Many` and `Large`. */
  private static List<NodeId> walk(Session session, NodeId start) throws Exception {
    Map<NodeId, Boolean> found = new LinkedHashMap<>();
    List<NodeId> waiting = new ArrayList<>(List.of(start));
    found.put(start, true);
    while (!waiting.isEmpty()) {
      NodeId node = waiting.remove(waiting.size() - 1);
      BrowseResult result = session.browse(node, 100, BrowseDirection.Forward);
      while (true) {
        for (ReferenceDescription reference : references(result)) {
          NodeId next =
              reference.getNodeId().toNodeId(session.client.getNamespaceTable()).orElseThrow();
          if (found.put(next, true) == null
              && !List.of("Many", "Large").contains(reference.getBrowseName().name())) {
            waiting.add(next);
          }
        }
        if (!continues(result)) {
          break;
        }
        result = session.browseNext(result.getContinuationPoint(), false)[0];
      }
    }
    return List.copyOf(found.keySet());
  }

  /** Values of namespace 0 that are not for every user (arrays of all clients) or channel (their security), or do not exist. */
  private static final Map<String, String> WITHHELD =
      Map.of(
          "i=2290", "BadUserAccessDenied",
          "i=3707", "BadUserAccessDenied",
          "i=3708", "BadSecurityModeInsufficient",
          "i=12643", "BadNotSupported");

  /** Each attribute of each node is Good or does not exist; instance declarations may have no value. */
  private static int allAttributes(Main.Task task) throws Exception {
    Session session = task.session();
    List<NodeId> nodes = walk(session, NodeId.parse(task.start));
    List<ReadValueId> items = new ArrayList<>();
    for (NodeId node : nodes) {
      for (int attribute = 1; attribute <= 27; attribute++) {
        items.add(Session.item(node, attribute, null));
      }
    }
    int gone = 0;
    for (int start = 0; start < items.size(); start += 10_000) {
      List<ReadValueId> batch = items.subList(start, Math.min(start + 10_000, items.size()));
      DataValue[] results = session.read(batch);
      for (int i = 0; i < results.length; i++) {
        int attribute = batch.get(i).getAttributeId().intValue();
        NodeId node = batch.get(i).getNodeId();
        String status = Session.name(results[i].statusCode());
        // A node of the diagnostics: its Session has ended meanwhile.
        if (status.equals("BadNodeIdUnknown") && node.getNamespaceIndex().intValue() == 1) {
          gone++;
          continue;
        }
        boolean missing = status.equals("BadAttributeIdInvalid") && attribute > 4;
        boolean empty = status.equals("BadWaitingForInitialData") && attribute == 13;
        // The security of a Session in the diagnostics: its channel has to be encrypted.
        boolean ofSession =
            status.equals("BadSecurityModeInsufficient") && node.getNamespaceIndex().intValue() == 1;
        boolean withheld = status.equals(WITHHELD.get(node.toParseableString()));
        boolean refused = (ofSession || withheld) && attribute > 4;
        expect(
            status.equals("Good") || missing || empty || refused, "%s, %d: %s", node, attribute, status);
        if (attribute == 1) {
          Object own = results[i].value().value();
          expect(node.equals(own), "%s has the NodeId %s", node, own);
        }
      }
    }
    // Two Sessions have fewer attributes.
    expect(gone < 4_000, "%d attributes of nodes that are gone", gone);
    return nodes.size();
  }

  static UInteger[] numbers(int... values) {
    return Arrays.stream(values).mapToObj(value -> uint(value)).toArray(UInteger[]::new);
  }

  private static Object plainArray(Object value) {
    return value instanceof Matrix matrix ? matrix.nestedArrayValue() : value;
  }

  /** Parts of arrays, matrices and Strings are read and written. */
  private static int indexRange(Main.Task task) throws Exception {
    Session session = task.session();
    record Part(String path, String range, Object expected) {}
    List<Part> parts =
        List.of(
            new Part("Values/Array", "5", numbers(5)),
            new Part("Values/Array", "1:3", numbers(1, 2, 3)),
            new Part("Values/Array", "14:20", numbers(14, 15)),
            new Part("Values/Matrix", "0:1,1:2", new Double[][] {{2.0, 3.0}, {5.0, 6.0}}),
            new Part("Values/String", "0:3", "Takt"));
    for (Part part : parts) {
      DataValue value = session.value(part.path, part.range);
      expect(value.statusCode().isGood(), "%s: %s", part, value.statusCode());
      Object found = plainArray(value.value().value());
      expect(Objects.deepEquals(found, part.expected), "%s: %s", part, value.value());
    }
    Map<String, String> wrong =
        Map.of("16", "BadIndexRangeNoData", "3:1", "BadIndexRangeInvalid", "x", "BadIndexRangeInvalid");
    for (var part : wrong.entrySet()) {
      String status = Session.name(session.value("Values/Array", part.getKey()).statusCode());
      expect(status.equals(part.getValue()), "[%s]: %s", part.getKey(), status);
    }
    for (UInteger[] values : List.of(numbers(71, 72), numbers(7, 8))) {
      String status = session.write("Values/Array", Session.plain(values), "7:8");
      expect(status.equals("Good"), "Write of Values/Array[7:8]: %s", status);
      UInteger[] array = numbers(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
      System.arraycopy(values, 0, array, 7, 2);
      expect(Objects.deepEquals(session.good("Values/Array"), array), "wrong elements");
    }
    return 10;
  }

  /** Values without timestamps are written, and those that do not fit are refused. */
  private static int writePlain(Main.Task task) throws Exception {
    Session session = task.session();
    record Write(String path, Object value, String expected) {}
    List<Write> writes =
        List.of(
            new Write("Values/Double", 7.25, "Good"),
            new Write("Values/Double", uint(7), "BadTypeMismatch"),
            new Write("Values/ReadOnly", 7L, "BadNotWritable"),
            new Write("Values/Nothing", uint(7), "BadNodeIdUnknown"),
            new Write("Values/String", "Grüße", "Good"),
            new Write("Values/String", "Takt: equal time", "Good"));
    for (Write write : writes) {
      String status = session.write(write.path, Session.plain(write.value), null);
      expect(status.equals(write.expected), "%s: %s", write, status);
      if (status.equals("Good")) {
        expect(write.value.equals(session.good(write.path)), "%s is not read", write);
      }
    }
    // The constructor that examples use sets the StatusCode and both timestamps.
    DataValue own = new DataValue(new Variant(2.5));
    StatusCode status =
        session.client.writeValues(List.of(session.node("Values/Double")), List.of(own)).get(0);
    expect(status.isGood(), "writeValues: %s", status);
    expect(session.good("Values/Double").equals(2.5), "writeValues");
    return 7;
  }

  /** Values with a timestamp and a StatusCode are stored with both. */
  private static int writeTimestamps(Main.Task task) throws Exception {
    Session session = task.session();
    DateTime time = new DateTime(Instant.parse("2024-02-29T12:34:56.789Z"));
    StatusCode uncertain = new StatusCode(StatusCodes.Uncertain_SubNormal);
    DataValue value = new DataValue(new Variant(3.5), uncertain, time, null);
    String status = session.write("Values/Double", value, null);
    expect(status.equals("Good"), "Write: %s", status);
    DataValue read = session.value("Values/Double", null);
    expect(read.value().value().equals(3.5), "%s", read);
    expect(Session.name(read.statusCode()).equals("UncertainSubNormal"), "%s", read);
    expect(time.equals(read.sourceTime()), "%s", read);
    expect(read.serverTime() != null, "%s", read);
    session.set("Values/Double", 2.5);
    return 4;
  }

  /** A Method is called; wrong calls are refused. */
  private static int call(Main.Task task) throws Exception {
    Session session = task.session();
    CallMethodResult product = session.call("Multiply", 6.0, 7.0);
    expect(product.getStatusCode().isGood(), "Multiply: %s", product.getStatusCode());
    expect(product.getOutputArguments()[0].value().equals(42.0), "%s", product);
    record Wrong(String method, Object[] arguments, String expected) {}
    List<Wrong> calls =
        List.of(
            new Wrong("Multiply", new Object[] {6.0}, "BadArgumentsMissing"),
            new Wrong("Multiply", new Object[] {6.0, 7.0, 8.0}, "BadTooManyArguments"),
            new Wrong("Multiply", new Object[] {"six", 7.0}, "BadInvalidArgument"),
            new Wrong("Refuse", new Object[] {}, "BadInvalidState"));
    for (Wrong wrong : calls) {
      CallMethodResult result = session.call(wrong.method, wrong.arguments);
      String status = Session.name(result.getStatusCode());
      expect(status.equals(wrong.expected), "%s: %s", wrong, status);
      if (status.equals("BadInvalidArgument")) {
        StatusCode[] each = result.getInputArgumentResults();
        expect(Session.name(each[0]).equals("BadTypeMismatch") && each[1].isGood(), "%s", result);
      }
    }
    return 5;
  }

  /** The channel is renewed every second while values are read. */
  private static int renewal(Main.Task task) throws Exception {
    // Milo renews after three quarters of the lifetime.
    Session session = task.session(transport -> transport.setChannelLifetime(uint(1_333)));
    int done = 0;
    while (done < 100 || Integer.parseInt(Main.field(task.want("renewed"), "renewed")) < 2) {
      expect(session.good("Values/Double").equals(2.5), "Values/Double");
      done++;
    }
    return done;
  }

  /** One Read has 10 000 nodes. */
  private static int tenThousandNodes(Main.Task task) throws Exception {
    Session session = task.session();
    int count = 10_000;
    List<ReadValueId> items = new ArrayList<>();
    for (int n = 0; n < count; n++) {
      items.add(Session.item(session.node("Many/Group" + n / 100 + "/Value" + n), 13, null));
    }
    DataValue[] results = session.read(items);
    for (int n = 0; n < count; n++) {
      expect(results[n].statusCode().isGood(), "Value%d: %s", n, results[n].statusCode());
      expect(results[n].value().value().equals(uint(n)), "Value%d: %s", n, results[n]);
    }
    return count;
  }

  /** An array of a million elements is read and written. */
  private static int millionElements(Main.Task task) throws Exception {
    Session session = task.session();
    int count = 1_000_000;
    UInteger[] up = new UInteger[count];
    UInteger[] down = new UInteger[count];
    for (int n = 0; n < count; n++) {
      up[n] = uint(n);
      down[n] = uint(count - n);
    }
    expect(Arrays.equals((UInteger[]) session.good("Large/Million"), up), "wrong elements");
    for (UInteger[] values : List.of(down, up)) {
      session.set("Large/Million", values);
      Object found = session.good("Large/Million");
      expect(Arrays.equals((UInteger[]) found, values), "wrong elements after the Write");
    }
    return count;
  }
}
