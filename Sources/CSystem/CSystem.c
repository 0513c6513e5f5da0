#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

pid_t csystem_spawn_bound(char *const arguments[], int log_descriptor) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) return -1;
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        setpgid(0, 0);  // an interrupt at the terminal is the parent's to handle
        int null = open("/dev/null", O_RDONLY);
        if (null >= 0) dup2(null, STDIN_FILENO);
        if (log_descriptor >= 0) {
            dup2(log_descriptor, STDOUT_FILENO);
            dup2(log_descriptor, STDERR_FILENO);
        }
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent) _exit(127);
        execvp(arguments[0], arguments);
        int error = errno;
        (void)!write(report[1], &error, sizeof error);
        _exit(127);
    }
    int failure = errno;
    close(report[1]);
    if (child > 0 && read(report[0], &failure, sizeof failure) == sizeof failure) child = -1;
    close(report[0]);
    if (child < 0) errno = failure;
    return child;
}

int csystem_syncfs(int descriptor) { return syncfs(descriptor); }

void csystem_name_thread(const char *name) { prctl(PR_SET_NAME, name); }

void csystem_bound_heap(void) {
    mallopt(M_ARENA_MAX, 4);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
}
