#ifndef CATTACKS_H
#define CATTACKS_H

#include <stdbool.h>

/// Returns whether an attack of this name exists. Attacks are actions of an attacker who controls a process.
bool attack_exists(const char *name);

/// Runs an attack. Returns whether the attack worked; if not, errno contains the reason.
bool attack(const char *name);

/// Makes the system reject further system call filters of this process and its children, as a container may.
void refuse_filters(void);

#endif
