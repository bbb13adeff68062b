#!/usr/bin/env python3
"""Loads the standard's binary PubSub configuration file into asyncua, prints what is in it, and writes another one from that.

Usage: pubsub_configuration.py INPUT OUTPUT
"""

import asyncio
import json
import sys
from pathlib import Path

from asyncua import pubsub, ua
from asyncua.ua.ua_binary import extensionobject_to_binary


async def main(source, target):
    """One file in, one out."""
    application = pubsub.PubSub()
    await application.load_binary_file(source)
    configuration = application.get_config()
    groups = [group for connection in configuration.Connections for group in connection.WriterGroups]
    writers = [writer.Name for group in groups for writer in group.DataSetWriters]
    print(json.dumps({"dataSets": [it.Name for it in configuration.PublishedDataSets], "writers": writers}))
    # asyncua's own save_binary_file leaves out the ExtensionObject around the structure, and cannot load that again.
    file = ua.UABinaryFileDataType(Body=ua.Variant(configuration))
    Path(target).write_bytes(extensionobject_to_binary(file))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1], sys.argv[2]))
