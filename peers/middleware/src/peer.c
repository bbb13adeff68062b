#define _GNU_SOURCE
#include "peer.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ll
// Time after which a request counts as lost.
#define ANSWER_TIMEOUT (2 * SECOND)
// Time that discovery may take.
#define DISCOVERY_TIMEOUT (10 * SECOND)
// Largest number of requests of one run.
#define MOST_REQUESTS 1000000ul
// Seconds that a peer has to end itself.
#define END_SECONDS 5
#define LOST (-1)

// Request that waits for its answer, and the counts of a run. The mutex guards all but `answered`.
static struct {
    pthread_mutex_t mutex;
    uint32_t answered;
    bool running;
    enum peer_mode mode;
    size_t size;
    size_t number;
    int64_t *samples;
    int64_t start;
    uint8_t answer[PEER_LARGEST];
    size_t answer_size;
    unsigned long wrong, lost, late, duplicate;
} request = {.mutex = PTHREAD_MUTEX_INITIALIZER, .answered = 1};

static int stop_event = -1;
static int stop_flag;

int64_t peer_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

uint8_t peer_sum(const void *data, size_t size) {
    const uint8_t *bytes = data;
    uint8_t sum = 0;
    for (size_t at = 0; at < size; at++) sum = (uint8_t)(sum + bytes[at]);
    return sum;
}

void peer_info(const char *key, const char *format, ...) {
    va_list list;
    va_start(list, format);
    printf("info %s ", key);
    vprintf(format, list);
    printf("\n");
    fflush(stdout);
    va_end(list);
}

void peer_fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    _exit(1);
}

void peer_prepare(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    stop_event = eventfd(0, EFD_CLOEXEC);
    if (stop_event < 0) peer_fail("eventfd: %s", strerror(errno));
}

bool peer_stopped(void) { return __atomic_load_n(&stop_flag, __ATOMIC_ACQUIRE) != 0; }

void peer_stop(void) {
    uint64_t one = 1;
    __atomic_store_n(&stop_flag, 1, __ATOMIC_RELEASE);
    if (write(stop_event, &one, sizeof one) < 0) _exit(1);
}

void peer_wait_stopped(void) {
    struct pollfd event = {.fd = stop_event, .events = POLLIN};
    while (!peer_stopped()) poll(&event, 1, -1);
}

struct watcher {
    bool input;
    void (*wake)(void *context);
    void *context;
};

// Thread that waits for the end of stdin (server) or a signal, stops the peer, and ends it if it hangs.
static void *watch(void *argument) {
    struct watcher watcher = *(struct watcher *)argument;
    free(argument);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    struct pollfd events[2] = {{.fd = signalfd(-1, &signals, SFD_CLOEXEC), .events = POLLIN},
                               {.fd = watcher.input ? STDIN_FILENO : -1, .events = POLLIN}};
    for (;;) {
        if (poll(events, 2, -1) < 0) continue;
        if (events[0].revents != 0) break;
        char bytes[256];
        if (events[1].revents != 0 && read(STDIN_FILENO, bytes, sizeof bytes) <= 0) break;
    }
    peer_stop();
    if (watcher.wake != NULL) watcher.wake(watcher.context);
    sleep(END_SECONDS);
    peer_fail("the peer did not end within %d s", END_SECONDS);
}

void peer_watch(bool input, void (*wake)(void *context), void *context) {
    struct watcher *watcher = malloc(sizeof *watcher);
    pthread_t thread;
    if (watcher == NULL) peer_fail("no memory");
    *watcher = (struct watcher){input, wake, context};
    if (pthread_create(&thread, NULL, watch, watcher) != 0) peer_fail("no thread");
    pthread_detach(thread);
}

void peer_start_server(void (*wake)(void *context), void *context) {
    printf("ready\n");
    fflush(stdout);
    peer_watch(true, wake, context);
}

static void fill(uint8_t *data, size_t size, size_t number) {
    data[0] = (uint8_t)number;
    data[1] = (uint8_t)(number >> 8);
    for (size_t at = 2; at < size; at++) data[at] = (uint8_t)(number + 31 * at);
}

static uint8_t acknowledgement(size_t number, size_t size) {
    static uint8_t data[PEER_LARGEST];
    fill(data, size, number);
    return peer_sum(data, size);
}

