#include <openssl/err.h>
#include <openssl/ssl.h>
