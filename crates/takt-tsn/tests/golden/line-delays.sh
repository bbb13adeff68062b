# host1 → bridge1: cbs at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: mqprio num_tc 3 \
    map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 1@2 hw 0
tc qdisc replace dev eth0 parent 100:1 handle 101: cbs idleslope 3232 \
    sendslope -996768 hicredit 5 locredit -101 offload 0
tc qdisc replace dev eth0 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:3 handle 103: pfifo limit 1000
ip link add link eth0 name eth0.1 type vlan id 1 \
    egress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 \
    ingress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
ip link set dev eth0.1 up
#   num_tc 3: one for each class of the discipline; class 0 is the highest
#   map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 3232: kbit/s, rounded up: `control` 101 B on the wire every 250 us = 3.232 Mbit/s
#   sendslope -996768: kbit/s: idleSlope - speed of the interface = 3232 - 1000000
#   hicredit 5: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 3.232 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s
#   locredit -101: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 101 B · -996768 / 1000000
#   limit 1000: frames of class `A`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `B`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios

# bridge1 → host1: cbs at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc add dev eth0 clsact 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: mqprio num_tc 3 \
    map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 1@2 hw 0
tc qdisc replace dev eth0 parent 100:1 handle 101: cbs idleslope 3232 \
    sendslope -996768 hicredit 5 locredit -101 offload 0
tc qdisc replace dev eth0 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:3 handle 103: pfifo limit 1000
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 2 \
    flower vlan_prio 2 action skbedit priority 2
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth0 vid 1
#   num_tc 3: one for each class of the discipline; class 0 is the highest
#   map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 3232: kbit/s, rounded up: `control (return)` 101 B on the wire every 250 us = 3.232 Mbit/s
#   sendslope -996768: kbit/s: idleSlope - speed of the interface = 3232 - 1000000
#   hicredit 5: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 3.232 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s
#   locredit -101: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 101 B · -996768 / 1000000
#   limit 1000: frames of class `A`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `B`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP

# bridge1 → bridge2: cbs at eth1
tc qdisc del dev eth1 root 2>/dev/null || true
tc qdisc add dev eth1 clsact 2>/dev/null || true
tc qdisc replace dev eth1 root handle 100: mqprio num_tc 3 \
    map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 1@2 hw 0
tc qdisc replace dev eth1 parent 100:1 handle 101: cbs idleslope 3232 \
    sendslope -996768 hicredit 5 locredit -101 offload 0
tc qdisc replace dev eth1 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:3 handle 103: pfifo limit 1000
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 2 \
    flower vlan_prio 2 action skbedit priority 2
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth1 vid 1
#   num_tc 3: one for each class of the discipline; class 0 is the highest
#   map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 3232: kbit/s, rounded up: `control` 101 B on the wire every 250 us = 3.232 Mbit/s
#   sendslope -996768: kbit/s: idleSlope - speed of the interface = 3232 - 1000000
#   hicredit 5: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 3.232 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s
#   locredit -101: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 101 B · -996768 / 1000000
#   limit 1000: frames of class `A`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `B`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP

# bridge2 → bridge1: cbs at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc add dev eth0 clsact 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: mqprio num_tc 3 \
    map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 1@2 hw 0
tc qdisc replace dev eth0 parent 100:1 handle 101: cbs idleslope 3232 \
    sendslope -996768 hicredit 5 locredit -101 offload 0
tc qdisc replace dev eth0 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:3 handle 103: pfifo limit 1000
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 2 \
    flower vlan_prio 2 action skbedit priority 2
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth0 vid 1
#   num_tc 3: one for each class of the discipline; class 0 is the highest
#   map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 3232: kbit/s, rounded up: `control (return)` 101 B on the wire every 250 us = 3.232 Mbit/s
#   sendslope -996768: kbit/s: idleSlope - speed of the interface = 3232 - 1000000
#   hicredit 5: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 3.232 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s
#   locredit -101: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 101 B · -996768 / 1000000
#   limit 1000: frames of class `A`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `B`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP

# bridge2 → bridge3: cbs at eth1
tc qdisc del dev eth1 root 2>/dev/null || true
tc qdisc add dev eth1 clsact 2>/dev/null || true
tc qdisc replace dev eth1 root handle 100: mqprio num_tc 3 \
    map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 1@2 hw 0
tc qdisc replace dev eth1 parent 100:1 handle 101: cbs idleslope 3232 \
    sendslope -996768 hicredit 5 locredit -101 offload 0
