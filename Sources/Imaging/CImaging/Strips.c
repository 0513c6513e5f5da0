// DESIGN: libjpeg-turbo decodes 16 rows, the filter changes them while they are in the CPU cache, and libjpeg-turbo
// encodes them. Therefore the filter takes little time, and a picture needs memory only for the strip and for the input
// and output files.
//
// Pixels are RGBX with four bytes each, so that the filter's vector code needs no shuffles. Rows start 16 bytes after a
// multiple of 32, because libjpeg-turbo writes aligned rows with stores that bypass the cache. With aligned rows, the
// filter would have to fetch the rows from memory, which was measured to be 20 % slower. Rows to be scaled are RGB,
// because the scaler converts them to floating point anyway.
//
// libjpeg reports errors with longjmp. The only setjmp is in `guarded`, so that no Swift frame is skipped. All state is
// in `struct strips`, so that no state is in a register during the jump.

#include "Strips.h"

#include "Exif.h"
#include "Profile.h"
#include "Segments.h"
#include "StripsOutput.h"

#include <stdlib.h>
#include <string.h>

#include <jerror.h>

enum {
    // The largest accepted number of scans. Encoders write far fewer. Each scan is a pass over the whole picture, so a
    // small file with many scans could take hours.
    MAX_SCANS = 200,
    // If a picture has more scans than this, MAX_SCANNED_PIXELS limits the product of scans and pixels. Encoders write
    // about ten scans.
    MAX_SCANS_OF_ANY_SIZE = 25,
};

// The largest product of scans and pixels: some seconds of work.
static const int64_t MAX_SCANNED_PIXELS = 2500000000;

_Noreturn void darkroom_strips_fail(struct strips *strips, enum darkroom_status status) {
    strips->status = status;
    longjmp(strips->escape, 1);
}

// MARK: - Callbacks of libjpeg

static enum darkroom_status status_of(j_common_ptr codec) {
    switch (codec->err->msg_code) {
    case JERR_OUT_OF_MEMORY:
        return DARKROOM_OUT_OF_MEMORY;
    case JERR_IMAGE_TOO_BIG:
    case JERR_WIDTH_OVERFLOW:
        return DARKROOM_TOO_MANY_PIXELS;
    case JERR_SOF_UNSUPPORTED:
    case JERR_BAD_PRECISION:
    case JERR_ARITH_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
        return DARKROOM_UNSUPPORTED;
    default:
        return codec->is_decompressor ? DARKROOM_DAMAGED : DARKROOM_FILTER_FAILED;
    }
}

static _Noreturn void on_error(j_common_ptr codec) {
    struct strips *strips = (struct strips *)(void *)codec->err;
    char message[JMSG_LENGTH_MAX];
    codec->err->format_message(codec, message);
    if (strips->has_all_rows) darkroom_strips_end_early(strips, message);
    strncpy(strips->session->detail, message, sizeof strips->session->detail - 1);
    darkroom_strips_fail(strips, status_of(codec));
}

// Level -1 is a warning. A warning before the first scan does not affect pixels: it reports bytes between segments, or an
// Adobe or JFIF segment with unknown values, which libjpeg reads in the same way as other decoders.
static void on_message(j_common_ptr codec, int level) {
    struct strips *strips = (struct strips *)(void *)codec->err;
    if (level >= 0 || !strips->has_header || darkroom_strips_tolerate_warning(strips)) return;
    // This defect is one of the pixels, even if libjpeg finds it after the last pixel.
    strips->has_all_rows = false;
    on_error(codec);
}

static void on_progress(j_common_ptr codec) {
    struct strips *strips = (struct strips *)(void *)codec->err;
    int scans = strips->in.input_scan_number;
    int64_t pixels = (int64_t)strips->in.image_width * strips->in.image_height;
    if (scans > MAX_SCANS || (scans > MAX_SCANS_OF_ANY_SIZE && scans * pixels > MAX_SCANNED_PIXELS)) {
        snprintf(strips->session->detail, sizeof strips->session->detail, "more than %d scans", scans - 1);
        darkroom_strips_fail(strips, DARKROOM_DAMAGED);
    }
    if (strips->session->is_cancelled(strips->session->context)) darkroom_strips_fail(strips, DARKROOM_CANCELLED);
}

