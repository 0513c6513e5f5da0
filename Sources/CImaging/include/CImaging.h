// Decodes, filters and encodes pictures for Swift. These functions hide libjpeg and libvips, which both require C:
// libjpeg reports errors with longjmp, and every libvips operation is variadic.

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
    // Used only within this target: the header of the JPEG is valid, but the job needs libvips.
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
    // Only as the output format. The output has the format of the input. If libvips cannot write this format, pictures
    // with alpha become PNG, and other pictures become JPEG.
    DARKROOM_SAME,
};

enum darkroom_filter_kind { DARKROOM_SEPIA, DARKROOM_TILT_SHIFT };

struct darkroom_filter {
    enum darkroom_filter_kind kind;
    // The intensity of sepia, 0 to 1, or the standard deviation of the tilt-shift blur in pixels.
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
    // Called when the header has been read and the size is allowed, possibly more than once. Must not be NULL.
    void (*size_is_known)(void *context, int64_t pixels);
    // Called between strips, on the calling thread or a libvips thread. If it returns true, the job ends.
    bool (*is_cancelled)(void *context);
    void *context;
};

struct darkroom_result {
    // Allocated with malloc and freed by the caller. NULL unless the status is DARKROOM_DONE.
    uint8_t *bytes;
    size_t byte_count;
    int width, height;
    enum darkroom_format format;
    // The error text; empty after success.
    char detail[256];
};

// Initializes libvips with only the loaders of the formats above, one thread per picture, and no cache. Must be called
// once, before the other functions. On failure, returns false and a reason in `detail`.
bool darkroom_imaging_start(char *detail, size_t capacity);

// The version of the installed libvips. The text is never freed.
const char *darkroom_imaging_version(void);

// Frees libvips' memory for the calling thread.
void darkroom_imaging_thread_shutdown(void);

// Whether the installed libvips can write the format. Writes a small picture to test this.
bool darkroom_imaging_can_save(enum darkroom_format format);

// May be called on any thread, even concurrently. Blocks until the job is done.
enum darkroom_status darkroom_develop(const struct darkroom_job *job, struct darkroom_result *result);

// For tests: the first function uses only libvips; the second returns the filtered RGBX pixels of the strips.
enum darkroom_status darkroom_develop_by_vips(const struct darkroom_job *job, struct darkroom_result *result);
enum darkroom_status darkroom_strip_pixels(const struct darkroom_job *job, struct darkroom_result *result);

// For tests: whether libvips can read the file when libvips itself selects the loader.
bool darkroom_imaging_can_load(const char *path);

// For tests: applies one sepia filter to 8-bit pixels with 3 or 4 bands, using the code of both pipelines.
void darkroom_sepia_pixels(double intensity, uint8_t *pixels, size_t count, int bands);

#endif
