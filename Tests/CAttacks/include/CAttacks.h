#ifndef CATTACKS_H
#define CATTACKS_H

#include <stdbool.h>

/// What an attacker in a process would do next. Whether there is an attack of that name.
bool attack_exists(const char *name);

/// Whether the attack worked; errno says why it did not.
bool attack(const char *name);

#endif
