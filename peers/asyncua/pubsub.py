#!/usr/bin/env python3
"""asyncua as a publisher or subscriber of UADP, as peers/README.md describes it.

Usage: pubsub.py publish|subscribe DESCRIPTION
"""

import asyncio
import json
import logging
import sys
from datetime import datetime, timezone
from urllib.parse import urlparse

from asyncua import pubsub, ua
from asyncua.pubsub.udp import UdpSettings

import wire


class Values(pubsub.PubSubDataSource):
    """The described values; `Count` is another one each time."""

    def __init__(self, fields):
        self.fields = fields
        self.count = 0

    async def on_get_value(self):
        """One DataValue per field."""
        self.count += 1
        return [self.value(field) for field in self.fields]

    def value(self, field):
        """The DataValue of a field now."""
        value = self.count if field["name"] == "Count" else field["value"]
        now = datetime.now(timezone.utc)
        return ua.DataValue(wire.variant_from_json({**field, "value": value}), ua.StatusCode(0), SourceTimestamp=now)


class Printer:
    """Prints the fields of each DataSet."""

    def __init__(self, raw):
        self.raw = raw

    def value(self, field):
        """asyncua gives RawData to its users as what Python makes of it: the type is in the metadata."""
        value = field.Value
        if self.raw:
            value.Value = ua.Variant(value.Value.Value, ua.VariantType(field.Meta.BuiltInType))
        return wire.data_value_to_json(value)

    async def on_dataset_received(self, _meta, fields):
        """Delta frames have the fields that changed."""
        values = {field.Name: self.value(field) for field in fields}
        print(json.dumps({"fields": values}), flush=True)

    async def on_state_change(self, _meta, _state):
        """Of the reader."""


def meta_data(description):
    """The DataSetMetaData."""
    meta = pubsub.DataSetMeta.Create("Machine")
    for field in description["fields"]:
        add = meta.add_array if field["array"] else meta.add_scalar
        add(field["name"], ua.VariantType[field["type"]])
    return meta


def publisher(description):
    """A connection that sends."""
    url = urlparse(description["url"])
    encoding = description["encoding"]
    writer = pubsub.DataSetWriter.new_uadp(
        name="Writer",
        dataset_name="Machine",
        dataset_writer_id=ua.UInt16(description["dataSetWriterId"]),
        datavalue=encoding == "DataValue",
        raw=encoding == "RawData",
    )
    group = pubsub.WriterGroup.new_uadp(
        name="Group",
        writer_group_id=ua.UInt16(description["writerGroupId"]),
        publishing_interval=description["interval"],
        writer=[writer],
    )
    # It binds the port that it sends to: on another address of the loopback interface, since ours is taken.
    settings = UdpSettings(Addr=(url.hostname, url.port), Adapter=("127.0.0.2", url.port))
    publisher_id = ua.UInt16(description["publisherId"])
    connection = pubsub.PubSubConnection.udp_uadp("UDP", publisher_id, settings, writer_groups=[group])
    meta = meta_data(description)
    data_set = pubsub.PublishedDataSet.Create("Machine", meta, Values(description["fields"]))
    return connection, [data_set]


def subscriber(description):
    """A connection that receives."""
    url = urlparse(description["url"])
    reader = pubsub.DataSetReader.new(
        ua.Variant(ua.UInt16(description["publisherId"])),
        ua.UInt16(description["writerGroupId"]),
        ua.UInt16(description["dataSetWriterId"]),
        meta_data(description),
        name="Reader",
        enabled=True,
        subscribed=Printer(description["encoding"] == "RawData"),
    )
    group = pubsub.ReaderGroup.new(name="Group", reader=[reader], enable=True)
    settings = UdpSettings(Addr=(url.hostname, url.port), Adapter=(url.hostname, url.port))
    connection = pubsub.PubSubConnection.udp_uadp("UDP", ua.UInt16(1), settings, reader_groups=[group])
    return connection, []


async def main(role, description):
    """Run until the input ends."""
    connection, data_sets = (publisher if role == "publish" else subscriber)(description)
    application = pubsub.PubSub.new([connection], data_sets)
    # A PubSub without a server does not do this itself.
    connection._app = application
    ended = asyncio.get_running_loop().create_future()
    # Nothing is ever sent to us: readable means closed.
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), lambda: ended.done() or ended.set_result(None))
    await connection.start()
    print(json.dumps({"ready": True}, separators=(",", ":")), flush=True)
    await ended


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("publish", "subscribe"):
        sys.exit(__doc__)
    logging.basicConfig(level=logging.WARNING)
    asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
