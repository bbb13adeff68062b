#!/usr/bin/env python3
"""An asyncua server with structures: a nested enumeration, optional fields, a Union, arrays.

Usage: structures.py DEFAULT PORT      (0 takes a free port; ends when standard input is closed)

DEFAULT right has the DefaultEncodingId of each structure in its DataTypeDefinition, wrong that of no node, null none.
Objects/S has the Variables Point, Optional, Choice, List and Color, a history of Point and Color, and the Method Mirror, which returns its Point and its Color.
"""

import asyncio
import json
import logging
import sys

from asyncua import Server, ua, uamethod
from asyncua.common.structures104 import new_enum, new_struct, new_struct_field

from server import free_port


@uamethod
def mirror(_parent, point, color):
    """The Method's body."""
    return point, color


def argument(name, data_type):
    """A scalar argument."""
    described = ua.Argument()
    described.Name = name
    described.DataType = data_type
    described.ValueRank = -1
    return described


async def add_nodes(server, default):
    """The DataTypes, and the Object S."""
    index = await server.register_namespace("http://takt.example/structures/")
    color = await new_enum(server, index, "Color", ["Red", "Green"])
    point, _ = await new_struct(
        server,
        index,
        "Point",
        [
            new_struct_field("x", ua.VariantType.Double),
            new_struct_field("name", ua.VariantType.String),
            new_struct_field("color", color),
        ],
    )
    optional, _ = await new_struct(
        server,
        index,
        "Optional",
        [
            new_struct_field("a", ua.VariantType.Int32),
            new_struct_field("b", ua.VariantType.String, optional=True),
            new_struct_field("points", point, array=True),
        ],
    )
    choice, _ = await new_struct(
        server,
        index,
        "Choice",
        [new_struct_field("number", ua.VariantType.Int64), new_struct_field("text", ua.VariantType.String)],
        is_union=True,
    )
    await server.load_data_type_definitions()
    first = ua.Point(x=1.5, name="größe", color=ua.Color.Green)
    chosen = ua.Choice()
    chosen.text = "chosen"
    values = {
        "Point": (first, point),
        "Optional": (ua.Optional(a=7, b=None, points=[first]), optional),
        "Choice": (chosen, choice),
        "List": ([first, first], point),
        "Color": (ua.Variant(1, ua.VariantType.Int32), color),
    }
    parent = await server.nodes.objects.add_object(ua.NodeId("S", index), ua.QualifiedName("S", index))
    for name, (value, data_type) in values.items():
        node = await parent.add_variable(
            ua.NodeId(name, index), ua.QualifiedName(name, index), value, datatype=data_type.nodeid
        )
        await node.set_writable()
    arguments = [argument("point", point.nodeid), argument("color", color.nodeid)]
    await parent.add_method(
        ua.NodeId("Mirror", index), ua.QualifiedName("Mirror", index), mirror, arguments, arguments
    )
    if default != "right":
        encoding = ua.NodeId(999999, index) if default == "wrong" else ua.NodeId()
        for node in (point, optional, choice):
            definition = await node.read_data_type_definition()
            definition.DefaultEncodingId = encoding
            value = ua.DataValue(ua.Variant(definition))
            await node.write_attribute(ua.AttributeIds.DataTypeDefinition, value)


async def main(default, port):
    """Serves until standard input ends."""
    server = Server()
    await server.init()
    port = port or free_port()
    endpoint = f"opc.tcp://127.0.0.1:{port}/"
    server.set_endpoint(endpoint)
    server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    await add_nodes(server, default)
    async with server:
        index = await server.get_namespace_index("http://takt.example/structures/")
        for name in ("Point", "Color"):
            node = server.get_node(ua.NodeId(name, index))
            await server.historize_node_data_change(node, period=None, count=100)
        print(json.dumps({"endpoint": endpoint}), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    logging.basicConfig(level=logging.CRITICAL)
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
