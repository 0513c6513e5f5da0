#ifndef DARKROOM_CCURL_H
#define DARKROOM_CCURL_H

#include <curl/curl.h>

// Swift does not import variadic C functions, so there is one function for each type of argument. The type of each
// option is documented in https://curl.se/libcurl/c/curl_easy_setopt.html. These functions do not check it.

#define DARKROOM_SETOPT(name, type) \
    static inline CURLcode darkroom_curl_easy_setopt_##name(CURL *handle, CURLoption option, type value) { \
        return curl_easy_setopt(handle, option, value); \
    }
#define DARKROOM_GETINFO(name, type) \
    static inline CURLcode darkroom_curl_easy_getinfo_##name(CURL *handle, CURLINFO info, type value) { \
        return curl_easy_getinfo(handle, info, value); \
    }

DARKROOM_SETOPT(long, long)
DARKROOM_SETOPT(offset, curl_off_t)
// libcurl copies the string (all options but CURLOPT_POSTFIELDS).
DARKROOM_SETOPT(string, const char *)
// Callback contexts (`...DATA`) and buffers: not copied; must stay valid during the transfer.
DARKROOM_SETOPT(pointer, void *)
// Lists (CURLOPT_HTTPHEADER, CURLOPT_CONNECT_TO): not copied; must stay valid during the transfer.
DARKROOM_SETOPT(list, struct curl_slist *)
DARKROOM_SETOPT(write_callback, curl_write_callback)
DARKROOM_SETOPT(progress_callback, curl_xferinfo_callback)
DARKROOM_SETOPT(opensocket_callback, curl_opensocket_callback)
DARKROOM_SETOPT(closesocket_callback, curl_closesocket_callback)
DARKROOM_SETOPT(prereq_callback, curl_prereq_callback)
DARKROOM_SETOPT(debug_callback, curl_debug_callback)
DARKROOM_SETOPT(ssl_ctx_callback, curl_ssl_ctx_callback)

DARKROOM_GETINFO(long, long *)
DARKROOM_GETINFO(offset, curl_off_t *)
// libcurl owns the string, which is valid until the next transfer of `handle`.
DARKROOM_GETINFO(string, const char **)
DARKROOM_GETINFO(socket, curl_socket_t *)
// The caller must free the list.
DARKROOM_GETINFO(list, struct curl_slist **)

#define DARKROOM_MULTI_SETOPT(name, type) \
    static inline CURLMcode darkroom_curl_multi_setopt_##name(CURLM *handle, CURLMoption option, type value) { \
        return curl_multi_setopt(handle, option, value); \
    }

DARKROOM_MULTI_SETOPT(long, long)
DARKROOM_MULTI_SETOPT(pointer, void *)
DARKROOM_MULTI_SETOPT(socket_callback, curl_socket_callback)
DARKROOM_MULTI_SETOPT(timer_callback, curl_multi_timer_callback)

#undef DARKROOM_MULTI_SETOPT
#undef DARKROOM_SETOPT
#undef DARKROOM_GETINFO

/// CURLE_TOO_LARGE, which libcurl's headers have defined since version 8.6.
static inline CURLcode darkroom_curle_too_large(void) { return (CURLcode)100; }

#endif
