#!/usr/bin/env python3
"""Reads and writes a structure of the NodeSet of the press, and calls a Method with an enumeration of it.

Usage: instance_values.py ENDPOINT VARIABLE OBJECT METHOD, or instance_values.py ENDPOINT VARIABLE restore

Prints a JSON object: the fields of the value, those after a Write, and whether the Call was good.
"""

import asyncio
import json
import logging
import sys

from asyncua import Client, ua

from data_types import plain


async def main(endpoint, variable, *method):
    """Connects, loads the DataTypes, reads, writes, calls."""
    async with Client(endpoint, timeout=30) as client:
        await client.load_data_type_definitions()
        node = client.get_node(variable)
        if method == ("restore",):
            point = ua.PointDataType(Time=0.0, Force=2.5)
            first = ua.StrokeDataType(Force=250.0, Comment=None, State=ua.PressState.Closing, Points=[point])
            await node.write_value(ua.Variant(first, ua.VariantType.ExtensionObject))
            return
        said = {"value": plain(await node.read_value())}
        new = ua.StrokeDataType(Force=300.0, Comment="new", State=ua.PressState.Idle, Points=[])
        await node.write_value(ua.Variant(new, ua.VariantType.ExtensionObject))
        said["written"] = plain(await node.read_value())
        object_id, method_id = method
        mode = ua.Variant(1, ua.VariantType.Int32)
        await client.get_node(object_id).call_method(ua.NodeId.from_string(method_id), mode)
        said["called"] = True
        print(json.dumps(said))


if __name__ == "__main__":
    logging.basicConfig(level=logging.CRITICAL)
    asyncio.run(main(*sys.argv[1:]))