tc qdisc replace dev eth1 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:3 handle 103: pfifo limit 1000
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 2 \
    flower vlan_prio 2 action skbedit priority 2
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth1 vid 1
#   num_tc 3: one for each class of the discipline; class 0 is the highest
#   map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 3232: kbit/s, rounded up: `control` 101 B on the wire every 250 us = 3.232 Mbit/s
#   sendslope -996768: kbit/s: idleSlope - speed of the interface = 3232 - 1000000
#   hicredit 5: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 3.232 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s
#   locredit -101: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 101 B · -996768 / 1000000
#   limit 1000: frames of class `A`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `B`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP

# bridge3 → bridge2: cbs at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc add dev eth0 clsact 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: mqprio num_tc 3 \
    map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 1@2 hw 0
tc qdisc replace dev eth0 parent 100:1 handle 101: cbs idleslope 3232 \
    sendslope -996768 hicredit 5 locredit -101 offload 0
tc qdisc replace dev eth0 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:3 handle 103: pfifo limit 1000
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 2 \
    flower vlan_prio 2 action skbedit priority 2
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth0 vid 1
#   num_tc 3: one for each class of the discipline; class 0 is the highest
#   map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 3232: kbit/s, rounded up: `control (return)` 101 B on the wire every 250 us = 3.232 Mbit/s
#   sendslope -996768: kbit/s: idleSlope - speed of the interface = 3232 - 1000000
#   hicredit 5: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 3.232 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s
#   locredit -101: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 101 B · -996768 / 1000000
#   limit 1000: frames of class `A`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `B`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP

# bridge3 → bridge4: cbs at eth1
tc qdisc del dev eth1 root 2>/dev/null || true
tc qdisc add dev eth1 clsact 2>/dev/null || true
tc qdisc replace dev eth1 root handle 100: mqprio num_tc 3 \
    map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 1@2 hw 0
tc qdisc replace dev eth1 parent 100:1 handle 101: cbs idleslope 3232 \
    sendslope -996768 hicredit 5 locredit -101 offload 0
tc qdisc replace dev eth1 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:3 handle 103: pfifo limit 1000
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 2 \
    flower vlan_prio 2 action skbedit priority 2
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth1 vid 1
#   num_tc 3: one for each class of the discipline; class 0 is the highest
#   map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 3232: kbit/s, rounded up: `control` 101 B on the wire every 250 us = 3.232 Mbit/s
#   sendslope -996768: kbit/s: idleSlope - speed of the interface = 3232 - 1000000
#   hicredit 5: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 3.232 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s
#   locredit -101: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 101 B · -996768 / 1000000
#   limit 1000: frames of class `A`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `B`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP

# bridge4 → bridge3: cbs at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc add dev eth0 clsact 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: mqprio num_tc 3 \
    map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 1@2 hw 0
tc qdisc replace dev eth0 parent 100:1 handle 101: cbs idleslope 3232 \
    sendslope -996768 hicredit 5 locredit -101 offload 0
tc qdisc replace dev eth0 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:3 handle 103: pfifo limit 1000
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 2 \
    flower vlan_prio 2 action skbedit priority 2
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth0 vid 1
#   num_tc 3: one for each class of the discipline; class 0 is the highest
#   map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 3232: kbit/s, rounded up: `control (return)` 101 B on the wire every 250 us = 3.232 Mbit/s
#   sendslope -996768: kbit/s: idleSlope - speed of the interface = 3232 - 1000000
#   hicredit 5: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 3.232 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s
#   locredit -101: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 101 B · -996768 / 1000000
#   limit 1000: frames of class `A`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `B`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP

# bridge4 → bridge5: cbs at eth1
tc qdisc del dev eth1 root 2>/dev/null || true
tc qdisc add dev eth1 clsact 2>/dev/null || true
tc qdisc replace dev eth1 root handle 100: mqprio num_tc 3 \
    map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 1@2 hw 0
tc qdisc replace dev eth1 parent 100:1 handle 101: cbs idleslope 3232 \
    sendslope -996768 hicredit 5 locredit -101 offload 0
tc qdisc replace dev eth1 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:3 handle 103: pfifo limit 1000
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 2 \
    flower vlan_prio 2 action skbedit priority 2
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth1 vid 1
#   num_tc 3: one for each class of the discipline; class 0 is the highest
#   map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 3232: kbit/s, rounded up: `control` 101 B on the wire every 250 us = 3.232 Mbit/s
#   sendslope -996768: kbit/s: idleSlope - speed of the interface = 3232 - 1000000
#   hicredit 5: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 3.232 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s
#   locredit -101: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 101 B · -996768 / 1000000
#   limit 1000: frames of class `A`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `B`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP

# bridge5 → bridge4: cbs at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc add dev eth0 clsact 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: mqprio num_tc 3 \
    map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 1@2 hw 0
tc qdisc replace dev eth0 parent 100:1 handle 101: cbs idleslope 3232 \
    sendslope -996768 hicredit 5 locredit -101 offload 0
