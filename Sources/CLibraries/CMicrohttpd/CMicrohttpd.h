#ifndef DARKROOM_CMICROHTTPD_H
#define DARKROOM_CMICROHTTPD_H

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

// Swift does not import variadic C functions, so the functions below call those of libmicrohttpd.
// https://www.gnu.org/software/libmicrohttpd/manual/libmicrohttpd.html

/// Calls MHD_start_daemon for 127.0.0.1; the server has its own epoll thread. If `port` is 0, the system chooses a
/// port.
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

/// The settings of a daemon. The texts are read only while the daemon starts.
struct darkroom_mhd_settings {
    /// A listening socket, which the daemon closes when it stops.
    int socket;
    unsigned int connection_limit;
    /// The largest number of bytes of a request's head, and of the buffers of a connection.
    size_t connection_memory;
    /// Seconds without a transferred byte after which a connection is closed.
    unsigned int idle_timeout;
    /// Certificate chain and private key in PEM; both NULL for plain HTTP.
    const char *certificate, *key;
    /// Called with the target of a request as it was sent, before its headers are read. Returns the request's context.
    void *(*target)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_AccessHandlerCallback handler;
    /// Called when a request has ended, for whatever reason.
    MHD_RequestCompletedCallback completed;
    /// Called when a connection has begun, and before its socket is closed.
    MHD_NotifyConnectionCallback connection;
    /// The first argument of all callbacks.
    void *context;
};

// Request targets are decoded by Swift code, because C strings end at the first NUL.
static inline size_t darkroom_mhd_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
    (void)context, (void)connection;
    size_t length = 0;
    while (text[length] != 0) length++;
    return length;
}

/// Calls MHD_start_daemon; the server has its own epoll thread, which calls all callbacks. Returns NULL on failure.
static inline struct MHD_Daemon *darkroom_mhd_start(const struct darkroom_mhd_settings *settings) {
    bool has_tls = settings->certificate != NULL;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)settings->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)settings->key},
        // The versions before 1.2 are deprecated: https://www.rfc-editor.org/rfc/rfc8996
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | (has_tls ? MHD_USE_TLS : 0), 0, NULL, NULL,
        settings->handler, settings->context,
        MHD_OPTION_LISTEN_SOCKET, settings->socket,
        MHD_OPTION_CONNECTION_LIMIT, settings->connection_limit,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->connection_memory,
        MHD_OPTION_CONNECTION_TIMEOUT, settings->idle_timeout,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_UNESCAPE_CALLBACK, &darkroom_mhd_keep_escapes, NULL,
        MHD_OPTION_URI_LOG_CALLBACK, settings->target, settings->context,
        MHD_OPTION_NOTIFY_COMPLETED, settings->completed, settings->context,
        MHD_OPTION_NOTIFY_CONNECTION, settings->connection, settings->context,
        MHD_OPTION_ARRAY, has_tls ? tls : none,
        MHD_OPTION_END);
}

static inline bool darkroom_mhd_has_begun(enum MHD_ConnectionNotificationCode event) {
    return event == MHD_CONNECTION_NOTIFY_STARTED;
}

/// Returns the address of the client; NULL if it is not known.
static inline const struct sockaddr *darkroom_mhd_client(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}

/// Returns the number of bytes of the request's head; 0 if it is not known.
static inline long darkroom_mhd_head_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? 0 : (long)info->header_size;
}

/// Returns the socket of a connection.
static inline int darkroom_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

#endif
