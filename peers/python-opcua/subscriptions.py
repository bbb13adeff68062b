"""The checks with Subscriptions."""

import queue
import time

from opcua import ua

from session import DOUBLE, PATIENCE, UINT32, Failed, changes, expect, name, plain, text

REPORTING = ua.MonitoringMode.Reporting
SAMPLING = ua.MonitoringMode.Sampling


class Handler:
    """Changes of the library's own Subscription."""

    def __init__(self):
        self.values = queue.Queue()

    def datachange_notification(self, _node, value, _data):
        """Called by python-opcua."""
        self.values.put(value)

    def wait_for(self, wanted):
        """Waits for a value."""
        while (value := self.values.get(timeout=PATIENCE)) != wanted:
            pass


def subscription(task):
    """The library's own Subscription gets each value that is written."""
    session, handler = task.session(), Handler()
    session.set("Watched/Level", 0.0, DOUBLE)
    watched = session.client.create_subscription(50, handler)
    watched.subscribe_data_change(session.client.get_node(session.node("Watched/Level")))
    handler.wait_for(0.0)
    for value in (1.5, 2.5, 3.5):
        session.set("Watched/Level", value, DOUBLE)
        handler.wait_for(value)
    watched.delete()
    return 4


class Watch:
    """A Subscription with items, whose messages are acknowledged."""

    def __init__(self, session, items):
        self.session, self.seen, self.acknowledged = session, [], []
        self.subscription = session.create_subscription()
        self.items = session.create_items(self.subscription, items)

    def collect(self):
        """Waits for one message."""
        response = self.session.publish(self.acknowledged)
        expect(all(name(result) == "Good" for result in response.Results), text(response.Results))
        found = changes(response.NotificationMessage)
        # A keep-alive message has no number of its own.
        number = response.NotificationMessage.SequenceNumber
        self.acknowledged = [(self.subscription, number)] if found else []
        self.seen += found

    def wait_for(self, change):
        """Waits for a (handle, value)."""
        end = time.monotonic() + PATIENCE
        while change not in self.seen:
            expect(time.monotonic() < end, f"{change} is not among {self.seen}")
            self.collect()

    def values(self, handle):
        """The values of an item."""
        return [value for of, value in self.seen if of == handle]


def deadband(task):
    """An AbsoluteDeadband and a PercentDeadband suppress small changes."""
    session, done = task.session(), 0
    for kind, limit, reported in ((1, 10, [0.0, 11.0, 22.0]), (2, 10, [0.0, 22.0])):
        session.set("Watched/Level", 0.0, DOUBLE)
        data_filter = ua.DataChangeFilter()
        data_filter.Trigger = ua.DataChangeTrigger.StatusValue
        data_filter.DeadbandType, data_filter.DeadbandValue = kind, limit
        path = "Watched/Level"
        watch = Watch(session, [(1, path, REPORTING, data_filter), (2, path, REPORTING, None)])
        watch.wait_for((1, 0.0))
        for value in (5.0, 9.0, 11.0, 15.0, 22.0):
            session.set(path, value, DOUBLE)
            watch.wait_for((1 if value in reported else 2, value))
            done += 1
        expect(watch.values(1) == reported, f"DeadbandType {kind}: {watch.values(1)} instead of {reported}")
        session.delete_subscription(watch.subscription)
    return done


def triggering(task):
    """An item in the mode Sampling is reported when the item changes that triggers it."""
    session = task.session()
    for path in ("Watched/Trigger", "Watched/Linked"):
        session.set(path, 0, UINT32)
    linked = "Watched/Linked"
    items = [(1, "Watched/Trigger", REPORTING, None), (2, linked, SAMPLING, None), (3, linked, REPORTING, None)]
    watch = Watch(session, items)
    request = ua.SetTriggeringRequest()
    request.Parameters.SubscriptionId = watch.subscription
    request.Parameters.TriggeringItemId = watch.items[0]
    request.Parameters.LinksToAdd = [watch.items[1], 4_000_000]
    results = session.send(request, ua.SetTriggeringResponse).Parameters.AddResults
    names = [name(result) for result in results]
    expect(names == ["Good", "BadMonitoredItemIdInvalid"], text(names))
    watch.wait_for((1, 0))
    session.set(linked, 7, UINT32)
    watch.wait_for((3, 7))
    expect(7 not in watch.values(2), "reported before the trigger")
    # The sample of the linked item may be later than that of the trigger.
    end, number = time.monotonic() + PATIENCE, 0
    while 7 not in watch.values(2):
        expect(time.monotonic() < end, f"the linked item is not reported: {watch.seen}")
        number += 1
        session.set("Watched/Trigger", number, UINT32)
        watch.wait_for((1, number))
    session.delete_subscription(watch.subscription)
    return 3


