// Draws one raster over another: the operator "over" of Porter and Duff, applied to the stored values.

#include "Rows.h"

#pragma STDC FP_CONTRACT OFF

// Samples of a row, from the first pixel to be read or changed.
struct samples {
    void *first;
    size_t bands;
};

static struct samples samples_at(const struct darkroom_raster *raster, int x, int y) {
    size_t bands = (size_t)raster->bands;
    return (struct samples){(uint8_t *)darkroom_row(raster, y) + (size_t)x * bands * (raster->wide ? 2 : 1), bands};
}

// All calls pass constants for `wide` and `colours`, so that the compiled loop has no branches for them.
static inline void draw_row(
    struct samples base, struct samples top, size_t pixels, float opacity, bool wide, size_t colours) {
    const float white = wide ? 65535 : 255;
    for (size_t pixel = 0; pixel < pixels; pixel++) {
        size_t under = pixel * base.bands, over = pixel * top.bands;
        float alpha = opacity, below = 1;
        if (top.bands > colours) alpha *= (float)darkroom_sample(top.first, over + colours, wide) / white;
        if (alpha == 0) continue;
        if (base.bands > colours) below = (float)darkroom_sample(base.first, under + colours, wide) / white;
        below *= 1 - alpha;
        float total = alpha + below;
        for (size_t i = 0; i < colours; i++) {
            float upper = (float)darkroom_sample(top.first, over + i, wide);
            float lower = (float)darkroom_sample(base.first, under + i, wide);
            darkroom_set_sample(base.first, under + i, wide, (uint32_t)((upper * alpha + lower * below) / total + 0.5f));
        }
        if (base.bands > colours)
            darkroom_set_sample(base.first, under + colours, wide, (uint32_t)(total * white + 0.5f));
    }
}

enum darkroom_status darkroom_raster_overlay(
    const struct darkroom_raster *base, const struct darkroom_raster *top, int x, int y, double opacity,
    const struct darkroom_interrupt *interrupt) {
    int left = x > 0 ? x : 0, right = x + top->width < base->width ? x + top->width : base->width;
    int first = y > 0 ? y : 0, last = y + top->height < base->height ? y + top->height : base->height;
    size_t pixels = right > left ? (size_t)(right - left) : 0;
    for (int row = first; row < last; row++) {
        if (interrupt->is_cancelled(interrupt->context)) return DARKROOM_CANCELLED;
        struct samples under = samples_at(base, left, row), over = samples_at(top, left - x, row - y);
        switch ((base->bands > 2) + (base->wide ? 2 : 0)) {
        case 0:
            draw_row(under, over, pixels, (float)opacity, false, 1);
            break;
        case 1:
            draw_row(under, over, pixels, (float)opacity, false, 3);
            break;
        case 2:
            draw_row(under, over, pixels, (float)opacity, true, 1);
            break;
        default:
            draw_row(under, over, pixels, (float)opacity, true, 3);
        }
    }
    return DARKROOM_DONE;
}
