#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <stdbool.h>
#include <sys/types.h>

/// Starts `arguments[0]` (searched in PATH) as a child that gets SIGTERM when the calling *thread* ends, with an empty
/// signal mask, in a process group of its own and with standard input from /dev/null; standard output and error go to `log_descriptor` (or are kept when -1).
/// Its working folder is `folder_descriptor` (or stays the same when -1).
/// `environment` NULL is that of this process. No other file is open in the child. Returns the process id, or -1 with errno.
pid_t csystem_spawn_bound(char *const arguments[], char *const environment[], int log_descriptor, int folder_descriptor);

/// Starts `arguments[0]` as a child with an empty signal mask, in the process group of this one, that outlives it. `input` is its standard
/// input, standard output and error are this process's standard error, nothing else is open. Returns the process id, or -1 with errno.
pid_t csystem_spawn_command(char *const arguments[], char *const environment[], int input);

/// Starts this program again, as a child that is killed when the calling *thread* ends, with at most `open_files` files and no core file,
/// with an empty signal mask, in a process group of its own, for ever without new privileges, unable to write to files, and in a user
/// and a network namespace of its own where the system allows them. `socket` is its standard input, standard output and error lead
/// nowhere, nothing else is open. Returns the process id, or -1 with errno.
pid_t csystem_spawn_self(char *const arguments[], char *const environment[], int socket, int open_files);

/// Closes the files of this process with the number `first` and above when it becomes another program, for kernels without
/// close_range(2). Safe between fork and exec. 0, or -1 with errno, as where /proc is missing.
int csystem_close_on_exec_by_listing(int first);

/// Keeps other processes of the same user from reading the memory and the environment of this one, and from tracing it
/// (`PR_SET_DUMPABLE`). It leaves no core file then.
void csystem_hide_process(void);

/// Makes this process the first that the kernel ends when memory runs out.
void csystem_offer_to_memory_killer(void);

/// Lets the calling thread, and the threads that it starts, read files of libraries and touch no others (Landlock). 0; 1 if the
/// kernel has no Landlock; -1 with errno if it has, and refuses.
int csystem_confine_files(void);

/// Lets this process, from now on, compute, start threads and use the files that are open; all else fails with EPERM (seccomp). 0;
/// 1 if the kernel has no such filters; -1 with errno if it has, and refuses.
int csystem_confine_calls(void);

/// Limits the address space of another process of the same user (`RLIMIT_AS`), and what it may set the limit to itself. A hard limit
/// that is lower already stays. 0, or -1 with errno.
int csystem_limit_memory(pid_t process, unsigned long soft, unsigned long hard);

/// Limits the processor time of all threads of another process of the same user, from its start to its end, in seconds
/// (`RLIMIT_CPU`): the kernel kills it then. A limit that is lower already stays. 0, or -1 with errno.
int csystem_limit_processor_time(pid_t process, unsigned long seconds);

/// The processor time that another process has used, all its threads together, in ns; -1 with errno if it cannot be read.
long long csystem_processor_time(pid_t process);

/// Moves this process, which must have one thread only, to a new user namespace and a new network namespace; false when that is not allowed.
bool csystem_enter_namespaces(void);

/// The kinds of confinement that the system supports.
struct csystem_confinement {
    bool has_seccomp;
    /// The version of Landlock; 0: none.
    int landlock;
    /// Whether a process may have a user and a network namespace of its own.
    bool has_namespaces;
};
struct csystem_confinement csystem_available_confinement(void);

/// syncfs(2): makes everything written to the file system of `descriptor` durable. 0, or -1 with errno.
int csystem_syncfs(int descriptor);

/// O_PATH of open(2): a folder that is only passed through needs no right to read it.
extern const int csystem_path_only;

/// openat2(2) with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS: opens `path` below `folder`, and never through a link. `mode` is that
/// of a new file. A descriptor, or -1 with errno; ENOSYS (or EPERM, in some containers) where the kernel does not have the call.
int csystem_open_beneath(int folder, const char *path, int flags, unsigned mode);

/// Names the calling thread, as `ps` and `top` show it; the first 15 bytes count.
void csystem_name_thread(const char *name);

/// Keeps the C heap of a process with many threads in bounds: four arenas, 64 MiB kept for the next photos, since giving
/// memory back after every photo costs more than 3 % of its processor time in page faults.
void csystem_bound_heap(void);

/// Gives standard input, output and error that are closed a descriptor each that can be used for nothing, so that no file or
/// connection opened later gets their numbers and what is printed.
void csystem_reserve_standard_files(void);

/// Makes the terminal `descriptor` hand over keys as they are pressed and show none of them; interrupts stay signals.
/// Should the process crash, the terminal is restored and `after` (at most 63 bytes) written to it. 0, or -1 with errno.
int csystem_change_terminal(int descriptor, const char *after);

/// Writes what was given as `after` and gives the terminal the settings from before the change; a second call does
/// nothing. Safe in signal handlers.
void csystem_restore_terminal(void);

#endif
