#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <stdbool.h>
#include <sys/epoll.h>  // for Swift, whose module Glibc does not contain epoll
#include <sys/types.h>

/// Starts `arguments[0]` (searched in PATH) as a child that receives SIGTERM when the calling *thread* ends. The child
/// has an empty signal mask, its own process group, and /dev/null as standard input. Its standard output and error are
/// `log_descriptor`, and its working folder is `folder_descriptor`. If a descriptor is -1, the child has the output or
/// the working folder of this process. If `environment` is NULL, the child gets this process's environment. The child
/// has no other open files. Returns the process id, or -1 with errno.
pid_t csystem_spawn_bound(char *const arguments[], char *const environment[], int log_descriptor, int folder_descriptor);

/// Starts `arguments[0]` as a child with an empty signal mask, in this process's group. The child may outlive this
/// process. `input` is the standard input of the child. Its standard output and error are this process's standard
/// error. The child has no other open files. Returns the process id, or -1 with errno.
pid_t csystem_spawn_command(char *const arguments[], char *const environment[], int input);

/// Starts a program, usually this one (`/proc/self/exe`), as a confined child that the kernel kills when the calling
/// *thread* ends. The child may have at most `open_files` open files. It has no core file, an empty signal mask, its
/// own process group and no new privileges, and it cannot write to files. If the system allows it, the child has its
/// own user and network namespaces. `socket` is the standard input of the child; standard output and error are
/// /dev/null. The child has no other open files. Returns the process id, or -1 with errno.
pid_t csystem_spawn_confined(
    const char *program, char *const arguments[], char *const environment[], int socket, int open_files);

/// Starts this program again, as a child with an empty signal mask. `socket` is the standard input of the child;
/// standard output and error are /dev/null. The child has no other open files. Returns the process id, or -1 with
/// errno.
pid_t csystem_spawn_again(char *const arguments[], char *const environment[], int socket);

/// Starts a supervisor: a process of this program that runs commands, one after the other (see Supervisor.c). `socket`
/// is one end of a stream socket for the supervisor. When the other end is closed, the supervisor kills all processes
/// of its command and exits. The supervisor makes its temporary folders in `folder`. The supervisor has the nice value
/// of the calling thread. Returns the process id, or -1 with errno.
pid_t csystem_spawn_supervisor(const char *folder, char *const environment[], int socket);

/// The limits of each process of a command.
struct csystem_command_limits {
    /// The address space in bytes (`RLIMIT_AS`).
    unsigned long memory;
    /// The CPU time (`RLIMIT_CPU`).
    unsigned long processor_seconds;
    /// The number of open files (`RLIMIT_NOFILE`).
    unsigned long open_files;
};

/// The condition under which a waiting function gives up. The function calls `is_over` with `context` repeatedly, and
/// stops waiting when `is_over` returns true.
struct csystem_wait {
    bool (*is_over)(void *context);
    void *context;
};

/// Starts the file `arguments[0]` in a supervisor, in its own process group and in an empty temporary folder, which
/// `TMPDIR` names. The session has no terminal. `files` are the standard input, output and error of the command; the
/// caller keeps its descriptors. Blocks until the process exists. Each time the timeout of the socket `supervisor` has
/// passed (`SO_RCVTIMEO`, `SO_SNDTIMEO`), calls `wait.is_over`. Returns 0 and the process id; the error number if the
/// process could not be created; -1 if the supervisor has ended or `is_over` has returned true.
int csystem_start_command(
    int supervisor, char *const arguments[], char *const environment[], const int files[3],
    const struct csystem_command_limits *limits, struct csystem_wait wait, pid_t *id);

/// pipe2(2) with O_CLOEXEC. `capacity` is the number of bytes that the pipe should hold, if the system allows it; 0 for
/// the default. Returns 0, or -1 with errno.
int csystem_make_pipe(int ends[2], int capacity);

/// The way in which a command ended.
struct csystem_command_end {
    /// The error number if the file could not be executed; 0 if it was executed.
    int error;
    /// The status of wait(2).
    int status;
    /// The CPU time of all processes of the command in ns, excluding processes whose parent did not wait for them.
    long long processor_time;
};

/// Receives the message that the command of a supervisor has ended. When this function returns 1, no process of the
/// command is left, and the temporary folder of the command is empty. Does not block. Returns 1; 0 if the command has
/// not ended; -1 if the supervisor has ended.
int csystem_receive_command_end(int supervisor, struct csystem_command_end *end);

