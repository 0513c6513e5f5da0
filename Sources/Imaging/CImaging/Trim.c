#include "Rows.h"

#include <math.h>

struct search {
    const struct darkroom_raster *raster;
    // The samples of the background, with the colours multiplied by alpha.
    double background[4];
    double threshold;
};

// The samples of a pixel, with the colours multiplied by alpha, so that all transparent pixels are equal.
static void read_pixel(const struct darkroom_raster *raster, int x, int y, double *samples) {
    int bands = raster->bands;
    size_t start = ((size_t)y * (size_t)raster->width + (size_t)x) * (size_t)bands;
    double white = raster->wide ? 65535 : 255;
    double alpha = bands % 2 == 0 ? darkroom_sample(raster->pixels, start + (size_t)bands - 1, raster->wide) : white;
    for (int i = 0; i < bands; i++) {
        bool is_alpha = bands % 2 == 0 && i == bands - 1;
        samples[i] = is_alpha ? alpha : darkroom_sample(raster->pixels, start + (size_t)i, raster->wide) * alpha / white;
    }
}

static bool is_background(const struct search *search, int x, int y) {
    double samples[4];
    read_pixel(search->raster, x, y, samples);
    for (int i = 0; i < search->raster->bands; i++)
        if (fabs(samples[i] - search->background[i]) > search->threshold) return false;
    return true;
}

static void set_background(struct search *search, const double *background) {
    const struct darkroom_raster *raster = search->raster;
    double scale = raster->wide ? 257 : 1;
    if (!background) {
        read_pixel(raster, 0, 0, search->background);
        return;
    }
    bool has_alpha = raster->bands % 2 == 0;
    int colours = raster->bands > 2 ? 3 : 1;
    double white = 255 * scale, alpha = has_alpha ? background[3] * scale : white;
    // Computed as in read_pixel(), so that equal colours have a difference of 0.
    for (int i = 0; i < colours; i++) search->background[i] = background[i] * scale * alpha / white;
    if (has_alpha) search->background[colours] = alpha;
}

enum darkroom_status darkroom_raster_find_trim(
    const struct darkroom_raster *raster, double threshold, const double *background, struct darkroom_box *box,
    const struct darkroom_interrupt *interrupt) {
    struct search search = {.raster = raster, .threshold = threshold * (raster->wide ? 257 : 1)};
    set_background(&search, background);
    int left = raster->width, right = -1, top = raster->height, bottom = -1;
    for (int y = 0; y < raster->height; y++) {
        if (interrupt->is_cancelled(interrupt->context)) return DARKROOM_CANCELLED;
        int x = 0, last = raster->width - 1;
        while (x <= last && is_background(&search, x, y)) x++;
        if (x > last) continue;
        while (is_background(&search, last, y)) last--;
        if (x < left) left = x;
        if (last > right) right = last;
        if (top > y) top = y;
        bottom = y;
    }
    bool is_plain = right < 0;
    *box = is_plain ? (struct darkroom_box){.width = 0}
                    : (struct darkroom_box){.x = left, .y = top, .width = right - left + 1, .height = bottom - top + 1};
    return DARKROOM_DONE;
}