tc qdisc replace dev eth0 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:3 handle 103: pfifo limit 1000
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 2 \
    flower vlan_prio 2 action skbedit priority 2
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth0 vid 1
#   num_tc 3: one for each class of the discipline; class 0 is the highest
#   map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 3232: kbit/s, rounded up: `control (return)` 101 B on the wire every 250 us = 3.232 Mbit/s
#   sendslope -996768: kbit/s: idleSlope - speed of the interface = 3232 - 1000000
#   hicredit 5: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 3.232 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s
#   locredit -101: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 101 B · -996768 / 1000000
#   limit 1000: frames of class `A`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `B`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP

# bridge5 → bridge6: cbs at eth1
tc qdisc del dev eth1 root 2>/dev/null || true
tc qdisc add dev eth1 clsact 2>/dev/null || true
tc qdisc replace dev eth1 root handle 100: mqprio num_tc 3 \
    map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 1@2 hw 0
tc qdisc replace dev eth1 parent 100:1 handle 101: cbs idleslope 3232 \
    sendslope -996768 hicredit 5 locredit -101 offload 0
tc qdisc replace dev eth1 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:3 handle 103: pfifo limit 1000
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 2 \
    flower vlan_prio 2 action skbedit priority 2
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth1 vid 1
#   num_tc 3: one for each class of the discipline; class 0 is the highest
#   map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 3232: kbit/s, rounded up: `control` 101 B on the wire every 250 us = 3.232 Mbit/s
#   sendslope -996768: kbit/s: idleSlope - speed of the interface = 3232 - 1000000
#   hicredit 5: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 3.232 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s
#   locredit -101: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 101 B · -996768 / 1000000
#   limit 1000: frames of class `A`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `B`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP

# bridge6 → bridge5: cbs at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc add dev eth0 clsact 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: mqprio num_tc 3 \
    map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 1@2 hw 0
tc qdisc replace dev eth0 parent 100:1 handle 101: cbs idleslope 3232 \
    sendslope -996768 hicredit 5 locredit -101 offload 0
tc qdisc replace dev eth0 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:3 handle 103: pfifo limit 1000
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 2 \
    flower vlan_prio 2 action skbedit priority 2
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth0 vid 1
#   num_tc 3: one for each class of the discipline; class 0 is the highest
#   map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 3232: kbit/s, rounded up: `control (return)` 101 B on the wire every 250 us = 3.232 Mbit/s
#   sendslope -996768: kbit/s: idleSlope - speed of the interface = 3232 - 1000000
#   hicredit 5: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 3.232 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s
#   locredit -101: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 101 B · -996768 / 1000000
#   limit 1000: frames of class `A`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `B`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP

# bridge6 → host2: cbs at eth1
tc qdisc del dev eth1 root 2>/dev/null || true
tc qdisc add dev eth1 clsact 2>/dev/null || true
tc qdisc replace dev eth1 root handle 100: mqprio num_tc 3 \
    map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 1@2 hw 0
tc qdisc replace dev eth1 parent 100:1 handle 101: cbs idleslope 3232 \
    sendslope -996768 hicredit 5 locredit -101 offload 0
tc qdisc replace dev eth1 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:3 handle 103: pfifo limit 1000
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 2 \
    flower vlan_prio 2 action skbedit priority 2
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth1 vid 1
#   num_tc 3: one for each class of the discipline; class 0 is the highest
#   map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 3232: kbit/s, rounded up: `control` 101 B on the wire every 250 us = 3.232 Mbit/s
#   sendslope -996768: kbit/s: idleSlope - speed of the interface = 3232 - 1000000
#   hicredit 5: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 3.232 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s
#   locredit -101: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 101 B · -996768 / 1000000
#   limit 1000: frames of class `A`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `B`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP

# host2 → bridge6: cbs at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: mqprio num_tc 3 \
    map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 1@2 hw 0
tc qdisc replace dev eth0 parent 100:1 handle 101: cbs idleslope 3232 \
    sendslope -996768 hicredit 5 locredit -101 offload 0
tc qdisc replace dev eth0 parent 101:1 handle 111: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:3 handle 103: pfifo limit 1000
ip link add link eth0 name eth0.1 type vlan id 1 \
    egress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 \
    ingress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
ip link set dev eth0.1 up
#   num_tc 3: one for each class of the discipline; class 0 is the highest
#   map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   idleslope 3232: kbit/s, rounded up: `control (return)` 101 B on the wire every 250 us = 3.232 Mbit/s
#   sendslope -996768: kbit/s: idleSlope - speed of the interface = 3232 - 1000000
#   hicredit 5: bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = 3.232 Mbit/s · (1542 B (longest frame below)) / 1 Gbit/s
#   locredit -101: bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = 101 B · -996768 / 1000000
#   limit 1000: frames of class `A`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `B`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios

