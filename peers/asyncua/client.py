#!/usr/bin/env python3
"""An asyncua client that answers JSON lines: see peers/README.md for the requests.

Usage: client.py ENDPOINT [SECURITY]
"""

import asyncio
import json
import logging
import sys

from asyncua import Client, ua
from asyncua.crypto import security_policies

import wire

DIRECTIONS = {
    "forward": ua.BrowseDirection.Forward,
    "inverse": ua.BrowseDirection.Inverse,
    "both": ua.BrowseDirection.Both,
}


def reference_to_json(reference):
    """One ReferenceDescription."""
    return {
        "node": wire.nodeid_to_json(reference.NodeId),
        "browseName": wire.name_to_json(reference.BrowseName),
        "displayName": reference.DisplayName.Text,
        "class": reference.NodeClass.name,
        "reference": wire.nodeid_to_json(reference.ReferenceTypeId),
        "forward": reference.IsForward,
        "typeDefinition": wire.nodeid_to_json(reference.TypeDefinition),
    }


async def browse(client, request):
    """Browse, and BrowseNext until no continuation point is left."""
    description = ua.BrowseDescription()
    description.NodeId = wire.nodeid_from_json(request["node"])
    description.BrowseDirection = DIRECTIONS[request.get("direction", "forward")]
    description.ReferenceTypeId = wire.nodeid_from_json(request.get("reference", "i=31"))
    description.IncludeSubtypes = True
    description.NodeClassMask = 0
    description.ResultMask = ua.BrowseResultMask.All
    parameters = ua.BrowseParameters()
    parameters.RequestedMaxReferencesPerNode = request.get("max", 0)
    parameters.NodesToBrowse = [description]
    result = (await client.uaclient.browse(parameters))[0]
    result.StatusCode.check()
    references = list(result.References or [])
    while result.ContinuationPoint:
        following = ua.BrowseNextParameters()
        following.ReleaseContinuationPoints = False
        following.ContinuationPoints = [result.ContinuationPoint]
        result = (await client.uaclient.browse_next(following))[0]
        result.StatusCode.check()
        references += result.References or []
    return [reference_to_json(reference) for reference in references]


async def read(client, request):
    """One Read of all nodes, with both timestamps."""
    parameters = ua.ReadParameters()
    parameters.TimestampsToReturn = ua.TimestampsToReturn.Both
    for node in request["nodes"]:
        item = ua.ReadValueId()
        item.NodeId = wire.nodeid_from_json(node)
        item.AttributeId = ua.AttributeIds[request.get("attribute", "Value")]
        item.IndexRange = request.get("range")
        parameters.NodesToRead.append(item)
    return [wire.data_value_to_json(value) for value in await client.uaclient.read(parameters)]


async def write(client, request):
    """One Write of one node; no timestamps, which many servers refuse."""
    item = ua.WriteValue()
    item.NodeId = wire.nodeid_from_json(request["node"])
    item.AttributeId = ua.AttributeIds[request.get("attribute", "Value")]
    item.IndexRange = request.get("range")
    item.Value = ua.DataValue(wire.variant_from_json(request))
    parameters = ua.WriteParameters()
    parameters.NodesToWrite = [item]
    status = (await client.uaclient.write(parameters))[0]
    return {"status": wire.status_name(status)}


async def call(client, request):
    """One Call of one Method."""
    item = ua.CallMethodRequest()
    item.ObjectId = wire.nodeid_from_json(request["object"])
    item.MethodId = wire.nodeid_from_json(request["method"])
    item.InputArguments = [wire.variant_from_json(value) for value in request.get("arguments", [])]
    result = (await client.uaclient.call([item]))[0]
    return {
        "status": wire.status_name(result.StatusCode),
        "arguments": [wire.status_name(status) for status in result.InputArgumentResults or []],
        "outputs": [wire.variant_to_json(value) for value in result.OutputArguments or []],
    }


async def translate(client, request):
    """TranslateBrowsePathsToNodeIds of one path over hierarchical references."""
    path = ua.BrowsePath()
    path.StartingNode = wire.nodeid_from_json(request["node"])
    for name in request["path"]:
        element = ua.RelativePathElement()
        element.ReferenceTypeId = ua.NodeId(ua.ObjectIds.HierarchicalReferences)
        element.IsInverse = False
        element.IncludeSubtypes = True
        element.TargetName = wire.name_from_json(name)
        path.RelativePath.Elements.append(element)
    result = (await client.uaclient.translate_browsepaths_to_nodeids([path]))[0]
    return {
        "status": wire.status_name(result.StatusCode),
        "targets": [wire.nodeid_to_json(target.TargetId) for target in result.Targets or []],
    }


async def namespaces(client, _request):
    """The server's NamespaceArray."""
    return await client.get_namespace_array()


async def endpoints(client, _request):
    """GetEndpoints."""
    return [
        {
            "url": endpoint.EndpointUrl,
            "securityPolicy": endpoint.SecurityPolicyUri,
            "securityMode": endpoint.SecurityMode.name.rstrip("_"),
            "transportProfile": endpoint.TransportProfileUri,
            "applicationUri": endpoint.Server.ApplicationUri,
            "applicationName": endpoint.Server.ApplicationName.Text,
        }
        for endpoint in await client.get_endpoints()
    ]


async def servers(client, _request):
    """FindServers."""
    return [
        {
            "applicationUri": server.ApplicationUri,
            "applicationName": server.ApplicationName.Text,
            "discoveryUrls": list(server.DiscoveryUrls or []),
        }
        for server in await client.find_servers()
    ]


