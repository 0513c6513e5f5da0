#ifndef CIMAGING_STRIPS_OUTPUT_H
#define CIMAGING_STRIPS_OUTPUT_H

// The state of a JPEG that is developed in strips, and the functions of StripsOutput.c.

#include "CImaging.h"
#include "JPEGScan.h"
#include "Scaler.h"
#include "Strips.h"

#include <setjmp.h>
#include <stdio.h>

// <jpeglib.h> requires <stdio.h> before it.
#include <jpeglib.h>

enum {
    STRIP_ROWS = 16,
    APP1_EXIF_OR_XMP = JPEG_APP0 + 1,
    APP2_ICC = JPEG_APP0 + 2,
    APP13_IPTC = JPEG_APP0 + 13,
};

// One of the files that are made.
struct strips_output {
    struct jpeg_destination_mgr destination;  // must be first: callbacks cast its address to the struct
    struct jpeg_compress_struct out;
    struct strips *strips;
    const struct darkroom_strips_job *job;
    struct darkroom_file *file;
    uint8_t *bytes;
    size_t capacity;

    // The rows to be written, and their number. Used only if the picture is scaled, or if there are several outputs.
    void *memory;
    JSAMPROW rows[STRIP_ROWS];
    JDIMENSION row_count;

    // NULL if the picture is not scaled.
    struct darkroom_scaler *scaler;
    struct darkroom_strips_scaling scaling;
    // The number of rows that the scaler has read, and of rows of the scaled picture that it has written.
    int taken, given;
};

struct strips {
    struct jpeg_error_mgr errors;  // must be first: callbacks cast its address to the struct
    struct jpeg_decompress_struct in;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    enum darkroom_status status;
    bool has_header;
    // Whether the decoder has read past the end of the file.
    bool lacks_end;
    bool is_scan_checked;
    enum darkroom_scan scan;
    // Whether all pixels are decoded, and only the end of the file is still read. In this state, an error jumps to
    // `tail`.
    bool has_all_rows;
    jmp_buf tail;

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
    // The metadata of the file.
    struct darkroom_segment *segments;
};

// Ends the work with this status. Does not return: it jumps to the end of the work.
_Noreturn void darkroom_strips_fail(struct strips *strips, enum darkroom_status status);

// The functions of StripsDamage.c. The first returns whether the decoder may continue after its current warning.
bool darkroom_strips_tolerate_warning(struct strips *strips);
// Ends the reading after an error that follows the pixels.
_Noreturn void darkroom_strips_end_early(struct strips *strips, const char *message);
// Fails if the scans of a JPEG with several scans do not contain all pixels. The scans must have been read.
void darkroom_strips_require_all_scans(struct strips *strips);
// Reads to the end of the file, so that a truncated file is detected.
void darkroom_strips_finish_reading(struct strips *strips);

// Makes STRIP_ROWS rows in one block of memory, which is returned. Each row starts 16 bytes after a multiple of 64.
void *darkroom_strips_make_rows(struct strips *strips, size_t row_bytes, JSAMPROW rows[STRIP_ROWS]);

// Applies the points of a job.
void darkroom_strips_filter(
    const struct darkroom_strips_job *job, JSAMPROW *rows, JDIMENSION count, JDIMENSION width, int bands);

// Whether an APP2 segment contains a part of the colour profile. APP2 segments may also contain other data, such as
// further pictures.
bool darkroom_strips_is_profile(const struct jpeg_marker_struct *marker);

// Starts the file of an output. The header of the picture must have been read.
void darkroom_strips_prepare(struct strips_output *output);

// Scales and filters rows of the picture, and writes them. May change the rows if there is only one output.
void darkroom_strips_write(struct strips_output *output, JSAMPROW *rows, JDIMENSION count);

// Completes the file of an output.
void darkroom_strips_end(struct strips_output *output);

// Frees the outputs. If the work has failed, also frees their files.
void darkroom_strips_free_outputs(struct strips *strips);

#endif
