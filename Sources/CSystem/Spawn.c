#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

extern char **environ;

// What a child is to be; only what a signal handler may call happens between fork and exec.
struct child {
    const char *program;  // a file, or a name that is searched in PATH
    char *const *arguments;
    char *const *environment;
    int input;   // its standard input; -1 leads nowhere
    int output;  // its standard output and error; -1 keeps the parent's
    int signal;  // what it gets when the thread that started it ends
    int open_files;  // how many it may have, and nothing of the parent's; -1 does not limit it
    int folder;  // its working folder; -1 keeps the parent's
};

static void limit(int resource, rlim_t value) {
    struct rlimit limit = {value, value};
    setrlimit(resource, &limit);
}

static bool confine(int open_files) {
    // No other file of the parent is open in it: standard input and output are all that it has.
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0) return false;
    // When memory runs out, the kernel is to end this and nothing else.
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0) (void)!write(score, "1000", 4);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NOFILE, (rlim_t)open_files);
    return true;
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
        setpgid(0, 0);  // an interrupt at the terminal is the parent's to handle
        // Neither may have a number that the other is to get, as where the parent's standard input is closed.
        int input = fcntl(child->input >= 0 ? child->input : open("/dev/null", O_RDONLY), F_DUPFD_CLOEXEC, 3);
        int output = child->output >= 0 ? fcntl(child->output, F_DUPFD_CLOEXEC, 3) : -1;
        if (input >= 0) dup2(input, STDIN_FILENO);
        if (output >= 0) {
            dup2(output, STDOUT_FILENO);
            dup2(output, STDERR_FILENO);
        }
        prctl(PR_SET_PDEATHSIG, child->signal);
        if (getppid() != parent) _exit(127);
        bool is_there = child->folder < 0 || fchdir(child->folder) == 0;
        if (is_there && (child->open_files < 0 || confine(child->open_files)))
            execvpe(child->program, child->arguments, child->environment);
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

pid_t csystem_spawn_bound(char *const arguments[], int log_descriptor, int folder_descriptor) {
    struct child child = {arguments[0], arguments, environ, -1, log_descriptor, SIGTERM, -1, folder_descriptor};
    return spawn(&child);
}

pid_t csystem_spawn_self(char *const arguments[], char *const environment[], int socket, int open_files) {
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null < 0) return -1;
    struct child child = {"/proc/self/exe", arguments, environment, socket, null, SIGKILL, open_files, -1};
    pid_t id = spawn(&child);
    int failure = errno;
    close(null);
    errno = failure;
    return id;
}
