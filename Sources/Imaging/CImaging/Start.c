#include "CImaging.h"

#include <dlfcn.h>
#include <stdio.h>

#include <vips/vips.h>

// libvips' warnings do not affect the result, and errors are returned to the caller.
static void ignore_message(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data) {
    (void)domain, (void)level, (void)message, (void)data;
}

bool darkroom_imaging_start(char *detail, size_t capacity) {
    if (vips_init("darkroom")) {
        g_strlcpy(detail, vips_error_buffer(), capacity);
        vips_error_clear();
        return false;
    }
    // Photos are untrusted input, so all loaders except the required ones are blocked, most importantly those for SVG,
    // PDF and ImageMagick.
    vips_operation_block_set("VipsForeignLoad", TRUE);
    static const char *const loaders[] = {
        "VipsForeignLoadJpeg", "VipsForeignLoadPng",  "VipsForeignLoadWebp",  "VipsForeignLoadHeif",
        "VipsForeignLoadJxl",  "VipsForeignLoadTiff", "VipsForeignLoadNsgif",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(loaders); i++) vips_operation_block_set(loaders[i], FALSE);
    // If there are at least as many pictures as cores, one thread per picture is faster than several.
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING | G_LOG_LEVEL_INFO, ignore_message, NULL);
    return true;
}

void darkroom_imaging_thread_shutdown(void) { vips_thread_shutdown(); }

const char *darkroom_imaging_version(void) { return vips_version_string(); }

const char *darkroom_heif_version(void) {
    // libvips does not report the version. With RTLD_NOLOAD, nothing is loaded.
    void *library = dlopen("libheif.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!library) return NULL;
    // POSIX allows this conversion of a pointer to data (dlsym).
    union {
        void *symbol;
        const char *(*version)(void);
    } function = {.symbol = dlsym(library, "heif_get_version")};
    const char *version = function.symbol ? function.version() : NULL;
    dlclose(library);
    return version;
}

bool darkroom_heif_reads_shared(void) {
    const char *version = darkroom_heif_version();
    int major = 0, minor = 0;
    if (!version || sscanf(version, "%d.%d", &major, &minor) != 2) return true;
    return major > 1 || minor >= 18;
}
