#!/usr/bin/env python3
"""A Provider whose types are added to the registry with asyncua's own functions: new_enum, new_struct, import_xml.

Usage: registered_types.py REGISTRY ENDPOINT      (ENDPOINT: that of the Provider's server; ends when standard input is closed)

The Object PyTypes has Variables of an enumeration, a structure, a structure with optional fields, a Union and of the imported
structure, which the registry keeps, and the Method Echo, which the Provider's server carries out. It prints a JSON object: the
values that asyncua reads with the DataTypeDefinitions of the registry, attributes of the types, and StatusCodes of refused changes.
"""

import asyncio
import json
import logging
import sys
from pathlib import Path

from asyncua import Client, Server, ua
from asyncua.common.structures104 import new_enum, new_struct, new_struct_field

from data_types import plain

NAME = "PyTypes"
URI = f"urn:takt:provider:{NAME}"
MODEL = "http://takt.example/types/"
NODESET = Path(__file__).with_name("registered_types.xml")


async def serve(endpoint):
    """The server with the Method."""
    server = Server()
    await server.init()
    server.set_endpoint(endpoint)
    server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    own = await server.register_namespace(URI)
    parent = await server.nodes.objects.add_object(ua.NodeId(1, own), ua.QualifiedName(NAME, own))

    async def echo(_parent, value):
        return [value]

    arguments = [argument("value", ua.NodeId(ua.ObjectIds.Structure))]
    await parent.add_method(ua.NodeId("Echo", own), ua.QualifiedName("Echo", own), echo, arguments, arguments)
    return server


def argument(name, data_type):
    """A scalar argument."""
    described = ua.Argument()
    described.Name = name
    described.DataType = data_type
    described.ValueRank = -1
    return described


async def add(client, parent, reference, node, name, attributes, type_definition=ua.NodeId()):
    """Adds a node."""
    item = ua.AddNodesItem()
    item.ParentNodeId = parent
    item.ReferenceTypeId = ua.NodeId(reference)
    item.RequestedNewNodeId = node
    item.BrowseName = name
    item.NodeClass = ua.NodeClass[type(attributes).__name__.removesuffix("Attributes")]
    item.NodeAttributes = attributes
    item.TypeDefinition = type_definition
    attributes.DisplayName = ua.LocalizedText(name.Name)
    result = (await client.uaclient.add_nodes([item]))[0]
    result.StatusCode.check()
    return result.AddedNodeId


async def add_types(client, own):
    """The types of new_enum and new_struct."""
    color = await new_enum(client, own, "Color", ["Red", "Green"])
    flags = await new_enum(client, own, "Flags", ["Hot", "Wet"], option_set=True)
    point, _ = await new_struct(
        client,
        own,
        "Point",
        [
            new_struct_field("x", ua.VariantType.Double),
            new_struct_field("name", ua.VariantType.String),
            new_struct_field("color", color),
        ],
    )
    optional, _ = await new_struct(
        client,
        own,
        "Optional",
        [
            new_struct_field("a", ua.VariantType.Int32),
            new_struct_field("b", ua.VariantType.String, optional=True),
            new_struct_field("points", point, array=True),
        ],
    )
    choice, _ = await new_struct(
        client,
        own,
        "Choice",
        [new_struct_field("number", ua.VariantType.Int64), new_struct_field("text", ua.VariantType.String)],
        is_union=True,
    )
    return {"Color": color, "Flags": flags, "Point": point, "Optional": optional, "Choice": choice}


async def add_variables(client, own, parent, types):
    """A Variable of each type, by asyncua's way: a read-only one, which becomes writable."""
    await client.load_data_type_definitions()
    first = ua.Point(x=1.5, name="größe", color=ua.Color.Green)
    chosen = ua.Choice()
    chosen.text = "chosen"
    values = {
        "Color": ua.Variant(1, ua.VariantType.Int32),
        "Point": first,
        "Optional": ua.Optional(a=7, b=None, points=[first]),
        "Choice": chosen,
    }
    read = {}
    for name, value in values.items():
        node = await parent.add_variable(
            ua.NodeId(name, own), ua.QualifiedName(name, own), value, datatype=types[name].nodeid
        )
        await node.set_writable()
        await node.write_value(await node.read_value(), ua.VariantType.Int32 if name == "Color" else None)
        read[name] = plain(await node.read_value())
    return read


