"""Values of asyncua as the JSON that peers/README.md describes, and back."""

import base64
import dataclasses
import enum
import math
import uuid
from datetime import datetime, timezone

from asyncua import ua

INT64_TYPES = (ua.VariantType.Int64, ua.VariantType.UInt64)
FLOAT_TYPES = (ua.VariantType.Float, ua.VariantType.Double)


def status_name(status):
    """The standard's name of a StatusCode."""
    return "Good" if status.value == 0 else status.name


def error_text(error):
    """An error whose first word is the StatusCode's name, if a service failed with one."""
    code = getattr(error, "code", None)
    if isinstance(code, int):
        return f"{ua.StatusCode(code).name}: {error}"
    return f"{type(error).__name__}: {error}"


def nodeid_to_json(node_id):
    """A NodeId or ExpandedNodeId in the standard's notation."""
    text = ""
    if server := getattr(node_id, "ServerIndex", None):
        text += f"svr={server};"
    uri = getattr(node_id, "NamespaceUri", None)
    if uri:
        text += f"nsu={uri};"
    elif node_id.NamespaceIndex:
        text += f"ns={node_id.NamespaceIndex};"
    identifier = node_id.Identifier
    kind = node_id.NodeIdType
    if kind == ua.NodeIdType.String:
        return f"{text}s={identifier}"
    if kind == ua.NodeIdType.Guid:
        return f"{text}g={identifier}"
    if kind == ua.NodeIdType.ByteString:
        return f"{text}b={base64.b64encode(identifier).decode()}"
    return f"{text}i={identifier}"


def nodeid_from_json(text):
    """The reverse of nodeid_to_json."""
    return ua.NodeId.from_string(text)


def name_to_json(name):
    """A QualifiedName as `2:Name`; index 0 is left out, as usual."""
    return f"{name.NamespaceIndex}:{name.Name}" if name.NamespaceIndex else (name.Name or "")


def name_from_json(text):
    """The reverse of name_to_json."""
    index, colon, rest = text.partition(":")
    if colon and index.isdigit():
        return ua.QualifiedName(rest, int(index))
    return ua.QualifiedName(text, 0)


def text_to_json(text):
    """A LocalizedText."""
    return {"locale": text.Locale, "text": text.Text}


def time_to_json(time):
    """A DateTime: asyncua keeps microseconds."""
    if time is None:
        return None
    if time.tzinfo is not None:
        time = time.astimezone(timezone.utc).replace(tzinfo=None)
    return time.isoformat() + "Z"


def time_from_json(text):
    """The reverse of time_to_json."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def float_to_json(number):
    """JSON has no word for what is not finite."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return number


def element_to_json(value, kind):
    """One scalar of the built-in type `kind`."""
    if value is None:
        return None
    if kind in INT64_TYPES:
        return str(int(value))
    if kind in FLOAT_TYPES:
        return float_to_json(value)
    if kind == ua.VariantType.Variant:
        return variant_to_json(value)
    return plain_to_json(value)


def plain_to_json(value):
    """A value whose Python type says enough: also the fields of structures."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float_to_json(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        return time_to_json(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [plain_to_json(item) for item in value]
    if isinstance(value, ua.NodeId):
        return nodeid_to_json(value)
    if isinstance(value, ua.QualifiedName):
        return name_to_json(value)
    if isinstance(value, ua.LocalizedText):
        return text_to_json(value)
    if isinstance(value, ua.StatusCode):
        return status_name(value)
    if isinstance(value, ua.XmlElement):
        return value.Value
    if isinstance(value, ua.Variant):
        return variant_to_json(value)
    if dataclasses.is_dataclass(value):
        fields = {f.name: plain_to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"structure": type(value).__name__, **fields}
    return repr(value)


def flatten(value):
    """The elements of nested lists, in order."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from flatten(item)
    else:
        yield value


def nest(flat, dimensions):
    """A flat list as nested lists of these lengths."""
    if len(dimensions) <= 1:
        return flat
    step = math.prod(dimensions[1:])
    return [nest(flat[at : at + step], dimensions[1:]) for at in range(0, len(flat), step)]


def variant_to_json(variant):
    """A Variant as {"type", "value", "dimensions"?}."""
    kind = variant.VariantType
    if kind == ua.VariantType.Null:
        return {"type": "Null", "value": None}
    if not variant.is_array:
        return {"type": kind.name, "value": element_to_json(variant.Value, kind)}
    if variant.Value is None:
        return {"type": kind.name, "value": None}
    answer = {"type": kind.name, "value": [element_to_json(item, kind) for item in flatten(variant.Value)]}
    if variant.Dimensions and len(variant.Dimensions) > 1:
        answer["dimensions"] = list(variant.Dimensions)
    return answer


def element_from_json(value, kind):
    """The reverse of element_to_json."""
    if value is None:
        return None
    if kind in INT64_TYPES:
        return int(value)
    if kind in FLOAT_TYPES:
        return float(value)
    if kind == ua.VariantType.DateTime:
        return time_from_json(value)
    if kind == ua.VariantType.Guid:
        return uuid.UUID(value)
    if kind == ua.VariantType.ByteString:
        return base64.b64decode(value)
    if kind == ua.VariantType.XmlElement:
        return ua.XmlElement(value)
    if kind in (ua.VariantType.NodeId, ua.VariantType.ExpandedNodeId):
        return nodeid_from_json(value)
    if kind == ua.VariantType.QualifiedName:
        return name_from_json(value)
    if kind == ua.VariantType.LocalizedText:
        return ua.LocalizedText(Text=value.get("text"), Locale=value.get("locale"))
    if kind == ua.VariantType.StatusCode:
        return ua.StatusCode(getattr(ua.StatusCodes, value))
    if kind == ua.VariantType.ExtensionObject:
        fields = {name: field for name, field in value.items() if name != "structure"}
        return getattr(ua, value["structure"])(**fields)
    return value


def variant_from_json(data):
    """The reverse of variant_to_json."""
    kind = ua.VariantType[data["type"]]
    value = data.get("value")
    if isinstance(value, list):
        flat = [element_from_json(item, kind) for item in value]
        dimensions = data.get("dimensions")
        if dimensions:
            return ua.Variant(nest(flat, dimensions), kind, Dimensions=dimensions)
        return ua.Variant(flat, kind, is_array=True)
    return ua.Variant(element_from_json(value, kind), kind)


def data_value_to_json(data_value):
    """A DataValue as {"status", "type", "value", …}."""
    answer = {"status": status_name(data_value.StatusCode or ua.StatusCode(0))}
    answer.update(variant_to_json(data_value.Value or ua.Variant()))
    if data_value.SourceTimestamp is not None:
        answer["sourceTimestamp"] = time_to_json(data_value.SourceTimestamp)
    if data_value.ServerTimestamp is not None:
        answer["serverTimestamp"] = time_to_json(data_value.ServerTimestamp)
    return answer
