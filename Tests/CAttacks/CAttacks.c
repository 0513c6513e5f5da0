#define _GNU_SOURCE
#include "CAttacks.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static bool run_program(void) { return execl("/bin/true", "true", (char *)NULL) == 0; }

static bool fork_process(void) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    return child > 0;
}

// Past the C library, which does not use it where it fails.
static bool fork_by_clone3(void) {
    struct {
        unsigned long long flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
    } arguments = {.exit_signal = SIGCHLD};
    long child = syscall(__NR_clone3, &arguments, sizeof arguments);
    if (child == 0) _exit(0);
    if (errno == ENOSYS) errno = EPERM;  // what the filter says of it
    return child > 0;
}

static bool open_tcp(void) { return socket(AF_INET, SOCK_STREAM, 0) >= 0; }
static bool open_unix(void) { return socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }
static bool read_file(void) { return open("/etc/passwd", O_RDONLY) >= 0; }
static bool read_library(void) { return open("/usr/bin/env", O_RDONLY) >= 0; }
static bool look_for_file(void) { return access("/etc/passwd", F_OK) == 0; }
static bool remove_file(void) { return unlink("/tmp/darkroom-attack") == 0 || errno == ENOENT; }

static bool read_environment(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)getppid());
    return open(path, O_RDONLY) >= 0;
}

static bool write_large_file(void) {
    int file = open("/tmp", O_TMPFILE | O_WRONLY, 0600);
    return file >= 0 && ftruncate(file, 10LL << 30) == 0;
}

static bool read_memory(void) {
    char byte;
    struct iovec own = {&byte, 1}, other = {&byte, 1};
    return process_vm_readv(getppid(), &own, 1, &other, 1, 0) >= 0;
}

static bool trace(void) { return ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) == 0; }

// Signal 0 does nothing but find out whether it may be sent.
static bool send_signal(void) { return kill(getppid(), 0) == 0; }
static bool send_thread_signal(void) { return tgkill(getppid(), getppid(), 0) == 0; }
static bool signal_by_file(void) { return fcntl(STDIN_FILENO, F_SETOWN, getppid()) == 0; }

static bool limit_parent(void) {
    struct rlimit limit = {1, 1};
    return prlimit(getppid(), RLIMIT_CORE, &limit, NULL) == 0;
}

static bool enter_namespace(void) { return unshare(CLONE_NEWNS) == 0; }

static const struct {
    const char *name;
    bool (*run)(void);
} attacks[] = {
    {"exec", run_program},
    {"fork", fork_process},
    {"clone3", fork_by_clone3},
    {"tcp", open_tcp},
    {"unix", open_unix},
    {"read", read_file},
    {"library", read_library},
    {"look", look_for_file},
    {"remove", remove_file},
    {"environ", read_environment},
    {"write", write_large_file},
    {"peek", read_memory},
    {"trace", trace},
    {"kill", send_signal},
    {"tgkill", send_thread_signal},
    {"owner", signal_by_file},
    {"limits", limit_parent},
    {"namespace", enter_namespace},
};

static bool (*find(const char *name))(void) {
    for (size_t i = 0; i < sizeof attacks / sizeof attacks[0]; i++)
        if (strcmp(attacks[i].name, name) == 0) return attacks[i].run;
    return NULL;
}

bool attack_exists(const char *name) { return find(name) != NULL; }

bool attack(const char *name) {
    errno = 0;
    return find(name)();
}
