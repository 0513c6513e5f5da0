#include "CThumbnails.h"

#include <string.h>
#include <vips/vips.h>

// Not part of vips.h.
#include <vips/vector.h>

bool thumbnail(
    const uint8_t *bytes, size_t count, struct thumbnail_options options, uint8_t **png, size_t *png_count) {
    VipsImage *image = NULL;
    void *file = NULL;
    VipsSize size = options.fit == THUMBNAIL_FILL ? VIPS_SIZE_FORCE : VIPS_SIZE_BOTH;
    VipsInteresting crop = options.fit == THUMBNAIL_OUTSIDE ? VIPS_INTERESTING_ALL : VIPS_INTERESTING_NONE;
    vips_vector_set_enabled(!options.exact);
    bool done = vips_thumbnail_buffer((void *)bytes, count, &image, options.width, "height", options.height, "size", size,
                                      "crop", crop, "linear", options.linear, NULL) == 0;
    vips_vector_set_enabled(TRUE);
    if (!done) return false;
    done = vips_pngsave_buffer(image, &file, png_count, "compression", 1, NULL) == 0;
    g_object_unref(image);
    *png = file;
    return done;
}

size_t builtin_profile(const char *name, uint8_t *profile, size_t capacity) {
    VipsBlob *blob = NULL;
    if (vips_profile_load(name, &blob, NULL) || !blob) return 0;
    size_t size = 0;
    const void *bytes = vips_blob_get(blob, &size);
    if (size <= capacity) memcpy(profile, bytes, size);
    vips_area_unref(VIPS_AREA(blob));
    return size <= capacity ? size : 0;
}
