// Raw UDP: the floor of all datagram transports. Echo on the first port, ACK on the second one.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer.h"

static uint8_t buffer[PEER_LARGEST];

struct floor {
    bool poll;
    int sockets[2];
    enum peer_mode mode;
};

static int open_socket(const struct peer_options *options, int offset) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)(options->port + offset))};
    if (inet_pton(AF_INET, options->address, &address.sin_addr) != 1) peer_fail("%s: no address", options->address);
    int opened = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool server = options->role == PEER_SERVER;
    int (*place)(int, const struct sockaddr *, socklen_t) = server ? bind : connect;
    if (opened < 0 || place(opened, (const struct sockaddr *)&address, sizeof address) != 0) {
        peer_fail("port %d: %s", options->port + offset, strerror(errno));
    }
    return opened;
}

static bool send_request(void *context, enum peer_mode mode, const uint8_t *data, size_t size) {
    struct floor *floor = context;
    floor->mode = mode;
    return send(floor->sockets[mode], data, size, 0) == (ssize_t)size;
}

static bool receive_answer(void *context, int64_t deadline) {
    struct floor *floor = context;
    int from = floor->sockets[floor->mode];
    if (!floor->poll) {
        struct pollfd event = {.fd = from, .events = POLLIN};
        int left = (int)((deadline - peer_now()) / 1000000);
        if (poll(&event, 1, left < 0 ? 0 : left + 1) == 0) return true;
    }
    ssize_t size = recv(from, buffer, sizeof buffer, MSG_DONTWAIT);
    if (size > 0) peer_answer(buffer, (size_t)size);
    return size > 0 || errno == EAGAIN;
}

static void answer(int opened, enum peer_mode mode) {
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    ssize_t size = recvfrom(opened, buffer, sizeof buffer, MSG_DONTWAIT, (struct sockaddr *)&from, &length);
    if (size <= 0) return;
    uint8_t sum = peer_sum(buffer, mode == PEER_ACK ? (size_t)size : 0);
    const void *data = mode == PEER_ACK ? (const void *)&sum : buffer;
    if (sendto(opened, data, mode == PEER_ACK ? 1 : (size_t)size, 0, (struct sockaddr *)&from, length) < 0) {
        peer_fail("sendto: %s", strerror(errno));
    }
}

int main(int argc, char **argv) {
    struct peer_options options = peer_parse(argc, argv, "poll");
    struct floor floor = {.poll = options.poll};
    for (int mode = 0; mode < 2; mode++) floor.sockets[mode] = open_socket(&options, mode);
    peer_info("version", "1");
    if (options.role == PEER_CLIENT) {
        struct peer_client client = {&floor, send_request, receive_answer};
        peer_run_client(&options, &client);
        return 0;
    }
    peer_start_server(NULL, NULL);
    while (!peer_stopped()) {
        struct pollfd events[2] = {{.fd = floor.sockets[0], .events = POLLIN},
                                   {.fd = floor.sockets[1], .events = POLLIN}};
        if (!options.poll) poll(events, 2, 100);
        for (int mode = 0; mode < 2; mode++) {
            if (options.poll || events[mode].revents != 0) answer(floor.sockets[mode], (enum peer_mode)mode);
        }
    }
    return 0;
}