def republish(task):
    """A message is sent again until it is acknowledged."""
    session = task.session()
    watched = session.create_subscription()
    session.create_items(watched, [(1, "Watched/Level", REPORTING, None)])
    first = session.publish()
    number = first.NotificationMessage.SequenceNumber
    expect(changes(first.NotificationMessage), "the first message has no change")
    expect(number in first.AvailableSequenceNumbers, text(first.AvailableSequenceNumbers))
    request = ua.RepublishRequest()
    request.Parameters.SubscriptionId = watched
    request.Parameters.RetransmitSequenceNumber = number
    again = session.send(request, ua.RepublishResponse).NotificationMessage
    expect(again.SequenceNumber == number, text(again.SequenceNumber))
    expect(changes(again) == changes(first.NotificationMessage), text(changes(again)))
    second = session.publish([(watched, number), (watched, 4_000_000)])
    names = [name(result) for result in second.Results]
    expect(names == ["Good", "BadSequenceNumberUnknown"], text(names))
    try:
        session.send(request, ua.RepublishResponse)
        raise Failed("an acknowledged message is sent again")
    except ua.UaStatusCodeError as error:
        expect(name(error.code) == "BadMessageNotAvailable", name(error.code))
    session.delete_subscription(watched)
    return 4


def transfer(task):
    """Another Session takes over a Subscription, with its first values."""
    first, second = task.session(), task.session()
    watched = first.create_subscription()
    first.create_items(watched, [(1, "Watched/Level", REPORTING, None)])
    expect(changes(first.publish().NotificationMessage), "the first message has no change")
    request = ua.TransferSubscriptionsRequest()
    request.Parameters.SubscriptionIds = [watched, 4_000_000]
    request.Parameters.SendInitialValues = True
    results = second.send(request, ua.TransferSubscriptionsResponse).Parameters.Results
    names = [name(result.StatusCode) for result in results]
    expect(names == ["Good", "BadSubscriptionIdInvalid"], text(names))
    response = second.publish()
    expect(response.SubscriptionId == watched, text(response.SubscriptionId))
    expect(changes(response.NotificationMessage), "no first value after the transfer")
    told = first.publish().NotificationMessage.NotificationData[0]
    expect(isinstance(told, ua.StatusChangeNotification), text(told))
    expect(name(told.Status) == "GoodSubscriptionTransferred", name(told.Status))
    second.delete_subscription(watched)
    return 4


def restart(task):
    """A server that is killed and started again is used again."""
    session, handler = task.session(), Handler()
    watched = session.client.create_subscription(50, handler)
    watched.subscribe_data_change(session.client.get_node(session.node("Values/Double")))
    handler.wait_for(2.5)
    task.want("restart")
    # python-opcua does not connect again by itself.
    end = time.monotonic() + PATIENCE
    while True:
        try:
            session, handler = task.session(), Handler()
            if name(session.value("Values/Double").StatusCode) == "Good":
                break
        except Exception as error:  # refused, closed, or not yet registered
            expect(time.monotonic() < end, f"not there again: {error!r}")
        expect(time.monotonic() < end, "not there again")
        time.sleep(0.05)
    watched = session.client.create_subscription(50, handler)
    watched.subscribe_data_change(session.client.get_node(session.node("Values/Double")))
    handler.wait_for(2.5)
    session.set("Values/Double", 4.5, DOUBLE)
    handler.wait_for(4.5)
    session.set("Values/Double", 2.5, DOUBLE)
    return 3


def machine(task):
    """The demonstration's Machine is started, watched and stopped."""
    session, handler = task.session(), Handler()
    session.set("Spindle/SpeedSetpoint", 3000.0, DOUBLE)
    watched = session.client.create_subscription(50, handler)
    watched.subscribe_data_change(session.client.get_node(session.node("Spindle/Speed")))
    started = session.call("Start", [])
    expect(name(started.StatusCode) == "Good", name(started.StatusCode))
    while handler.values.get(timeout=PATIENCE) < 1000.0:
        pass
    again = name(session.call("Start", []).StatusCode)
    expect(again == "BadInvalidState", again)
    out_of_range = session.write("Spindle/SpeedSetpoint", plain(1e9, DOUBLE))
    expect(out_of_range == "BadOutOfRange", out_of_range)
    stopped = name(session.call("Stop", []).StatusCode)
    expect(stopped == "Good", stopped)
    watched.delete()
    return 5
