import static org.eclipse.milo.opcua.stack.core.types.builtin.unsigned.Unsigned.uint;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.eclipse.milo.opcua.sdk.client.subscriptions.OpcUaMonitoredItem;
import org.eclipse.milo.opcua.sdk.client.subscriptions.OpcUaSubscription;
import org.eclipse.milo.opcua.stack.core.UaException;
import org.eclipse.milo.opcua.stack.core.types.builtin.StatusCode;
import org.eclipse.milo.opcua.stack.core.types.builtin.unsigned.UInteger;
import org.eclipse.milo.opcua.stack.core.types.enumerated.DataChangeTrigger;
import org.eclipse.milo.opcua.stack.core.types.enumerated.MonitoringMode;
import org.eclipse.milo.opcua.stack.core.types.structured.DataChangeFilter;
import org.eclipse.milo.opcua.stack.core.types.structured.NotificationMessage;
import org.eclipse.milo.opcua.stack.core.types.structured.PublishResponse;
import org.eclipse.milo.opcua.stack.core.types.structured.StatusChangeNotification;
import org.eclipse.milo.opcua.stack.core.types.structured.SubscriptionAcknowledgement;
import org.eclipse.milo.opcua.stack.core.types.structured.TransferResult;

/** The checks with Subscriptions. */
final class Subscriptions {
  private static final String LEVEL = "Watched/Level";

  private static void expect(boolean condition, String format, Object... arguments) {
    Main.expect(condition, format, arguments);
  }

  /** The library's own Subscription with one item. */
  private static final class Own {
    private final BlockingQueue<Object> values = new LinkedBlockingQueue<>();
    private final OpcUaSubscription subscription;
    /** The last failed attempt to create the Subscription again. */
    private volatile Exception failure;

    Own(Session session, String path) throws Exception {
      subscription = new OpcUaSubscription(session.client, 50.0);
      subscription.setSubscriptionListener(
          new OpcUaSubscription.SubscriptionListener() {
            @Override
            public void onTransferFailed(OpcUaSubscription lost, StatusCode status) {
              // The server was restarted: the library leaves it to the application to create the Subscription again.
              CompletableFuture.runAsync(() -> createAgain());
            }
          });
      var item = OpcUaMonitoredItem.newDataItem(session.node(path));
      item.setSamplingInterval(0.0);
      item.setDataValueListener(
          (from, value) -> {
            if (value.value().value() != null) {
              values.add(value.value().value());
            }
          });
      subscription.addMonitoredItem(item);
      create();
    }

    private void create() throws Exception {
      subscription.create();
      subscription.synchronizeMonitoredItems();
    }

    /** Creates it at a server that was restarted; tries again while the connection is broken. */
    private void createAgain() {
      long end = System.nanoTime() + Session.PATIENCE * 1_000_000L;
      while (System.nanoTime() < end) {
        try {
          create();
          return;
        } catch (Exception error) {
          failure = error;
          subscription.reset();
        }
      }
    }

    void waitFor(Predicate<Object> wanted) throws InterruptedException {
      while (true) {
        Object value = values.poll(Session.PATIENCE, TimeUnit.MILLISECONDS);
        expect(value != null, "a change does not come to %s, last failure: %s", subscription, failure);
        if (wanted.test(value)) {
          return;
        }
      }
    }

    void waitFor(double wanted) throws InterruptedException {
      waitFor(value -> value.equals(wanted));
    }
  }

  /** The library's own Subscription gets each value that is written. */
  static int subscription(Main.Task task) throws Exception {
    Session session = task.session();
    session.set(LEVEL, 0.0);
    Own own = new Own(session, LEVEL);
    own.waitFor(0.0);
    for (double value : new double[] {1.5, 2.5, 3.5}) {
      session.set(LEVEL, value);
      own.waitFor(value);
    }
    own.subscription.delete();
    return 4;
  }

  /** A Subscription with items, whose messages are acknowledged. */
  private static final class Watch {
    final UInteger id;
    final List<UInteger> items;
    final List<Session.Change> seen = new ArrayList<>();
    private final Session session;
    private List<SubscriptionAcknowledgement> acknowledged = List.of();

    Watch(Session session, Session.Item... items) throws UaException {
      this.session = session;
      id = session.subscribe();
      this.items = session.monitor(id, items);
    }

