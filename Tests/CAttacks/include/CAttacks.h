#ifndef CATTACKS_H
#define CATTACKS_H

#include <stdbool.h>

/// What an attacker in a process would do next. Whether there is an attack of that name.
bool attack_exists(const char *name);

/// Whether the attack worked; errno says why it did not.
bool attack(const char *name);

/// Makes the system refuse every further filter of system calls to this process and its children, as a container may.
void refuse_filters(void);

#endif
