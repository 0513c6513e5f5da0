// Operations on pixels in memory. The operations use neither libvips nor libjpeg, and give the same bytes on every CPU.

#ifndef DARKROOM_RASTER_H
#define DARKROOM_RASTER_H

#include "Status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Pixels in memory: rows without padding, `bands` samples a pixel (1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha),
// 16 bits each if `wide`, otherwise 8. Width and height are at least 1.
struct darkroom_raster {
    void *pixels;
    int width, height, bands;
    bool wide;
};

struct darkroom_box {
    int x, y, width, height;
};

// The function is called about once per row and must not be NULL. If it returns true, the operation returns
// DARKROOM_CANCELLED, and part of the raster may be changed.
struct darkroom_interrupt {
    bool (*is_cancelled)(void *context);
    void *context;
};

enum darkroom_point_kind { DARKROOM_AFFINE, DARKROOM_POWER };

// A filter that maps each pixel on its own. The components of a pixel range from 0 to 1 and are clamped to that range
// after each point.
struct darkroom_point {
    enum darkroom_point_kind kind;
    // AFFINE: three rows of four numbers: the factors of red, green and blue, and a constant. POWER: the exponent.
    double values[12];
};

// Applies the points in order. The components are rounded once, after the last point, to the nearest value, halves up.
// Alpha and the fourth byte of RGBX pixels are kept. A grey value counts as red, green and blue, and is replaced by the
// resulting red.
void darkroom_points_apply(
    const struct darkroom_point *points, int count, void *pixels, size_t pixel_count, int bands, bool wide);

// Applies the points, and computes the luminances 0.2126 r + 0.7152 g + 0.0722 b, from 0 to 1, of the results before
// rounding.
void darkroom_points_luminances(
    const struct darkroom_point *points, int count, const void *pixels, size_t pixel_count, int bands, bool wide,
    float *luminances);

// The operations below change the raster in place. They return DARKROOM_DONE, DARKROOM_CANCELLED or
// DARKROOM_OUT_OF_MEMORY. The three operations that blur keep rows in memory, and return DARKROOM_ROWS_TOO_LONG if the
// rows need more than 256 MiB. Beyond the edges, the pixels of the edges repeat.
//
// Blurs with a Gaussian whose standard deviation is `sigma` pixels, 0.1 to 250.
enum darkroom_status darkroom_raster_blur(
    const struct darkroom_raster *raster, double sigma, const struct darkroom_interrupt *interrupt);

// Blurs by an amount that depends on the distance from a line. Up to half of `width`, there is no blur; over the next
// `fade`, the blur grows to its full amount. The line runs through (width / 2, `position` * height) of the raster, and
// is turned by `angle` degrees counter-clockwise from horizontal. `width` and `fade` are relative to the height of the
// raster.
enum darkroom_status darkroom_raster_tilt_shift(
    const struct darkroom_raster *raster, double sigma, double position, double angle, double width, double fade,
    const struct darkroom_interrupt *interrupt);

// Unsharp mask: adds `amount` times the difference from the blurred raster to each sample whose difference is larger
// than `threshold`, in units of 1/255. Keeps alpha.
enum darkroom_status darkroom_raster_sharpen(
    const struct darkroom_raster *raster, double sigma, double amount, double threshold,
    const struct darkroom_interrupt *interrupt);

// Replaces each sample, including alpha, by the median of `size` x `size` pixels. The size is odd, 3 to 15.
enum darkroom_status darkroom_raster_median(
    const struct darkroom_raster *raster, int size, const struct darkroom_interrupt *interrupt);

// Replaces blocks of `size` x `size` pixels by their mean. Blocks begin at the top left corner.
enum darkroom_status darkroom_raster_pixelate(
    const struct darkroom_raster *raster, int size, const struct darkroom_interrupt *interrupt);

// Mixes each pixel with the colour r, g, b (0 to 1). The share of the colour rises smoothly from 0 at `radius` to
// `amount` in the corners, where the distance from the middle is 1. Grey rasters use r as the grey value. Keeps alpha.
enum darkroom_status darkroom_raster_vignette(
    const struct darkroom_raster *raster, double amount, double radius, double r, double g, double b,
    const struct darkroom_interrupt *interrupt);

// Draws `top` over `base`, with its top left pixel at `x` and `y`; parts outside of `base` are ignored. Both have the
// same number of colours and the same `wide`; each may have alpha. `opacity` is 0 to 1.
enum darkroom_status darkroom_raster_overlay(
    const struct darkroom_raster *base, const struct darkroom_raster *top, int x, int y, double opacity,
    const struct darkroom_interrupt *interrupt);

// Finds two luminances, from 0 to 1, of the pixels to which the points are applied; the raster is not changed. `low` is
// the smallest luminance for which more than the share `lower` of all pixels are equally bright or darker. `high` is
// the largest luminance for which more than the share 1 - `upper` of all pixels are equally bright or brighter. `lower`
// 0 and `upper` 1 therefore give the darkest and the brightest pixel. The luminances are not rounded. Transparent
// pixels do not count. If all pixels are transparent, the results are 0 and 1.
enum darkroom_status darkroom_raster_percentiles(
    const struct darkroom_raster *raster, const struct darkroom_point *points, int point_count, double lower, double upper,
    double *low, double *high, const struct darkroom_interrupt *interrupt);

// Finds the smallest box that contains all pixels that differ from the background by more than `threshold` units of
// 1/255 in any sample. Colours are multiplied by alpha before they are compared. `background` is red, green, blue and
// alpha, 0 to 255; rasters without alpha ignore this alpha, and grey rasters are compared with this red. If
// `background` is NULL, the top left pixel is the background. If no pixel differs, the box has the width 0.
enum darkroom_status darkroom_raster_find_trim(
    const struct darkroom_raster *raster, double threshold, const double *background, struct darkroom_box *box,
    const struct darkroom_interrupt *interrupt);

#endif
