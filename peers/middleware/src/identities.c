// Identities and documents of DDS Security.
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.h"

// Path of the script: it is beside the program.
static char *script(void) {
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program);
    if (length < 0 || (size_t)length == sizeof program) peer_fail("the program's path is not known");
    program[length] = '\0';
    struct peer_options beside = {.folder = program};
    *strrchr(program, '/') = '\0';
    return peer_path(&beside, "dds-security.sh");
}

void peer_make_identities(const struct peer_options *options) {
    if (options->role != PEER_SERVER) return;
    char *path = script();
    char shell[] = "sh";
    char *folder = strdup(options->folder);
    char *words[] = {shell, path, folder, NULL};
    pid_t child;
    int status = -1;
    int code = posix_spawnp(&child, shell, NULL, NULL, words, environ);
    if (code != 0) peer_fail("sh: %s", strerror(code));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (status != 0) peer_fail("openssl: %s/dds-security.log", options->folder);
    free(path);
    free(folder);
}

const char *peer_identity(const struct peer_options *options) {
    return options->role == PEER_SERVER ? "server" : "client";
}
