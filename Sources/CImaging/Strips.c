// DESIGN: libjpeg-turbo decodes 16 rows, the filter changes them while they are in the CPU cache, and libjpeg-turbo
// encodes them. So the filter takes little time, and a picture needs memory only for the strip and for the input and
// output files.
//
// Pixels are RGBX with four bytes each, so that the filter's vector code needs no shuffles. Rows start 16 bytes after a
// multiple of 32, because libjpeg-turbo writes aligned rows with stores that bypass the cache. With aligned rows, the
// filter would have to fetch the rows from memory, which was measured to be 20 % slower. Rows that are scaled are RGB,
// because they are converted to floating point anyway.
//
// libjpeg reports errors with longjmp. The only setjmp is in `guarded`, so that no Swift frame is skipped. All state is
// in `struct strips`, so that no state is in a register during the jump.

#include "Strips.h"

#include "Exif.h"
#include "Scaler.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// <jpeglib.h> requires <stdio.h> before it.
#include <jpeglib.h>

#include <jerror.h>

enum {
    STRIP_ROWS = 16,
    // Encoders write far fewer scans than this. Each scan is a pass over the whole picture, so a small file with many
    // scans could take hours.
    MAX_SCANS = 200,
    // If a picture has more scans than this, MAX_SCANNED_PIXELS limits the product of scans and pixels. Encoders write
    // about ten scans.
    MAX_SCANS_OF_ANY_SIZE = 25,
    APP1_EXIF_OR_XMP = JPEG_APP0 + 1,
    APP2_ICC = JPEG_APP0 + 2,
    APP13_IPTC = JPEG_APP0 + 13,
};

// The largest product of scans and pixels: some seconds of work.
static const int64_t MAX_SCANNED_PIXELS = 2500000000;

// One of the files that are made.
struct strips_output {
    struct jpeg_destination_mgr destination;  // must be first: callbacks cast its address to the struct
    struct jpeg_compress_struct out;
    struct strips *strips;
    const struct darkroom_strips_job *job;
    struct darkroom_file *file;
    uint8_t *bytes;
    size_t capacity;

    // The rows to be written, and their number, if they are not those that were read.
    void *memory;
    JSAMPROW rows[STRIP_ROWS];
    JDIMENSION row_count;

    // NULL if the picture is not scaled.
    struct darkroom_scaler *scaler;
    struct darkroom_strips_scaling scaling;
    // The rows that the scaler has taken, and those that it has given.
    int taken, given;
};

struct strips {
    struct jpeg_error_mgr errors;  // must be first: callbacks cast its address to the struct
    struct jpeg_decompress_struct in;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    enum darkroom_status status;
    bool has_header;

    struct darkroom_session *session;
    const struct darkroom_input *input;
    int shrink;
    struct darkroom_row_reader reader;
    // No jobs if the pixels are only decoded.
    const struct darkroom_strips_job *jobs;
    int job_count;
    struct darkroom_planner planner;
    struct darkroom_file *files;
    struct strips_output *outputs;

    void *memory;
    JSAMPROW rows[STRIP_ROWS];
};

static _Noreturn void fail(struct strips *strips, enum darkroom_status status) {
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
    strncpy(strips->session->detail, message, sizeof strips->session->detail - 1);
    fail(strips, status_of(codec));
}

// Level -1 is a warning. A warning within the entropy-coded data means corrupt data, and libjpeg would continue with
// grey pixels. A warning before the first scan does not affect pixels: it reports bytes between segments, or an Adobe
// or JFIF segment with unknown values, which libjpeg reads in the same way as other decoders.
static void on_message(j_common_ptr codec, int level) {
    struct strips *strips = (struct strips *)(void *)codec->err;
    if (level < 0 && strips->has_header && !strips->input->accepts_damage) on_error(codec);
}

static void on_progress(j_common_ptr codec) {
    struct strips *strips = (struct strips *)(void *)codec->err;
    int scans = strips->in.input_scan_number;
    int64_t pixels = (int64_t)strips->in.image_width * strips->in.image_height;
    if (scans > MAX_SCANS || (scans > MAX_SCANS_OF_ANY_SIZE && scans * pixels > MAX_SCANNED_PIXELS)) {
        snprintf(strips->session->detail, sizeof strips->session->detail, "more than %d scans", scans - 1);
        fail(strips, DARKROOM_DAMAGED);
    }
    if (strips->session->is_cancelled(strips->session->context)) fail(strips, DARKROOM_CANCELLED);
}

// The bytes of the markers that the output may keep.
static size_t marker_bytes(const struct strips_output *output) {
    size_t bytes = 0;
    if (output->job->strips_metadata) return 0;
    for (jpeg_saved_marker_ptr marker = output->strips->in.marker_list; marker; marker = marker->next)
        bytes += marker->data_length + 4;
    return bytes;
}

