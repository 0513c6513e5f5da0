#include "CSystem.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

// The signal handler uses these variables to restore the terminal.
static volatile sig_atomic_t is_changed;
static int changed_descriptor;
static struct termios settings_before;
static char text_after[64];

static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE};

static void restore_and_crash(int number) {
    csystem_restore_terminal();
    signal(number, SIG_DFL);
    raise(number);
}

int csystem_change_terminal(int descriptor, const char *after) {
    struct termios settings;
    if (strlen(after) >= sizeof text_after || tcgetattr(descriptor, &settings) != 0) return -1;
    if (!is_changed) settings_before = settings;
    changed_descriptor = descriptor;
    strcpy(text_after, after);
    is_changed = 1;
    for (size_t at = 0; at < sizeof crashes / sizeof crashes[0]; at++) signal(crashes[at], restore_and_crash);
    settings.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    settings.c_iflag &= ~(tcflag_t)IXON;
    settings.c_cc[VMIN] = 1;
    settings.c_cc[VTIME] = 0;
    return tcsetattr(descriptor, TCSANOW, &settings);
}

void csystem_restore_terminal(void) {
    if (!is_changed) return;
    is_changed = 0;
    (void)!write(changed_descriptor, text_after, strlen(text_after));
    tcsetattr(changed_descriptor, TCSANOW, &settings_before);
}
