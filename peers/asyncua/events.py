#!/usr/bin/env python3
"""Events with asyncua, as a client or as a server: see peers/README.md.

Usage: events.py client ENDPOINT CONDITION     CONDITION: ConditionId of a limit alarm that becomes active
       events.py server PORT                   reports an Event every 200 ms; ends when standard input is closed

The client prints one JSON object for each Event and each step.
"""

import asyncio
import json
import logging
import sys

from asyncua import Client, Server, ua

FIELDS = ["EventId", "EventType", "SourceName", "Message", "Severity", "Retain", "SuppressedOrShelved"]
STATES = ["ActiveState", "AckedState", "ConfirmedState"]

# Time limit of each step, for a loaded machine.
PATIENCE = 60


def say(**fields):
    """Prints one JSON line."""
    print(json.dumps(fields), flush=True)


def field(*names, of_type=ua.ObjectIds.BaseEventType, attribute=ua.AttributeIds.Value):
    """A select clause, or an operand of a WHERE clause."""
    operand = ua.SimpleAttributeOperand()
    operand.TypeDefinitionId = ua.NodeId(of_type)
    operand.BrowsePath = [ua.QualifiedName(name) for name in names]
    operand.AttributeId = attribute
    return operand


def element(operator, *operands):
    """An element of a WHERE clause."""
    made = ua.ContentFilterElement()
    made.FilterOperator = operator
    made.FilterOperands = list(operands)
    return made


def literal(value, kind):
    """A literal operand."""
    operand = ua.LiteralOperand()
    operand.Value = ua.Variant(value, kind)
    return operand


def index(number):
    """An operand that is another element."""
    operand = ua.ElementOperand()
    operand.Index = number
    return operand


def event_filter():
    """Limit alarms with a Severity of at least 500, or their end."""
    made = ua.EventFilter()
    made.SelectClauses = [field(name) for name in FIELDS] + [field(name, "Id") for name in STATES]
    made.SelectClauses.append(field(of_type=ua.ObjectIds.ConditionType, attribute=ua.AttributeIds.NodeId))
    operator = ua.FilterOperator
    limit_alarm = ua.NodeId(ua.ObjectIds.LimitAlarmType)
    made.WhereClause.Elements = [
        element(operator.And, index(1), index(2)),
        element(operator.OfType, literal(limit_alarm, ua.VariantType.NodeId)),
        element(operator.Or, index(3), index(4)),
        element(operator.GreaterThanOrEqual, field("Severity"), literal(500, ua.VariantType.UInt16)),
        element(operator.Equals, field("Retain"), literal(False, ua.VariantType.Boolean)),
    ]
    return made


class Events:
    """Receives the Events of a Subscription."""

    def __init__(self):
        self.received = asyncio.Queue()

    def event_notification(self, event):
        """Called by asyncua, which gives fields the names of their paths."""
        self.received.put_nowait(event)

    def status_change_notification(self, status):
        """Called by asyncua."""
        say(status=str(status))

    async def next(self, condition):
        """Returns the next Event for which a condition holds."""
        async with asyncio.timeout(PATIENCE):
            while True:
                event = await self.received.get()
                shown = {name: value for name, value in event.get_event_props_as_fields_dict().items()}
                shown = {name: plain(variant.Value) for name, variant in shown.items()}
                say(event=shown)
                if condition(shown):
                    return event, shown


def plain(value):
    """A value as JSON."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, ua.NodeId):
        return value.to_string()
    if isinstance(value, ua.LocalizedText):
        return value.Text
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    return str(value)


def kind(number):
    """Condition: the EventType."""
    return lambda shown: shown.get("EventType") == f"i={number}"


async def run_client(endpoint, condition):
    """The steps of the test."""
    async with Client(endpoint) as client:
        events = Events()
        subscription = await client.create_subscription(50, events)
        await subscription.subscribe_events(client.nodes.server, evfilter=event_filter(), queuesize=100)
        say(step="subscribed")
        event, _ = await events.next(lambda shown: shown.get("ActiveState/Id") is True)
        say(step="active")
        alarm = client.get_node(condition)
        comment = ua.Variant(ua.LocalizedText("seen"), ua.VariantType.LocalizedText)
        event_id = ua.Variant(event.EventId, ua.VariantType.ByteString)
        await alarm.call_method(ua.NodeId(ua.ObjectIds.AcknowledgeableConditionType_Acknowledge), event_id, comment)
        acknowledged, _ = await events.next(lambda shown: shown.get("AckedState/Id") is True)
        say(step="acknowledged")
        try:
            await alarm.call_method(
                ua.NodeId(ua.ObjectIds.AcknowledgeableConditionType_Acknowledge), event_id, comment
            )
        except ua.UaStatusCodeError as error:
            say(step="again", status=type(error).__name__)
        condition_type = client.get_node(ua.ObjectIds.ConditionType)
        identifier = ua.Variant(subscription.subscription_id, ua.VariantType.UInt32)
        await condition_type.call_method(ua.NodeId(ua.ObjectIds.ConditionType_ConditionRefresh), identifier)
        await events.next(kind(ua.ObjectIds.RefreshStartEventType))
        await events.next(lambda shown: shown.get("AckedState/Id") is True)
        await events.next(kind(ua.ObjectIds.RefreshEndEventType))
        say(step="refreshed")
        event_id = ua.Variant(acknowledged.EventId, ua.VariantType.ByteString)
        await alarm.call_method(ua.NodeId(ua.ObjectIds.AcknowledgeableConditionType_Confirm), event_id, comment)
        await events.next(lambda shown: shown.get("ConfirmedState/Id") is True)
        say(step="confirmed")
        machine = await alarm.get_child("0:ShelvingState")
        await machine.call_method("0:TimedShelve", ua.Variant(600_000.0, ua.VariantType.Double))
        await events.next(lambda shown: shown.get("SuppressedOrShelved") is True)
        left = await (await machine.get_child("0:UnshelveTime")).read_value()
        say(step="shelved", left=left)
        await machine.call_method("0:Unshelve")
        await events.next(lambda shown: shown.get("SuppressedOrShelved") is False)
        say(step="unshelved")
        await subscription.delete()


async def run_server(port):
    """Reports Events until standard input is closed."""
    server = Server()
    await server.init()
    server.set_endpoint(f"opc.tcp://127.0.0.1:{port}")
    server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    generator = await server.get_event_generator()
    async with server:
        say(endpoint=f"opc.tcp://127.0.0.1:{port}")
        closed = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        severity = 0
        while not closed.done():
            severity = severity % 1000 + 100
            generator.event.Severity = severity
            await generator.trigger(message=f"Severity {severity}")
            await asyncio.sleep(0.2)


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)
    match sys.argv[1:]:
        case ["client", url, node]:
            asyncio.run(run_client(url, node))
        case ["server", number]:
            asyncio.run(run_server(int(number)))
        case _:
            sys.exit(__doc__)
