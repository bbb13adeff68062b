#!/usr/bin/env python3
"""An asyncua server with many Variables.

Usage: large_server.py PORT COUNT   (0 takes a free port; ends when standard input is closed)

The Object `Peer` has the Method `Multiply` and Objects `Line0`, `Line1` and so on of the ObjectType `LineType`, with 100 writable
Variables of Double each: `Value0` to `Value99`. `Counter` counts tenths of seconds.
"""

import asyncio
import json
import logging
import signal
import sys

from asyncua import Server, ua

from server import NAMESPACE_URI, argument, free_port, multiply

PER_LINE = 100


async def add_nodes(server, count):
    """Adds all nodes; returns the index of the namespace and the counter."""
    index = await server.register_namespace(NAMESPACE_URI)
    name = lambda text: (ua.NodeId(text, index), ua.QualifiedName(text.rsplit("/", 1)[-1], index))
    line_type = await server.nodes.base_object_type.add_object_type(*name("LineType"))
    peer = await server.nodes.objects.add_object(*name("Peer"))
    counter = await peer.add_variable(*name("Counter"), ua.Variant(0, ua.VariantType.UInt32))
    inputs, outputs = [argument("A"), argument("B")], [argument("Product")]
    await peer.add_method(*name("Multiply"), multiply, inputs, outputs)
    for first in range(0, count, PER_LINE):
        path = f"Line{first // PER_LINE}"
        line = await peer.add_object(*name(path), objecttype=line_type.nodeid)
        for number in range(min(PER_LINE, count - first)):
            value = ua.Variant(float(first + number), ua.VariantType.Double)
            node = await line.add_variable(*name(f"{path}/Value{number}"), value)
            await node.set_writable()
    return index, counter


async def main(port, count):
    """Serves until the input ends or SIGTERM comes."""
    endpoint = f"opc.tcp://127.0.0.1:{port or free_port()}"
    server = Server()
    await server.init()
    server.set_endpoint(endpoint)
    server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    index, counter = await add_nodes(server, count)
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    loop.add_reader(sys.stdin.fileno(), lambda: sys.stdin.buffer.read1() or ended.set())
    async with server:
        print(json.dumps({"ready": True, "endpoint": endpoint, "namespace": index}), flush=True)
        tenths = 0
        while not ended.is_set():
            tenths += 1
            await counter.write_value(ua.Variant(tenths, ua.VariantType.UInt32))
            await asyncio.sleep(0.1)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    logging.basicConfig(level=logging.CRITICAL)
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
