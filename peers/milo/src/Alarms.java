import static org.eclipse.milo.opcua.stack.core.types.builtin.unsigned.Unsigned.uint;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.eclipse.milo.opcua.sdk.client.subscriptions.OpcUaMonitoredItem;
import org.eclipse.milo.opcua.sdk.client.subscriptions.OpcUaSubscription;
import org.eclipse.milo.opcua.stack.core.AttributeId;
import org.eclipse.milo.opcua.stack.core.NodeIds;
import org.eclipse.milo.opcua.stack.core.types.builtin.ByteString;
import org.eclipse.milo.opcua.stack.core.types.builtin.DateTime;
import org.eclipse.milo.opcua.stack.core.types.builtin.LocalizedText;
import org.eclipse.milo.opcua.stack.core.types.builtin.NodeId;
import org.eclipse.milo.opcua.stack.core.types.builtin.QualifiedName;
import org.eclipse.milo.opcua.stack.core.types.builtin.Variant;
import org.eclipse.milo.opcua.stack.core.types.builtin.unsigned.UShort;
import org.eclipse.milo.opcua.stack.core.types.enumerated.TimestampsToReturn;
import org.eclipse.milo.opcua.stack.core.types.structured.CallMethodRequest;
import org.eclipse.milo.opcua.stack.core.types.structured.ContentFilter;
import org.eclipse.milo.opcua.stack.core.types.structured.EventFilter;
import org.eclipse.milo.opcua.stack.core.types.structured.HistoryData;
import org.eclipse.milo.opcua.stack.core.types.structured.HistoryReadResult;
import org.eclipse.milo.opcua.stack.core.types.structured.HistoryReadValueId;
import org.eclipse.milo.opcua.stack.core.types.structured.ReadRawModifiedDetails;
import org.eclipse.milo.opcua.stack.core.types.structured.SimpleAttributeOperand;

/** The checks with Events and history. */
final class Alarms {
  private final Session session;
  private final String condition;
  private final BlockingQueue<Variant[]> events = new LinkedBlockingQueue<>();

  private Alarms(Session session, String condition) {
    this.session = session;
    this.condition = condition;
  }

  private static SimpleAttributeOperand field(NodeId type, AttributeId attribute, String... path) {
    QualifiedName[] names = new QualifiedName[path.length];
    for (int i = 0; i < names.length; i++) {
      names[i] = new QualifiedName(0, path[i]);
    }
    return new SimpleAttributeOperand(type, names, attribute.uid(), null);
  }

  /** Selects the fields of `is`, `isIn` and `event`. */
  private static EventFilter filter() {
    return new EventFilter(
        new SimpleAttributeOperand[] {
          field(NodeIds.BaseEventType, AttributeId.Value, "EventType"),
          field(NodeIds.ConditionType, AttributeId.Value, "ConditionName"),
          field(NodeIds.BaseEventType, AttributeId.Value, "Severity"),
          field(NodeIds.ConditionType, AttributeId.Value, "Retain"),
          field(NodeIds.BaseEventType, AttributeId.Value, "EventId"),
          field(NodeIds.ConditionType, AttributeId.NodeId),
          field(NodeIds.AcknowledgeableConditionType, AttributeId.Value, "AckedState", "Id"),
          field(NodeIds.AcknowledgeableConditionType, AttributeId.Value, "ConfirmedState", "Id"),
        },
        new ContentFilter(null));
  }

  private Variant[] waitFor(String what, Predicate<Variant[]> wanted) throws InterruptedException {
    while (true) {
      Variant[] fields = events.poll(Session.PATIENCE, TimeUnit.MILLISECONDS);
      Main.expect(fields != null, "no Event is %s", what);
      if (wanted.test(fields)) {
        return fields;
      }
    }
  }

  private boolean isOf(Variant[] fields) {
    return condition.equals(fields[1].value());
  }

  private void call(NodeId object, NodeId method, Variant... inputs) throws Exception {
    var request = new CallMethodRequest(object, method, inputs);
    var result = session.client.call(List.of(request)).getResults()[0];
    Main.expect(result.getStatusCode().isGood(), "%s: %s", method, result.getStatusCode());
  }

