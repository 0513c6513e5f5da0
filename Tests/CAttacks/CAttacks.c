#define _GNU_SOURCE
#include "CAttacks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
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

// Calls clone3 directly, because the C library falls back to clone if clone3 fails.
static bool fork_by_clone3(void) {
    struct {
        unsigned long long flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
    } arguments = {.exit_signal = SIGCHLD};
    long child = syscall(__NR_clone3, &arguments, sizeof arguments);
    if (child == 0) _exit(0);
    if (errno == ENOSYS) errno = EPERM;  // the filter returns ENOSYS for clone3
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

// Signal 0 only checks the permission to send a signal.
static bool send_signal(void) { return kill(getppid(), 0) == 0; }
static bool send_thread_signal(void) { return tgkill(getppid(), getppid(), 0) == 0; }
static bool signal_by_file(void) { return fcntl(STDIN_FILENO, F_SETOWN, getppid()) == 0; }

static bool limit_parent(void) {
    struct rlimit limit = {1, 1};
    return prlimit(getppid(), RLIMIT_CORE, &limit, NULL) == 0;
}

// Reading a limit is allowed. If reading fails, errno is EIO, because the function has not tried to set a limit.
static bool set_limit(int resource) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) {
        errno = EIO;
        return false;
    }
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(resource, &limit) == 0;
}

static bool take_all_memory(void) { return set_limit(RLIMIT_AS); }
static bool take_all_time(void) { return set_limit(RLIMIT_CPU); }

// Uses processor time forever, and blocks the signal of the time limit.
static bool spin(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (volatile unsigned long count = 0;; count++) continue;
}

static bool send_all(const void *bytes, size_t count) {
    for (const char *next = bytes; count > 0;) {
        ssize_t sent = write(STDIN_FILENO, next, count);
        if (sent <= 0) return false;
        next += sent;
        count -= (size_t)sent;
    }
    return true;
}

// Replies to the worker in place of the helper: a JSON header, padded with spaces, and `count` bytes.
static bool answer(const char *json, uint32_t header_count, uint64_t count) {
    unsigned char prefix[12];
    memcpy(prefix, &header_count, 4);
    memcpy(prefix + 4, &count, 8);
    bool sent = send_all(prefix, sizeof prefix) && send_all(json, strlen(json));
    static char block[1 << 16];
    memset(block, ' ', sizeof block);
    uint64_t left = header_count - strlen(json) + count;
    while (sent && left > 0) {
        size_t part = left < sizeof block ? left : sizeof block;
        sent = send_all(block, part);
        left -= part;
    }
    // The helper must not send its own reply afterwards.
    for (;;) pause();
}

static bool answer_much(void) { return answer("{}", 2, 257ULL << 20); }
static bool answer_long_header(void) { return answer("{}", 65 << 10, 0); }
static bool answer_sizes(void) { return answer("{\"pixels\":1}", 12, 0); }

static bool answer_long_detail(void) {
    static char json[60000];
    strcpy(json, "{\"reason\":\"damaged\",\"detail\":\"");
    size_t start = strlen(json);
    memset(json + start, 'x', sizeof json - start - 3);
    strcpy(json + sizeof json - 3, "\"}");
    return answer(json, sizeof json - 1, 0);
}

void refuse_filters(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_seccomp, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SECCOMP_SET_MODE_FILTER, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof code[0], code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
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
    {"take-memory", take_all_memory},
    {"take-time", take_all_time},
    {"spin", spin},
    {"answer-much", answer_much},
    {"answer-header", answer_long_header},
    {"answer-sizes", answer_sizes},
    {"answer-detail", answer_long_detail},
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