static void begin_output(j_compress_ptr out) {
    struct strips_output *output = (struct strips_output *)(void *)out->dest;
    // Nearly every photo at quality 85 fits into this capacity with its metadata, so the buffer is rarely reallocated.
    output->capacity = (size_t)out->image_width * out->image_height / 3 + marker_bytes(output) + 4096;
    output->bytes = malloc(output->capacity);
    if (!output->bytes) fail(output->strips, DARKROOM_OUT_OF_MEMORY);
    output->destination.next_output_byte = output->bytes;
    output->destination.free_in_buffer = output->capacity;
}

static boolean grow_output(j_compress_ptr out) {
    struct strips_output *output = (struct strips_output *)(void *)out->dest;
    uint8_t *larger = realloc(output->bytes, output->capacity * 2);
    if (!larger) fail(output->strips, DARKROOM_OUT_OF_MEMORY);
    output->bytes = larger;
    output->destination.next_output_byte = larger + output->capacity;
    output->destination.free_in_buffer = output->capacity;
    output->capacity *= 2;
    return TRUE;
}

static void end_output(j_compress_ptr out) {
    struct strips_output *output = (struct strips_output *)(void *)out->dest;
    struct darkroom_file *file = output->file;
    file->byte_count = output->capacity - output->destination.free_in_buffer;
    uint8_t *exact = realloc(output->bytes, file->byte_count);
    file->bytes = exact ? exact : output->bytes;
    output->bytes = NULL;
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
    if (pixels > session->max_pixels) fail(strips, DARKROOM_TOO_MANY_PIXELS);
    session->size_is_known(session->context, pixels);
    in->scale_num = 1;
    in->scale_denom = (unsigned)strips->shrink;
}

// Whether the segment contains a profile. Other APP2 segments contain further pictures.
static bool is_profile(const struct jpeg_marker_struct *marker) {
    static const char profile[] = "ICC_PROFILE";
    return marker->marker == APP2_ICC && marker->data_length >= sizeof profile &&
           memcmp(marker->data, profile, sizeof profile) == 0;
}

// Fails with DARKROOM_NOT_FOR_STRIPS unless the file can be developed in strips: it must be upright, in grey, YCbCr or RGB, and
// need no conversion of its colour profile.
static void require_file_for_strips(struct strips *strips) {
    const struct jpeg_decompress_struct *in = &strips->in;
    bool grey = in->jpeg_color_space == JCS_GRAYSCALE, profile = false;
    int orientation = 0;
    for (jpeg_saved_marker_ptr marker = in->marker_list; marker; marker = marker->next) {
        if (marker->marker == APP1_EXIF_OR_XMP && orientation == 0 && marker->data_length > 6 &&
            memcmp(marker->data, "Exif\0", 6) == 0)
            orientation = darkroom_exif_orientation(marker->data, marker->data_length);
        profile = profile || is_profile(marker);
    }
    bool colour = in->jpeg_color_space == JCS_YCbCr || in->jpeg_color_space == JCS_RGB;
    bool strips_metadata = false;
    for (int i = 0; i < strips->job_count; i++) strips_metadata = strips_metadata || strips->jobs[i].strips_metadata;
    bool converts = profile && (grey || strips_metadata);
    if (orientation > 1 || !(colour || grey) || converts) fail(strips, DARKROOM_NOT_FOR_STRIPS);
    strips->in.out_color_space = JCS_EXT_RGBX;
}

// The pixels in rows; each starts 16 bytes after a multiple of 64.
static void *make_rows(struct strips *strips, size_t row_bytes, JSAMPROW rows[STRIP_ROWS]) {
    size_t stride = (row_bytes + 63) / 64 * 64;
    void *memory = aligned_alloc(64, stride * STRIP_ROWS + 64);
    if (!memory) fail(strips, DARKROOM_OUT_OF_MEMORY);
    for (size_t i = 0; i < STRIP_ROWS; i++) rows[i] = (uint8_t *)memory + 16 + i * stride;
    return memory;
}

static void start_reading(struct strips *strips) {
    struct jpeg_decompress_struct *in = &strips->in;
    // If the picture has several scans, libjpeg decodes for a long time before it returns the first row. During this
    // time, the progress monitor checks for cancellation. After the first row, read_strip checks for cancellation.
    strips->progress.progress_monitor = on_progress;
    in->progress = &strips->progress;
    jpeg_start_decompress(in);
    in->progress = NULL;

    strips->memory = make_rows(strips, (size_t)in->output_width * (size_t)in->output_components, strips->rows);
}

