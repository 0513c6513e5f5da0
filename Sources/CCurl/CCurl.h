#ifndef DARKROOM_CCURL_H
#define DARKROOM_CCURL_H

#include <curl/curl.h>

// Swift does not import variadic C functions, so there is one function for each type of argument. The type of each
// option is documented in https://curl.se/libcurl/c/curl_easy_setopt.html. It is not checked here.

static inline CURLcode darkroom_curl_easy_setopt_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode darkroom_curl_easy_setopt_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

/// For string options. libcurl copies the string, except for CURLOPT_POSTFIELDS.
static inline CURLcode darkroom_curl_easy_setopt_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

/// For contexts of callbacks (`...DATA`, CURLOPT_PRIVATE) and buffers, which must stay valid during the transfer.
static inline CURLcode darkroom_curl_easy_setopt_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

/// For lists (CURLOPT_HTTPHEADER, CURLOPT_CONNECT_TO, CURLOPT_RESOLVE), which must stay valid during the transfer.
static inline CURLcode darkroom_curl_easy_setopt_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

/// CURLE_TOO_LARGE, which libcurl's headers define since version 8.6.
static inline CURLcode darkroom_curle_too_large(void) { return (CURLcode)100; }

/// For CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION.
static inline CURLcode darkroom_curl_easy_setopt_write_callback(
    CURL *handle, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(handle, option, value);
}

/// For CURLOPT_XFERINFOFUNCTION.
static inline CURLcode darkroom_curl_easy_setopt_progress_callback(
    CURL *handle, CURLoption option, curl_xferinfo_callback value) {
    return curl_easy_setopt(handle, option, value);
}

/// For CURLOPT_OPENSOCKETFUNCTION.
static inline CURLcode darkroom_curl_easy_setopt_opensocket_callback(
    CURL *handle, CURLoption option, curl_opensocket_callback value) {
    return curl_easy_setopt(handle, option, value);
}

/// For CURLOPT_PREREQFUNCTION.
static inline CURLcode darkroom_curl_easy_setopt_prereq_callback(
    CURL *handle, CURLoption option, curl_prereq_callback value) {
    return curl_easy_setopt(handle, option, value);
}

/// For CURLOPT_DEBUGFUNCTION.
static inline CURLcode darkroom_curl_easy_setopt_debug_callback(
    CURL *handle, CURLoption option, curl_debug_callback value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode darkroom_curl_easy_getinfo_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode darkroom_curl_easy_getinfo_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode darkroom_curl_easy_getinfo_double(CURL *handle, CURLINFO info, double *value) {
    return curl_easy_getinfo(handle, info, value);
}

/// libcurl owns the string, which is valid until the next transfer of `handle`.
static inline CURLcode darkroom_curl_easy_getinfo_string(CURL *handle, CURLINFO info, const char **value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode darkroom_curl_easy_getinfo_socket(CURL *handle, CURLINFO info, curl_socket_t *value) {
    return curl_easy_getinfo(handle, info, value);
}

/// For CURLINFO_PRIVATE.
static inline CURLcode darkroom_curl_easy_getinfo_pointer(CURL *handle, CURLINFO info, void **value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLMcode darkroom_curl_multi_setopt_long(CURLM *handle, CURLMoption option, long value) {
    return curl_multi_setopt(handle, option, value);
}

#endif
