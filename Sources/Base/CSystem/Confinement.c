// DESIGN: a helper process decodes untrusted files with libraries that have had vulnerabilities. The helper is confined
// in layers. The kernel may not support all layers; each layer alone prevents most attacks.
//
// 1. Before exec (Spawn.c): no new privileges, no inherited files, limits, separate user and network namespaces.
// 2. Before the helper loads its libraries: Landlock. The helper can read only the folders of libraries, and cannot
//    write or execute files.
// 3. Before the first photo: seccomp. Only the system calls for decoding are allowed. All other calls fail with EPERM,
//    so that a library that tries such a call can continue. The helper can no longer open files.

#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void csystem_hide_process(void) { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

void csystem_offer_to_memory_killer(void) {
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score < 0) return;
    (void)!write(score, "1000", 4);
    close(score);
}

// MARK: - Landlock

// System call numbers and flags of landlock(7), which are the same on all architectures. The headers of Debian 12 do
// not define all of them.
enum {
    LANDLOCK_CREATE_RULESET = 444,
    LANDLOCK_ADD_RULE = 445,
    LANDLOCK_RESTRICT_SELF = 446,
    LANDLOCK_VERSION = 1 << 0,
    LANDLOCK_PATH_BENEATH = 1,
    LANDLOCK_READ_FILE = 1 << 2,
    LANDLOCK_READ_DIR = 1 << 3,
};

struct landlock_ruleset {
    uint64_t files, network, scopes;
};

struct landlock_path {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

static int landlock_version(void) {
    long version = syscall(LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_VERSION);
    return version > 0 ? (int)version : 0;
}

// Returns all rights that this Landlock version can restrict: files, TCP bind and connect, signals to other processes,
// and connections to their sockets.
static struct landlock_ruleset landlock_everything(int version) {
    int rights = version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13;
    return (struct landlock_ruleset){
        .files = (1ULL << rights) - 1, .network = version >= 4 ? 3 : 0, .scopes = version >= 6 ? 3 : 0};
}

static void landlock_allow_reading(int ruleset, const char *path) {
    int parent = open(path, O_PATH | O_CLOEXEC);
    if (parent < 0) return;
    struct stat status;
    bool is_folder = fstat(parent, &status) == 0 && S_ISDIR(status.st_mode);
    struct landlock_path rule = {LANDLOCK_READ_FILE | (is_folder ? LANDLOCK_READ_DIR : 0), parent};
    syscall(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_PATH_BENEATH, &rule, 0);
    close(parent);
}

int csystem_confine_files(void) {
    int version = landlock_version();
    if (version == 0) return 1;
    struct landlock_ruleset everything = landlock_everything(version);
    int ruleset = (int)syscall(LANDLOCK_CREATE_RULESET, &everything, sizeof everything, 0);
    if (ruleset < 0) return -1;
    // The folders of libraries and their plug-ins, and the CPU information that libraries read.
    static const char *const readable[] = {"/usr", "/lib", "/lib64", "/opt", "/etc/ld.so.cache", "/sys/devices/system"};
    for (size_t i = 0; i < sizeof readable / sizeof readable[0]; i++) landlock_allow_reading(ruleset, readable[i]);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int result = (int)syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0);
    close(ruleset);
    return result;
}

// MARK: - seccomp

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE

// The system calls of decoders, encoders, threads and the single open connection.
static const int allowed_calls[] = {
    __NR_futex, __NR_read, __NR_write, __NR_readv, __NR_writev, __NR_recvfrom, __NR_sendto, __NR_ppoll, __NR_close, __NR_dup,
    __NR_mmap, __NR_munmap, __NR_mprotect, __NR_mremap, __NR_madvise, __NR_brk, __NR_clock_gettime, __NR_clock_getres,
    __NR_clock_nanosleep, __NR_nanosleep, __NR_gettimeofday, __NR_getpid, __NR_gettid, __NR_getppid, __NR_getuid,
    __NR_geteuid, __NR_getgid, __NR_getegid, __NR_getrandom, __NR_getrusage, __NR_getcpu, __NR_getpriority, __NR_sysinfo,
    __NR_uname, __NR_sched_yield, __NR_sched_getaffinity, __NR_sched_getattr, __NR_sched_getparam,
    __NR_sched_getscheduler, __NR_sched_get_priority_max, __NR_sched_get_priority_min, __NR_get_mempolicy,
    __NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_sigaltstack, __NR_restart_syscall,
    __NR_set_robust_list, __NR_rseq, __NR_membarrier, __NR_exit, __NR_exit_group, __NR_lseek, __NR_fstat,
    // System calls of Swift's timers and queues, for custom filters.
    __NR_epoll_create1, __NR_epoll_ctl, __NR_epoll_pwait, __NR_eventfd2, __NR_timerfd_create, __NR_timerfd_settime,
#ifdef __x86_64__
    __NR_poll, __NR_epoll_wait, __NR_time,
#endif
};

