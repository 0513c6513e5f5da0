#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdint.h>

// Macros with casts, which Swift does not import.

static const uint64_t darkroom_ssl_op_no_ticket = SSL_OP_NO_TICKET;

/// Makes the connections of a context report new sessions, without keeping them in the context.
static inline void darkroom_ssl_report_sessions(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
}
