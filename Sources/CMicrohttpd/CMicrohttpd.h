#ifndef DARKROOM_CMICROHTTPD_H
#define DARKROOM_CMICROHTTPD_H

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>

// Swift does not import variadic C functions, so the functions below call those of libmicrohttpd.
// https://www.gnu.org/software/libmicrohttpd/manual/libmicrohttpd.html

/// Calls MHD_start_daemon for 127.0.0.1 with an epoll thread of its own. If `port` is 0, the system chooses a port.
static inline struct MHD_Daemon *darkroom_mhd_start_on_loopback(
    uint16_t port, unsigned int connection_limit, MHD_AccessHandlerCallback handler, void *context) {
    struct sockaddr_in address = {0};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD, port, NULL, NULL, handler, context,
        MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
        MHD_OPTION_CONNECTION_LIMIT, connection_limit,
        MHD_OPTION_END);
}

/// Returns the port of `daemon`; 0 if libmicrohttpd does not report it.
static inline uint16_t darkroom_mhd_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info == NULL ? 0 : info->port;
}

#endif
