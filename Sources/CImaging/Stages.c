#include "Stages.h"

#include <math.h>
#include <string.h>

// Creates an image that `generate` fills from one or two `inputs`. The image keeps references to the inputs.
static VipsImage *make_stage(VipsImage **inputs, VipsStartFn start, VipsGenerateFn generate, VipsStopFn stop, void *a,
                             void *b, VipsBandFormat format) {
    VipsImage *output = vips_image_new();
    for (int i = 0; inputs[i]; i++) vips_object_local(output, inputs[i]);
    if (vips_image_pipeline_array(output, VIPS_DEMAND_STYLE_THINSTRIP, inputs)) goto failed;
    output->BandFmt = format;
    if (vips_image_generate(output, start, generate, stop, a, b)) goto failed;
    return output;
failed:
    g_object_unref(output);
    return NULL;
}

// MARK: - Watching

struct watch_point {
    struct darkroom_watch *watch;
    enum darkroom_status failure;
};

static void note(struct darkroom_watch *watch, enum darkroom_status status) {
    // Only the first failure is recorded, because it causes the later failures.
    enum darkroom_status none = DARKROOM_DONE;
    atomic_compare_exchange_strong(&watch->status, &none, status);
}

static int pass_on(VipsRegion *out, void *sequence, void *a, void *b, gboolean *stop) {
    (void)a;
    (void)stop;
    VipsRegion *in = sequence;
    struct watch_point *point = b;
    const struct darkroom_job *job = point->watch->job;
    if (job->is_cancelled(job->context)) {
        note(point->watch, DARKROOM_CANCELLED);
        return -1;
    }
    if (vips_region_prepare(in, &out->valid)) {
        note(point->watch, point->failure);
        return -1;
    }
    return vips_region_region(out, in, &out->valid, out->valid.left, out->valid.top);
}

VipsImage *darkroom_watched(VipsImage *input, struct darkroom_watch *watch, enum darkroom_status failure) {
    struct watch_point *point = VIPS_NEW(input, struct watch_point);
    *point = (struct watch_point){.watch = watch, .failure = failure};
    VipsImage *inputs[] = {input, NULL};
    return make_stage(inputs, vips_start_one, pass_on, vips_stop_one, input, point, input->BandFmt);
}

// MARK: - Sepia

static int generate_sepia(VipsRegion *out, void *sequence, void *a, void *b, gboolean *stop) {
    (void)a;
    (void)stop;
    VipsRegion *in = sequence;
    const struct darkroom_sepia *sepia = b;
    const VipsRect *area = &out->valid;
    if (vips_region_prepare(in, area)) return -1;
    for (int y = area->top; y < VIPS_RECT_BOTTOM(area); y++) {
        VipsPel *row = VIPS_REGION_ADDR(out, area->left, y);
        memcpy(row, VIPS_REGION_ADDR(in, area->left, y), VIPS_REGION_SIZEOF_LINE(out));
        if (out->im->BandFmt == VIPS_FORMAT_USHORT)
            darkroom_sepia_apply_16(sepia, (uint16_t *)(void *)row, (size_t)area->width, out->im->Bands);
        else
            darkroom_sepia_apply_8(sepia, row, (size_t)area->width, out->im->Bands);
    }
    return 0;
}

VipsImage *darkroom_sepia_stage(VipsImage *input, double intensity) {
    struct darkroom_sepia *sepia = VIPS_NEW(input, struct darkroom_sepia);
    *sepia = darkroom_sepia_make(intensity);
    VipsImage *inputs[] = {input, NULL};
    return make_stage(inputs, vips_start_one, generate_sepia, vips_stop_one, input, sepia, input->BandFmt);
}

// MARK: - Tilt-shift

static int generate_mix(VipsRegion *out, void *sequence, void *a, void *b, gboolean *stop) {
    (void)a;
    (void)b;
    (void)stop;
    VipsRegion **in = sequence;
    const VipsRect *area = &out->valid;
    if (vips_region_prepare(in[0], area) || vips_region_prepare(in[1], area)) return -1;
    size_t values = (size_t)area->width * (size_t)out->im->Bands;
    double height = out->im->Ysize;
    for (int y = area->top; y < VIPS_RECT_BOTTOM(area); y++) {
        float mask = (float)fmin(1, fabs(y + 0.5 - height / 2) / (height / 4));
        const float *sharp = (const float *)(void *)VIPS_REGION_ADDR(in[0], area->left, y);
        const float *blurred = (const float *)(void *)VIPS_REGION_ADDR(in[1], area->left, y);
        float *mixed = (float *)(void *)VIPS_REGION_ADDR(out, area->left, y);
        for (size_t i = 0; i < values; i++) mixed[i] = sharp[i] + mask * (blurred[i] - sharp[i]);
    }
    return 0;
}

VipsImage *darkroom_tilt_shift_mix(VipsImage *sharp, VipsImage *blurred) {
    VipsImage *inputs[] = {sharp, blurred, NULL};
    VipsImage *first = sharp;
    VipsImage **kept = VIPS_ARRAY(first, 3, VipsImage *);
    memcpy(kept, inputs, sizeof inputs);
    return make_stage(inputs, vips_start_many, generate_mix, vips_stop_many, kept, NULL, VIPS_FORMAT_FLOAT);
}