// Reads the next rows. Returns the number of rows; 0 after the last row.
static JDIMENSION read_rows(struct strips *strips) {
    struct jpeg_decompress_struct *in = &strips->in;
    if (strips->session->is_cancelled(strips->session->context)) fail(strips, DARKROOM_CANCELLED);
    JDIMENSION rows = 0;
    while (rows < STRIP_ROWS && in->output_scanline < in->output_height)
        rows += jpeg_read_scanlines(in, strips->rows + rows, STRIP_ROWS - rows);
    return rows;
}

// Applies the points of a job.
static void filter_rows(
    const struct darkroom_strips_job *job, JSAMPROW *rows, JDIMENSION count, JDIMENSION width, int bands) {
    for (JDIMENSION row = 0; row < count && job->point_count > 0; row++)
        darkroom_points_apply(job->points, job->point_count, rows[row], width, bands, false);
}

// MARK: - Writing

static void write_markers(struct strips_output *output) {
    const struct jpeg_compress_struct *out = &output->out;
    for (jpeg_saved_marker_ptr marker = output->strips->in.marker_list; marker; marker = marker->next) {
        // Other kinds of APP2 markers are omitted, because they contain offsets into the original file.
        if (marker->marker == APP2_ICC && !is_profile(marker)) continue;
        if (marker->marker == APP1_EXIF_OR_XMP) {
            darkroom_exif_unlink_thumbnail(marker->data, marker->data_length);
            darkroom_exif_set_size(marker->data, marker->data_length, (int)out->image_width, (int)out->image_height);
        }
        jpeg_write_marker(&output->out, marker->marker, marker->data, marker->data_length);
    }
}

static void start_writing(struct strips_output *output) {
    struct jpeg_compress_struct *out = &output->out;
    const struct jpeg_decompress_struct *in = &output->strips->in;
    jpeg_create_compress(out);
    out->dest = &output->destination;
    output->destination.init_destination = begin_output;
    output->destination.empty_output_buffer = grow_output;
    output->destination.term_destination = end_output;
    const struct darkroom_box *cut = &output->scaling.cut;
    out->image_width = output->scaler ? (JDIMENSION)cut->width : in->output_width;
    out->image_height = output->scaler ? (JDIMENSION)cut->height : in->output_height;
    out->input_components = in->output_components;
    out->in_color_space = in->out_color_space;
    const struct darkroom_strips_job *job = output->job;
    jpeg_set_defaults(out);
    if (in->jpeg_color_space == JCS_GRAYSCALE && job->keeps_grey) jpeg_set_colorspace(out, JCS_GRAYSCALE);
    jpeg_set_quality(out, job->quality, TRUE);
    // From quality 90 on, stores the colours in full resolution, as libvips does.
    bool full = job->chroma == DARKROOM_CHROMA_BY_QUALITY ? job->quality >= 90 : job->chroma == DARKROOM_CHROMA_444;
    if (full) out->comp_info[0].h_samp_factor = out->comp_info[0].v_samp_factor = 1;
    if (in->saw_JFIF_marker) {
        out->density_unit = in->density_unit;
        out->X_density = in->X_density;
        out->Y_density = in->Y_density;
    }
    jpeg_start_compress(out, TRUE);
    if (!job->strips_metadata) write_markers(output);
}

// Filters and writes the rows of the output.
static void flush_rows(struct strips_output *output) {
    if (output->row_count == 0) return;
    size_t skipped = output->scaler ? (size_t)output->scaling.cut.x * (size_t)output->out.input_components : 0;
    JSAMPROW rows[STRIP_ROWS];
    for (JDIMENSION row = 0; row < output->row_count; row++) rows[row] = output->rows[row] + skipped;
    filter_rows(output->job, rows, output->row_count, output->out.image_width, output->out.input_components);
    jpeg_write_scanlines(&output->out, rows, output->row_count);
    output->row_count = 0;
}

static void scale_row(struct strips_output *output, JSAMPROW row) {
    const struct darkroom_box *cut = &output->scaling.cut;
    // libjpeg rounds the height of a shrunk picture up.
    if (output->taken == output->scaling.scaling.height) return;
    output->taken++;
    darkroom_scaler_take(output->scaler, row);
    while (darkroom_scaler_give(output->scaler, output->rows[output->row_count])) {
        int y = output->given++;
        if (y >= cut->y && y < cut->y + cut->height) output->row_count++;
        if (output->row_count == STRIP_ROWS) flush_rows(output);
    }
}

static void write_strip(struct strips_output *output, JSAMPROW *rows, JDIMENSION count) {
    struct strips *strips = output->strips;
    if (output->scaler) {
        for (JDIMENSION row = 0; row < count; row++) scale_row(output, rows[row]);
    } else if (strips->job_count == 1) {
        filter_rows(output->job, rows, count, output->out.image_width, output->out.input_components);
        jpeg_write_scanlines(&output->out, rows, count);
    } else {
        // The other outputs need the rows, too.
        size_t bytes = (size_t)output->out.image_width * (size_t)output->out.input_components;
        for (JDIMENSION row = 0; row < count; row++) memcpy(output->rows[row], rows[row], bytes);
        output->row_count = count;
        flush_rows(output);
    }
}