// MARK: - Reading

static void open_input(struct strips *strips) {
    struct darkroom_session *session = strips->session;
    struct jpeg_decompress_struct *in = &strips->in;
    jpeg_create_decompress(in);
    jpeg_mem_src(in, strips->input->bytes, strips->input->byte_count);
    static const int kept[] = {APP1_EXIF_OR_XMP, APP2_ICC, APP13_IPTC, JPEG_COM};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) jpeg_save_markers(in, kept[i], 0xFFFF);
    jpeg_read_header(in, TRUE);
    strips->has_header = true;

    session->width = (int)in->image_width;
    session->height = (int)in->image_height;
    int64_t pixels = (int64_t)in->image_width * in->image_height;
    if (pixels > session->max_streamed_pixels) darkroom_strips_fail(strips, DARKROOM_TOO_MANY_PIXELS);
    session->size_is_known(session->context, pixels);
    in->scale_num = 1;
    in->scale_denom = (unsigned)strips->shrink;
}

bool darkroom_strips_is_profile(const struct jpeg_marker_struct *marker) {
    static const char profile[] = "ICC_PROFILE";
    return marker->marker == APP2_ICC && marker->data_length >= sizeof profile &&
           memcmp(marker->data, profile, sizeof profile) == 0;
}

// Whether the profile describes RGB and is not one for HDR.
static bool has_usual_profile(struct strips *strips) {
    uint8_t *profile = NULL;
    unsigned count = 0;
    struct darkroom_colours colours;
    // A profile with missing parts does not count as damage of the picture.
    strips->has_header = false;
    bool is_whole = jpeg_read_icc_profile(&strips->in, &profile, &count);
    strips->has_header = true;
    bool is_usual = is_whole && darkroom_profile_space(profile, count) == DARKROOM_SPACE('R', 'G', 'B', ' ') &&
                    !darkroom_profile_is_hdr(profile, count, &colours);
    free(profile);
    return is_usual;
}

// Fails with DARKROOM_NOT_FOR_STRIPS unless the file can be developed in strips: it must be upright, in grey, YCbCr or
// RGB, and need no conversion of its colour profile.
static void require_file_for_strips(struct strips *strips) {
    const struct jpeg_decompress_struct *in = &strips->in;
    bool grey = in->jpeg_color_space == JCS_GRAYSCALE, profile = false;
    int orientation = 0;
    for (jpeg_saved_marker_ptr marker = in->marker_list; marker; marker = marker->next) {
        if (marker->marker == APP1_EXIF_OR_XMP && orientation == 0 && marker->data_length > 6 &&
            memcmp(marker->data, "Exif\0", 6) == 0)
            orientation = darkroom_exif_orientation(marker->data, marker->data_length);
        profile = profile || darkroom_strips_is_profile(marker);
    }
    bool colour = in->jpeg_color_space == JCS_YCbCr || in->jpeg_color_space == JCS_RGB;
    bool removes_profile = false;
    for (int i = 0; i < strips->job_count; i++) removes_profile = removes_profile || strips->jobs[i].metadata == 0;
    bool converts = profile && (grey || removes_profile || !has_usual_profile(strips));
    if (orientation > 1 || !(colour || grey) || converts) darkroom_strips_fail(strips, DARKROOM_NOT_FOR_STRIPS);
    strips->in.out_color_space = JCS_EXT_RGBX;
}

// Changes the metadata to describe an upright picture that is the only one in its file.
static void settle_metadata(struct strips *strips) {
    size_t count = 0;
    for (jpeg_saved_marker_ptr marker = strips->in.marker_list; marker; marker = marker->next) count++;
    if (count == 0) return;
    struct darkroom_segment *segments = strips->segments = calloc(count, sizeof *segments);
    if (!segments) darkroom_strips_fail(strips, DARKROOM_OUT_OF_MEMORY);
    count = 0;
    for (jpeg_saved_marker_ptr marker = strips->in.marker_list; marker; marker = marker->next) {
        struct darkroom_segment segment = {marker->marker, marker->data, marker->data_length};
        if (darkroom_segment_kind(&segment) == SEGMENT_EXIF) {
            darkroom_exif_set_upright(marker->data, marker->data_length);
            marker->data_length = (unsigned)darkroom_exif_remove_thumbnail(marker->data, marker->data_length);
        }
        segments[count++] = segment;
    }
    darkroom_settle_segments(segments, count);
}

