#include "Picture.h"

#include "Stages.h"

#include <string.h>

// Copies libvips' error message and clears it at once, because all threads share one buffer for messages.
static void take_error(char *detail, size_t capacity) {
    g_strlcpy(detail, vips_error_buffer(), capacity);
    vips_error_clear();
    g_strdelimit(detail, "\n", ' ');
    g_strchomp(detail);
}

enum darkroom_status darkroom_failed(struct darkroom_session *session, enum darkroom_status status) {
    enum darkroom_status noted = darkroom_noted(session);
    if (noted != DARKROOM_DONE) status = noted;
    // libvips' text may be that of another thread, so the text must not change this status.
    if (status == DARKROOM_CANCELLED) return status;
    char *detail = session->detail;
    // If the work in Strips.c or StripsOutput.c failed, `detail` already contains its message.
    if (detail[0] == 0) take_error(detail, sizeof session->detail);
    if (strstr(detail, "out of memory")) return DARKROOM_OUT_OF_MEMORY;
    // The libraries report an exceeded limit or a missing codec only in the error text.
    static const char *const limits[] = {"Security limit", "nteger overflow", "Maximum supported image dimension"};
    for (size_t i = 0; i < G_N_ELEMENTS(limits); i++)
        if (status == DARKROOM_DAMAGED && strstr(detail, limits[i])) return DARKROOM_TOO_MANY_PIXELS;
    if (status == DARKROOM_DAMAGED && strstr(detail, "nsupported")) return DARKROOM_UNSUPPORTED;
    // The messages are about photos whose pictures share an auxiliary picture or metadata (libheif, issues 1147 and
    // 1190).
    static const char *const of_new_phones[] = {"Too many auxiliary image references", "Metadata not correctly assigned",
                                                "Non-existing depth image referenced"};
    const char *version = darkroom_heif_version();
    for (size_t i = 0; i < G_N_ELEMENTS(of_new_phones); i++) {
        if (status != DARKROOM_DAMAGED || !strstr(detail, of_new_phones[i]) || darkroom_heif_reads_shared()) continue;
        g_snprintf(detail, sizeof session->detail,
                   "photos of iOS 18 need libheif 1.18 or newer, installed is %s: %s", version ? version : "another",
                   of_new_phones[i]);
        return DARKROOM_UNSUPPORTED;
    }
    return status;
}

enum darkroom_status darkroom_wrap(struct darkroom_session *session, VipsImage *image, darkroom_picture **picture) {
    *picture = malloc(sizeof **picture);
    if (!*picture) {
        g_object_unref(image);
        return DARKROOM_OUT_OF_MEMORY;
    }
    **picture = (darkroom_picture){.image = image, .session = session};
    return DARKROOM_DONE;
}

darkroom_picture *darkroom_copy(const darkroom_picture *picture, struct darkroom_session *session) {
    darkroom_picture *copy = NULL;
    g_object_ref(picture->image);
    // If memory runs out, `copy` stays NULL.
    (void)darkroom_wrap(session, picture->image, &copy);
    return copy;
}

void darkroom_free(darkroom_picture *picture) {
    if (picture->image) g_object_unref(picture->image);
    free(picture);
}

struct darkroom_facts darkroom_picture_facts(const darkroom_picture *picture) {
    const VipsImage *image = picture->image;
    int frame = vips_image_get_page_height((VipsImage *)image);
    return (struct darkroom_facts){
        .width = image->Xsize,
        .height = frame,
        .frames = image->Ysize / frame,
        .bands = image->Bands,
        .wide = darkroom_is_wide(image),
        .orientation = vips_image_get_orientation((VipsImage *)image),
    };
}

// MARK: - Memory

// Computes the pixels into new memory.
static enum darkroom_status compute(darkroom_picture *picture) {
    VipsImage *memory = vips_image_new_memory();
    if (!darkroom_advance(picture, darkroom_watched(picture->image, picture->session, DARKROOM_FILTER_FAILED)) ||
        vips_image_write(picture->image, memory)) {
        g_object_unref(memory);
        return darkroom_failed(picture->session, DARKROOM_FILTER_FAILED);
    }
    darkroom_replace(picture, memory);
    return DARKROOM_DONE;
}

enum darkroom_status darkroom_keep_in_memory(darkroom_picture *picture) {
    return darkroom_is_in_memory(picture->image) ? DARKROOM_DONE : compute(picture);
}

// The pixels of an image in memory.
static struct darkroom_raster raster_of(const VipsImage *image) {
    return (struct darkroom_raster){
        .pixels = image->data,
        .width = image->Xsize,
        .height = image->Ysize,
        .bands = image->Bands,
        .wide = darkroom_is_wide(image),
    };
}

