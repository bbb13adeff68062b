"""History with asyncua.

Usage: history.py read ENDPOINT NODE    prints raw values in three ways, as JSON
       history.py events ENDPOINT       prints Events of the Server Object in three ways, as JSON
       history.py serve                 serves the Variable ns=2;s=Level with history, until the input ends
"""

import asyncio
import json
import socket
import sys
from datetime import datetime, timedelta, timezone

from asyncua import Client, Server, ua


def row(value):
    """Time, value and StatusCode of a DataValue."""
    return {
        "time": value.SourceTimestamp.isoformat(),
        "value": value.Value.Value if value.Value else None,
        "status": value.StatusCode.value,
    }


async def read(endpoint, name):
    """Raw values in the order of time, backwards, and the newest three."""
    async with Client(endpoint) as client:
        node = client.get_node(name)
        now = datetime.now(timezone.utc)
        start = now - timedelta(hours=1)
        forward = await node.read_raw_history(start, now)
        backward = await node.read_raw_history(now, start)
        newest = await node.read_raw_history(None, now, 3)
        historizing = await node.read_attribute(ua.AttributeIds.Historizing)
        print(
            json.dumps(
                {
                    "forward": [row(value) for value in forward],
                    "backward": [row(value) for value in backward],
                    "newest": [row(value) for value in newest],
                    "historizing": historizing.Value.Value,
                }
            )
        )


def row_of(time, severity, message):
    """Fields of an Event."""
    return {"time": time.isoformat(), "severity": severity, "message": message.Text}


async def events(endpoint):
    """Events in the order of time, the newest two, and alarms. The fields of all EventTypes would take asyncua many requests."""
    details = ua.ReadEventDetails()
    for field in ["Time", "Severity", "Message"]:
        clause = ua.SimpleAttributeOperand()
        clause.TypeDefinitionId = ua.NodeId(ua.ObjectIds.BaseEventType)
        clause.BrowsePath = [ua.QualifiedName(field)]
        clause.AttributeId = ua.AttributeIds.Value
        details.Filter.SelectClauses.append(clause)
    async with Client(endpoint) as client:
        server = client.nodes.server
        now = datetime.now(timezone.utc)
        start = now - timedelta(hours=1)

        async def read(start, end, count):
            details.StartTime = start
            details.EndTime = end
            details.NumValuesPerNode = count
            result = await server.history_read_events(details)
            result.StatusCode.check()
            return [row_of(*[field.Value for field in event.EventFields]) for event in result.HistoryData.Events]

        alarms = await server.read_event_history(start, now, 0, ua.ObjectIds.ExclusiveLimitAlarmType)
        print(
            json.dumps(
                {
                    "forward": await read(start, now, 0),
                    "newest": await read(ua.get_win_epoch(), now, 2),
                    "alarms": [row_of(event.Time, event.Severity, event.Message) for event in alarms],
                }
            )
        )


async def serve():
    """Values 0 to 49, recorded in memory."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Server()
    await server.init()
    server.set_endpoint(f"opc.tcp://127.0.0.1:{port}")
    index = await server.register_namespace("urn:takt:peer:history")
    level = await server.nodes.objects.add_variable(ua.NodeId("Level", index), ua.QualifiedName("Level", index), 0.0)
    async with server:
        await server.historize_node_data_change(level, period=None, count=1000)
        for value in range(50):
            await level.write_value(float(value))
            await asyncio.sleep(0.01)
        await asyncio.sleep(1)
        print(json.dumps({"endpoint": f"opc.tcp://127.0.0.1:{port}", "node": f"ns={index};s=Level"}), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if sys.argv[1] == "read":
    asyncio.run(read(*sys.argv[2:]))
elif sys.argv[1] == "events":
    asyncio.run(events(*sys.argv[2:]))
else:
    asyncio.run(serve())