    /** Waits for one message. */
    private void collect() throws UaException {
      PublishResponse response = session.client.publish(acknowledged);
      for (StatusCode result : results(response)) {
        expect(result.isGood(), "acknowledgement: %s", result);
      }
      NotificationMessage message = response.getNotificationMessage();
      List<Session.Change> found = session.changes(message);
      // A keep-alive message has no number of its own.
      acknowledged =
          found.isEmpty() ? List.of() : List.of(Session.acknowledge(id, message.getSequenceNumber()));
      seen.addAll(found);
    }

    boolean has(int handle, Object value) {
      return seen.contains(new Session.Change(handle, value));
    }

    void waitFor(int handle, Object value) throws UaException {
      long end = System.nanoTime() + Session.PATIENCE * 1_000_000L;
      while (!has(handle, value)) {
        expect(System.nanoTime() < end, "%d: %s is not among %s", handle, value, seen);
        collect();
      }
    }

    List<Object> values(int handle) {
      return seen.stream().filter(of -> of.handle() == handle).map(Session.Change::value).toList();
    }
  }

  private static StatusCode[] results(PublishResponse response) {
    StatusCode[] results = response.getResults();
    return results == null ? new StatusCode[0] : results;
  }

  /** An AbsoluteDeadband and a PercentDeadband suppress small changes. */
  static int deadband(Main.Task task) throws Exception {
    Session session = task.session();
    record Kind(int deadband, List<Object> reported) {}
    List<Kind> kinds = List.of(new Kind(1, List.of(0.0, 11.0, 22.0)), new Kind(2, List.of(0.0, 22.0)));
    for (Kind kind : kinds) {
      session.set(LEVEL, 0.0);
      var filter = new DataChangeFilter(DataChangeTrigger.StatusValue, uint(kind.deadband), 10.0);
      Watch watch =
          new Watch(
              session,
              new Session.Item(1, LEVEL, MonitoringMode.Reporting, filter),
              new Session.Item(2, LEVEL, MonitoringMode.Reporting));
      watch.waitFor(1, 0.0);
      for (double value : new double[] {5, 9, 11, 15, 22}) {
        session.set(LEVEL, value);
        watch.waitFor(kind.reported.contains(value) ? 1 : 2, value);
      }
      expect(watch.values(1).equals(kind.reported), "%s: %s", kind, watch.values(1));
      session.unsubscribe(watch.id);
    }
    return 10;
  }

  /** An item in the mode Sampling is reported when the item changes that triggers it. */
  static int triggering(Main.Task task) throws Exception {
    Session session = task.session();
    String trigger = "Watched/Trigger";
    String linked = "Watched/Linked";
    session.set(trigger, uint(0));
    session.set(linked, uint(0));
    Watch watch =
        new Watch(
            session,
            new Session.Item(1, trigger, MonitoringMode.Reporting),
            new Session.Item(2, linked, MonitoringMode.Sampling),
            new Session.Item(3, linked, MonitoringMode.Reporting));
    List<UInteger> links = List.of(watch.items.get(1), uint(4_000_000));
    StatusCode[] added =
        session.client.setTriggering(watch.id, watch.items.get(0), links, List.of()).getAddResults();
    expect(added[0].isGood(), "%s", added[0]);
    expect(Session.name(added[1]).equals("BadMonitoredItemIdInvalid"), "%s", added[1]);
    watch.waitFor(1, uint(0));
    session.set(linked, uint(7));
    watch.waitFor(3, uint(7));
    expect(!watch.has(2, uint(7)), "reported before the trigger");
    // The sample of the linked item may be later than that of the trigger.
    long end = System.nanoTime() + Session.PATIENCE * 1_000_000L;
    for (int number = 1; !watch.has(2, uint(7)); number++) {
      expect(System.nanoTime() < end, "the linked item is not reported: %s", watch.seen);
      session.set(trigger, uint(number));
      watch.waitFor(1, uint(number));
    }
    session.unsubscribe(watch.id);
    return 3;
  }