async def add_echo(client, own, model, parent, endpoint, point):
    """The Method, which the registry forwards."""
    attributes = ua.VariableAttributes()
    attributes.Value = ua.Variant(endpoint, ua.VariantType.String)
    attributes.DataType = ua.NodeId(ua.ObjectIds.String)
    attributes.ValueRank = -1
    attributes.AccessLevel = attributes.UserAccessLevel = ua.AccessLevel.CurrentRead.mask
    property_type = ua.NodeId(ua.ObjectIds.PropertyType)
    name = ua.QualifiedName("ServerEndpoint", model)
    via = ua.NodeId(10, own)
    await add(client, parent.nodeid, ua.ObjectIds.HasProperty, via, name, attributes, property_type)
    attributes = ua.MethodAttributes()
    attributes.Executable = attributes.UserExecutable = True
    name = ua.QualifiedName("Echo", own)
    echo = await add(client, parent.nodeid, ua.ObjectIds.HasComponent, ua.NodeId("Echo", own), name, attributes)
    for arguments in ("InputArguments", "OutputArguments"):
        await client.get_node(echo).add_property(
            ua.NodeId(f"Echo.{arguments}", own),
            ua.QualifiedName(arguments, 0),
            [argument("value", point.nodeid)],
            ua.VariantType.ExtensionObject,
            ua.ObjectIds.Argument,
        )
    await client.get_node(echo).add_reference(via, ua.NodeId(4002, model), True, False)


async def status(awaitable):
    """The name of the StatusCode with which a change ends."""
    try:
        await awaitable
        return "Good"
    except ua.UaStatusCodeError as error:
        return ua.StatusCode(error.code).name


async def refused(client, own, types):
    """Changes that are refused."""
    definition = await types["Point"].read_data_type_definition()
    other = await client.get_namespace_index("urn:takt:registry")
    standard = client.get_node(ua.NodeId(ua.ObjectIds.Argument))
    return {
        "namespace 0": await status(new_enum(client, ua.NodeId(99999, 0), ua.QualifiedName("Mine", own), ["A"])),
        "namespace of the registry": await status(new_enum(client, other, "Mine", ["A"])),
        "definition of the standard": await status(standard.write_data_type_definition(definition)),
        "definition of an enumeration": await status(
            types["Color"].write_attribute(ua.AttributeIds.DataTypeDefinition, ua.DataValue(ua.Variant(7)))
        ),
        "BrowseName": await status(
            types["Color"].write_attribute(
                ua.AttributeIds.BrowseName, ua.DataValue(ua.Variant(ua.QualifiedName("Other", own)))
            )
        ),
        "namespace of another": await status(client.register_namespace("urn:takt:provider:Other")),
    }


async def import_nodeset(client, own_object):
    """A NodeSet with a namespace of its own."""
    nodes = await client.import_xml(str(NODESET))
    index = await client.get_namespace_index(MODEL)
    await client.load_data_type_definitions()
    device = client.get_node(ua.NodeId(5002, index))
    place = await device.get_child(f"{index}:Place")
    metadata = await client.nodes.namespaces.get_child(ua.QualifiedName(MODEL, index))
    await own_object.add_reference(device, ua.NodeId(ua.ObjectIds.Organizes), True, False)
    return {
        "nodes": len(nodes),
        "place": plain(await place.read_value()),
        "speed": await (await device.get_child(f"{index}:Speed")).read_value(),
        "version": await (await metadata.get_child("NamespaceVersion")).read_value(),
    }


async def main(registry, endpoint):
    """Serve, register, wait."""
    client = Client(registry, timeout=60)
    client.application_uri = URI
    async with await serve(endpoint), client:
        model = await client.get_namespace_index("urn:takt:registry")
        objects = ua.NodeId(ua.ObjectIds.ObjectsFolder)
        first = ua.ExpandedNodeId(1, 0, NamespaceUri=URI)
        name = ua.QualifiedName(NAME, model)
        provider_type = ua.NodeId(1001, model)
        await add(client, objects, ua.ObjectIds.Organizes, first, name, ua.ObjectAttributes(), provider_type)
        own = await client.register_namespace(URI)
        parent = client.get_node(ua.NodeId(1, own))
        types = await add_types(client, own)
        said = {"values": await add_variables(client, own, parent, types)}
        await add_echo(client, own, model, parent, endpoint, types["Point"])
        mask = await types["Point"].read_attributes([ua.AttributeIds.WriteMask, ua.AttributeIds.UserWriteMask])
        said["masks"] = [value.Value.Value for value in mask]
        said["refused"] = await refused(client, own, types)
        said["imported"] = await import_nodeset(client, parent)
        exported = Path("exported.xml")
        await client.export_xml([types["Color"], types["Point"]], str(exported))
        said["exported"] = 'Name="color"' in exported.read_text(encoding="utf-8")
        name = ua.QualifiedName("Revision", model)
        attributes = ua.VariableAttributes()
        attributes.Value = ua.Variant(1, ua.VariantType.UInt64)
        attributes.DataType = ua.NodeId(ua.ObjectIds.UInt64)
        attributes.ValueRank = -1
        attributes.AccessLevel = attributes.UserAccessLevel = ua.AccessLevel.CurrentRead.mask
        property_type = ua.NodeId(ua.ObjectIds.PropertyType)
        await add(client, parent.nodeid, ua.ObjectIds.HasProperty, ua.NodeId(3, own), name, attributes, property_type)
        print(json.dumps(said), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    logging.basicConfig(level=logging.CRITICAL)
    asyncio.run(main(sys.argv[1], sys.argv[2]))
