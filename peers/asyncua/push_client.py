#!/usr/bin/env python3
"""An asyncua client that manages the certificates of a server (OPC 10000-12, 7.10), and prints one JSON object.

Usage: push_client.py ENDPOINT FOLDER SERVER_CERTIFICATE USER PASSWORD CA_CERTIFICATE CA_KEY CA_REVOCATIONS

FOLDER holds the client's certificate and key (secured_client.py --certificate). The client lets the CA sign a new certificate of the
server, adds the CA with its revocation list to the server's trust list, applies both in one transaction, and connects again with the
new certificate of the server.
"""

import asyncio
import datetime
import json
import sys
import tempfile
from pathlib import Path

from asyncua import Client, ua
from asyncua.common.utils import Buffer
from asyncua.crypto import security_policies
from asyncua.ua.ua_binary import struct_from_binary, struct_to_binary
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

APPLICATION_URI = "urn:takt:peer:asyncua"
GROUP = "ServerConfiguration_CertificateGroups_DefaultApplicationGroup"


def node(name):
    return ua.NodeId(getattr(ua.ObjectIds, name))


async def connect(endpoint, folder, server_certificate, user, password):
    client = Client(endpoint, timeout=20)
    client.application_uri = APPLICATION_URI
    await client.set_security(
        security_policies.SecurityPolicyBasic256Sha256,
        certificate=str(Path(folder) / "certificate.der"),
        private_key=str(Path(folder) / "key.pem"),
        server_certificate=server_certificate,
        mode=ua.MessageSecurityMode.SignAndEncrypt,
    )
    client.set_user(user)
    client.set_password(password)
    await client.connect()
    return client


async def configure(client, method, *inputs):
    service = client.get_node(ua.ObjectIds.ServerConfiguration)
    return await service.call_method(node(f"ServerConfiguration_{method}"), *inputs)


async def trust_list(client, method, *inputs):
    service = client.get_node(node(f"{GROUP}_TrustList"))
    return await service.call_method(node(f"{GROUP}_TrustList_{method}"), *inputs)


async def read_trust_list(client):
    handle = await trust_list(client, "Open", ua.Variant(1, ua.VariantType.Byte))
    handle = ua.Variant(handle, ua.VariantType.UInt32)
    data = b""
    while part := await trust_list(client, "Read", handle, ua.Variant(1000, ua.VariantType.Int32)):
        data += part
    await trust_list(client, "Close", handle)
    return struct_from_binary(ua.TrustListDataType, Buffer(data))


async def write_trust_list(client, contents):
    handle = await trust_list(client, "Open", ua.Variant(6, ua.VariantType.Byte))
    handle = ua.Variant(handle, ua.VariantType.UInt32)
    data = struct_to_binary(contents)
    for start in range(0, len(data), 1000):
        part = ua.Variant(data[start : start + 1000], ua.VariantType.ByteString)
        await trust_list(client, "Write", handle, part)
    return await trust_list(client, "CloseAndUpdate", handle)


def sign(request, ca_certificate, ca_key):
    """The certificate that the CA makes of a signing request."""
    request = x509.load_der_x509_csr(request)
    if not request.is_signature_valid:
        raise ValueError("the signature of the request is wrong")
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(request.subject)
        .issuer_name(ca_certificate.subject)
        .public_key(request.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=30))
    )
    for extension in request.extensions:
        builder = builder.add_extension(extension.value, extension.critical)
    return builder.sign(ca_key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)


async def use(endpoint, folder, server_certificate, user, password, ca_file, ca_key_file, crl_file):
    ca_der = Path(ca_file).read_bytes()
    ca = x509.load_der_x509_certificate(ca_der)
    ca_key = serialization.load_pem_private_key(Path(ca_key_file).read_bytes(), None)
    client = await connect(endpoint, folder, server_certificate, user, password)
    group, kind = (
        ua.Variant(ua.NodeId(getattr(ua.ObjectIds, name)), ua.VariantType.NodeId)
        for name in (GROUP, "RsaSha256ApplicationCertificateType")
    )
    before = await read_trust_list(client)
    request = await configure(
        client,
        "CreateSigningRequest",
        group,
        kind,
        ua.Variant("CN=pushed/O=Plant", ua.VariantType.String),
        ua.Variant(True, ua.VariantType.Boolean),
        ua.Variant(bytes(32), ua.VariantType.ByteString),
    )
    certificate = sign(request, ca, ca_key)
    required = await configure(
        client,
        "UpdateCertificate",
        group,
        kind,
        ua.Variant(certificate, ua.VariantType.ByteString),
        ua.Variant([ca_der], ua.VariantType.ByteString),
        ua.Variant(None, ua.VariantType.String),
        ua.Variant(None, ua.VariantType.ByteString),
    )
    contents = ua.TrustListDataType(
        SpecifiedLists=ua.UInt32(3),
        TrustedCertificates=[*before.TrustedCertificates, ca_der],
        TrustedCrls=[Path(crl_file).read_bytes()],
    )
    updated = await write_trust_list(client, contents)
    waiting = len((await read_trust_list(client)).TrustedCertificates)
    await configure(client, "ApplyChanges")
    after = await read_trust_list(client)
    await client.disconnect()
    with tempfile.NamedTemporaryFile(suffix=".der") as file:
        file.write(certificate)
        file.flush()
        again = await connect(endpoint, folder, file.name, user, password)
        namespaces = await again.get_namespace_array()
        await again.disconnect()
    return {
        "required": [required, updated],
        "trusted": [len(before.TrustedCertificates), waiting, len(after.TrustedCertificates)],
        "crls": len(after.TrustedCrls),
        "subject": x509.load_der_x509_certificate(certificate).subject.rfc4514_string(),
        "namespaces": namespaces,
    }


async def main(arguments):
    try:
        print(json.dumps(await use(*arguments)), flush=True)
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 9:
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1:]))
