// Pictures for Swift: decode, filter, encode. All that touches libjpeg and libvips stays behind these few functions,
// because both need C: libjpeg reports errors with longjmp, and every libvips operation is variadic.

#ifndef CIMAGING_H
#define CIMAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum darkroom_status {
    DARKROOM_DONE,
    DARKROOM_DAMAGED,
    DARKROOM_UNSUPPORTED,
    DARKROOM_TOO_MANY_PIXELS,
    DARKROOM_OUT_OF_MEMORY,
    DARKROOM_FILTER_FAILED,
    DARKROOM_CANCELLED,
    // Only between the files of this target: the JPEG is good, but libvips has to do it.
    DARKROOM_NOT_FOR_STRIPS,
};

enum darkroom_format {
    DARKROOM_JPEG,
    DARKROOM_PNG,
    DARKROOM_WEBP,
    DARKROOM_AVIF,
    DARKROOM_HEIC,
    DARKROOM_JXL,
    DARKROOM_TIFF,
    DARKROOM_GIF,
    // As what to write: the format that was read, or JPEG, or PNG with alpha, where that cannot be written.
    DARKROOM_SAME,
};

enum darkroom_filter_kind { DARKROOM_SEPIA, DARKROOM_TILT_SHIFT };

struct darkroom_filter {
    enum darkroom_filter_kind kind;
    // The intensity of sepia, 0 to 1; the standard deviation of tilt-shift's blur in pixels.
    double amount;
};

struct darkroom_job {
    const uint8_t *bytes;
    size_t byte_count;
    enum darkroom_format from, to;
    const struct darkroom_filter *filters;
    int filter_count;
    int quality;
    bool strip;
    int64_t max_pixels;
    // Called when the header has been read and the size is allowed, perhaps more than once. Not with NULL.
    void (*size_is_known)(void *context, int64_t pixels);
    // Asked between strips, from the calling thread or one of libvips'; true ends the job.
    bool (*is_cancelled)(void *context);
    void *context;
};

struct darkroom_result {
    // malloc'ed, the caller's; NULL unless the status is DARKROOM_DONE.
    uint8_t *bytes;
    size_t byte_count;
    int width, height;
    enum darkroom_format format;
    // What failed, as text; empty after success.
    char detail[256];
};

// Prepares libvips: only the loaders of the formats above, one thread a picture, no cache. Once, before anything else.
// Returns false with a reason.
bool darkroom_imaging_start(char *detail, size_t capacity);

// The version of the libvips that is installed, as text that stays.
const char *darkroom_imaging_version(void);

// Frees what libvips keeps for the calling thread.
void darkroom_imaging_thread_shutdown(void);

// Whether the installed libvips can write the format; found by writing a small picture.
bool darkroom_imaging_can_save(enum darkroom_format format);

// Any thread, any number at once; blocks until done.
enum darkroom_status darkroom_develop(const struct darkroom_job *job, struct darkroom_result *result);

// For tests: the same by libvips alone; and the filtered RGBX pixels of the strips instead of a JPEG of them.
enum darkroom_status darkroom_develop_by_vips(const struct darkroom_job *job, struct darkroom_result *result);
enum darkroom_status darkroom_strip_pixels(const struct darkroom_job *job, struct darkroom_result *result);

// For tests: whether libvips, left to search among its loaders, reads the file.
bool darkroom_imaging_can_load(const char *path);

// For tests: one sepia filter over pixels of 8 bits with 3 or 4 bands, as both ways run it.
void darkroom_sepia_pixels(double intensity, uint8_t *pixels, size_t count, int bands);

#endif
