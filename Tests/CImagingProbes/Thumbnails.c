#include "CImagingProbes.h"

#include <string.h>
#include <vips/vips.h>

// Not part of vips.h.
#include <vips/vector.h>

// The exact arithmetic of vips_thumbnail_buffer() for photos with alpha up to libvips 8.14: floats from the multiplication
// by alpha to the division. Later versions round in between, and clamp the overshoot of the kernel.
static bool thumbnail_with_alpha(VipsImage *photo, struct thumbnail_options options, VipsImage **scaled) {
    double across = (double)photo->Xsize / options.width, down = (double)photo->Ysize / options.height;
    if (options.fit == THUMBNAIL_INSIDE) across = down = across > down ? across : down;
    if (options.fit == THUMBNAIL_OUTSIDE) across = down = across < down ? across : down;
    VipsImage *steps[3] = {NULL};
    bool done = vips_premultiply(photo, &steps[0], NULL) == 0 &&
                vips_resize(steps[0], &steps[1], 1 / across, "vscale", 1 / down, NULL) == 0 &&
                vips_unpremultiply(steps[1], &steps[2], NULL) == 0 &&
                vips_cast_uchar(steps[2], scaled, NULL) == 0;
    for (int i = 0; i < 3; i++)
        if (steps[i]) g_object_unref(steps[i]);
    return done;
}

static bool scale(const uint8_t *bytes, size_t count, struct thumbnail_options options, VipsImage **scaled) {
    VipsImage *photo = vips_image_new_from_buffer(bytes, count, "", NULL);
    if (!photo) return false;
    bool has_alpha = vips_image_hasalpha(photo) && options.exact && !options.linear;
    bool done = has_alpha && thumbnail_with_alpha(photo, options, scaled);
    g_object_unref(photo);
    if (has_alpha) return done;
    VipsSize size = options.fit == THUMBNAIL_FILL ? VIPS_SIZE_FORCE : VIPS_SIZE_BOTH;
    VipsInteresting crop = options.fit == THUMBNAIL_OUTSIDE ? VIPS_INTERESTING_ALL : VIPS_INTERESTING_NONE;
    return vips_thumbnail_buffer((void *)bytes, count, scaled, options.width, "height", options.height, "size", size,
                                 "crop", crop, "linear", options.linear, NULL) == 0;
}

bool thumbnail(
    const uint8_t *bytes, size_t count, struct thumbnail_options options, uint8_t **png, size_t *png_count) {
    VipsImage *image = NULL;
    void *file = NULL;
    vips_vector_set_enabled(!options.exact);
    bool done = scale(bytes, count, options, &image);
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

bool file_colours(const uint8_t *bytes, size_t count, struct file_colours *colours) {
    VipsImage *image = vips_image_new_from_buffer(bytes, count, "", NULL);
    if (!image) return false;
    const void *profile = NULL;
    size_t profile_count = 0;
    *colours = (struct file_colours){.bands = image->Bands, .is_cmyk = image->Type == VIPS_INTERPRETATION_CMYK};
    colours->has_profile = vips_image_get_typeof(image, VIPS_META_ICC_NAME) != 0;
    bool is_read = !colours->has_profile ||
                   vips_image_get_blob(image, VIPS_META_ICC_NAME, &profile, &profile_count) == 0;
    if (profile_count >= 20) memcpy(colours->profile_space, (const uint8_t *)profile + 16, 4);
    g_object_unref(image);
    return is_read;
}

bool can_load(const char *path) {
    VipsImage *image = vips_image_new_from_file(path, NULL);
    if (!image) {
        vips_error_clear();
        return false;
    }
    g_object_unref(image);
    return true;
}
