#!/usr/bin/env python3
"""The checks of peers/README.md, by python-opcua. One JSON line for each line of the input.

Usage: checks.py
"""

import datetime
import json
import logging
import sys

from opcua import ua

import subscriptions
from session import ALL_ATTRIBUTES, DOUBLE, UINT32, Session, expect, name, plain, text

# StatusCode and attribute of a Variable without a value: an instance declaration of the registry's types.
NO_VALUE = ("BadWaitingForInitialData", 13)
SERVER = ua.NodeId(2253, 0)


def browse_continuation(task):
    """Browse and BrowseNext with 1 to 3 references give all references in their order."""
    session, continued = task.session(), 0
    whole = [reference.NodeId for reference in session.browse(SERVER).References]
    for most in (1, 2, 3):
        result = session.browse(SERVER, most)
        found = []
        while True:
            expect(len(result.References) <= most, f"{len(result.References)} references instead of {most}")
            found += [reference.NodeId for reference in result.References]
            if not (point := result.ContinuationPoint):
                break
            result = session.browse_next(point)[0]
            result.StatusCode.check()
            continued += 1
        expect(found == whole, f"{text(found)} instead of {text(whole)}")
        point = session.browse(SERVER, most).ContinuationPoint
        session.browse_next(point, release=True)
        gone = name(session.browse_next(point)[0].StatusCode)
        expect(gone == "BadContinuationPointInvalid", f"a released continuation point: {gone}")
    return continued


def walk(session, start):
    """All nodes below one, without those below `Many` and `Large`."""
    found, waiting = {start: None}, [start]
    while waiting:
        result = session.browse(waiting.pop(), 100)
        while True:
            result.StatusCode.check()
            for reference in result.References:
                if reference.NodeId not in found:
                    found[reference.NodeId] = None
                    if reference.BrowseName.Name not in ("Many", "Large"):
                        waiting.append(reference.NodeId)
            if not result.ContinuationPoint:
                break
            result = session.browse_next(result.ContinuationPoint)[0]
    return list(found)


def read_decodable(session, items):
    """Reads, without the few values that python-opcua cannot decode: see peers/README.md."""
    try:
        return list(zip(items, session.read(items, ua.TimestampsToReturn.Neither)))
    except (ua.UaError, ValueError) as error:
        if len(items) == 1:
            known = "cannot have value None" in str(error) or "IdentityCriteriaType" in str(error)
            known = known or "is not a valid PermissionType" in str(error)
            expect(known, f"{items[0]}: {error}")
            return []
        half = len(items) // 2
        return read_decodable(session, items[:half]) + read_decodable(session, items[half:])


# Values of namespace 0 that are not for every user (arrays of all clients) or channel (their security), or do not exist.
WITHHELD = {
    "i=2290": "BadUserAccessDenied",
    "i=3707": "BadUserAccessDenied",
    "i=3708": "BadSecurityModeInsufficient",
    "i=12643": "BadNotSupported",
}


# RolePermissions and UserRolePermissions.
ROLE_PERMISSIONS = (24, 25)


# Attributes of the diagnostics of Sessions that end during a check: two Sessions have fewer.
MOST_GONE = 4_000


def all_attributes(task):
    """Each attribute of each node is Good or does not exist; instance declarations may have no value."""
    session = task.session()
    nodes = walk(session, task.start)
    items = [(node, attribute, None) for node in nodes for attribute in ALL_ATTRIBUTES]
    results = []
    for start in range(0, len(items), 1_000):
        results += read_decodable(session, items[start:start + 1_000])
    # python-opcua decodes no RolePermissions that are several bits.
    decoded = {(str(node), attribute) for (node, attribute, _), _ in results} | {
        (str(node), attribute) for node, attribute, _ in items if attribute in ROLE_PERMISSIONS}
    lost = len(items) - len(decoded)
    expect(lost < 20, f"{lost} values cannot be decoded")
    wrong, gone = [], 0
    for (node, attribute, _), result in results:
        status = name(result.StatusCode)
        if status == "Good" and (attribute != 1 or result.Value.Value == node):
            continue
        # A node of the diagnostics: its Session has ended meanwhile.
        if status == "BadNodeIdUnknown" and node.NamespaceIndex == 1:
            gone += 1
            continue
        if attribute > 4 and status == WITHHELD.get(node.to_string()):
            continue
        # The security of a Session in the diagnostics: its channel has to be encrypted.
        if attribute > 4 and status == "BadSecurityModeInsufficient" and node.NamespaceIndex == 1:
            continue
        if not (status == "BadAttributeIdInvalid" and attribute > 4 or (status, attribute) == NO_VALUE):
            wrong.append(f"{node.to_string()} {ua.AttributeIds(attribute).name}: {status}")
    expect(not wrong, f"{len(wrong)} attributes: {wrong[:20]}")
    expect(gone < MOST_GONE, f"{gone} attributes of nodes that are gone")
    return len(nodes)


