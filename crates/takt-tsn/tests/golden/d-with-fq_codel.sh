# host1 → host2: fq_codel at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: fq_codel limit 10240 flows 1024 \
    quantum 1514 target 5000us interval 100000us memory_limit 33554432 ecn
ip link add link eth0 name eth0.1 type vlan id 1 \
    egress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 \
    ingress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
ip link set dev eth0.1 up
#   limit 10240: default of Linux
#   flows 1024: default of Linux
#   quantum 1514: default of Linux
#   target 5000us: default of Linux
#   interval 100000us: default of Linux
#   memory_limit 33554432: default of Linux
#   ecn: default of Linux

# host2 → host1: fq_codel at eth0
tc qdisc del dev eth0 root 2>/dev/null || true
tc qdisc replace dev eth0 root handle 100: fq_codel limit 10240 flows 1024 \
    quantum 1514 target 5000us interval 100000us memory_limit 33554432 ecn
ip link add link eth0 name eth0.1 type vlan id 1 \
    egress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 \
    ingress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
ip link set dev eth0.1 up
#   limit 10240: default of Linux
#   flows 1024: default of Linux
#   quantum 1514: default of Linux
#   target 5000us: default of Linux
#   interval 100000us: default of Linux
#   memory_limit 33554432: default of Linux
#   ecn: default of Linux

