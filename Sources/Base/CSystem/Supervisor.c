// DESIGN: a worker does not start the commands of its users itself. The worker starts supervisors: small processes of
// the same program that run one command at a time. A supervisor
//
// - adopts the processes that its command leaves behind (PR_SET_CHILD_SUBREAPER), even from other sessions, and kills
//   them when the command has ended. The worker cannot adopt these processes itself: the program that contains the
//   worker may have other children, so the worker could not tell which process belongs to which command.
// - kills the command and all its processes, and removes the temporary folder of the command, when the worker closes
//   the connection or ends for any reason.
// - has little memory, and starts commands with vfork(2). Therefore the cost of starting a command does not depend on
//   the memory of the worker.
//
// If the supervisor itself is killed, the kernel kills its command, and the worker kills the process group of the
// command. In this case, processes in other groups and the temporary folder are left behind.
//
// A supervisor is this program, executed again. The constructor below recognizes a supervisor by the name of the
// process, before `main` and before any Swift code runs. Therefore every program that contains a worker can be a
// supervisor without any call in its `main`.

#define _GNU_SOURCE
#include "CSystem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAME "darkroom-supervisor"

enum { FILES = 3, MAX_TEXT = 64 << 20 };

// A request to run a command. Three descriptors are attached: standard input, output and error of the command. After
// the request, the worker sends the arguments and the environment as texts, each with its NUL.
struct request {
    struct csystem_command_limits limits;
    uint32_t arguments, variables;
    uint64_t bytes;
};

// The first reply. The new process of the command sends this reply before it executes the command. Therefore the worker
// knows the process even if the command kills or stops the supervisor. If the process could not be created, the
// supervisor sends this reply with the id -1. The second reply is a struct csystem_command_end.
struct start {
    pid_t id;
    int error;
};

// MARK: - In the supervisor

static const char *parent_folder;

// The temporary folder of the commands; the descriptor is -1 if there is none. After each command, the folder is
// emptied and kept, because creating a folder takes up to 1 ms on a disk. The path is the value of TMPDIR.
static char folder_variable[4096];
static char *const folder_path = folder_variable + sizeof "TMPDIR=" - 1;
static int folder = -1;

static int socket_descriptor = STDIN_FILENO;

// Whether to repeat a call that has failed. `wait` is NULL if the socket has no timeout.
static bool may_repeat(const struct csystem_wait *wait) {
    return errno == EINTR || (errno == EAGAIN && wait && !wait->is_over(wait->context));
}

static bool send_all(int socket, const void *bytes, size_t count, const struct csystem_wait *wait) {
    while (count > 0) {
        ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && may_repeat(wait)) continue;
        if (sent <= 0) return false;
        bytes = (const char *)bytes + sent;
        count -= (size_t)sent;
    }
    return true;
}

static bool receive_all(int socket, void *bytes, size_t count, const struct csystem_wait *wait) {
    while (count > 0) {
        ssize_t received = recv(socket, bytes, count, 0);
        if (received < 0 && may_repeat(wait)) continue;
        if (received <= 0) return false;
        bytes = (char *)bytes + received;
        count -= (size_t)received;
    }
    return true;
}

static bool receive_request(struct request *request, int files[FILES]) {
    struct iovec part = {request, sizeof *request};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(FILES * sizeof(int))];
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t received;
    while ((received = recvmsg(socket_descriptor, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) continue;
    struct cmsghdr *attached = received > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (!attached || attached->cmsg_len != CMSG_LEN(FILES * sizeof(int))) return false;
    memcpy(files, CMSG_DATA(attached), FILES * sizeof(int));
    return receive_all(socket_descriptor, (char *)request + received, sizeof *request - (size_t)received, NULL);
}

// Restores the user's rights to a subfolder. A command may have removed these rights. Does not follow links.
static void allow_all(int folder, const char *name) {
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode))
        fchmodat(folder, name, S_IRWXU, 0);
}

