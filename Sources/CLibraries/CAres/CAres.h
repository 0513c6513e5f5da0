#ifndef DARKROOM_CARES_H
#define DARKROOM_CARES_H

// Version 1.34 recommends functions that version 1.18 (Debian 12) lacks.
#define CARES_NO_DEPRECATED
#include <ares.h>
#include <stdbool.h>
#include <sys/socket.h>

// The status codes of c-ares are macros in version 1.18 and cases of an enumeration in version 1.34.

static inline bool darkroom_ares_is_success(int status) { return status == ARES_SUCCESS; }

/// Whether a name server has said that the name, or an address of it, does not exist, or that the text is not a name.
static inline bool darkroom_ares_is_missing(int status) {
    return status == ARES_ENOTFOUND || status == ARES_ENODATA || status == ARES_EBADNAME;
}

/// The kind of socket for which addresses are asked. Swift sees `SOCK_STREAM` in only one of the modules that include it.
static inline int darkroom_ares_stream(void) { return SOCK_STREAM; }

#endif
