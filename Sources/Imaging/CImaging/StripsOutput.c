// The files that are made of a JPEG in strips.

#include "StripsOutput.h"

#include "Exif.h"

#include <stdlib.h>
#include <string.h>

// MARK: - The bytes of a file

// The number of bytes of the markers that the output may keep.
static size_t marker_bytes(const struct strips_output *output) {
    size_t bytes = 0;
    if (output->job->metadata == 0) return 0;
    for (jpeg_saved_marker_ptr marker = output->strips->in.marker_list; marker; marker = marker->next)
        bytes += marker->data_length + 4;
    return bytes;
}

static void begin_output(j_compress_ptr out) {
    struct strips_output *output = (struct strips_output *)(void *)out->dest;
    // Nearly every photo at quality 85 fits into this capacity with its metadata, so the buffer is rarely reallocated.
    output->capacity = (size_t)out->image_width * out->image_height / 3 + marker_bytes(output) + 4096;
    output->bytes = malloc(output->capacity);
    if (!output->bytes) darkroom_strips_fail(output->strips, DARKROOM_OUT_OF_MEMORY);
    output->destination.next_output_byte = output->bytes;
    output->destination.free_in_buffer = output->capacity;
}

static boolean grow_output(j_compress_ptr out) {
    struct strips_output *output = (struct strips_output *)(void *)out->dest;
    uint8_t *larger = realloc(output->bytes, output->capacity * 2);
    if (!larger) darkroom_strips_fail(output->strips, DARKROOM_OUT_OF_MEMORY);
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

// MARK: - Writing

static void write_markers(struct strips_output *output) {
    const struct jpeg_compress_struct *out = &output->out;
    for (jpeg_saved_marker_ptr marker = output->strips->in.marker_list; marker; marker = marker->next) {
        bool is_profile = darkroom_strips_is_profile(marker);
        if (output->job->metadata == DARKROOM_ICC && !is_profile) continue;
        // Other kinds of APP2 markers are omitted, because they contain offsets into the original file.
        if (marker->marker == APP2_ICC && !is_profile) continue;
        if (marker->marker == APP1_EXIF_OR_XMP) {
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
    if (job->metadata != 0) write_markers(output);
}

// Filters and writes the rows of the output.
static void flush_rows(struct strips_output *output) {
    if (output->row_count == 0) return;
    size_t skipped = output->scaler ? (size_t)output->scaling.cut.x * (size_t)output->out.input_components : 0;
    JSAMPROW rows[STRIP_ROWS];
    for (JDIMENSION row = 0; row < output->row_count; row++) rows[row] = output->rows[row] + skipped;
    darkroom_strips_filter(output->job, rows, output->row_count, output->out.image_width, output->out.input_components);
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

void darkroom_strips_write(struct strips_output *output, JSAMPROW *rows, JDIMENSION count) {
    struct strips *strips = output->strips;
    if (output->scaler) {
        for (JDIMENSION row = 0; row < count; row++) scale_row(output, rows[row]);
    } else if (strips->job_count == 1) {
        darkroom_strips_filter(output->job, rows, count, output->out.image_width, output->out.input_components);
        jpeg_write_scanlines(&output->out, rows, count);
    } else {
        // The other outputs also need the unfiltered rows, so the filter gets a copy.
        size_t bytes = (size_t)output->out.image_width * (size_t)output->out.input_components;
        for (JDIMENSION row = 0; row < count; row++) memcpy(output->rows[row], rows[row], bytes);
        output->row_count = count;
        flush_rows(output);
    }
}

void darkroom_strips_end(struct strips_output *output) {
    flush_rows(output);
    jpeg_finish_compress(&output->out);
    output->file->width = (int)output->out.image_width;
    output->file->height = (int)output->out.image_height;
    output->file->format = DARKROOM_JPEG;
}

// MARK: - Beginning and end

void darkroom_strips_prepare(struct strips_output *output) {
    struct strips *strips = output->strips;
    const struct jpeg_decompress_struct *in = &strips->in;
    size_t width = in->output_width, bands = (size_t)in->output_components;
    if (output->scaling.scaling.width > 0) {
        output->scaling.scaling.bands = in->output_components;
        output->scaler = darkroom_scaler_new(&output->scaling.scaling);
        if (!output->scaler) darkroom_strips_fail(strips, DARKROOM_OUT_OF_MEMORY);
        width = (size_t)output->scaling.scaling.scaled_width;
    }
    bool has_rows = output->scaler || strips->job_count > 1;
    if (has_rows) output->memory = darkroom_strips_make_rows(strips, width * bands, output->rows);
    start_writing(output);
}

void darkroom_strips_free_outputs(struct strips *strips) {
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
