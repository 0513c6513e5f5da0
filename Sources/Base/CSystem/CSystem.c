#define _GNU_SOURCE
#include "CSystem.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int csystem_syncfs(int descriptor) { return syncfs(descriptor); }

const int csystem_path_only = O_PATH;

int csystem_open_beneath(int folder, const char *path, int flags, unsigned mode) {
    // openat2 rejects a mode without O_CREAT or O_TMPFILE.
    struct open_how how = {
        .flags = (unsigned)flags,
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

void csystem_name_thread(const char *name) { prctl(PR_SET_NAME, name); }

void csystem_bound_heap(void) {
    mallopt(M_ARENA_MAX, 4);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

void csystem_reserve_standard_files(void) {
    // open(2) returns the lowest free descriptor.
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0) open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}
