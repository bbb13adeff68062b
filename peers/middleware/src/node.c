#define _GNU_SOURCE
#include "node.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND 1000000000ll
// Time after which a message counts as lost.
#define ROUND_TRIP (10 * SECOND)
// Time after which a thread that waits looks whether the process has to end.
#define WAIT (SECOND / 5)
// Bytes at the beginning of a message: its stream and its number.
#define HEAD 8

struct message {
    struct message *next;
    size_t size;
    uint8_t data[];
};

// State that all threads share. The mutex guards all of it.
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    const struct node_options *options;
    const struct node *node;
    // Messages of a hop that has a queue.
    struct message *first, *last;
    // Round of the end: streams whose message is missing, and wrong messages.
    bool is_open[NODE_STREAMS];
    size_t open;
    uint32_t number;
    size_t size;
    uint8_t *expected;
    unsigned long wrong;
} shared = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void reject(const char *format, const char *text) {
    fprintf(stderr, format, text);
    fprintf(stderr, "\n");
    exit(2);
}

static int parse_number(const char *text, const char *end_characters, const char **end) {
    char *after;
    long number = strtol(text, &after, 10);
    if (after == text || strchr(end_characters, *after) == NULL || number < 1 || number > 65535) {
        reject("`%s` is no number from 1 to 65535", text);
    }
    *end = after;
    return (int)number;
}

// Reads a list of numbers. Returns their count.
static size_t parse_numbers(int *numbers, size_t most, const char *text) {
    size_t count = 0;
    while (*text != '\0') {
        if (count == most) reject("`%s`: too many nodes", text);
        numbers[count++] = parse_number(text, ",", &text);
        text += *text == ',';
    }
    return count;
}

// Reads the numbers of all nodes from a file, in a line.
static size_t read_peers(int *numbers, const char *path) {
    char *line = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL || getline(&line, &size, file) < 0) reject("%s cannot be read", path);
    fclose(file);
    line[strcspn(line, "\n")] = '\0';
    size_t count = parse_numbers(numbers, NODE_PEERS, line);
    free(line);
    return count;
}

struct node_options node_parse(int argc, char **argv) {
    static struct node_options options;
    const char *end;
    if (argc < 2) reject("usage: %s hop|end --address IP --port N --next N[,N] --folder DIR", argv[0]);
    options.is_end = strcmp(argv[1], "end") == 0;
    if (!options.is_end && strcmp(argv[1], "hop") != 0) reject("`%s` is no role: hop or end", argv[1]);
    for (int at = 2; at < argc; at += 2) {
        const char *value = argv[at + 1];
        if (value == NULL) reject("%s has no value", argv[at]);
        if (strcmp(argv[at], "--address") == 0) {
            options.address = value;
        } else if (strcmp(argv[at], "--port") == 0) {
            options.port = parse_number(value, "", &end);
        } else if (strcmp(argv[at], "--next") == 0) {
            options.next_count = parse_numbers(options.next, NODE_STREAMS, value);
        } else if (strcmp(argv[at], "--peers") == 0) {
            options.peer_count = read_peers(options.peers, value);
        } else if (strcmp(argv[at], "--broker") == 0) {
            options.broker = parse_number(value, "", &end);
        } else if (strcmp(argv[at], "--folder") == 0) {
            options.folder = value;
        } else {
            reject("unknown argument %s", argv[at]);
        }
    }
    if (options.address == NULL || options.folder == NULL || options.port == 0 || options.next_count == 0 || (!options.is_end && options.next_count != 1)) {
        reject("%s: --address, --port, --next and --folder are necessary; a hop has one --next", argv[0]);
    }
    if (options.peer_count == 0) {
        memcpy(options.peers, options.next, sizeof options.next);
        options.peer_count = options.next_count;
    }
    peer_prepare();
    return options;
}

static void write_number(uint8_t *data, uint32_t number) {
    for (int at = 0; at < 4; at++) data[at] = (uint8_t)(number >> 8 * at);
}