enum darkroom_status darkroom_look(darkroom_picture *picture, struct darkroom_raster *raster) {
    enum darkroom_status status = darkroom_keep_in_memory(picture);
    if (status == DARKROOM_DONE) *raster = raster_of(picture->image);
    return status;
}

enum darkroom_status darkroom_edit(darkroom_picture *picture, struct darkroom_raster *raster) {
    bool is_shared = G_OBJECT(picture->image)->ref_count > 1;
    if (is_shared || !darkroom_is_in_memory(picture->image)) {
        enum darkroom_status status = compute(picture);
        if (status != DARKROOM_DONE) return status;
    }
    *raster = raster_of(picture->image);
    return DARKROOM_DONE;
}

VipsImage *darkroom_new_memory(VipsImage *like, int width, int height) {
    VipsImage *image = vips_image_new_memory();
    if (vips_image_pipelinev(image, VIPS_DEMAND_STYLE_ANY, like, NULL)) {
        g_object_unref(image);
        return NULL;
    }
    image->Xsize = width;
    image->Ysize = height;
    if (vips_image_write_prepare(image)) {
        g_object_unref(image);
        return NULL;
    }
    return image;
}

enum darkroom_status darkroom_create(
    struct darkroom_session *session, const struct darkroom_raster *raster, darkroom_picture **picture) {
    size_t sample = raster->wide ? 2 : 1;
    size_t bytes = (size_t)raster->width * (size_t)raster->height * (size_t)raster->bands * sample;
    VipsImage *image = vips_image_new_from_memory_copy(raster->pixels, bytes, raster->width, raster->height,
                                                       raster->bands, raster->wide ? VIPS_FORMAT_USHORT : VIPS_FORMAT_UCHAR);
    if (!image) return darkroom_failed(session, DARKROOM_OUT_OF_MEMORY);
    image->Type = darkroom_usual(raster->bands <= 2, raster->wide);
    return darkroom_wrap(session, image, picture);
}

// MARK: - Frames

enum darkroom_status darkroom_frame(const darkroom_picture *picture, int index, darkroom_picture **frame) {
    VipsImage *part = NULL, *single = NULL;
    struct darkroom_facts facts = darkroom_picture_facts(picture);
    if (vips_extract_area(picture->image, &part, 0, index * facts.height, facts.width, facts.height, NULL))
        return darkroom_failed(picture->session, DARKROOM_FILTER_FAILED);
    bool copied = vips_copy(part, &single, NULL) == 0;
    g_object_unref(part);
    if (!copied) return darkroom_failed(picture->session, DARKROOM_FILTER_FAILED);
    vips_image_remove(single, VIPS_META_PAGE_HEIGHT);
    return darkroom_wrap(picture->session, single, frame);
}

enum darkroom_status darkroom_new_animation(
    const darkroom_picture *like, const darkroom_picture *frame, darkroom_picture **animation) {
    int count = darkroom_picture_facts(like).frames, width = frame->image->Xsize, height = frame->image->Ysize;
    if ((int64_t)count * height > VIPS_MAX_COORD) {
        g_snprintf(like->session->detail, sizeof like->session->detail, "%d frames of %d rows", count, height);
        return DARKROOM_FILTER_FAILED;
    }
    VipsImage *image = darkroom_new_memory(frame->image, width, count * height);
    if (!image) return darkroom_failed(like->session, DARKROOM_OUT_OF_MEMORY);
    vips_image_set_int(image, VIPS_META_PAGE_HEIGHT, height);
    static const char *const kept[] = {"loop", "delay", "n-pages", "gif-delay", "gif-loop"};
    for (size_t i = 0; i < G_N_ELEMENTS(kept); i++) {
        GValue value = G_VALUE_INIT;
        if (!vips_image_get_typeof(like->image, kept[i])) continue;
        if (vips_image_get(like->image, kept[i], &value)) continue;
        vips_image_set(image, kept[i], &value);
        g_value_unset(&value);
    }
    return darkroom_wrap(like->session, image, animation);
}

enum darkroom_status darkroom_set_frame(darkroom_picture *animation, int index, darkroom_picture *frame) {
    struct darkroom_raster all = raster_of(animation->image), one;
    enum darkroom_status status = darkroom_look(frame, &one);
    if (status != DARKROOM_DONE) return status;
    size_t bytes = VIPS_IMAGE_SIZEOF_IMAGE(frame->image);
    int count = darkroom_picture_facts(animation).frames;
    if (index >= count || bytes * (size_t)count != VIPS_IMAGE_SIZEOF_IMAGE(animation->image))
        return darkroom_failed(animation->session, DARKROOM_FILTER_FAILED);
    memcpy((uint8_t *)all.pixels + (size_t)index * bytes, one.pixels, bytes);
    return DARKROOM_DONE;
}
