// Places of a peer: files in its folder, and its own address.
#define _GNU_SOURCE
#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

char *peer_path(const struct peer_options *options, const char *name) {
    char *path;
    if (asprintf(&path, "%s/%s", options->folder, name) < 0) peer_fail("no memory");
    return path;
}

const char *peer_local_address(const struct peer_options *options) {
    static char text[INET_ADDRSTRLEN];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)options->port)};
    socklen_t size = sizeof address;
    int probe = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (inet_pton(AF_INET, options->address, &address.sin_addr) != 1) peer_fail("%s: no address", options->address);
    // Connecting a UDP socket sends nothing: it chooses the route.
    if (probe < 0 || connect(probe, (struct sockaddr *)&address, size) != 0 ||
        getsockname(probe, (struct sockaddr *)&address, &size) != 0) {
        peer_fail("%s: %s", options->address, strerror(errno));
    }
    close(probe);
    return inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
}
