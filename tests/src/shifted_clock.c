/* Shifts the real-time clock of a process: LD_PRELOAD names this library, TAKT_SHIFTED_CLOCK a file with the shift in
   seconds, a 64-bit integer of this machine. A test changes the file while the process runs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *shift;
static int (*original)(clockid_t, struct timespec *);

__attribute__((constructor)) static void open_shift(void) {
    original = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const char *path = getenv("TAKT_SHIFTED_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *memory = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (memory != MAP_FAILED)
        shift = memory;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!original)
        open_shift();
    int result = original(clock, time);
    if (result == 0 && clock == CLOCK_REALTIME && shift)
        time->tv_sec += *shift;
    return result;
}