// Number of the earlier request that an answer belongs to, or `request.number` if there is none.
static size_t earlier(const uint8_t *data, size_t size) {
    if (request.mode == PEER_ECHO) {
        if (size != request.size) return request.number;
        size_t back = (uint16_t)(request.number - (data[0] | (size_t)data[1] << 8));
        return back > request.number ? request.number : request.number - back;
    }
    for (size_t number = request.number; number-- > 0 && request.number - number <= 256;) {
        if (request.samples[number] == LOST && data[0] == acknowledgement(number, request.size)) return number;
    }
    return request.number;
}

void peer_answer(const void *data, size_t size) {
    int64_t time = peer_now();
    pthread_mutex_lock(&request.mutex);
    size_t wanted = request.mode == PEER_ECHO ? request.size : 1;
    if (size != wanted || size < 1) {
        request.wrong++;
    } else if (request.mode == PEER_ACK && request.answered == 0 && request.lost == request.late) {
        request.samples[request.number] = time - request.start;
        request.answer[0] = *(const uint8_t *)data;
        request.answer_size = 1;
        __atomic_store_n(&request.answered, 1, __ATOMIC_RELEASE);
    } else {
        size_t number = request.mode == PEER_ACK && request.answered == 0 &&
                                *(const uint8_t *)data == acknowledgement(request.number, request.size)
                            ? request.number
                            : earlier(data, size);
        if (number == request.number && request.answered == 0 && request.running) {
            request.samples[number] = time - request.start;
            memcpy(request.answer, data, size);
            request.answer_size = size;
            __atomic_store_n(&request.answered, 1, __ATOMIC_RELEASE);
        } else if (request.running && number < request.number && request.samples[number] == LOST) {
            request.late++;
        } else {
            request.duplicate++;
        }
    }
    pthread_mutex_unlock(&request.mutex);
    syscall(SYS_futex, &request.answered, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool peer_answered(void) { return __atomic_load_n(&request.answered, __ATOMIC_ACQUIRE) != 0; }

// Waits for the answer of another thread.
static void wait_answer(const struct peer_options *options, int64_t deadline) {
    while (!peer_answered()) {
        int64_t left = deadline - peer_now();
        if (left <= 0) return;
        if (options->poll) continue;
        struct timespec time = {.tv_sec = left / SECOND, .tv_nsec = left % SECOND};
        syscall(SYS_futex, &request.answered, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
    }
}

static void check_answer(const uint8_t *data, size_t number) {
    if (!peer_answered()) {
        request.lost++;
        request.samples[number] = LOST;
    } else if (request.mode == PEER_ACK) {
        request.wrong += request.answer[0] != peer_sum(data, request.size);
    } else {
        request.wrong += request.answer_size != request.size || memcmp(request.answer, data, request.size) != 0;
    }
}

static void print_run(size_t count) {
    for (size_t number = 0; number < count; number++) {
        if (request.samples[number] == LOST) {
            printf("sample lost\n");
        } else {
            printf("sample %lld\n", (long long)request.samples[number]);
        }
    }
    printf("errors wrong=%lu lost=%lu late=%lu duplicate=%lu\ndone\n", request.wrong, request.lost, request.late,
           request.duplicate);
    fflush(stdout);
}

// Sleeps a random time, shorter if the process has to end.
static void pause_before(uint64_t *state, unsigned long wait_ms) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    struct pollfd event = {.fd = stop_event, .events = POLLIN};
    int64_t time = (int64_t)(*state % (wait_ms * 1000 + 1)) * 1000;
    struct timespec left = {.tv_sec = time / SECOND, .tv_nsec = time % SECOND};
    ppoll(&event, 1, &left, NULL);
}

static void run(const struct peer_options *options, const struct peer_client *client, const char *line) {
    static uint8_t data[PEER_LARGEST];
    char word[8];
    unsigned long size, count, wait_ms;
    unsigned long long seed;
    if (sscanf(line, "run %7s %lu %lu %lu %llu", word, &size, &count, &wait_ms, &seed) != 5 ||
        (strcmp(word, "echo") != 0 && strcmp(word, "ack") != 0) || size < 2 || size > PEER_LARGEST || count < 1 ||
        count > MOST_REQUESTS || wait_ms > 60000) {
        peer_fail("`%s` is no command", line);
    }
    int64_t *samples = malloc(count * sizeof *samples);
    if (samples == NULL) peer_fail("no memory");
    for (size_t number = 0; number < count; number++) samples[number] = LOST;
    uint64_t state = seed * 2654435769u + 88172645463325252ull;
    pthread_mutex_lock(&request.mutex);
    request.running = true;
    request.mode = strcmp(word, "echo") == 0 ? PEER_ECHO : PEER_ACK;
    request.size = size;
    free(request.samples);
    request.samples = samples;
    request.wrong = request.lost = request.late = request.duplicate = 0;
    request.number = 0;
    pthread_mutex_unlock(&request.mutex);
    for (size_t number = 0; number < count && !peer_stopped(); number++) {
        if (wait_ms > 0) pause_before(&state, wait_ms);
        fill(data, size, number);
        pthread_mutex_lock(&request.mutex);
        request.number = number;
        __atomic_store_n(&request.answered, 0, __ATOMIC_RELEASE);
        request.start = peer_now();
        pthread_mutex_unlock(&request.mutex);
        int64_t deadline = request.start + ANSWER_TIMEOUT;
        if (!client->send(client->context, request.mode, data, size)) peer_fail("the connection is lost");
        if (client->receive == NULL) {
            wait_answer(options, deadline);
        } else {
            while (!peer_answered() && peer_now() < deadline) {
                if (!client->receive(client->context, deadline)) peer_fail("the connection is lost");
            }
        }
        pthread_mutex_lock(&request.mutex);
        check_answer(data, number);
        __atomic_store_n(&request.answered, 1, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&request.mutex);
    }
    pthread_mutex_lock(&request.mutex);
    request.running = false;
    print_run(count);
    pthread_mutex_unlock(&request.mutex);
}

void peer_discover(const struct peer_options *options, const struct peer_client *client) {
    static const uint8_t data[2] = {0, 0};
    static int64_t sample;
    int64_t end = peer_now() + DISCOVERY_TIMEOUT;
    bool repeated = false;
    for (int mode = PEER_ECHO; mode <= PEER_ACK; mode++) {
        for (;;) {
            pthread_mutex_lock(&request.mutex);
            request.mode = (enum peer_mode)mode;
            request.size = sizeof data;
            request.samples = &sample;
            request.running = true;
            request.start = peer_now();
            __atomic_store_n(&request.answered, 0, __ATOMIC_RELEASE);
            pthread_mutex_unlock(&request.mutex);
            if (request.start > end || peer_stopped()) peer_fail("no answer of the server within 10 s");
            if (!client->send(client->context, (enum peer_mode)mode, data, sizeof data)) {
                peer_fail("the connection is lost");
            }
            int64_t deadline = request.start + SECOND / 5;
            if (client->receive == NULL) wait_answer(options, deadline);
            while (client->receive != NULL && !peer_answered() && peer_now() < deadline) {
                if (!client->receive(client->context, deadline)) peer_fail("the connection is lost");
            }
            if (peer_answered()) break;
            repeated = true;
        }
    }
    // Answers of repeated requests shall not come during the first run.
    for (int64_t quiet = peer_now() + SECOND / 2; repeated && peer_now() < quiet;) {
        if (client->receive == NULL) {
            usleep(100000);
        } else if (!client->receive(client->context, quiet)) {
            peer_fail("the connection is lost");
        }
    }
    pthread_mutex_lock(&request.mutex);
    request.running = false;
    request.samples = NULL;
    pthread_mutex_unlock(&request.mutex);
}

bool peer_read_line(char *line, size_t size) {
    size_t length = 0;
    for (;;) {
        struct pollfd events[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = stop_event, .events = POLLIN}};
        if (poll(events, 2, -1) < 0) continue;
        if (events[1].revents != 0) return false;
        char byte;
        if (read(STDIN_FILENO, &byte, 1) != 1) return false;
        if (byte == '\n') break;
        if (length + 1 == size) peer_fail("a command is too long");
        line[length++] = byte;
    }
    line[length] = '\0';
    return true;
}

void peer_run_client(const struct peer_options *options, const struct peer_client *client) {
    char line[128];
    peer_watch(false, NULL, NULL);
    printf("ready\n");
    fflush(stdout);
    while (peer_read_line(line, sizeof line) && strcmp(line, "quit") != 0) run(options, client, line);
}