// Removes the contents of the temporary folder, which may be nested deeper than a path can express. The function moves
// the folders inside a subfolder up before it removes the subfolder, so that it needs only two open folders.
static void remove_contents(void) {
    unsigned moved = 0;
    struct stat status;
    if (fstat(folder, &status) == 0 && (status.st_mode & S_IRWXU) != S_IRWXU) fchmod(folder, S_IRWXU);
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        DIR *entries = fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        struct dirent *entry;
        while (entries && (entry = readdir(entries))) {
            const char *name = entry->d_name;
            if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
            if (unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0) {
                is_changed = true;
                continue;
            }
            allow_all(folder, name);
            DIR *inner = fdopendir(openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
            struct dirent *below;
            while (inner && (below = readdir(inner))) {
                if (strcmp(below->d_name, ".") == 0 || strcmp(below->d_name, "..") == 0) continue;
                if (unlinkat(dirfd(inner), below->d_name, 0) == 0) continue;
                char place[32];
                snprintf(place, sizeof place, ".darkroom-%u", moved++);
                allow_all(dirfd(inner), below->d_name);
                if (renameat(dirfd(inner), below->d_name, folder, place) == 0) is_changed = true;
            }
            if (inner) closedir(inner);
            if (unlinkat(folder, name, AT_REMOVEDIR) == 0) is_changed = true;
        }
        if (entries) closedir(entries);
    }
}

static void remove_folder(void) {
    if (folder < 0) return;
    remove_contents();
    close(folder);
    rmdir(folder_path);
    folder = -1;
}

// Makes the folder, unless the folder of the last command is still there. Returns false with errno.
static bool make_folder(void) {
    struct stat there, opened;
    if (folder >= 0 && lstat(folder_path, &there) == 0 && fstat(folder, &opened) == 0 && there.st_ino == opened.st_ino
        && there.st_dev == opened.st_dev)
        return true;
    remove_folder();
    // Without the check of the length, a truncated name would lack the X that mkdtemp(3) replaces.
    int length = snprintf(folder_variable, sizeof folder_variable, "TMPDIR=%s/darkroom-command-XXXXXX", parent_folder);
    if (length >= (int)sizeof folder_variable) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (!mkdtemp(folder_path)) return false;
    folder = open(folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder >= 0;
}

static void limit(int resource, rlim_t soft, rlim_t hard) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) return;
    if (limit.rlim_max > hard) limit.rlim_max = hard;
    limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
    setrlimit(resource, &limit);
}

static pid_t start_command(
    const struct csystem_command_limits *limits, const int files[FILES], char *const arguments[],
    char *const environment[], int *error) {
    pid_t supervisor = getpid();
    volatile int failure = 0;  // the child shares the memory until it executes the command
    pid_t id = vfork();
    if (id == 0) {
        // setsid(2) is not used, because the kernel would create a scheduling group (sched(7), autogroup), which costs
        // up to 1 ms.
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != supervisor) _exit(127);
        struct start start = {getpid(), 0};
        send_all(socket_descriptor, &start, sizeof start, NULL);
        limit(RLIMIT_AS, limits->memory, limits->memory);
        // The signal of the soft limit, SIGXCPU, shows the reason. The hard limit kills a process that ignores SIGXCPU.
        limit(RLIMIT_CPU, limits->processor_seconds, limits->processor_seconds + 1);
        limit(RLIMIT_NOFILE, limits->open_files, limits->open_files);
        limit(RLIMIT_CORE, 0, 0);
        for (int file = 0; file < FILES; file++) dup2(files[file], file);
        if (fchdir(folder) == 0) {
            sigset_t none;
            sigemptyset(&none);
            sigprocmask(SIG_SETMASK, &none, NULL);
            execve(arguments[0], arguments, environment);
        }
        failure = errno;
        _exit(127);
    }
    *error = id < 0 ? errno : failure;
    return id;
}

