# host1 → bridge1: taprio at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 0 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc qdisc replace dev eth0 parent 100:1 handle 101: etf clockid CLOCK_TAI \
    delta 150000 offload
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 0 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
ip link add link eth0 name eth0.1 type vlan id 1 \
    egress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 \
    ingress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
ip link set dev eth0.1 up
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   base-time 0: ns of CLOCK_TAI: `base_time` of the discipline plus `shift` of the port
#   sched-entry: gates as a mask, bit 0 for class 0, and ns: the entries of the discipline
#   stab overhead 24: bytes: preamble 8, check sequence 4 and interframe gap 12, so that a frame ends in its window
#   delta 150000: ns: `delta` of the scenario, for the time from the kernel to the wire
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   warning: taprio with full offload needs an interface with gates and a PTP clock; untested on hardware

# bridge1 → host1: gates at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc add dev eth0 clsact 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 120000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc qdisc replace dev eth0 parent 100:1 handle 101: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 120000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth0 vid 1
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   base-time 120000: ns of CLOCK_TAI: `base_time` of the discipline plus `shift` of the port
#   sched-entry: gates as a mask, bit 0 for class 0, and ns: the entries of the discipline
#   stab overhead 24: bytes: preamble 8, check sequence 4 and interframe gap 12, so that a frame ends in its window
#   limit 1000: frames of class `OPC UA`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP
#   warning: taprio with full offload needs an interface with gates and a PTP clock; untested on hardware

# bridge1 → bridge2: gates at eth1
tc qdisc del dev eth1 root 2>/dev/null || true
tc qdisc add dev eth1 clsact 2>/dev/null || true
tc qdisc replace dev eth1 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 20000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc qdisc replace dev eth1 parent 100:1 handle 101: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth1 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 20000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth1 vid 1
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   base-time 20000: ns of CLOCK_TAI: `base_time` of the discipline plus `shift` of the port
#   sched-entry: gates as a mask, bit 0 for class 0, and ns: the entries of the discipline
#   stab overhead 24: bytes: preamble 8, check sequence 4 and interframe gap 12, so that a frame ends in its window
#   limit 1000: frames of class `OPC UA`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP
#   warning: taprio with full offload needs an interface with gates and a PTP clock; untested on hardware

# bridge2 → bridge1: gates at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc add dev eth0 clsact 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 100000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc qdisc replace dev eth0 parent 100:1 handle 101: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 100000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth0 vid 1
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   base-time 100000: ns of CLOCK_TAI: `base_time` of the discipline plus `shift` of the port
#   sched-entry: gates as a mask, bit 0 for class 0, and ns: the entries of the discipline
#   stab overhead 24: bytes: preamble 8, check sequence 4 and interframe gap 12, so that a frame ends in its window
#   limit 1000: frames of class `OPC UA`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP
#   warning: taprio with full offload needs an interface with gates and a PTP clock; untested on hardware

# bridge2 → bridge3: gates at eth1
tc qdisc del dev eth1 root 2>/dev/null || true
tc qdisc add dev eth1 clsact 2>/dev/null || true
tc qdisc replace dev eth1 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 40000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc qdisc replace dev eth1 parent 100:1 handle 101: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth1 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 40000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth1 vid 1
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   base-time 40000: ns of CLOCK_TAI: `base_time` of the discipline plus `shift` of the port
#   sched-entry: gates as a mask, bit 0 for class 0, and ns: the entries of the discipline
#   stab overhead 24: bytes: preamble 8, check sequence 4 and interframe gap 12, so that a frame ends in its window
#   limit 1000: frames of class `OPC UA`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP
#   warning: taprio with full offload needs an interface with gates and a PTP clock; untested on hardware

# bridge3 → bridge2: gates at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc add dev eth0 clsact 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 80000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc qdisc replace dev eth0 parent 100:1 handle 101: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 80000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth0 vid 1
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   base-time 80000: ns of CLOCK_TAI: `base_time` of the discipline plus `shift` of the port
#   sched-entry: gates as a mask, bit 0 for class 0, and ns: the entries of the discipline
#   stab overhead 24: bytes: preamble 8, check sequence 4 and interframe gap 12, so that a frame ends in its window
#   limit 1000: frames of class `OPC UA`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP
#   warning: taprio with full offload needs an interface with gates and a PTP clock; untested on hardware