def index_range(task):
    """Parts of arrays, matrices and Strings are read and written."""
    session, done = task.session(), 0
    for path, part, expected in (
        ("Values/Array", "5", [5]),
        ("Values/Array", "1:3", [1, 2, 3]),
        ("Values/Array", "14:20", [14, 15]),
        ("Values/Matrix", "0:1,1:2", [[2, 3], [5, 6]]),
        ("Values/String", "0:3", "Takt"),
    ):
        value = session.value(path, part)
        expect(name(value.StatusCode) == "Good", f"{path}[{part}]: {name(value.StatusCode)}")
        expect(value.Value.Value == expected, f"{path}[{part}]: {text(value.Value.Value)}")
        done += 1
    for part, expected in (("16", "BadIndexRangeNoData"), ("3:1", "BadIndexRangeInvalid"), ("x", "BadIndexRangeInvalid")):
        status = name(session.value("Values/Array", part).StatusCode)
        expect(status == expected, f"Values/Array[{part}]: {status}")
        done += 1
    for values in ([71, 72], [7, 8]):
        status = session.write("Values/Array", plain(values, UINT32), "7:8")
        expect(status == "Good", f"Write of Values/Array[7:8]: {status}")
        read = session.value("Values/Array").Value.Value
        expect(read == [*range(7), *values, *range(9, 16)], text(read))
        done += 1
    return done


def write_plain(task):
    """Values without timestamps are written, and those that do not fit are refused."""
    session, done = task.session(), 0
    for path, data_value, expected in (
        ("Values/Double", plain(7.25, DOUBLE), "Good"),
        ("Values/Double", plain(7, UINT32), "BadTypeMismatch"),
        ("Values/ReadOnly", plain(7, ua.VariantType.Int64), "BadNotWritable"),
        ("Values/Nothing", plain(7, UINT32), "BadNodeIdUnknown"),
        ("Values/String", plain("Grüße", ua.VariantType.String), "Good"),
        ("Values/String", plain("Takt: equal time", ua.VariantType.String), "Good"),
    ):
        status = session.write(path, data_value)
        expect(status == expected, f"Write of {path}: {status} instead of {expected}")
        if expected == "Good":
            value = session.value(path).Value.Value
            expect(value == data_value.Value.Value, f"{path}: {text(value)}")
        done += 1
    # The library's own way of writing, with the StatusCode Good.
    session.client.get_node(session.node("Values/Double")).set_value(2.5)
    expect(session.value("Values/Double").Value.Value == 2.5, "set_value")
    return done + 1


def write_timestamps(task):
    """Values with a timestamp and a StatusCode are stored with both."""
    session = task.session()
    data_value = plain(3.5, DOUBLE)
    data_value.SourceTimestamp = datetime.datetime(2024, 2, 29, 12, 34, 56, 789_000)
    data_value.StatusCode = ua.StatusCode("UncertainSubNormal")
    status = session.write("Values/Double", data_value)
    expect(status == "Good", f"Write: {status}")
    read = session.value("Values/Double")
    expect(read.Value.Value == 3.5, text(read.Value.Value))
    expect(name(read.StatusCode) == "UncertainSubNormal", name(read.StatusCode))
    expect(read.SourceTimestamp == data_value.SourceTimestamp, text(read.SourceTimestamp))
    expect(read.ServerTimestamp is not None, "no ServerTimestamp")
    session.set("Values/Double", 2.5, DOUBLE)
    return 4