// Kills all present children and the process groups that they lead or belong to. Returns whether there are children.
static bool kill_children(void) {
    static char path[64];
    if (!path[0]) snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *list = fopen(path, "re");
    int child;
    bool has_children = false;
    while (list && fscanf(list, "%d", &child) == 1) {
        has_children = true;
        // A child keeps its process id until this process has waited for it. The group of the child is in the session
        // of this process or in a session that a process of the command has created. Therefore the group contains only
        // processes of the command.
        pid_t group = getpgid(child);
        if (group > 0 && group != getpgrp()) kill(-group, SIGKILL);
        kill(child, SIGKILL);
    }
    if (list) fclose(list);
    return has_children;
}

struct ending {
    pid_t command;
    struct csystem_command_end end;
    bool has_ended;
};

// Waits for one child, and adds its CPU time and that of its descendants to `ending`. Returns the result of wait4(2).
static pid_t reap(struct ending *ending, int options) {
    siginfo_t information = {0};
    if (waitid(P_ALL, 0, &information, WEXITED | WNOWAIT | options) != 0) return -1;
    pid_t child = information.si_pid;
    if (child == 0) return 0;
    // Until the command is reaped, no other process group can get its number.
    if (child == ending->command) kill(-child, SIGKILL);
    struct rusage used;
    int status;
    if (wait4(child, &status, 0, &used) != child) return -1;
    ending->end.processor_time += (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000LL
        + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000LL;
    if (child == ending->command) {
        ending->end.status = status;
        ending->has_ended = true;
    }
    return child;
}

// Waits until the command has ended, or the worker has closed the connection. Then kills all processes of the command.
// Returns false if the connection was closed.
static bool supervise(struct ending *ending, int signals) {
    bool is_connected = true;
    while (is_connected && !ending->has_ended) {
        struct pollfd events[] = {{signals, POLLIN, 0}, {socket_descriptor, POLLIN | POLLRDHUP, 0}};
        if (poll(events, 2, -1) < 0) continue;
        struct signalfd_siginfo information;
        while (read(signals, &information, sizeof information) > 0) continue;
        // The worker sends nothing while a command runs.
        if (events[1].revents) is_connected = false;
        while (reap(ending, WNOHANG) > 0) continue;
    }
    if (!ending->has_ended) kill(-ending->command, SIGKILL);
    pid_t reaped;
    while ((reaped = reap(ending, WNOHANG)) >= 0) {
        // A process that was orphaned after the list was read has not been killed. Therefore this process waits only if
        // the list contained a child, which has been killed, and reads the list again after each child.
        if (reaped == 0 && kill_children()) reap(ending, 0);
        else if (reaped == 0) sched_yield();
    }
    return is_connected;
}

// Runs one command. Returns false if the connection is closed or the request is invalid.
static bool serve(int signals) {
    struct request request;
    int files[FILES];
    if (!receive_request(&request, files) || request.bytes > MAX_TEXT || request.arguments == 0) return false;
    size_t texts = (size_t)request.arguments + request.variables;
    char *bytes = malloc(request.bytes + 1), **lists = calloc(texts + 3, sizeof *lists);
    if (!bytes || !lists || !receive_all(socket_descriptor, bytes, request.bytes, NULL)) return false;
    bytes[request.bytes] = 0;
    char *text = bytes;
    // The arguments, NULL, the environment, TMPDIR, NULL.
    char **arguments = lists, **environment = lists + request.arguments + 1;
    for (size_t index = 0; index < texts && text < bytes + request.bytes; index++) {
        lists[index < request.arguments ? index : index + 1] = text;
        text += strlen(text) + 1;
    }
    environment[request.variables] = folder_variable;

    int error = 0;
    struct ending ending = {.command = -1};
    if (make_folder()) ending.command = start_command(&request.limits, files, arguments, environment, &error);
    else error = errno;
    for (int file = 0; file < FILES; file++) close(files[file]);
    free(lists);
    free(bytes);
    if (ending.command < 0) {
        struct start start = {-1, error};
        return send_all(socket_descriptor, &start, sizeof start, NULL);
    }
    bool is_connected = supervise(&ending, signals);
    remove_contents();
    ending.end.error = error;
    return is_connected && send_all(socket_descriptor, &ending.end, sizeof ending.end, NULL);
}

// Runs if this program was started by csystem_spawn_supervisor.
__attribute__((constructor)) static void become_supervisor(int count, char **arguments) {
    if (count != 2 || strcmp(arguments[0], NAME) != 0) return;
    parent_folder = arguments[1];
    setsid();  // without a terminal
    prctl(PR_SET_NAME, NAME);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    csystem_offer_to_memory_killer();  // the commands inherit the score
    // Only SIGKILL can end a supervisor before its command. exec keeps ignored signals, so they are reset.
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    int signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    fcntl(socket_descriptor, F_SETFD, FD_CLOEXEC);
    while (signals >= 0 && serve(signals)) continue;
    remove_folder();
    _exit(0);
}

// MARK: - In the worker

pid_t csystem_spawn_supervisor(const char *folder, char *const environment[], int socket) {
    char *const arguments[] = {NAME, (char *)folder, NULL};
    return csystem_spawn_again(arguments, environment, socket);
}

int csystem_make_pipe(int ends[2], int capacity) {
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    if (capacity > 0) fcntl(ends[1], F_SETPIPE_SZ, capacity);
    return 0;
}

static size_t add_texts(char *const list[], uint32_t *count, char *place) {
    size_t bytes = 0;
    for (*count = 0; list[*count]; ++*count) {
        size_t size = strlen(list[*count]) + 1;
        if (place) memcpy(place + bytes, list[*count], size);
        bytes += size;
    }
    return bytes;
}

int csystem_start_command(
    int supervisor, char *const arguments[], char *const environment[], const int files[FILES],
    const struct csystem_command_limits *limits, struct csystem_wait wait, pid_t *id) {
    struct request request = {.limits = *limits};
    request.bytes = add_texts(arguments, &request.arguments, NULL) + add_texts(environment, &request.variables, NULL);
    char *texts = malloc(request.bytes);
    if (!texts) return ENOMEM;
    add_texts(environment, &request.variables, texts + add_texts(arguments, &request.arguments, texts));

    struct iovec part = {&request, sizeof request};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(FILES * sizeof(int))] = {0};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *attached = CMSG_FIRSTHDR(&message);
    *attached = (struct cmsghdr){CMSG_LEN(FILES * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(attached), files, FILES * sizeof(int));
    ssize_t sent;
    while ((sent = sendmsg(supervisor, &message, MSG_NOSIGNAL)) < 0 && may_repeat(&wait)) continue;
    bool is_sent = sent == sizeof request && send_all(supervisor, texts, request.bytes, &wait);
    free(texts);
    struct start start = {-1, -1};
    if (!is_sent || !receive_all(supervisor, &start, sizeof start, &wait)) return -1;
    *id = start.id;
    return start.error;
}

int csystem_receive_command_end(int supervisor, struct csystem_command_end *end) {
    ssize_t received = recv(supervisor, end, sizeof *end, MSG_DONTWAIT);
    if (received == sizeof *end) return 1;
    return received < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

static long long milliseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

// Returns whether the descriptor becomes readable within this time. A signal does not end the wait.
static bool wait_until_readable(int descriptor, int milliseconds) {
    long long deadline = milliseconds_now() + milliseconds, left = milliseconds;
    struct pollfd event = {descriptor, POLLIN, 0};
    int ready;
    while ((ready = poll(&event, 1, (int)left)) < 0 && errno == EINTR) {
        left = deadline - milliseconds_now();
        if (left < 0) left = 0;
    }
    return ready > 0;
}

void csystem_end_supervisor(pid_t supervisor, pid_t command, int milliseconds) {
    int descriptor = (int)syscall(SYS_pidfd_open, supervisor, 0), status = 0;
    if (descriptor < 0 || !wait_until_readable(descriptor, milliseconds)) kill(supervisor, SIGKILL);
    if (descriptor >= 0) close(descriptor);
    while (waitpid(supervisor, &status, 0) < 0 && errno == EINTR) continue;
    // The system does not reuse the number of a group while the group has members. It reuses the number of an empty
    // group only after all other numbers.
    if (WIFSIGNALED(status) && command > 0) kill(-command, SIGKILL);
}