# bridge3 → bridge4: gates at eth1
tc qdisc del dev eth1 root 2>/dev/null || true
tc qdisc add dev eth1 clsact 2>/dev/null || true
tc qdisc replace dev eth1 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 60000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc qdisc replace dev eth1 parent 100:1 handle 101: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth1 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 60000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth1 vid 1
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   base-time 60000: ns of CLOCK_TAI: `base_time` of the discipline plus `shift` of the port
#   sched-entry: gates as a mask, bit 0 for class 0, and ns: the entries of the discipline
#   stab overhead 24: bytes: preamble 8, check sequence 4 and interframe gap 12, so that a frame ends in its window
#   limit 1000: frames of class `OPC UA`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP
#   warning: taprio with full offload needs an interface with gates and a PTP clock; untested on hardware

# bridge4 → bridge3: gates at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc add dev eth0 clsact 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 60000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc qdisc replace dev eth0 parent 100:1 handle 101: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 60000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth0 vid 1
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   base-time 60000: ns of CLOCK_TAI: `base_time` of the discipline plus `shift` of the port
#   sched-entry: gates as a mask, bit 0 for class 0, and ns: the entries of the discipline
#   stab overhead 24: bytes: preamble 8, check sequence 4 and interframe gap 12, so that a frame ends in its window
#   limit 1000: frames of class `OPC UA`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP
#   warning: taprio with full offload needs an interface with gates and a PTP clock; untested on hardware

# bridge4 → bridge5: gates at eth1
tc qdisc del dev eth1 root 2>/dev/null || true
tc qdisc add dev eth1 clsact 2>/dev/null || true
tc qdisc replace dev eth1 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 80000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc qdisc replace dev eth1 parent 100:1 handle 101: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth1 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 80000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth1 vid 1
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   base-time 80000: ns of CLOCK_TAI: `base_time` of the discipline plus `shift` of the port
#   sched-entry: gates as a mask, bit 0 for class 0, and ns: the entries of the discipline
#   stab overhead 24: bytes: preamble 8, check sequence 4 and interframe gap 12, so that a frame ends in its window
#   limit 1000: frames of class `OPC UA`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP
#   warning: taprio with full offload needs an interface with gates and a PTP clock; untested on hardware

# bridge5 → bridge4: gates at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc add dev eth0 clsact 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 40000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc qdisc replace dev eth0 parent 100:1 handle 101: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 40000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth0 vid 1
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   base-time 40000: ns of CLOCK_TAI: `base_time` of the discipline plus `shift` of the port
#   sched-entry: gates as a mask, bit 0 for class 0, and ns: the entries of the discipline
#   stab overhead 24: bytes: preamble 8, check sequence 4 and interframe gap 12, so that a frame ends in its window
#   limit 1000: frames of class `OPC UA`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP
#   warning: taprio with full offload needs an interface with gates and a PTP clock; untested on hardware

# bridge5 → bridge6: gates at eth1
tc qdisc del dev eth1 root 2>/dev/null || true
tc qdisc add dev eth1 clsact 2>/dev/null || true
tc qdisc replace dev eth1 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 100000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc qdisc replace dev eth1 parent 100:1 handle 101: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth1 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 100000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth1 vid 1
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   base-time 100000: ns of CLOCK_TAI: `base_time` of the discipline plus `shift` of the port
#   sched-entry: gates as a mask, bit 0 for class 0, and ns: the entries of the discipline
#   stab overhead 24: bytes: preamble 8, check sequence 4 and interframe gap 12, so that a frame ends in its window
#   limit 1000: frames of class `OPC UA`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP
#   warning: taprio with full offload needs an interface with gates and a PTP clock; untested on hardware

# bridge6 → bridge5: gates at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc add dev eth0 clsact 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 20000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc qdisc replace dev eth0 parent 100:1 handle 101: pfifo limit 1000
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 20000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc filter replace dev eth0 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth0 vid 1
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   base-time 20000: ns of CLOCK_TAI: `base_time` of the discipline plus `shift` of the port
#   sched-entry: gates as a mask, bit 0 for class 0, and ns: the entries of the discipline
#   stab overhead 24: bytes: preamble 8, check sequence 4 and interframe gap 12, so that a frame ends in its window
#   limit 1000: frames of class `OPC UA`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP
#   warning: taprio with full offload needs an interface with gates and a PTP clock; untested on hardware

