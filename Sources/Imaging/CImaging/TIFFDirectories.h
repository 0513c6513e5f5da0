// The directories of a TIFF (TIFF 6.0; BigTIFF; TIFF/EP for SubIFDs), read without libtiff: they tell which page is the
// picture, and what the samples of the page mean.

#ifndef CIMAGING_TIFF_DIRECTORIES_H
#define CIMAGING_TIFF_DIRECTORIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

enum {
    TIFF_MAX_EXTRA_SAMPLES = 16,

    // PhotometricInterpretation.
    TIFF_WHITE_IS_ZERO = 0,
    TIFF_BLACK_IS_ZERO = 1,
    TIFF_RGB = 2,
    TIFF_PALETTE = 3,
    TIFF_MASK = 4,
    TIFF_SEPARATED = 5,
    TIFF_YCBCR = 6,
    TIFF_LAB = 8,

    // SampleFormat.
    TIFF_UNSIGNED = 1,
    TIFF_SIGNED = 2,
    TIFF_FLOAT = 3,
    TIFF_UNDEFINED = 4,

    // ExtraSamples.
    TIFF_UNSPECIFIED = 0,
    TIFF_ASSOCIATED_ALPHA = 1,
    TIFF_UNASSOCIATED_ALPHA = 2,
};

// A directory: a page or a SubIFD. An absent tag has its default value.
struct darkroom_tiff_page {
    uint32_t width, height;
    // The largest value of BitsPerSample.
    uint32_t bits;
    // Whether the samples have different sizes or formats.
    bool is_mixed;
    uint32_t compression, photometric, samples, sample_format, ink_set;
    // Whether the page shows the picture itself, and not a reduced copy, a mask or a depth map.
    bool is_full;
    // The values of ExtraSamples; the number is 0 without the tag.
    uint32_t extra_count, extras[TIFF_MAX_EXTRA_SAMPLES];
    // SMinSampleValue and SMaxSampleValue over all samples.
    bool has_range;
    double least, most;
};

struct darkroom_tiff {
    // The picture: the first full page, or the largest page if no page is full.
    struct darkroom_tiff_page page;
    // The position of the picture as libvips counts: the page, and the index of a SubIFD of this page, or -1.
    int page_index, subifd_index;
    // Whether the file contains the data of a camera's sensor.
    bool is_raw;
    // Whether the first directory has the tag DNGVersion.
    bool is_dng;
    // The tag Make of the first directory, without a NUL at its end. NULL if there is no such tag.
    const char *make;
    size_t make_length;
};

// Returns false if the bytes are not a TIFF with a directory.
bool darkroom_tiff_read(const uint8_t *bytes, size_t count, struct darkroom_tiff *tiff);

// The value of a tag of the first directory, in the byte order of the file. Returns NULL if there is no such tag.
const uint8_t *darkroom_tiff_value(const uint8_t *bytes, size_t count, uint32_t tag, size_t *value_count);

// Copies the first directory of a BigTIFF, and the directories of EXIF and GPS, into a TIFF without pixels. Leaves out values
// of more than 64 KiB. Returns NULL if the file is not a BigTIFF.
GByteArray *darkroom_tiff_from_big_tiff(const uint8_t *bytes, size_t count);

#endif