  /** The library's own Subscription gets an active alarm after a refresh; the alarm is acknowledged and confirmed. */
  static int event(Main.Task task) throws Exception {
    Session session = task.session();
    Alarms alarms = new Alarms(session, task.start);
    OpcUaSubscription subscription = new OpcUaSubscription(session.client, 50.0);
    subscription.create();
    OpcUaMonitoredItem item = OpcUaMonitoredItem.newEventItem(NodeIds.Server, filter());
    item.setQueueSize(uint(100));
    item.setEventValueListener((from, fields) -> alarms.events.add(fields));
    subscription.addMonitoredItem(item);
    subscription.synchronizeMonitoredItems();
    Variant id = new Variant(subscription.getSubscriptionId().orElseThrow());
    alarms.call(NodeIds.ConditionType, NodeIds.ConditionType_ConditionRefresh, id);
    // The registry knows an alarm when it has subscribed to its Provider, which may be after the refresh.
    boolean begun = false;
    boolean ended = false;
    Variant[] alarm = null;
    while (!begun || !ended || alarm == null) {
      Variant[] next = alarms.waitFor("the alarm, or of a refresh", fields -> true);
      begun |= NodeIds.RefreshStartEventType.equals(next[0].value());
      ended |= begun && NodeIds.RefreshEndEventType.equals(next[0].value());
      alarm = alarms.isOf(next) ? next : alarm;
    }
    boolean isActive =
        alarm[2].value() instanceof UShort severity
            && severity.intValue() >= 500
            && Boolean.TRUE.equals(alarm[3].value());
    Main.expect(isActive, "the alarm: %s, %s", alarm[2], alarm[3]);
    NodeId node = (NodeId) alarm[5].value();
    Variant comment = new Variant(LocalizedText.english("by Milo"));
    Variant last = alarm[4];
    NodeId[] methods = {
      NodeIds.AcknowledgeableConditionType_Acknowledge, NodeIds.AcknowledgeableConditionType_Confirm
    };
    for (int i = 0; i < methods.length; i++) {
      int state = 6 + i;
      Main.expect(last.value() instanceof ByteString, "EventId: %s", last);
      alarms.call(node, methods[i], last, comment);
      last =
          alarms.waitFor(
              "a response",
              fields -> alarms.isOf(fields) && Boolean.TRUE.equals(fields[state].value()))[4];
    }
    subscription.delete();
    return 5;
  }

  /** Raw values of the Variable `Start`: the last three are 100, 200 and 300. They come in pages, too. */
  static int history(Main.Task task) throws Exception {
    Session session = task.session();
    Instant now = Instant.now();
    HistoryReadResult whole = read(session, task.start, now, 0, ByteString.NULL_VALUE);
    var values = data(session, whole);
    Main.expect(values.size() >= 3, "%d values", values.size());
    var last = values.subList(values.size() - 3, values.size());
    Main.expect(last.equals(List.of(100.0, 200.0, 300.0)), "%s", last);
    var pages = new ArrayList<Object>();
    ByteString point = ByteString.NULL_VALUE;
    do {
      HistoryReadResult page = read(session, task.start, now, 2, point);
      pages.addAll(data(session, page));
      point = page.getContinuationPoint();
    } while (point != null && point.isNotNull() && point.length() > 0);
    Main.expect(pages.equals(values), "%s instead of %s", pages, values);
    return values.size();
  }

  private static HistoryReadResult read(
      Session session, String node, Instant now, int most, ByteString point) throws Exception {
    var details =
        new ReadRawModifiedDetails(
            false,
            new DateTime(now.minus(Duration.ofHours(1))),
            new DateTime(now.plus(Duration.ofMinutes(1))),
            uint(most),
            false);
    var item = new HistoryReadValueId(NodeId.parse(node), null, QualifiedName.NULL_VALUE, point);
    var response =
        session.client.historyRead(details, TimestampsToReturn.Both, false, List.of(item));
    HistoryReadResult result = response.getResults()[0];
    Main.expect(result.getStatusCode().isGood(), "HistoryRead: %s", result.getStatusCode());
    return result;
  }

  private static List<Object> data(Session session, HistoryReadResult result) {
    var context = session.client.getStaticEncodingContext();
    var data = (HistoryData) result.getHistoryData().decode(context);
    return Arrays.stream(data.getDataValues()).map(one -> one.value().value()).toList();
  }
}
