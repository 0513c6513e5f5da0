#define _GNU_SOURCE  // memmem(3)

#include "Exif.h"
#include "ImageMetadata.h"
#include "Picture.h"

#include <string.h>

static bool starts_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

// libvips stores the tags of EXIF directory 0 as "exif-ifd0-NAME", and the GPS tags as "exif-ifd3-NAME". When libvips
// saves a file, it removes from the EXIF data the tags whose fields were removed.
static bool is_exif(const char *field) { return starts_with(field, "exif-"); }

static bool is_copyright(const char *field) {
    return !strcmp(field, "exif-ifd0-Copyright") || !strcmp(field, "exif-ifd0-Artist");
}

static bool has_gps(const VipsImage *image, const char *field) {
    const void *bytes = NULL;
    size_t count = 0;
    return vips_image_get_blob(image, field, &bytes, &count) != 0 || memmem(bytes, count, "GPS", 3) != NULL;
}

static bool is_kept(const VipsImage *image, const char *field, int kinds) {
    if (!strcmp(field, VIPS_META_ICC_NAME)) return kinds & DARKROOM_ICC;
    if (!strcmp(field, VIPS_META_IPTC_NAME)) return kinds & DARKROOM_IPTC;
    bool is_xmp = !strcmp(field, VIPS_META_XMP_NAME) || !strcmp(field, FIELD_EXTENDED_XMP);
    if (is_xmp) return (kinds & DARKROOM_XMP) && ((kinds & DARKROOM_GPS) || !has_gps(image, field));
    if (!strcmp(field, FIELD_DENSITY)) return true;
    if (!strcmp(field, FIELD_EXIF) || !strcmp(field, VIPS_META_EXIF_NAME)) return kinds & (DARKROOM_EXIF | DARKROOM_COPYRIGHT);
    if (starts_with(field, "exif-ifd3-")) return (kinds & DARKROOM_EXIF) && (kinds & DARKROOM_GPS);
    if (is_copyright(field)) return kinds & (DARKROOM_EXIF | DARKROOM_COPYRIGHT);
    if (is_exif(field)) return kinds & DARKROOM_EXIF;
    // The remaining fields describe the frames of an animation, or contain texts of the file.
    static const char *const frames[] = {"loop", "delay", "page-height", "n-pages", "gif-delay", "gif-loop"};
    for (size_t i = 0; i < G_N_ELEMENTS(frames); i++)
        if (!strcmp(field, frames[i])) return true;
    return kinds == DARKROOM_ALL_METADATA;
}

static void keep_copyright_only(VipsImage *image) {
    const void *bytes = NULL;
    size_t count = 0;
    if (!vips_image_get_typeof(image, FIELD_EXIF) || vips_image_get_blob(image, FIELD_EXIF, &bytes, &count)) return;
    GByteArray *kept = darkroom_exif_copyright(bytes, count);
    vips_image_remove(image, FIELD_EXIF);
    if (!kept) return;
    vips_image_set_blob_copy(image, FIELD_EXIF, kept->data, kept->len);
    g_byte_array_free(kept, TRUE);
}

static void remove_gps(VipsImage *image) {
    const void *bytes = NULL;
    size_t count = 0;
    if (!vips_image_get_typeof(image, FIELD_EXIF) || vips_image_get_blob(image, FIELD_EXIF, &bytes, &count)) return;
    uint8_t *exif = g_memdup2(bytes, count);
    darkroom_exif_remove_gps(exif, count);
    vips_image_set_blob_copy(image, FIELD_EXIF, exif, count);
    g_free(exif);
}

enum darkroom_status darkroom_keep_metadata(darkroom_picture *picture, int kinds) {
    VipsImage *next = NULL;
    if (kinds == DARKROOM_ALL_METADATA) return DARKROOM_DONE;
    // Without the profile, the pixel values would stand for other colours.
    if (!(kinds & DARKROOM_ICC)) {
        enum darkroom_status status = darkroom_make_srgb(picture);
        if (status != DARKROOM_DONE) return status;
    }
    if (!APPLY(picture, vips_copy)) return darkroom_failed(picture->session, DARKROOM_FILTER_FAILED);
    char **fields = vips_image_get_fields(picture->image);
    for (char **field = fields; *field; field++)
        if (!is_kept(picture->image, *field, kinds)) vips_image_remove(picture->image, *field);
    g_strfreev(fields);
    if (!(kinds & DARKROOM_EXIF)) keep_copyright_only(picture->image);
    if (!(kinds & DARKROOM_GPS)) remove_gps(picture->image);
    vips_error_clear();
    return DARKROOM_DONE;
}
