#ifndef DARKROOM_CMICROHTTPD_H
#define DARKROOM_CMICROHTTPD_H

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>

// Swift does not import variadic C functions: here they are with the arguments that Darkroom gives them.
// https://www.gnu.org/software/libmicrohttpd/manual/libmicrohttpd.html

/// MHD_start_daemon on 127.0.0.1 with one epoll thread of its own; port 0 lets the system choose.
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

/// The port that `daemon` is bound to, 0 when libmicrohttpd does not know.
static inline uint16_t darkroom_mhd_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info == NULL ? 0 : info->port;
}

#endif