struct program {
    struct sock_filter code[512];
    unsigned short count;
};

static void add(struct program *program, uint16_t code, uint32_t value, uint8_t if_true, uint8_t if_false) {
    program->code[program->count++] = (struct sock_filter){code, if_true, if_false, value};
}

static void load(struct program *program, size_t offset) { add(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0); }

static void answer(struct program *program, uint32_t action) { add(program, BPF_RET | BPF_K, action, 0, 0); }

// Adds a rule: for the system call `call`, the filter returns `action`. The rule expects the number of the current
// system call in the accumulator, and does not change the accumulator.
static void decide(struct program *program, int call, uint32_t action) {
    add(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1);
    answer(program, action);
}

// A condition: the index of a 32-bit half of an argument (0 is the low half of the first argument), a mask, and the
// value that the half must have after masking.
struct condition {
    int half;
    uint32_t mask, value;
};

// Allows a call if all conditions hold. Otherwise the next rules decide.
static void allow_if(struct program *program, int call, const struct condition *conditions, int count) {
    enum { STEPS = 3 };
    add(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, (uint8_t)(STEPS * count + 2));
    for (int i = 0; i < count; i++) {
        // Both architectures store the low half first.
        load(program, offsetof(struct seccomp_data, args) + 4 * (size_t)conditions[i].half);
        add(program, BPF_ALU | BPF_AND | BPF_K, conditions[i].mask, 0, 0);
        add(program, BPF_JMP | BPF_JEQ | BPF_K, conditions[i].value, 0, (uint8_t)(STEPS * (count - 1 - i) + 1));
    }
    answer(program, SECCOMP_RET_ALLOW);
    load(program, offsetof(struct seccomp_data, nr));
}

// Allows a call if the masked low half of an argument equals `value`. Otherwise the next rules decide.
static void allow_with(struct program *program, int call, int argument, uint32_t mask, uint32_t value) {
    allow_if(program, call, &(struct condition){2 * argument, mask, value}, 1);
}

static bool has_filter(void) {
    uint32_t action = SECCOMP_RET_ERRNO;
    return syscall(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

int csystem_confine_calls(void) {
    if (!has_filter()) return 1;
    const uint32_t denied = SECCOMP_RET_ERRNO | EPERM, all = ~0U;
    struct program program = {.count = 0};
    load(&program, offsetof(struct seccomp_data, arch));
    add(&program, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    answer(&program, denied);
    // System calls through another interface of the CPU (x32) have numbers that match no rule.
    load(&program, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < sizeof allowed_calls / sizeof allowed_calls[0]; i++)
        decide(&program, allowed_calls[i], SECCOMP_RET_ALLOW);
    // Allows starting threads but not processes. The filter cannot read the arguments of clone3, so clone3 fails, and
    // the C library uses clone.
    decide(&program, __NR_clone3, SECCOMP_RET_ERRNO | ENOSYS);
    allow_with(&program, __NR_clone, 0, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM);
    // Allows signals only to threads of this process. The rules for fcntl below deny commands that could send signals.
    allow_with(&program, __NR_tgkill, 0, all, (uint32_t)getpid());
    // Allows reading limits (glibc's getrlimit), but not setting them: the third argument, the new limit, must be NULL.
    const struct condition reading[] = {{0, all, 0}, {4, all, 0}, {5, all, 0}};
    allow_if(&program, __NR_prlimit64, reading, 3);
    allow_with(&program, __NR_sched_setaffinity, 0, all, 0);
    allow_with(&program, __NR_sched_setattr, 0, all, 0);
    allow_with(&program, __NR_prctl, 0, all, PR_SET_NAME);
    allow_with(&program, __NR_fcntl, 1, all, F_GETFD);
    allow_with(&program, __NR_fcntl, 1, all, F_GETFL);
    answer(&program, denied);

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    struct sock_fprog filter = {program.count, program.code};
    // Also applies the filter to threads that libraries have already started.
    long result = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
    if (result > 0) errno = EBUSY;  // `result` is the id of a thread with a different filter
    return result == 0 ? 0 : -1;
}

#else

static bool has_filter(void) { return false; }

int csystem_confine_calls(void) { return 1; }

#endif

// MARK: - Available layers

bool csystem_enter_namespaces(void) {
    return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
}

static bool has_namespaces(void) {
    pid_t child = fork();
    if (child == 0) _exit(csystem_enter_namespaces() ? 0 : 1);
    int status = 1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return child > 0 && status == 0;
}

struct csystem_confinement csystem_available_confinement(void) {
    return (struct csystem_confinement){has_filter(), landlock_version(), has_namespaces()};
}