void *darkroom_strips_make_rows(struct strips *strips, size_t row_bytes, JSAMPROW rows[STRIP_ROWS]) {
    size_t stride = (row_bytes + 63) / 64 * 64;
    void *memory = aligned_alloc(64, stride * STRIP_ROWS + 64);
    if (!memory) darkroom_strips_fail(strips, DARKROOM_OUT_OF_MEMORY);
    for (size_t i = 0; i < STRIP_ROWS; i++) rows[i] = (uint8_t *)memory + 16 + i * stride;
    return memory;
}

// The size of the coefficients that libjpeg keeps of a picture with several scans, and of the first buffers of the
// outputs.
static double kept_bytes(struct strips *strips) {
    const struct jpeg_decompress_struct *in = &strips->in;
    double bytes = 0;
    for (int i = 0; jpeg_has_multiple_scans(&strips->in) && i < in->num_components; i++)
        bytes += (double)in->comp_info[i].width_in_blocks * in->comp_info[i].height_in_blocks * sizeof(JBLOCK);
    for (int i = 0; strips->outputs && i < strips->job_count; i++)
        if (strips->outputs[i].scaling.scaling.width == 0) bytes += (double)in->image_width * in->image_height / 3;
    return bytes;
}

static void start_reading(struct strips *strips) {
    struct jpeg_decompress_struct *in = &strips->in;
    // The limit is the size of the largest picture that may be in memory.
    double most = 8.0 * (double)strips->session->max_pixels;
    bool is_large = (int64_t)in->image_width * in->image_height > strips->session->max_pixels;
    if (is_large && kept_bytes(strips) > most) darkroom_strips_fail(strips, DARKROOM_TOO_MANY_PIXELS);
    // If the picture has several scans, libjpeg decodes for a long time before it returns the first row. During this
    // time, the progress monitor checks for cancellation. After the first row, read_rows checks for cancellation.
    strips->progress.progress_monitor = on_progress;
    in->progress = &strips->progress;
    jpeg_start_decompress(in);
    in->progress = NULL;
    darkroom_strips_require_all_scans(strips);

    size_t row_bytes = (size_t)in->output_width * (size_t)in->output_components;
    strips->memory = darkroom_strips_make_rows(strips, row_bytes, strips->rows);
}

// Reads the next rows. Returns the number of rows; 0 after the last row.
static JDIMENSION read_rows(struct strips *strips) {
    struct jpeg_decompress_struct *in = &strips->in;
    if (strips->session->is_cancelled(strips->session->context)) darkroom_strips_fail(strips, DARKROOM_CANCELLED);
    JDIMENSION rows = 0;
    while (rows < STRIP_ROWS && in->output_scanline < in->output_height)
        rows += jpeg_read_scanlines(in, strips->rows + rows, STRIP_ROWS - rows);
    return rows;
}

void darkroom_strips_filter(
    const struct darkroom_strips_job *job, JSAMPROW *rows, JDIMENSION count, JDIMENSION width, int bands) {
    for (JDIMENSION row = 0; row < count && job->point_count > 0; row++)
        darkroom_points_apply(job->points, job->point_count, rows[row], width, bands, false);
}

// MARK: - Jobs

static void make_outputs(struct strips *strips) {
    strips->outputs = calloc((size_t)strips->job_count, sizeof *strips->outputs);
    if (!strips->outputs) darkroom_strips_fail(strips, DARKROOM_OUT_OF_MEMORY);
    for (int i = 0; i < strips->job_count; i++) {
        struct strips_output *output = &strips->outputs[i];
        output->strips = strips;
        output->job = &strips->jobs[i];
        output->file = &strips->files[i];
        output->out.err = &strips->errors;
    }
}

