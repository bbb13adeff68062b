"""PubSub configuration files.

rewrite INPUT OUTPUT  reads a file and writes what it has read
older INPUT OUTPUT    the same, with the body as PubSubConfigurationDataType of version 1.04
"""

import sys

from asyncua import ua
from asyncua.common.utils import Buffer
from asyncua.ua.ua_binary import extensionobject_from_binary, extensionobject_to_binary

mode, source, target = sys.argv[1:]
with open(source, "rb") as file:
    content = extensionobject_from_binary(Buffer(file.read()))
assert isinstance(content, ua.UABinaryFileDataType), content
configuration = getattr(content.Body, "Value", content.Body)
assert isinstance(configuration, ua.PubSubConfiguration2DataType), configuration
if mode == "older":
    configuration = ua.PubSubConfigurationDataType(
        PublishedDataSets=configuration.PublishedDataSets,
        Connections=configuration.Connections,
        Enabled=configuration.Enabled,
    )
content.Body = ua.Variant(configuration, ua.VariantType.ExtensionObject)
with open(target, "wb") as file:
    file.write(extensionobject_to_binary(content))
for connection in configuration.Connections:
    print(connection.Name, connection.Address.Url)
