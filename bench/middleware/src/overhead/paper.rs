//! Figures of the paper `opcua-vs-ros-dds-mqtt` (Profanter and others, 2019), Tables II and III, of other machines and older versions.

/// Row of Table II: bytes of a message with 0, 100, 1000 and 10 000 bytes, and of the connection.
pub(super) const TABLE_II: [(&str, [u32; 5]); 4] = [
    ("OPC UA C/S", [96, 196, 1096, 10_096, 632]),
    ("MQTT", [5, 105, 1006, 10_006, 17]),
    ("ROS", [8, 108, 1008, 10_008, 8915]),
    ("DDS", [88, 188, 1088, 10_088, 8348]),
];

/// Sizes of Table III in bytes: powers of two from 2 to 32 768.
pub(super) const SIZES: usize = 15;

/// Rows of Table III without load: kind, middleware, average round trip in µs for each size; `None`: the figure cannot be read.
pub(super) const TABLE_III: [(&str, &str, [Option<u32>; SIZES]); 14] = [
    (
        "echo",
        "OPC UA C/S",
        some([
            520, 283, 288, 280, 270, 270, 360, 313, 456, 546, 606, 978, 1003, 1171, 1770,
        ]),
    ),
    (
        "echo",
        "OPC UA P/S",
        some([
            590, 589, 510, 338, 162, 270, 169, 174, 305, 469, 521, 446, 395, 1142, 1924,
        ]),
    ),
    (
        "echo",
        "MQTT",
        some([
            584, 629, 645, 641, 581, 601, 622, 699, 694, 725, 716, 920, 1186, 1225, 1511,
        ]),
    ),
    (
        "echo",
        "ROS",
        some([
            618, 628, 446, 396, 398, 182, 296, 319, 495, 814, 698, 1007, 1273, 1486, 1823,
        ]),
    ),
    (
        "echo",
        "DDS",
        some([
            726, 234, 236, 243, 247, 252, 251, 279, 270, 314, 343, 454, 495, 802, 1144,
        ]),
    ),
    (
        "echo",
        "TCP",
        some([
            250, 253, 284, 303, 254, 255, 307, 270, 289, 315, 273, 823, 811, 892, 1261,
        ]),
    ),
    (
        "echo",
        "UDP",
        some([
            241, 231, 208, 213, 208, 162, 168, 198, 238, 193, 263, 263, 268, 893, 1398,
        ]),
    ),
    (
        "ack",
        "OPC UA C/S",
        all_but_last([
            383, 354, 301, 294, 306, 291, 293, 321, 310, 305, 481, 710, 681, 969,
        ]),
    ),
    (
        "ack",
        "OPC UA P/S",
        some([
            185, 180, 199, 207, 196, 190, 180, 195, 215, 279, 222, 277, 298, 785, 1265,
        ]),
    ),
    (
        "ack",
        "MQTT",
        some([
            647, 602, 556, 518, 606, 626, 636, 646, 650, 643, 629, 575, 556, 740, 800,
        ]),
    ),
    (
        "ack",
        "ROS",
        some([
            642, 537, 321, 168, 157, 248, 623, 608, 437, 197, 226, 871, 992, 1192, 1377,
        ]),
    ),
    (
        "ack",
        "DDS",
        some([
            320, 228, 234, 236, 241, 243, 244, 242, 252, 272, 275, 355, 343, 514, 784,
        ]),
    ),
    (
        "ack",
        "TCP",
        some([
            235, 243, 283, 187, 239, 279, 196, 208, 189, 237, 58, 71, 81, 167, 338,
        ]),
    ),
    (
        "ack",
        "UDP",
        some([
            259, 223, 220, 190, 155, 153, 164, 169, 174, 215, 359, 317, 255, 502, 725,
        ]),
    ),
];

const fn some(values: [u32; SIZES]) -> [Option<u32>; SIZES] {
    let mut row = [None; SIZES];
    let mut place = 0;
    while place < SIZES {
        row[place] = Some(values[place]);
        place += 1;
    }
    row
}

const fn all_but_last(values: [u32; SIZES - 1]) -> [Option<u32>; SIZES] {
    let mut row = [None; SIZES];
    let mut place = 0;
    while place < SIZES - 1 {
        row[place] = Some(values[place]);
        place += 1;
    }
    row
}
