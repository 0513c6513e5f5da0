#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

// The properties of a child process. Between fork and exec, only async-signal-safe functions are called.
struct child {
    const char *program;  // a file, or a name to search in PATH
    char *const *arguments;
    char *const *environment;
    int input;   // standard input; -1: /dev/null
    int output;  // standard output and error; -1: the parent's
    int signal;  // the signal sent when the starting thread ends; 0: none
    bool in_group;  // whether the child stays in the parent's group, which gets the terminal's signals
    int open_files;  // the limit of open files if confined; -1: not confined
    int folder;  // the working folder; -1: the parent's
};

// Encoders start at least one thread for each core; some encoders start several threads for each core.
enum { MAX_THREADS = 4096 };

static void limit(int resource, rlim_t value) {
    struct rlimit limit = {value, value};
    setrlimit(resource, &limit);
}

// An entry of getdents64(2). opendir(3) is not used, because it allocates memory, and another thread may hold the
// allocator's lock during the fork.
struct entry {
    uint64_t node;
    int64_t offset;
    uint16_t length;
    uint8_t kind;
    char name[];
};

// Lists the open files instead of trying all numbers, because the limit of open files may be 2^30 (in containers).
int csystem_close_on_exec_by_listing(int first) {
    int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return -1;
    _Alignas(struct entry) char buffer[4096];
    long count;
    while ((count = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0) {
        for (long at = 0; at < count; at += ((struct entry *)(buffer + at))->length) {
            const char *name = ((struct entry *)(buffer + at))->name;
            int file = 0;
            while (*name >= '0' && *name <= '9') file = file * 10 + (*name++ - '0');
            if (*name == 0 && file >= first) fcntl(file, F_SETFD, FD_CLOEXEC);
        }
    }
    int error = errno;
    close(folder);
    errno = error;
    return count == 0 ? 0 : -1;
}

// Makes exec close all open files except standard input, output and error.
static void keep_standard_files_only(void) {
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
    // Kernels before Linux 5.11 do not have this call with this flag.
    if (csystem_close_on_exec_by_listing(3) == 0) return;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    for (rlim_t file = 3; file < files.rlim_cur; file++) fcntl((int)file, F_SETFD, FD_CLOEXEC);
}

static void confine(int open_files) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    // In the new user namespace, this limit counts only processes of the helper. In the namespace of the parent, it
    // would also count other processes of the user.
    if (csystem_enter_namespaces()) limit(RLIMIT_NPROC, MAX_THREADS);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NOFILE, (rlim_t)open_files);
}

static int limit_other(pid_t process, int resource, rlim_t soft, rlim_t hard) {
    struct rlimit limit;
    if (prlimit(process, resource, NULL, &limit) != 0) return -1;
    if (limit.rlim_max > hard) limit.rlim_max = hard;
    limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
    return prlimit(process, resource, &limit, NULL);
}

int csystem_limit_memory(pid_t process, unsigned long soft, unsigned long hard) {
    return limit_other(process, RLIMIT_AS, soft, hard);
}

int csystem_limit_processor_time(pid_t process, unsigned long seconds) {
    return limit_other(process, RLIMIT_CPU, seconds, seconds);
}

long long csystem_processor_time(pid_t process) {
    clockid_t clock;
    struct timespec used;
    int error = clock_getcpuclockid(process, &clock);
    if (error != 0) {
        errno = error;
        return -1;
    }
    return clock_gettime(clock, &used) == 0 ? used.tv_sec * 1000000000LL + used.tv_nsec : -1;
}

static pid_t spawn(const struct child *child) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) return -1;
    pid_t parent = getpid();
    pid_t id = fork();
    if (id == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        if (!child->in_group) setpgid(0, 0);  // the parent handles terminal interrupts
        // Copies both descriptors first. Otherwise the first dup2 could close the descriptor for the second dup2.
        int input = fcntl(child->input >= 0 ? child->input : open("/dev/null", O_RDONLY), F_DUPFD_CLOEXEC, 3);
        int output = child->output >= 0 ? fcntl(child->output, F_DUPFD_CLOEXEC, 3) : -1;
        if (input >= 0) dup2(input, STDIN_FILENO);
        if (output >= 0) {
            dup2(output, STDOUT_FILENO);
            dup2(output, STDERR_FILENO);
        }
        bool is_there = child->folder < 0 || fchdir(child->folder) == 0;
        if (is_there) {
            keep_standard_files_only();
            if (child->open_files >= 0) confine(child->open_files);
            if (child->signal) prctl(PR_SET_PDEATHSIG, child->signal);
            if (child->signal && getppid() != parent) _exit(127);
            execvpe(child->program, child->arguments, child->environment);
        }
        int error = errno;
        (void)!write(report[1], &error, sizeof error);
        _exit(127);
    }
    int failure = errno;
    close(report[1]);
    if (id > 0 && read(report[0], &failure, sizeof failure) == sizeof failure) id = -1;
    close(report[0]);
    if (id < 0) errno = failure;
    return id;
}

pid_t csystem_spawn_bound(
    char *const arguments[], char *const environment[], int log_descriptor, int folder_descriptor) {
    struct child child = {
        arguments[0], arguments, environment ? environment : environ, -1, log_descriptor, SIGTERM, false, -1,
        folder_descriptor};
    return spawn(&child);
}

pid_t csystem_spawn_command(char *const arguments[], char *const environment[], int input) {
    struct child child = {arguments[0], arguments, environment, input, STDERR_FILENO, 0, true, -1, -1};
    return spawn(&child);
}

static pid_t spawn_program(
    const char *program, char *const arguments[], char *const environment[], int socket, int signal, bool in_group,
    int open_files) {
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null < 0) return -1;
    struct child child = {program, arguments, environment, socket, null, signal, in_group, open_files, -1};
    pid_t id = spawn(&child);
    int failure = errno;
    close(null);
    errno = failure;
    return id;
}

pid_t csystem_spawn_confined(
    const char *program, char *const arguments[], char *const environment[], int socket, int open_files) {
    return spawn_program(program, arguments, environment, socket, SIGKILL, false, open_files);
}

pid_t csystem_spawn_again(char *const arguments[], char *const environment[], int socket) {
    return spawn_program("/proc/self/exe", arguments, environment, socket, 0, true, -1);
}
