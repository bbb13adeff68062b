// Socket of a connection of Paho C.
#ifndef TAKT_MQTT_SOCKET_H
#define TAKT_MQTT_SOCKET_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "peer.h"

// Sets TCP_NODELAY on the socket of the connection to the broker. Paho C 1.3 has no option for it, and without it each
// acknowledgement of QoS 1 and 2, and each large TLS record, waits for the broker's delayed TCP acknowledgement (40
// ms).
static inline void mqtt_set_no_delay(int broker_port) {
    for (int candidate = 3; candidate < 64; candidate++) {
        struct sockaddr_in address;
        socklen_t size = sizeof address;
        if (getpeername(candidate, (struct sockaddr *)&address, &size) != 0 || address.sin_family != AF_INET ||
            ntohs(address.sin_port) != broker_port) {
            continue;
        }
        int on = 1;
        if (setsockopt(candidate, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
            peer_fail("TCP_NODELAY cannot be set");
        }
        return;
    }
    peer_fail("the socket of the connection is not found");
}

#endif
