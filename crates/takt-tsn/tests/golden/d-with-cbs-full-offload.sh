# host1 → host2: cbs at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: mqprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 hw 0
tc qdisc replace dev eth0 parent 100:1 handle 101: cbs idleslope 3556 \
    sendslope -996444 hicredit 6 locredit -101 offload 1
tc qdisc replace dev eth0 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
ip link add link eth0 name eth0.1 type vlan id 1 \
    egress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 \
    ingress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
ip link set dev eth0.1 up
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 3556: kbit/s, rounded up: `control` 101 B on the wire every 250 us = 3.232 Mbit/s, +10.0000%: 3.5552 Mbit/s
#   sendslope -996444: kbit/s: idleSlope - speed of the interface = 3556 - 1000000
#   hicredit 6: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 3.5552 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s
#   locredit -101: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 101 B · -996444 / 1000000
#   limit 1000: frames of class `OPC UA`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios

# host2 → host1: cbs at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: mqprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 hw 0
tc qdisc replace dev eth0 parent 100:1 handle 101: cbs idleslope 3556 \
    sendslope -996444 hicredit 6 locredit -101 offload 1
tc qdisc replace dev eth0 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
ip link add link eth0 name eth0.1 type vlan id 1 \
    egress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 \
    ingress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
ip link set dev eth0.1 up
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 3556: kbit/s, rounded up: `control (return)` 101 B on the wire every 250 us = 3.232 Mbit/s, +10.0000%: 3.5552 Mbit/s
#   sendslope -996444: kbit/s: idleSlope - speed of the interface = 3556 - 1000000
#   hicredit 6: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 3.5552 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s
#   locredit -101: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 101 B · -996444 / 1000000
#   limit 1000: frames of class `OPC UA`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios

