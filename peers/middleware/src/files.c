// Files and programs of a peer: configuration, keys and certificates in its private folder.
#define _GNU_SOURCE
#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

char *peer_path(const struct peer_options *options, const char *name) {
    char *path;
    if (asprintf(&path, "%s/%s", options->folder, name) < 0) peer_fail("no memory");
    return path;
}

char *peer_write_file(const struct peer_options *options, const char *name, const char *text) {
    char *path = peer_path(options, name);
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) peer_fail("%s: %s", path, strerror(errno));
    return path;
}

void peer_run_program(const struct peer_options *options, const char *log, const char *const *arguments) {
    char *path = peer_path(options, log);
    pid_t child = fork();
    if (child < 0) peer_fail("fork: %s", strerror(errno));
    if (child == 0) {
        int output = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (output < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0) _exit(126);
        execvp(arguments[0], (char *const *)arguments);
        _exit(127);
    }
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) peer_fail("%s: %s", arguments[0], strerror(errno));
    }
    if (status != 0) peer_fail("%s failed, see %s", arguments[0], path);
    free(path);
}

const char *peer_local_address(const struct peer_options *options) {
    static char text[INET_ADDRSTRLEN];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)options->port)};
    socklen_t size = sizeof address;
    int probe = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (inet_pton(AF_INET, options->address, &address.sin_addr) != 1) peer_fail("%s: no IPv4 address", options->address);
    // Connecting a UDP socket sends nothing: it chooses the route.
    if (probe < 0 || connect(probe, (struct sockaddr *)&address, size) != 0 ||
        getsockname(probe, (struct sockaddr *)&address, &size) != 0) {
        peer_fail("%s: %s", options->address, strerror(errno));
    }
    close(probe);
    return inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
}