static void end_writing(struct strips_output *output) {
    flush_rows(output);
    jpeg_finish_compress(&output->out);
    output->file->width = (int)output->out.image_width;
    output->file->height = (int)output->out.image_height;
    output->file->format = DARKROOM_JPEG;
}

// MARK: - Jobs

static void make_outputs(struct strips *strips) {
    strips->outputs = calloc((size_t)strips->job_count, sizeof *strips->outputs);
    if (!strips->outputs) fail(strips, DARKROOM_OUT_OF_MEMORY);
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
            fail(strips, DARKROOM_NOT_FOR_STRIPS);
    }
    strips->in.scale_denom = (unsigned)strips->shrink;
    strips->in.out_color_space = JCS_RGB;
}

static void prepare_output(struct strips_output *output) {
    struct strips *strips = output->strips;
    const struct jpeg_decompress_struct *in = &strips->in;
    size_t width = in->output_width, bands = (size_t)in->output_components;
    if (output->scaling.scaling.width > 0) {
        output->scaling.scaling.bands = in->output_components;
        output->scaler = darkroom_scaler_new(&output->scaling.scaling);
        if (!output->scaler) fail(strips, DARKROOM_OUT_OF_MEMORY);
        width = (size_t)output->scaling.scaling.scaled_width;
    }
    if (output->scaler || strips->job_count > 1) output->memory = make_rows(strips, width * bands, output->rows);
    start_writing(output);
}

static void develop(struct strips *strips) {
    open_input(strips);
    require_file_for_strips(strips);
    make_outputs(strips);
    plan(strips);
    start_reading(strips);
    for (int i = 0; i < strips->job_count; i++) prepare_output(&strips->outputs[i]);
    for (JDIMENSION rows; (rows = read_rows(strips)) > 0;)
        for (int i = 0; i < strips->job_count; i++) write_strip(&strips->outputs[i], strips->rows, rows);
    // Reads to the end of the file, so that a truncated file is detected.
    jpeg_finish_decompress(&strips->in);
    for (int i = 0; i < strips->job_count; i++) end_writing(&strips->outputs[i]);
}

static void hand_out_rows(struct strips *strips) {
    start_reading(strips);
    for (JDIMENSION rows, y = 0; (rows = read_rows(strips)) > 0; y += rows) {
        for (int i = 0; i < strips->job_count; i++)
            filter_rows(&strips->jobs[i], strips->rows, rows, strips->in.output_width, strips->in.output_components);
        for (JDIMENSION row = 0; row < rows && strips->reader.take_row; row++)
            strips->reader.take_row(strips->reader.context, (int)(y + row), strips->rows[row]);
    }
    jpeg_finish_decompress(&strips->in);
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

static void free_outputs(struct strips *strips) {
    for (int i = 0; strips->outputs && i < strips->job_count; i++) {
        struct strips_output *output = &strips->outputs[i];
        jpeg_destroy_compress(&output->out);
        darkroom_scaler_free(output->scaler);
        free(output->memory);
        free(output->bytes);
        // After a failure, no file is returned.
        if (strips->status != DARKROOM_DONE) free(output->file->bytes);
        if (strips->status != DARKROOM_DONE) output->file->bytes = NULL;
    }
    free(strips->outputs);
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

    free_outputs(strips);
    jpeg_destroy_decompress(&strips->in);
    free(strips->memory);
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

struct collected {
    const struct darkroom_session *session;
    struct darkroom_file *file;
};

static void collect_row(void *context, int y, const uint8_t *row) {
    struct collected *collected = context;
    struct darkroom_file *file = collected->file;
    size_t row_bytes = (size_t)collected->session->width * 4;
    if (!file->bytes) file->bytes = malloc(row_bytes * (size_t)collected->session->height);
    memcpy(file->bytes + row_bytes * (size_t)y, row, row_bytes);
    file->byte_count += row_bytes;
}

enum darkroom_status darkroom_strip_pixels(
    struct darkroom_session *session, const struct darkroom_input *input, const struct darkroom_strips_job *job,
    struct darkroom_file *file) {
    *file = (struct darkroom_file){.format = DARKROOM_JPEG};
    struct collected collected = {.session = session, .file = file};
    struct darkroom_row_reader reader = {.take_row = collect_row, .context = &collected};
    struct strips settings = {.session = session, .input = input, .shrink = 1, .jobs = job, .job_count = 1, .reader = reader};
    enum darkroom_status status = guarded(filter, &settings);
    file->width = session->width;
    file->height = session->height;
    return status;
}