  /** A message is sent again until it is acknowledged. */
  static int republish(Main.Task task) throws Exception {
    Session session = task.session();
    UInteger id = session.subscribe();
    session.monitor(id, new Session.Item(1, LEVEL, MonitoringMode.Reporting));
    PublishResponse first = session.client.publish(List.of());
    NotificationMessage message = first.getNotificationMessage();
    UInteger number = message.getSequenceNumber();
    expect(!session.changes(message).isEmpty(), "the first message has no change");
    expect(List.of(first.getAvailableSequenceNumbers()).equals(List.of(number)), "%s", first);
    NotificationMessage again = session.client.republish(id, number).getNotificationMessage();
    expect(again.getSequenceNumber().equals(number), "%s", again);
    expect(session.changes(again).equals(session.changes(message)), "%s", again);
    PublishResponse second =
        session.client.publish(
            List.of(Session.acknowledge(id, number), Session.acknowledge(id, uint(4_000_000))));
    expect(results(second)[0].isGood(), "%s", second);
    expect(Session.name(results(second)[1]).equals("BadSequenceNumberUnknown"), "%s", second);
    try {
      session.client.republish(id, number);
      throw new Main.Failed("an acknowledged message is sent again");
    } catch (UaException error) {
      expect(Session.name(error.getStatusCode()).equals("BadMessageNotAvailable"), "%s", error);
    }
    session.unsubscribe(id);
    return 4;
  }

  /** Another Session takes over a Subscription, with its first values. */
  static int transfer(Main.Task task) throws Exception {
    Session first = task.session();
    Session second = task.session();
    UInteger id = first.subscribe();
    first.monitor(id, new Session.Item(1, LEVEL, MonitoringMode.Reporting));
    NotificationMessage message = first.client.publish(List.of()).getNotificationMessage();
    expect(!first.changes(message).isEmpty(), "the first message has no change");
    TransferResult[] results =
        second.client.transferSubscriptions(List.of(id, uint(4_000_000)), true).getResults();
    expect(results[0].getStatusCode().isGood(), "%s", results[0]);
    String unknown = Session.name(results[1].getStatusCode());
    expect(unknown.equals("BadSubscriptionIdInvalid"), "%s", unknown);
    PublishResponse response = second.client.publish(List.of());
    expect(response.getSubscriptionId().equals(id), "%s", response);
    expect(!second.changes(response.getNotificationMessage()).isEmpty(), "no first value");
    message = first.client.publish(List.of()).getNotificationMessage();
    Object told = message.getNotificationData()[0].decode(first.client.getStaticEncodingContext());
    expect(told instanceof StatusChangeNotification, "%s", told);
    String status = Session.name(((StatusChangeNotification) told).getStatus());
    expect(status.equals("GoodSubscriptionTransferred"), "%s", status);
    second.unsubscribe(id);
    return 4;
  }

  /** A server that is killed and started again is used again: the library connects by itself. */
  static int restart(Main.Task task) throws Exception {
    Session session = task.session();
    Own own = new Own(session, "Values/Double");
    own.waitFor(2.5);
    task.want("restart");
    long end = System.nanoTime() + Session.PATIENCE * 1_000_000L;
    while (true) {
      Object failure;
      try {
        String status = session.write("Values/Double", Session.plain(4.5), null);
        if (status.equals("Good")) {
          break;
        }
        failure = status;
      } catch (UaException error) {
        failure = error;
      }
      expect(System.nanoTime() < end, "not there again: %s", failure);
      Thread.sleep(50);
    }
    own.waitFor(4.5);
    session.set("Values/Double", 2.5);
    own.waitFor(2.5);
    return 3;
  }

  /** The demonstration's Machine is started, watched and stopped. */
  static int machine(Main.Task task) throws Exception {
    Session session = task.session();
    session.set("Spindle/SpeedSetpoint", 3000.0);
    Own own = new Own(session, "Spindle/Speed");
    StatusCode started = session.call("Start").getStatusCode();
    expect(started.isGood(), "Start: %s", started);
    own.waitFor(speed -> (Double) speed >= 1000);
    String again = Session.name(session.call("Start").getStatusCode());
    expect(again.equals("BadInvalidState"), "Start again: %s", again);
    String outOfRange = session.write("Spindle/SpeedSetpoint", Session.plain(1e9), null);
    expect(outOfRange.equals("BadOutOfRange"), "1e9: %s", outOfRange);
    StatusCode stopped = session.call("Stop").getStatusCode();
    expect(stopped.isGood(), "Stop: %s", stopped);
    own.subscription.delete();
    return 5;
  }
}
