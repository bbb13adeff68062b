# host1 → host2: gates at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 0 \
    sched-entry S 02 25000 sched-entry S 01 25000 sched-entry S 02 25000 \
    sched-entry S 02 25000 flags 0x2
tc qdisc replace dev eth0 parent 100:1 handle 101: etf clockid CLOCK_TAI \
    delta 30000 offload
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 0 \
    sched-entry S 02 25000 sched-entry S 01 25000 sched-entry S 02 25000 \
    sched-entry S 02 25000 flags 0x2
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
#   delta 30000: ns: `delta` of the scenario, for the time from the kernel to the wire
#   limit 1000: frames of class `others`: Linux's txqueuelen, the default of scenarios
#   warning: taprio with full offload needs an interface with gates and a PTP clock; untested on hardware

# host2 → host1: gates at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 0 \
    sched-entry S 02 25000 sched-entry S 01 25000 sched-entry S 02 25000 \
    sched-entry S 02 25000 flags 0x2
tc qdisc replace dev eth0 parent 100:1 handle 101: etf clockid CLOCK_TAI \
    delta 30000 offload
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 0 \
    sched-entry S 02 25000 sched-entry S 01 25000 sched-entry S 02 25000 \
    sched-entry S 02 25000 flags 0x2
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
#   delta 30000: ns: `delta` of the scenario, for the time from the kernel to the wire
#   limit 1000: frames of class `others`: Linux's txqueuelen, the default of scenarios
#   warning: taprio with full offload needs an interface with gates and a PTP clock; untested on hardware

# host1 → host2: cycle 100 us, shift 0 s
#   OPC UA PubSub  ··········██████████···················· 25 us–50 us
#   others         ██████████··········████████████████████ 50 us–25 us
# host2 → host1: cycle 100 us, shift 0 s
#   OPC UA PubSub  ··········██████████···················· 25 us–50 us
#   others         ██████████··········████████████████████ 50 us–25 us
