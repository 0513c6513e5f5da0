// Draws one raster over another: Porter and Duff, "over", with the stored values.

#include "CImaging.h"

static uint32_t sample(const struct darkroom_raster *raster, size_t index) {
    return raster->wide ? ((const uint16_t *)raster->pixels)[index] : ((const uint8_t *)raster->pixels)[index];
}

static void set_sample(const struct darkroom_raster *raster, size_t index, double value) {
    if (raster->wide)
        ((uint16_t *)raster->pixels)[index] = (uint16_t)(value + 0.5);
    else
        ((uint8_t *)raster->pixels)[index] = (uint8_t)(value + 0.5);
}

static void draw_pixel(
    const struct darkroom_raster *base, size_t under, const struct darkroom_raster *top, size_t over, double opacity) {
    double white = base->wide ? 65535 : 255;
    int colours = base->bands <= 2 ? 1 : 3;
    double alpha = top->bands > colours ? opacity * sample(top, over + (size_t)colours) / white : opacity;
    if (alpha == 0) return;
    double below = base->bands > colours ? sample(base, under + (size_t)colours) / white : 1;
    double total = alpha + below * (1 - alpha);
    for (int i = 0; i < colours; i++) {
        double mixed = sample(top, over + (size_t)i) * alpha + sample(base, under + (size_t)i) * below * (1 - alpha);
        set_sample(base, under + (size_t)i, mixed / total);
    }
    if (base->bands > colours) set_sample(base, under + (size_t)colours, total * white);
}

enum darkroom_status darkroom_raster_overlay(
    const struct darkroom_raster *base, const struct darkroom_raster *top, int x, int y, double opacity,
    const struct darkroom_interrupt *interrupt) {
    int left = x > 0 ? x : 0, right = x + top->width < base->width ? x + top->width : base->width;
    int first = y > 0 ? y : 0, last = y + top->height < base->height ? y + top->height : base->height;
    for (int row = first; row < last; row++) {
        if (interrupt->is_cancelled(interrupt->context)) return DARKROOM_CANCELLED;
        for (int column = left; column < right; column++) {
            size_t under = ((size_t)row * (size_t)base->width + (size_t)column) * (size_t)base->bands;
            size_t over = ((size_t)(row - y) * (size_t)top->width + (size_t)(column - x)) * (size_t)top->bands;
            draw_pixel(base, under, top, over, opacity);
        }
    }
    return DARKROOM_DONE;
}