// Decides how the decoder shrinks the picture, and how the outputs are scaled.
static void plan(struct strips *strips) {
    const struct darkroom_planner *planner = &strips->planner;
    if (!planner->plan) return;
    for (int i = 0; i < strips->job_count; i++) {
        struct darkroom_strips_scaling *scaling = &strips->outputs[i].scaling;
        if (!planner->plan(planner->context, i, strips->session->width, strips->session->height, &strips->shrink, scaling))
            darkroom_strips_fail(strips, DARKROOM_NOT_FOR_STRIPS);
    }
    strips->in.scale_denom = (unsigned)strips->shrink;
    strips->in.out_color_space = JCS_RGB;
}

static void develop(struct strips *strips) {
    open_input(strips);
    require_file_for_strips(strips);
    settle_metadata(strips);
    make_outputs(strips);
    plan(strips);
    start_reading(strips);
    for (int i = 0; i < strips->job_count; i++) darkroom_strips_prepare(&strips->outputs[i]);
    for (JDIMENSION rows; (rows = read_rows(strips)) > 0;)
        for (int i = 0; i < strips->job_count; i++) darkroom_strips_write(&strips->outputs[i], strips->rows, rows);
    darkroom_strips_finish_reading(strips);
    for (int i = 0; i < strips->job_count; i++) darkroom_strips_end(&strips->outputs[i]);
}

static void hand_out_rows(struct strips *strips) {
    start_reading(strips);
    const struct jpeg_decompress_struct *in = &strips->in;
    for (JDIMENSION rows, y = 0; (rows = read_rows(strips)) > 0; y += rows) {
        for (int i = 0; i < strips->job_count; i++)
            darkroom_strips_filter(&strips->jobs[i], strips->rows, rows, in->output_width, in->output_components);
        for (JDIMENSION row = 0; row < rows && strips->reader.take_row; row++)
            strips->reader.take_row(strips->reader.context, (int)(y + row), strips->rows[row]);
    }
    darkroom_strips_finish_reading(strips);
}

static void decode(struct strips *strips) {
    open_input(strips);
    hand_out_rows(strips);
}

static void filter(struct strips *strips) {
    open_input(strips);
    require_file_for_strips(strips);
    hand_out_rows(strips);
}

// Runs `work` with a copy of `settings`, and catches the jumps of libjpeg's errors.
static enum darkroom_status guarded(void (*work)(struct strips *), const struct strips *settings) {
    // The structure is not on the stack, because it is large and must stay valid after the jump.
    struct strips *strips = malloc(sizeof *strips);
    if (!strips) return DARKROOM_OUT_OF_MEMORY;
    *strips = *settings;
    strips->in.err = jpeg_std_error(&strips->errors);
    strips->errors.error_exit = on_error;
    strips->errors.emit_message = on_message;

    if (setjmp(strips->escape) == 0) work(strips);

    darkroom_strips_free_outputs(strips);
    jpeg_destroy_decompress(&strips->in);
    free(strips->memory);
    free(strips->segments);
    enum darkroom_status status = strips->status;
    free(strips);
    return status;
}

enum darkroom_status darkroom_develop_by_strips(
    struct darkroom_session *session, const struct darkroom_input *input, const struct darkroom_strips_job *jobs, int count,
    struct darkroom_planner planner, struct darkroom_file *files) {
    return guarded(develop, &(struct strips){.session = session, .input = input, .shrink = 1, .jobs = jobs,
                                             .job_count = count, .planner = planner, .files = files});
}

enum darkroom_status darkroom_decode_jpeg(struct darkroom_session *session, const struct darkroom_input *input, int shrink,
                                          struct darkroom_row_reader reader) {
    return guarded(decode, &(struct strips){.session = session, .input = input, .shrink = shrink, .reader = reader});
}

enum darkroom_status darkroom_check_jpeg(struct darkroom_session *session, const struct darkroom_input *input) {
    return darkroom_decode_jpeg(session, input, 1, (struct darkroom_row_reader){0});
}

enum darkroom_status darkroom_filter_by_strips(
    struct darkroom_session *session, const struct darkroom_input *input, const struct darkroom_strips_job *job,
    struct darkroom_row_reader reader) {
    return guarded(filter, &(struct strips){.session = session, .input = input, .shrink = 1, .jobs = job, .job_count = 1,
                                            .reader = reader});
}