# bridge6 → host2: gates at eth1
tc qdisc del dev eth1 root 2>/dev/null || true
tc qdisc add dev eth1 clsact 2>/dev/null || true
tc qdisc replace dev eth1 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 120000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc qdisc replace dev eth1 parent 100:1 handle 101: pfifo limit 1000
tc qdisc replace dev eth1 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth1 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 120000 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc filter replace dev eth1 ingress protocol 802.1Q pref 7100 handle 3 \
    flower vlan_prio 3 action skbedit priority 3
bridge vlan add dev eth1 vid 1
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   base-time 120000: ns of CLOCK_TAI: `base_time` of the discipline plus `shift` of the port
#   sched-entry: gates as a mask, bit 0 for class 0, and ns: the entries of the discipline
#   stab overhead 24: bytes: preamble 8, check sequence 4 and interframe gap 12, so that a frame ends in its window
#   limit 1000: frames of class `OPC UA`: Linux's txqueuelen, the default of scenarios
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   skbedit priority: the kernel forgets the priority of a received frame: the filter sets it from the PCP
#   warning: taprio with full offload needs an interface with gates and a PTP clock; untested on hardware

# host2 → bridge6: taprio at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 0 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
tc qdisc replace dev eth0 parent 100:1 handle 101: etf clockid CLOCK_TAI \
    delta 150000 offload
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 0 \
    sched-entry S 01 40000 sched-entry S 02 60000 flags 0x2
ip link add link eth0 name eth0.1 type vlan id 1 \
    egress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 \
    ingress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
ip link set dev eth0.1 up
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   base-time 0: ns of CLOCK_TAI: `base_time` of the discipline plus `shift` of the port
#   sched-entry: gates as a mask, bit 0 for class 0, and ns: the entries of the discipline
#   stab overhead 24: bytes: preamble 8, check sequence 4 and interframe gap 12, so that a frame ends in its window
#   delta 150000: ns: `delta` of the scenario, for the time from the kernel to the wire
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   warning: taprio with full offload needs an interface with gates and a PTP clock; untested on hardware

# host1 → bridge1: cycle 100 us, shift 0 s
#   OPC UA         ████████████████························ 0 s–40 us
#   best effort    ················████████████████████████ 40 us–100 us
# bridge1 → bridge2: cycle 100 us, shift 20 us
#   OPC UA         ········████████████████················ 20 us–60 us
#   best effort    ████████················████████████████ 60 us–20 us
# bridge2 → bridge3: cycle 100 us, shift 40 us
#   OPC UA         ················████████████████········ 40 us–80 us
#   best effort    ████████████████················████████ 80 us–40 us
# bridge3 → bridge4: cycle 100 us, shift 60 us
#   OPC UA         ························████████████████ 60 us–100 us
#   best effort    ████████████████████████················ 0 s–60 us
# bridge4 → bridge5: cycle 100 us, shift 80 us
#   OPC UA         ████████························████████ 80 us–20 us
#   best effort    ········████████████████████████········ 20 us–80 us
# bridge5 → bridge6: cycle 100 us, shift 0 s
#   OPC UA         ████████████████························ 0 s–40 us
#   best effort    ················████████████████████████ 40 us–100 us
# bridge6 → host2: cycle 100 us, shift 20 us
#   OPC UA         ········████████████████················ 20 us–60 us
#   best effort    ████████················████████████████ 60 us–20 us
# host2 → bridge6: cycle 100 us, shift 0 s
#   OPC UA         ████████████████························ 0 s–40 us
#   best effort    ················████████████████████████ 40 us–100 us
# bridge6 → bridge5: cycle 100 us, shift 20 us
#   OPC UA         ········████████████████················ 20 us–60 us
#   best effort    ████████················████████████████ 60 us–20 us
# bridge5 → bridge4: cycle 100 us, shift 40 us
#   OPC UA         ················████████████████········ 40 us–80 us
#   best effort    ████████████████················████████ 80 us–40 us
# bridge4 → bridge3: cycle 100 us, shift 60 us
#   OPC UA         ························████████████████ 60 us–100 us
#   best effort    ████████████████████████················ 0 s–60 us
# bridge3 → bridge2: cycle 100 us, shift 80 us
#   OPC UA         ████████························████████ 80 us–20 us
#   best effort    ········████████████████████████········ 20 us–80 us
# bridge2 → bridge1: cycle 100 us, shift 0 s
#   OPC UA         ████████████████························ 0 s–40 us
#   best effort    ················████████████████████████ 40 us–100 us
# bridge1 → host1: cycle 100 us, shift 20 us
#   OPC UA         ········████████████████················ 20 us–60 us
#   best effort    ████████················████████████████ 60 us–20 us
