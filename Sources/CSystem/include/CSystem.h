#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <stdbool.h>
#include <sys/types.h>

/// Starts `arguments[0]` (searched in PATH) as a child that gets SIGTERM when the calling *thread* ends. The child has
/// an empty signal mask, its own process group, and /dev/null as standard input. Standard output and error go to
/// `log_descriptor`; -1: unchanged. The working folder is `folder_descriptor`; -1: unchanged. If `environment` is NULL,
/// the child gets this process's environment. The child has no other open files. Returns the process id, or -1 with
/// errno.
pid_t csystem_spawn_bound(char *const arguments[], char *const environment[], int log_descriptor, int folder_descriptor);

/// Starts `arguments[0]` as a child that may run longer than this process, with an empty signal mask and in this
/// process's group. `input` is the child's standard input; standard output and error go to this process's standard
/// error. The child has no other open files. Returns the process id, or -1 with errno.
pid_t csystem_spawn_command(char *const arguments[], char *const environment[], int input);

/// Starts this program again, as a confined child that is killed when the calling *thread* ends. The child has at most
/// `open_files` files, no core file, an empty signal mask, its own process group, no new privileges, and cannot write
/// to files. It has separate user and network namespaces if the system allows them. `socket` is the child's standard
/// input; standard output and error go to /dev/null. The child has no other open files. Returns the process id, or -1
/// with errno.
pid_t csystem_spawn_self(char *const arguments[], char *const environment[], int socket, int open_files);

/// Marks the file descriptors from `first` on close-on-exec, for kernels without close_range(2). Safe between fork and
/// exec. Returns 0, or -1 with errno, for example if /proc is missing.
int csystem_close_on_exec_by_listing(int first);

/// Prevents other processes of the same user from reading this process's memory and environment and from tracing it
/// (`PR_SET_DUMPABLE`). It also disables core files.
void csystem_hide_process(void);

/// Makes this process the first that the kernel kills if memory runs out.
void csystem_offer_to_memory_killer(void);

/// Restricts the calling thread and the threads that it starts to reading files of libraries (Landlock). Returns 0; 1
/// if the kernel has no Landlock; -1 with errno if it rejects the restriction.
int csystem_confine_files(void);

/// Restricts this process to computing, starting threads and using its open files; all other system calls fail with
/// EPERM (seccomp). Returns 0; 1 if the kernel has no such filters; -1 with errno if it rejects the filter.
int csystem_confine_calls(void);

/// Sets the soft and hard limit of the address space of another process of the same user (`RLIMIT_AS`). A lower hard
/// limit is kept. Returns 0, or -1 with errno.
int csystem_limit_memory(pid_t process, unsigned long soft, unsigned long hard);

/// Limits the total processor time of another process of the same user, in seconds (`RLIMIT_CPU`). The kernel kills the
/// process at the limit. A lower limit is kept. Returns 0, or -1 with errno.
int csystem_limit_processor_time(pid_t process, unsigned long seconds);

/// Returns the processor time that all threads of another process have used, in ns; -1 with errno if it cannot be read.
long long csystem_processor_time(pid_t process);

/// Moves this process to a new user namespace and a new network namespace. The process must have only one thread.
/// Returns false if the system does not allow it.
bool csystem_enter_namespaces(void);

/// The kinds of confinement that the system supports.
struct csystem_confinement {
    bool has_seccomp;
    /// The version of Landlock; 0: not supported.
    int landlock;
    /// Whether a process may create a user and a network namespace.
    bool has_namespaces;
};
struct csystem_confinement csystem_available_confinement(void);

/// syncfs(2): makes everything written to the file system of `descriptor` durable. Returns 0, or -1 with errno.
int csystem_syncfs(int descriptor);

/// O_PATH of open(2): intermediate folders need no read permission.
extern const int csystem_path_only;

/// openat2(2) with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS: opens `path` below `folder`, and never through a link.
/// `mode` is the mode of a new file. Returns a descriptor, or -1 with errno: ENOSYS (or EPERM, in some containers) if
/// the kernel lacks the call.
int csystem_open_beneath(int folder, const char *path, int flags, unsigned mode);

/// Sets the calling thread's name for `ps` and `top`. Only the first 15 bytes are used.
void csystem_name_thread(const char *name);

/// Limits the C heap of a process with many threads to four arenas. The heap keeps 64 MiB for the next photos, because
/// returning memory after every photo costs more than 3 % of the processor time in page faults.
void csystem_bound_heap(void);

/// Opens /dev/null for each of standard input, output and error that is closed, in a mode in which its use fails. So no
/// file or connection opened later gets one of their numbers and receives printed text.
void csystem_reserve_standard_files(void);

/// Makes the terminal `descriptor` pass on each key at once and without echo; interrupts still send signals. If the
/// process crashes, the terminal is restored and `after` (at most 63 bytes) is written to it. Returns 0, or -1 with
/// errno.
int csystem_change_terminal(int descriptor, const char *after);

/// Writes `after` and restores the terminal's settings. A second call does nothing. Safe in signal handlers.
void csystem_restore_terminal(void);

#endif
