# host1 → host2: taprio at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 1000000000 \
    sched-entry S 02 135000 sched-entry S 00 15000 sched-entry S 01 62500 \
    sched-entry S 00 15000 sched-entry S 02 22500 flags 0x1 \
    txtime-delay 205000 clockid CLOCK_TAI
tc qdisc replace dev eth0 parent 100:1 handle 101: etf clockid CLOCK_TAI \
    delta 200000 offload skip_sock_check
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 1000000000 \
    sched-entry S 02 135000 sched-entry S 00 15000 sched-entry S 01 62500 \
    sched-entry S 00 15000 sched-entry S 02 22500 flags 0x1 \
    txtime-delay 205000 clockid CLOCK_TAI
ip link add link eth0 name eth0.1 type vlan id 1 \
    egress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 \
    ingress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
ip link set dev eth0.1 up
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   base-time 1000000000: ns of CLOCK_TAI: `base_time` of the discipline plus `shift` of the port
#   sched-entry: gates as a mask, bit 0 for class 0, and ns: the entries of the discipline
#   txtime-delay 205000: ns: `txtime_assist` of the discipline; above delta of etf, or frames come too late
#   stab overhead 24: bytes: preamble 8, check sequence 4 and interframe gap 12, so that a frame ends in its window
#   delta 200000: ns: `delta` of the scenario, for the time from the kernel to the wire
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   warning: class `best effort` has no etf: with txtime-assist its frames leave at once, in any window

# host2 → host1: taprio at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 1000000000 \
    sched-entry S 02 135000 sched-entry S 00 15000 sched-entry S 01 62500 \
    sched-entry S 00 15000 sched-entry S 02 22500 flags 0x1 \
    txtime-delay 205000 clockid CLOCK_TAI
tc qdisc replace dev eth0 parent 100:1 handle 101: etf clockid CLOCK_TAI \
    delta 200000 offload skip_sock_check
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 1000000000 \
    sched-entry S 02 135000 sched-entry S 00 15000 sched-entry S 01 62500 \
    sched-entry S 00 15000 sched-entry S 02 22500 flags 0x1 \
    txtime-delay 205000 clockid CLOCK_TAI
ip link add link eth0 name eth0.1 type vlan id 1 \
    egress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 \
    ingress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
ip link set dev eth0.1 up
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   base-time 1000000000: ns of CLOCK_TAI: `base_time` of the discipline plus `shift` of the port
#   sched-entry: gates as a mask, bit 0 for class 0, and ns: the entries of the discipline
#   txtime-delay 205000: ns: `txtime_assist` of the discipline; above delta of etf, or frames come too late
#   stab overhead 24: bytes: preamble 8, check sequence 4 and interframe gap 12, so that a frame ends in its window
#   delta 200000: ns: `delta` of the scenario, for the time from the kernel to the wire
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios
#   warning: class `best effort` has no etf: with txtime-assist its frames leave at once, in any window

# host1 → host2: cycle 250 us, shift 0 s, txtimes
#   OPC UA         ························██████████······ 150 us–212.5 us
#   best effort    ██████████████████████··············████ 0 s–135 us
#                                                           227.5 us–250 us
# host2 → host1: cycle 250 us, shift 0 s, txtimes
#   OPC UA         ························██████████······ 150 us–212.5 us
#   best effort    ██████████████████████··············████ 0 s–135 us
#                                                           227.5 us–250 us
