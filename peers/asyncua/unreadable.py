#!/usr/bin/env python3
"""An asyncua server with ten good Variables beside one whose value breaks the encoding, as some PLCs send it.

Usage: unreadable.py KIND PORT      (0 takes a free port; ends when standard input is closed)

KIND latin has a String with a byte that is not UTF-8, bodiless an ExtensionObject whose length is -1, undefined a Variant of a
type that the standard does not define, later the first one from the line `bad` on until the line `good`. Each line of the input
is answered: `sessions` by the Sessions that exist, the greatest number of them at a time, and the number of all so far.
"""

import asyncio
import json
import logging
import signal
import struct
import sys

import asyncua.server.internal_session as internal_session
import asyncua.ua.ua_binary as ua_binary
from asyncua import Server, ua

from server import free_port

# Characters of the private use area stand for values that the library cannot write.
LATIN, UNDEFINED = "\udcfc", "\ue000"


class Sessions:
    """Counts the Sessions of clients."""

    def __init__(self):
        self.open, self.most, self.all = set(), 0, 0
        create = internal_session.InternalSession.create_session
        close = internal_session.InternalSession.close_session
        counts = self

        async def created(session, *arguments, **named):
            response = await create(session, *arguments, **named)
            counts.open.add(id(session))
            counts.all += 1
            counts.most = max(counts.most, len(counts.open))
            return response

        async def closed(session, *arguments, **named):
            counts.open.discard(id(session))
            return await close(session, *arguments, **named)

        internal_session.InternalSession.create_session = created
        internal_session.InternalSession.close_session = closed

    def report(self):
        """The numbers."""
        return {"sessions": len(self.open), "most": self.most, "all": self.all}


def break_encoding():
    """Replaces the encoders of Strings, Variants and ExtensionObjects."""

    def pack(text):
        if isinstance(text, str):
            text = text.encode("utf-8", "surrogateescape")
        return ua_binary._Bytes.pack(text)

    ua_binary._String.pack = staticmethod(pack)
    variant = ua_binary.variant_to_binary

    def variant_to_binary(value):
        if value.Value == UNDEFINED:
            return b"\x20\x01\x02\x03"
        if isinstance(value.Value, ua.Argument):
            body = ua_binary.struct_to_binary(value.Value)
            type_id = ua.NodeId(ua.ObjectIds.Argument_Encoding_DefaultBinary)
            head = bytes([ua.VariantType.ExtensionObject.value]) + ua_binary.nodeid_to_binary(type_id)
            return head + b"\x01" + struct.pack("<i", -1) + body
        return variant(value)

    ua_binary.variant_to_binary = variant_to_binary
    # Encoders of structures are made once for each type, and keep those of their fields.
    for cached in ("field_serializer", "create_dataclass_serializer", "create_type_serializer"):
        if hasattr(clear := getattr(ua_binary, cached, None), "cache_clear"):
            clear.cache_clear()


def bad_value(kind):
    """The value of the Variable Bad."""
    if kind == "bodiless":
        described = ua.Argument()
        described.Name = "Torque"
        described.DataType = ua.NodeId(ua.ObjectIds.Double)
        described.ValueRank = -1
        return ua.Variant(described, ua.VariantType.ExtensionObject)
    return ua.Variant({"latin": f"K{LATIN}hlwerk", "undefined": UNDEFINED}.get(kind, "ok"), ua.VariantType.String)


async def main(kind, port):
    """Serve until the input ends or SIGTERM comes."""
    sessions = Sessions()
    break_encoding()
    endpoint = f"opc.tcp://127.0.0.1:{port or free_port()}"
    server = Server()
    await server.init()
    server.set_endpoint(endpoint)
    server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    index = await server.register_namespace("urn:takt:peer:unreadable")
    good = []
    for number in range(10):
        name = f"Good{number}"
        variable = server.nodes.objects.add_variable(ua.NodeId(name, index), ua.QualifiedName(name, index), float(number))
        good.append(await variable)
    name = ua.QualifiedName("Bad", index)
    bad = await server.nodes.objects.add_variable(ua.NodeId("Bad", index), name, bad_value(kind))
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    loop.add_signal_handler(signal.SIGTERM, lines.feed_eof)
    async with server:
        print(json.dumps({"ready": True, "endpoint": endpoint, "namespace": index}), flush=True)
        counted = 0
        while line := (await lines.readline()).decode().strip():
            if line in ("bad", "good"):
                await bad.write_value(f"K{LATIN}hlwerk" if line == "bad" else "ok again")
            counted += 1
            await good[0].write_value(float(counted))
            print(json.dumps(sessions.report()), flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    logging.basicConfig(level=logging.CRITICAL)
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
