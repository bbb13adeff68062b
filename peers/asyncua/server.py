#!/usr/bin/env python3
"""An asyncua server with the nodes that peers/README.md lists.

Usage: server.py PORT [SECURITY]      (0 takes a free port; ends when standard input is closed)

With SECURITY it offers secured endpoints only. It accepts every client, the anonymous user, the user `anna` with the password
`hammer`, and one certificate of users.
"""

import asyncio
import json
import logging
import signal
import socket
import sys
from datetime import datetime, timezone
from pathlib import Path

from asyncua import Server, ua, uamethod
from asyncua.server.user_managers import UserManager
from asyncua.crypto.permission_rules import User, UserRole
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

NAMESPACE_URI = "urn:takt:peer"

VARIABLES = [
    ("UInt32", ua.Variant(42, ua.VariantType.UInt32)),
    ("Double", ua.Variant(2.5, ua.VariantType.Double)),
    ("String", ua.Variant("Grüße", ua.VariantType.String)),
    ("Boolean", ua.Variant(True, ua.VariantType.Boolean)),
    ("LocalizedText", ua.Variant(ua.LocalizedText("Spindle", "en"), ua.VariantType.LocalizedText)),
    (
        "DateTime",
        ua.Variant(datetime(2024, 2, 29, 12, 34, 56, 789000, tzinfo=timezone.utc), ua.VariantType.DateTime),
    ),
    ("UInt32Array", ua.Variant(list(range(1024)), ua.VariantType.UInt32)),
    ("Matrix", ua.Variant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], ua.VariantType.Double)),
    ("ReadOnly", ua.Variant(-9007199254740993, ua.VariantType.Int64)),
]


@uamethod
def multiply(_parent, a, b):
    """The Method's body."""
    return a * b


def argument(name):
    """A Double argument."""
    described = ua.Argument()
    described.Name = name
    described.DataType = ua.NodeId(ua.ObjectIds.Double)
    described.ValueRank = -1
    return described


def free_port():
    """A port that nobody listens on now. asyncua cannot say which one it got for 0."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def add_nodes(server):
    """The Object `Peer` and all below it."""
    index = await server.register_namespace(NAMESPACE_URI)
    peer = await server.nodes.objects.add_object(ua.NodeId("Peer", index), ua.QualifiedName("Peer", index))
    for name, value in VARIABLES:
        node = await peer.add_variable(ua.NodeId(name, index), ua.QualifiedName(name, index), value)
        dimensions = {"UInt32Array": [1024], "Matrix": [2, 3]}.get(name)
        if dimensions:
            await node.write_value_rank(len(dimensions))
            await node.write_array_dimensions([ua.UInt32(length) for length in dimensions])
        if name != "ReadOnly":
            await node.set_writable()
    await peer.add_method(
        ua.NodeId("Multiply", index),
        ua.QualifiedName("Multiply", index),
        multiply,
        [argument("A"), argument("B")],
        [argument("Product")],
    )
    return index


class Users(UserManager):
    """The anonymous user, the user anna, and users whose certificate is accepted already."""

    def get_user(self, iserver, username=None, password=None, certificate=None):
        # Without a token of a user, the certificate is that of the application.
        is_known = username is None or (username, password) == ("anna", "hammer")
        return User(role=UserRole.Admin) if is_known else None


def accept_one_user(server, file):
    """Accepts one certificate of users: the library verifies the signature alone."""
    accepted = x509.load_pem_x509_certificate(Path(file).read_bytes()).public_bytes(Encoding.DER)
    verify = server.iserver.verify_x509_token

    def verify_known(session, token, signature):
        if token.CertificateData != accepted:
            raise ua.UaStatusCodeError(ua.StatusCodes.BadIdentityTokenRejected)
        return verify(session, token, signature)

    server.iserver.verify_x509_token = verify_known


async def secure(server, security):
    """Offers the policies in both modes, and nothing without security."""
    await server.set_application_uri(security["application"])
    await server.load_certificate(security["certificate"])
    await server.load_private_key(security["key"])
    if "userCertificate" in security:
        accept_one_user(server, security["userCertificate"])
    names = [policy.replace("_", "") for policy in security["policies"]]
    modes = ("Sign", "SignAndEncrypt")
    server.set_security_policy([getattr(ua.SecurityPolicyType, f"{name}_{mode}") for name in names for mode in modes])


async def main(port, security):
    """Serve until the input ends or SIGTERM comes."""
    endpoint = f"opc.tcp://127.0.0.1:{port or free_port()}"
    server = Server(user_manager=Users()) if security else Server()
    await server.init()
    server.set_endpoint(endpoint)
    server.set_server_name("asyncua peer")
    if security:
        await secure(server, security)
    else:
        server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    index = await add_nodes(server)
    loop = asyncio.get_running_loop()
    ended = loop.create_future()
    loop.add_signal_handler(signal.SIGTERM, lambda: ended.done() or ended.set_result(None))
    # Nothing is ever sent to us: readable means closed.
    loop.add_reader(sys.stdin.fileno(), lambda: sys.stdin.buffer.read1() or ended.done() or ended.set_result(None))
    async with server:
        print(json.dumps({"ready": True, "endpoint": endpoint, "namespace": index}), flush=True)
        await ended


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    logging.basicConfig(level=logging.CRITICAL)
    asyncio.run(main(int(sys.argv[1]), json.loads(sys.argv[2]) if len(sys.argv) == 3 else None))
