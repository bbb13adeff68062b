# host1 → bridge1: etf at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: mqprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 hw 0
tc qdisc replace dev eth0 parent 100:1 handle 101: etf clockid CLOCK_TAI \
    delta 200000 offload
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
ip link add link eth0 name eth0.1 type vlan id 1 \
    egress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 \
    ingress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
ip link set dev eth0.1 up
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   delta 200000: ns: `delta` of the scenario, for the time from the kernel to the wire
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios

# bridge1 → host1: fq_codel at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: fq_codel limit 10240 flows 1024 \
    quantum 1514 target 5000us interval 100000us memory_limit 33554432 ecn
bridge vlan add dev eth0 vid 1
#   limit 10240: default of Linux
#   flows 1024: default of Linux
#   quantum 1514: default of Linux
#   target 5000us: default of Linux
#   interval 100000us: default of Linux
#   memory_limit 33554432: default of Linux
#   ecn: default of Linux

# bridge1 → host2: fq_codel at eth1
tc qdisc del dev eth1 root 2>/dev/null || true
tc qdisc replace dev eth1 root handle 100: fq_codel limit 10240 flows 1024 \
    quantum 1514 target 5000us interval 100000us memory_limit 33554432 ecn
bridge vlan add dev eth1 vid 1
#   limit 10240: default of Linux
#   flows 1024: default of Linux
#   quantum 1514: default of Linux
#   target 5000us: default of Linux
#   interval 100000us: default of Linux
#   memory_limit 33554432: default of Linux
#   ecn: default of Linux

# host2 → bridge1: etf at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: mqprio num_tc 2 \
    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 hw 0
tc qdisc replace dev eth0 parent 100:1 handle 101: etf clockid CLOCK_TAI \
    delta 200000 offload
tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo limit 1000
ip link add link eth0 name eth0.1 type vlan id 1 \
    egress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 \
    ingress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
ip link set dev eth0.1 up
#   num_tc 2: one for each class of the discipline; class 0 is the highest
#   map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1: class of the priorities 0 to 15: PCP 0 to 7 by `priorities`, others in the last class
#   queues: COUNT@FIRST for each class: the highest has queue 0, which the Intel I210 sends first
#   delta 200000: ns: `delta` of the scenario, for the time from the kernel to the wire
#   limit 1000: frames of class `best effort`: Linux's txqueuelen, the default of scenarios

