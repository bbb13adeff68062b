#!/usr/bin/env python3
"""Loads the DataTypeDefinitions of a server, reads Variables and calls a Method with the value of the first one.

Usage: data_types.py ENDPOINT OBJECT METHOD VARIABLE...

Prints a JSON object: the fields of each value by the identifier of its Variable, the values of the enumerations that
are not the standard's by their names, whether the Method returned its argument, and whether a Write kept the value.
"""

import asyncio
import dataclasses
import enum
import json
import logging
import sys

from asyncua import Client, ua


def plain(value):
    """A value as JSON."""
    if isinstance(value, ua.Variant):
        return plain(value.Value)
    if isinstance(value, list):
        return [plain(element) for element in value]
    if isinstance(value, enum.Enum):
        return value.name
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return value


async def main(endpoint, object_id, method_id, variables):
    """Connect, load, read, call."""
    async with Client(endpoint, timeout=30) as client:
        await client.load_data_type_definitions()
        own = [kind for node, kind in ua.enums_by_datatype.items() if node.NamespaceIndex != 0]
        said = {"enumerations": {kind.__name__: {item.name: item.value for item in kind} for kind in own}}
        nodes = [client.get_node(variable) for variable in variables]
        values = [await node.read_value() for node in nodes]
        said["values"] = {node.nodeid.Identifier: plain(value) for node, value in zip(nodes, values)}
        returned = await client.get_node(object_id).call_method(ua.NodeId.from_string(method_id), values[0])
        said["echo"] = plain(returned) == plain(values[0])
        await nodes[0].write_value(values[0])
        said["written"] = plain(await nodes[0].read_value()) == plain(values[0])
        print(json.dumps(said))


if __name__ == "__main__":
    logging.basicConfig(level=logging.CRITICAL)
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