class Changes:
    """The data changes of one Subscription, until they are asked for."""

    def __init__(self):
        self.arrived = []
        self.news = asyncio.Event()

    def datachange_notification(self, node, _value, data):
        """Called by asyncua for each MonitoredItemNotification."""
        value = wire.data_value_to_json(data.monitored_item.Value)
        self.arrived.append({"node": wire.nodeid_to_json(node.nodeid), **value})
        self.news.set()

    def status_change_notification(self, status):
        """The Subscription has ended."""
        self.arrived.append({"ended": wire.status_name(status.Status)})
        self.news.set()


CHANGES = Changes()


async def subscribe(client, request):
    """One Subscription with all nodes."""
    subscription = await client.create_subscription(request["interval"], CHANGES)
    nodes = [client.get_node(wire.nodeid_from_json(node)) for node in request["nodes"]]
    results = await subscription.subscribe_data_change(
        nodes, queuesize=request.get("queue", 1), sampling_interval=request.get("sampling", 0.0)
    )
    return [wire.status_name(result) if isinstance(result, ua.StatusCode) else "Good" for result in results]


async def changes(_client, request):
    """What has changed: waits for a change if there is none yet."""
    if not CHANGES.arrived:
        CHANGES.news.clear()
        try:
            await asyncio.wait_for(CHANGES.news.wait(), request.get("timeout", 10))
        except asyncio.TimeoutError:
            return []
    arrived, CHANGES.arrived = CHANGES.arrived, []
    return arrived


async def add_node(client, request):
    """AddNodes of one Object or Variable."""
    name = wire.name_from_json(request["browseName"])
    item = ua.AddNodesItem()
    item.ParentNodeId = wire.nodeid_from_json(request["parent"])
    item.ReferenceTypeId = wire.nodeid_from_json(request["reference"])
    item.RequestedNewNodeId = wire.nodeid_from_json(request["node"]) if "node" in request else ua.NodeId()
    item.BrowseName = name
    item.NodeClass = ua.NodeClass[request["class"]]
    item.TypeDefinition = wire.nodeid_from_json(request["typeDefinition"])
    if request["class"] == "Variable":
        attributes = ua.VariableAttributes()
        attributes.Value = wire.variant_from_json(request)
        attributes.DataType = ua.NodeId(attributes.Value.VariantType.value)
        attributes.ValueRank = 1 if attributes.Value.is_array else -1
        attributes.AccessLevel = attributes.UserAccessLevel = 3
    else:
        attributes = ua.ObjectAttributes()
    attributes.DisplayName = ua.LocalizedText(name.Name)
    item.NodeAttributes = attributes
    result = (await client.uaclient.add_nodes([item]))[0]
    return {"status": wire.status_name(result.StatusCode), "node": wire.nodeid_to_json(result.AddedNodeId)}


async def delete_node(client, request):
    """DeleteNodes of one node and the references to it."""
    item = ua.DeleteNodesItem()
    item.NodeId = wire.nodeid_from_json(request["node"])
    item.DeleteTargetReferences = True
    parameters = ua.DeleteNodesParameters()
    parameters.NodesToDelete = [item]
    return {"status": wire.status_name((await client.uaclient.delete_nodes(parameters))[0])}


OPERATIONS = {
    operation.__name__: operation
    for operation in (
        browse, read, write, call, translate, namespaces, endpoints, servers, subscribe, changes, add_node, delete_node,
    )
}


def say(answer):
    """One line to whoever drives this client."""
    print(json.dumps(answer, ensure_ascii=False), flush=True)


async def connected(endpoint, security):
    """A client with a Session."""
    client = Client(endpoint, timeout=10)
    if "policy" in security:
        client.application_uri = security["application"]
        if "lifetime" in security:
            client.secure_channel_timeout = security["lifetime"]
        await client.set_security(
            getattr(security_policies, "SecurityPolicy" + security["policy"].replace("_", "")),
            certificate=security["certificate"],
            private_key=security["key"],
            mode=ua.MessageSecurityMode[security["mode"]],
        )
    if "user" in security:
        client.set_user(security["user"])
        client.set_password(security["password"])
    if "userCertificate" in security:
        await client.load_client_certificate(security["userCertificate"])
        await client.load_private_key(security["userKey"])
    await client.connect()
    return client


class Peer:
    """The present client."""

    def __init__(self, client):
        self.client = client

    async def answer(self, line):
        """One request, whatever becomes of it."""
        request = {}
        try:
            request = json.loads(line)
            if request["op"] == "connect":
                result = await self.connect(request)
            else:
                result = await OPERATIONS[request["op"]](self.client, request)
            return {"id": request.get("id"), "ok": True, "result": result}
        except Exception as error:  # the driver must see every failure, of whatever kind
            return {"id": request.get("id"), "ok": False, "error": wire.error_text(error)}

    async def connect(self, request):
        """Another Session instead of the present one."""
        await self.close()
        CHANGES.arrived = []
        self.client = await connected(request["endpoint"], request["security"])

    async def close(self):
        """Closes the Session, whose connection may be lost."""
        try:
            await self.client.disconnect()
        except (ConnectionError, asyncio.TimeoutError, ua.UaError):
            pass


async def main(endpoint, security):
    """Connect, then answer until the end of the input."""
    try:
        peer = Peer(await connected(endpoint, security))
    except Exception as error:
        say({"ready": False, "error": wire.error_text(error)})
        return 1
    say({"ready": True})
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        if line.strip():
            say(await peer.answer(line))
    await peer.close()
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    logging.basicConfig(level=logging.CRITICAL)
    sys.exit(asyncio.run(main(sys.argv[1], json.loads(sys.argv[2]) if len(sys.argv) == 3 else {})))