/// Waits until a supervisor has ended after its connection was closed, and reaps the supervisor. Kills a supervisor
/// that is still running after `milliseconds`. `command` is the process id of the supervisor's command; 0 if there is
/// no command. If the supervisor was killed, this function kills the process group of the command.
void csystem_end_supervisor(pid_t supervisor, pid_t command, int milliseconds);

/// Marks all file descriptors from the number `first` on as close-on-exec, for kernels without close_range(2). Safe
/// between fork and exec. Returns 0, or -1 with errno, for example if /proc is missing.
int csystem_close_on_exec_by_listing(int first);

/// Prevents other processes of the same user from reading this process's memory and environment and from tracing it
/// (`PR_SET_DUMPABLE`). This also disables core files.
void csystem_hide_process(void);

/// Makes this process the first process that the kernel kills if memory runs out.
void csystem_offer_to_memory_killer(void);

/// Restricts the calling thread, and threads that it starts later, so that they can only read the files of libraries
/// (Landlock). Returns 0; 1 if the kernel lacks Landlock; -1 with errno if the kernel rejects the restriction.
int csystem_confine_files(void);

/// Restricts this process to computing, starting threads and using its open files (seccomp). All other system calls
/// fail with EPERM. Returns 0; 1 if the kernel does not support such filters; -1 with errno if it rejects the filter.
int csystem_confine_calls(void);

/// Sets the soft and the hard limit of the address space of another process of the same user (`RLIMIT_AS`). Does not
/// raise a hard limit that is already lower. Returns 0, or -1 with errno.
int csystem_limit_memory(pid_t process, unsigned long soft, unsigned long hard);

/// Limits the total CPU time of another process of the same user, in seconds (`RLIMIT_CPU`). The kernel kills the
/// process at the limit. Does not raise a limit that is already lower. Returns 0, or -1 with errno.
int csystem_limit_processor_time(pid_t process, unsigned long seconds);

/// Returns the CPU time of all threads of another process in ns; -1 with errno if this time cannot be read.
long long csystem_processor_time(pid_t process);

/// Moves this process to a new user namespace and a new network namespace. The process must have a single thread.
/// Returns false if the system does not allow the move.
bool csystem_enter_namespaces(void);

/// The layers of confinement that the system supports.
struct csystem_confinement {
    bool has_seccomp;
    /// The version of Landlock; 0 if Landlock is not supported.
    int landlock;
    /// Whether a process may create a user namespace and a network namespace.
    bool has_namespaces;
};
struct csystem_confinement csystem_available_confinement(void);

/// syncfs(2): makes all data written to the file system of `descriptor` durable. Returns 0, or -1 with errno.
int csystem_syncfs(int descriptor);

/// The flag O_PATH of open(2), with which a folder can be opened without read permission.
extern const int csystem_path_only;

/// openat2(2) with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS: opens `path` relative to `folder`, and follows no links.
/// `mode` is the mode of a new file. Returns a descriptor, or -1 with errno. If the kernel does not have the call,
/// errno is ENOSYS (or EPERM in some containers).
int csystem_open_beneath(int folder, const char *path, int flags, unsigned mode);

/// Sets the name of the calling thread for `ps` and `top`. Only the first 15 bytes are used.
void csystem_name_thread(const char *name);

/// Limits the C heap of a process with many threads to four arenas. The heap keeps 64 MiB for the next photos, because
/// returning memory after every photo costs more than 3 % of the CPU time in page faults.
void csystem_bound_heap(void);

/// If standard input, output or error is closed, opens /dev/null in its place. Opens standard input for writing, and
/// standard output and error for reading, so that using them still fails. Without this call, a file or connection that
/// is opened later could get the number of a closed standard file, and would then receive the printed text.
void csystem_reserve_standard_files(void);

/// Makes the terminal `descriptor` deliver each key at once, without echo. Keys such as Ctrl-C still send signals. If
/// the process crashes, the terminal is restored and `after` (at most 63 bytes) is written to the terminal. Returns 0,
/// or -1 with errno.
int csystem_change_terminal(int descriptor, const char *after);

/// Writes `after` and restores the settings of the terminal. A second call does nothing. Safe in signal handlers.
void csystem_restore_terminal(void);

#endif
