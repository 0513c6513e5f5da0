#include "Stages.h"

#include <string.h>

VipsImage *darkroom_stage(VipsImage *input, VipsBandFormat format, VipsGenerateFn generate, void *state) {
    VipsImage *output = vips_image_new();
    vips_object_local(output, input);
    bool is_linked = vips_image_pipelinev(output, VIPS_DEMAND_STYLE_THINSTRIP, input, NULL) == 0;
    output->BandFmt = format;
    if (!is_linked || vips_image_generate(output, vips_start_one, generate, vips_stop_one, input, state)) {
        g_object_unref(output);
        return NULL;
    }
    return output;
}

// MARK: - Watching

struct watch_point {
    struct darkroom_session *session;
    enum darkroom_status failure;
};

static void note(struct darkroom_session *session, enum darkroom_status status) {
    // Only the first failure is recorded, because it causes the later failures.
    int none = DARKROOM_DONE;
    __atomic_compare_exchange_n(&session->noted, &none, (int)status, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

enum darkroom_status darkroom_noted(struct darkroom_session *session) {
    return (enum darkroom_status)__atomic_load_n(&session->noted, __ATOMIC_SEQ_CST);
}

static int pass_on(VipsRegion *out, void *sequence, void *a, void *b, gboolean *stop) {
    (void)a;
    (void)stop;
    VipsRegion *in = sequence;
    struct watch_point *point = b;
    if (point->session->is_cancelled(point->session->context)) {
        note(point->session, DARKROOM_CANCELLED);
        return -1;
    }
    if (vips_region_prepare(in, &out->valid)) {
        note(point->session, point->failure);
        return -1;
    }
    return vips_region_region(out, in, &out->valid, out->valid.left, out->valid.top);
}

VipsImage *darkroom_watched(VipsImage *input, struct darkroom_session *session, enum darkroom_status failure) {
    struct watch_point *point = VIPS_NEW(input, struct watch_point);
    *point = (struct watch_point){.session = session, .failure = failure};
    return darkroom_stage(input, input->BandFmt, pass_on, point);
}

// MARK: - Points

struct points {
    const struct darkroom_point *points;
    int count;
};

static int generate_points(VipsRegion *out, void *sequence, void *a, void *b, gboolean *stop) {
    (void)a;
    (void)stop;
    VipsRegion *in = sequence;
    const struct points *points = b;
    const VipsRect *area = &out->valid;
    if (vips_region_prepare(in, area)) return -1;
    for (int y = area->top; y < VIPS_RECT_BOTTOM(area); y++) {
        VipsPel *row = VIPS_REGION_ADDR(out, area->left, y);
        memcpy(row, VIPS_REGION_ADDR(in, area->left, y), VIPS_REGION_SIZEOF_LINE(out));
        darkroom_points_apply(points->points, points->count, row, (size_t)area->width, out->im->Bands,
                              out->im->BandFmt == VIPS_FORMAT_USHORT);
    }
    return 0;
}

VipsImage *darkroom_points_stage(VipsImage *input, const struct darkroom_point *points, int count) {
    struct darkroom_point *copies = VIPS_ARRAY(input, count, struct darkroom_point);
    memcpy(copies, points, (size_t)count * sizeof *points);
    struct points *state = VIPS_NEW(input, struct points);
    *state = (struct points){.points = copies, .count = count};
    return darkroom_stage(input, input->BandFmt, generate_points, state);
}