static uint32_t read_number(const uint8_t *data) {
    return data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

// Writes a message: its stream, its number, and bytes that depend on both.
static void fill(uint8_t *data, size_t size, uint32_t stream, uint32_t number) {
    for (size_t at = HEAD; at < size; at++) data[at] = (uint8_t)(stream + number + 31 * at);
    write_number(data, stream);
    write_number(data + 4, number);
}

// Takes a message at the end of its stream. The mutex is held.
static void take_end(const uint8_t *data, size_t size) {
    uint32_t stream = size < HEAD ? NODE_STREAMS : read_number(data);
    if (size != shared.size || stream >= NODE_STREAMS || !shared.is_open[stream]) {
        shared.wrong++;
        return;
    }
    fill(shared.expected, size, stream, shared.number);
    if (memcmp(shared.expected, data, size) != 0) {
        // A message of an earlier round that came late is one of these.
        shared.wrong++;
        return;
    }
    shared.is_open[stream] = false;
    shared.open--;
}

void node_take(const void *data, size_t size) {
    if (!shared.options->is_end && !shared.node->has_queue) {
        if (!shared.node->send(shared.node->context, 0, data, size)) peer_fail("the connection is lost");
        return;
    }
    struct message *message = NULL;
    if (!shared.options->is_end) {
        message = malloc(sizeof *message + size);
        if (message == NULL) peer_fail("no memory");
        *message = (struct message){.size = size};
        memcpy(message->data, data, size);
    }
    pthread_mutex_lock(&shared.mutex);
    if (message == NULL) {
        take_end(data, size);
    } else {
        if (shared.first == NULL) shared.first = message;
        if (shared.last != NULL) shared.last->next = message;
        shared.last = message;
    }
    pthread_cond_signal(&shared.changed);
    pthread_mutex_unlock(&shared.mutex);
}

// Waits for a change. The mutex is held.
static void wait_changed(int64_t deadline) {
    struct timespec time = {.tv_sec = deadline / SECOND, .tv_nsec = deadline % SECOND};
    pthread_cond_timedwait(&shared.changed, &shared.mutex, &time);
}

// Sends the messages of the queue, one after the other.
static void pass_on(const struct node *node) {
    while (!peer_stopped()) {
        pthread_mutex_lock(&shared.mutex);
        if (shared.first == NULL) wait_changed(peer_now() + WAIT);
        struct message *message = shared.first;
        if (message != NULL) {
            shared.first = message->next;
            if (shared.first == NULL) shared.last = NULL;
        }
        pthread_mutex_unlock(&shared.mutex);
        if (message == NULL) continue;
        if (!node->send(node->context, 0, message->data, message->size)) peer_fail("the connection is lost");
        free(message);
    }
}

// Waits until the message of each stream is back. Returns false if one is missing.
static bool collect(const struct node *node, int64_t deadline) {
    for (;;) {
        pthread_mutex_lock(&shared.mutex);
        size_t open = shared.open;
        if (open > 0 && node->receive == NULL) wait_changed(deadline);
        pthread_mutex_unlock(&shared.mutex);
        if (open == 0) return true;
        if (peer_now() >= deadline || peer_stopped()) return false;
        if (node->receive != NULL && !node->receive(node->context, deadline)) peer_fail("the connection is lost");
    }
}

// One message through each stream, `count` times.
static void run(const struct node_options *options, const struct node *node, const char *line) {
    unsigned long size, count, missing = 0;
    if (sscanf(line, "run %lu %lu", &size, &count) != 2 || size < HEAD || size > PEER_LARGEST || count < 1) {
        peer_fail("`%s` is no command", line);
    }
    uint8_t *data = malloc(size);
    free(shared.expected);
    shared.expected = malloc(size);
    if (data == NULL || shared.expected == NULL) peer_fail("no memory");
    shared.wrong = 0;
    for (uint32_t number = 0; number < count && !peer_stopped(); number++) {
        pthread_mutex_lock(&shared.mutex);
        shared.size = size;
        shared.number = number;
        shared.open = options->next_count;
        for (size_t stream = 0; stream < NODE_STREAMS; stream++) shared.is_open[stream] = stream < shared.open;
        pthread_mutex_unlock(&shared.mutex);
        int64_t begin = peer_now();
        for (size_t stream = 0; stream < options->next_count; stream++) {
            fill(data, size, (uint32_t)stream, number);
            if (!node->send(node->context, stream, data, size)) peer_fail("the connection is lost");
        }
        if (collect(node, begin + ROUND_TRIP)) {
            printf("sample %lld\n", (long long)(peer_now() - begin));
        } else {
            pthread_mutex_lock(&shared.mutex);
            missing += shared.open;
            pthread_mutex_unlock(&shared.mutex);
            printf("sample lost\n");
        }
    }
    printf("errors wrong=%lu lost=%lu\ndone\n", shared.wrong, missing);
    fflush(stdout);
    free(data);
}

void node_prepare(const struct node_options *options, const struct node *node) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&shared.changed, &attributes);
    shared.options = options;
    shared.node = node;
}

void node_run(const struct node_options *options, const struct node *node) {
    char line[128];
    printf("ready\n");
    fflush(stdout);
    if (!peer_read_line(line, sizeof line)) return;
    if (strcmp(line, "connect") != 0) peer_fail("`%s` is no command", line);
    node->connect(node->context);
    printf("connected\n");
    fflush(stdout);
    peer_watch(!options->is_end, NULL, NULL);
    if (options->is_end) {
        while (peer_read_line(line, sizeof line)) run(options, node, line);
        return;
    }
    if (node->receive == NULL && node->has_queue) pass_on(node);
    while (node->receive != NULL && !peer_stopped()) {
        if (!node->receive(node->context, peer_now() + WAIT)) peer_fail("the connection is lost");
    }
    peer_wait_stopped();
}
