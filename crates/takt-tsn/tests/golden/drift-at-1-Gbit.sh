# host1 → host2: cbs at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: mqprio num_tc 3 \
    map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 1@2 hw 0
tc qdisc replace dev eth0 parent 100:1 handle 101: cbs idleslope 4928 \
    sendslope -995072 hicredit 8 locredit -154 offload 0
tc qdisc replace dev eth0 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: cbs idleslope 11536 \
    sendslope -988464 hicredit 20 locredit -1426 offload 0
tc qdisc replace dev eth0 parent 102:1 handle 112: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:3 handle 103: pfifo limit 1000
#   num_tc 3: one for each class of the discipline; class 0 is the highest
#   map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 4928: kbit/s, rounded up: `control` 154 B on the wire every 250 us = 4.928 Mbit/s
#   sendslope -995072: kbit/s: idleSlope - speed of the interface = 4928 - 1000000
#   hicredit 8: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 4.928986 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s; slopes by a clock that gains 200 ppm
#   locredit -154: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 154 B · -995072 / 1000000
#   limit 1000: frames of class `A`: Linux's txqueuelen, the default of scenarios
#   idleslope 11536: kbit/s, rounded up: `camera` 1442 B on the wire every 1 ms = 11.536 Mbit/s
#   sendslope -988464: kbit/s: idleSlope - speed of the interface = 11536 - 1000000
#   hicredit 20: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 11.538308 Mbit/s · (1542 B (longest frame below) + 154 B · (1 - 4.928986 Mbit/s / 1 Gbit/s) (class above)) / (1 Gbit/s - 4.928986 Mbit/s); slopes by a clock that gains 200 ppm
#   locredit -1426: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 1442 B · -988464 / 1000000
#   limit 1000: frames of class `B`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `BE`: Linux's txqueuelen, the default of scenarios

# host2 → host1: given at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: mqprio num_tc 3 \
    map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 1@2 hw 0
tc qdisc replace dev eth0 parent 100:1 handle 101: cbs idleslope 4928 \
    sendslope -995072 hicredit 8 locredit -154 offload 0
tc qdisc replace dev eth0 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: cbs idleslope 11536 \
    sendslope -988464 hicredit 4000 locredit -1426 offload 0
tc qdisc replace dev eth0 parent 102:1 handle 112: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:3 handle 103: pfifo limit 1000
#   num_tc 3: one for each class of the discipline; class 0 is the highest
#   map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 4928: kbit/s, rounded up: `control (return)` 154 B on the wire every 250 us = 4.928 Mbit/s
#   sendslope -995072: kbit/s: idleSlope - speed of the interface = 4928 - 1000000
#   hicredit 8: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 4.928 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s
#   locredit -154: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 154 B · -995072 / 1000000
#   limit 1000: frames of class `A`: Linux's txqueuelen, the default of scenarios
#   idleslope 11536: kbit/s, rounded up: `camera (return)` 1442 B on the wire every 1 ms = 11.536 Mbit/s
#   sendslope -988464: kbit/s: idleSlope - speed of the interface = 11536 - 1000000
#   hicredit 4000: bytes: from the scenario
#   locredit -1426: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 1442 B · -988464 / 1000000
#   limit 1000: frames of class `B`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `BE`: Linux's txqueuelen, the default of scenarios