def call(task):
    """A Method is called; wrong calls are refused."""
    session = task.session()
    double = [ua.Variant(6.0, DOUBLE), ua.Variant(7.0, DOUBLE)]
    result = session.call("Multiply", double)
    expect(name(result.StatusCode) == "Good", name(result.StatusCode))
    expect([output.Value for output in result.OutputArguments] == [42.0], text(result.OutputArguments))
    done = 1
    for method, arguments, expected in (
        ("Multiply", double[:1], "BadArgumentsMissing"),
        ("Multiply", double + double, "BadTooManyArguments"),
        ("Multiply", [ua.Variant("six", ua.VariantType.String), double[1]], "BadInvalidArgument"),
        ("Refuse", [], "BadInvalidState"),
    ):
        result = session.call(method, arguments)
        expect(name(result.StatusCode) == expected, f"{method}: {name(result.StatusCode)} instead of {expected}")
        done += 1
        if expected == "BadInvalidArgument":
            statuses = [name(status) for status in result.InputArgumentResults]
            expect(statuses == ["BadTypeMismatch", "Good"], text(statuses))
    return done


def renewal(task):
    """The channel is renewed while values are read."""
    session, done = task.session(), 0
    for _ in range(10):
        session.client.open_secure_channel(renew=True)
        for _ in range(10):
            expect(session.value("Values/Double").Value.Value == 2.5, "Values/Double")
            done += 1
    return done


def ten_thousand_nodes(task):
    """One Read has 10 000 nodes."""
    session, count = task.session(), 10_000
    items = [(session.node(f"Many/Group{n // 100}/Value{n}"), 13, None) for n in range(count)]
    for n, result in enumerate(session.read(items)):
        expect(name(result.StatusCode) == "Good", f"Value{n}: {name(result.StatusCode)}")
        expect(result.Value.Value == n, f"Value{n}: {text(result.Value.Value)}")
    return count


def million_elements(task):
    """An array of a million elements is read and written."""
    session, count = task.session(), 1_000_000
    whole = session.value("Large/Million")
    expect(name(whole.StatusCode) == "Good", name(whole.StatusCode))
    expect(whole.Value.Value == list(range(count)), "wrong elements")
    for values in (list(range(count, 0, -1)), list(range(count))):
        session.set("Large/Million", values, UINT32)
        expect(session.value("Large/Million").Value.Value == values, "wrong elements after the Write")
    return count


CHECKS = {
    check.__name__: check
    for check in (
        browse_continuation, all_attributes, index_range, write_plain, write_timestamps, call, renewal,
        ten_thousand_nodes, million_elements, subscriptions.subscription, subscriptions.deadband,
        subscriptions.triggering, subscriptions.republish, subscriptions.transfer, subscriptions.restart,
        subscriptions.machine,
    )
}


class Task:
    """One check that is to be run."""

    def __init__(self, request):
        self.endpoint, self.namespace = request["endpoint"], request["namespace"]
        self.start = ua.NodeId.from_string(request["start"])
        self.sessions = []

    def session(self):
        """A new Session."""
        session = Session(self.endpoint, self.namespace)
        self.sessions.append(session)
        return session

    def want(self, what):
        """Asks the driver to do something, and waits until it is done."""
        say({"want": what})
        sys.stdin.readline()

    def close(self):
        """Closes all Sessions."""
        for session in self.sessions:
            session.close()


def say(line):
    """One line to whoever drives this client."""
    print(json.dumps(line, ensure_ascii=False), flush=True)


def run(request):
    """One check, whatever becomes of it."""
    check = request["check"]
    if check not in CHECKS:
        return {"check": check, "missing": True}
    task = Task(request)
    try:
        return {"check": check, "ok": True, "counted": CHECKS[check](task)}
    except Exception as error:  # the driver must see every failure, of whatever kind
        return {"check": check, "ok": False, "error": f"{type(error).__name__}: {error}"}
    finally:
        task.close()


if __name__ == "__main__":
    logging.basicConfig(level=logging.CRITICAL)
    while line := sys.stdin.readline():
        say(run(json.loads(line)))
