#ifndef CIMAGING_PROBES_H
#define CIMAGING_PROBES_H

#include <CImaging.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum thumbnail_fit { THUMBNAIL_INSIDE, THUMBNAIL_OUTSIDE, THUMBNAIL_FILL };

struct thumbnail_options {
    int width, height;
    enum thumbnail_fit fit;
    bool linear;
    /// Whether 8-bit samples are scaled with coefficients of 12 bits; the vector code of libvips has only 6 bits.
    bool exact;
};

/// Makes a thumbnail with vips_thumbnail_buffer(). The caller frees the PNG file. Returns false on failure.
bool thumbnail(
    const uint8_t *bytes, size_t count, struct thumbnail_options options, uint8_t **png, size_t *png_count);

/// Copies a colour profile that libvips contains, such as "p3", into `profile`. Returns its size; 0 if it does not fit.
size_t builtin_profile(const char *name, uint8_t *profile, size_t capacity);

struct file_colours {
    int bands;
    bool is_cmyk;
    bool has_profile;
    /// The colour space that the profile describes: its signature, bytes 16 to 19 (ICC.1, 7.2).
    uint8_t profile_space[4];
};

/// Reads what a file of any format says about its colours. Returns false if it cannot be read.
bool file_colours(const uint8_t *bytes, size_t count, struct file_colours *colours);

/// Whether libvips can read the file when libvips itself selects the loader.
bool can_load(const char *path);

/// Returns the RGBX pixels of a JPEG that is filtered in strips, before they are encoded.
enum darkroom_status strip_pixels(
    struct darkroom_session *session, const struct darkroom_input *input, const struct darkroom_strips_job *job,
    struct darkroom_file *file);

#endif
