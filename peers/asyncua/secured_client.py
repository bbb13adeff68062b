#!/usr/bin/env python3
"""An asyncua client on a secured channel: reads a node, writes nothing, and prints one JSON object.

Usage: secured_client.py ENDPOINT POLICY MODE FOLDER SERVER_CERTIFICATE [NODE] [--user NAME PASSWORD] [--user-certificate FILE KEY]
                         [--keys SECURITY_GROUP]
       secured_client.py --certificate FOLDER

POLICY is None, Basic256Sha256, Aes128Sha256RsaOaep or Aes256Sha256RsaPss; MODE is None_, Sign or SignAndEncrypt. FOLDER holds the
client's certificate and key, which --certificate creates. --keys requests the keys of a SecurityGroup instead of reading. The token of the channel is renewed once per second, so several times.
"""

import asyncio
import datetime
import json
import socket
import sys
from pathlib import Path

from asyncua import Client, ua
from asyncua.crypto import security_policies
from asyncua.crypto.cert_gen import setup_self_signed_certificate
from cryptography.x509.oid import ExtendedKeyUsageOID

APPLICATION_URI = "urn:takt:peer:asyncua"


async def create(folder):
    """Creates certificate and key."""
    await setup_self_signed_certificate(
        Path(folder) / "key.pem",
        Path(folder) / "certificate.der",
        APPLICATION_URI,
        socket.gethostname(),
        [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH],
        {"commonName": "asyncua", "organizationName": "Takt"},
    )


async def keys_of(client, group):
    """Calls GetSecurityKeys, and returns the results or the StatusCode."""
    inputs = [
        ua.Variant(group, ua.VariantType.String),
        ua.Variant(0, ua.VariantType.UInt32),
        ua.Variant(3, ua.VariantType.UInt32),
    ]
    method = ua.NodeId(ua.ObjectIds.PublishSubscribe_GetSecurityKeys)
    service = client.get_node(ua.ObjectIds.PublishSubscribe)
    try:
        policy, token, keys, time_to_next_key, lifetime = await service.call_method(method, *inputs)
    except ua.UaStatusCodeError as error:
        return {"status": ua.status_codes.get_name_and_doc(error.code)[0]}
    return {
        "policy": policy.rsplit("#", 1)[1],
        "token": token,
        "keys": [key.hex() for key in keys],
        "timeToNextKey": time_to_next_key,
        "keyLifetime": lifetime,
    }


async def use(arguments):
    """Connects, reads for three seconds, and returns what it has seen."""
    endpoint, policy, mode, folder, server_certificate = arguments[:5]
    rest = arguments[5:]
    client = Client(endpoint, timeout=20)
    client.application_uri = APPLICATION_URI
    # Half an hour is the default; the channel is renewed after three quarters of it.
    client.secure_channel_timeout = 2000
    if policy != "None":
        await client.set_security(
            getattr(security_policies, f"SecurityPolicy{policy}"),
            certificate=str(Path(folder) / "certificate.der"),
            private_key=str(Path(folder) / "key.pem"),
            server_certificate=server_certificate,
            mode=getattr(ua.MessageSecurityMode, mode),
        )
    node = "i=2258"
    group = None
    while rest:
        argument = rest.pop(0)
        if argument == "--user":
            client.set_user(rest.pop(0))
            client.set_password(rest.pop(0))
        elif argument == "--user-certificate":
            await client.load_client_certificate(rest.pop(0))
            await client.load_private_key(rest.pop(0))
        elif argument == "--keys":
            group = rest.pop(0)
        else:
            node = argument
    if group is not None:
        async with client:
            return await keys_of(client, group)
    endpoints = await client.connect_and_get_server_endpoints()
    offered = sorted(
        (offer.SecurityLevel, offer.SecurityPolicyUri.rsplit("#", 1)[1], offer.SecurityMode.name)
        for offer in endpoints
        if offer.EndpointUrl.startswith("opc.tcp")
    )
    reads = 0
    async with client:
        end = datetime.datetime.now() + datetime.timedelta(seconds=3)
        while datetime.datetime.now() < end:
            value = await client.get_node(node).read_data_value()
            value.StatusCode.check()
            reads += 1
            await asyncio.sleep(0.05)
        large = await client.get_node("i=2255").read_value()
    return {"offered": offered, "reads": reads, "value": str(value.Value.Value), "namespaces": large}


async def main(arguments):
    """Runs one of the two forms."""
    if arguments[0] == "--certificate":
        await create(arguments[1])
        print(json.dumps({"created": True}))
        return
    try:
        print(json.dumps(await use(arguments)))
    except (ua.UaError, ConnectionError, asyncio.TimeoutError, OSError) as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
