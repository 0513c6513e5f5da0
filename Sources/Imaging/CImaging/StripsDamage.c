// Decides which defects of a JPEG lose pixels. libjpeg reports a defect as a warning and continues, if necessary with
// grey pixels.

#include "Damage.h"
#include "StripsOutput.h"

#include <stdlib.h>
#include <string.h>

#include <jerror.h>

// The bytes between the data of a scan and the next marker. libjpeg has not read the marker yet.
static const uint8_t *stray_bytes(const struct strips *strips, size_t *count) {
    const struct darkroom_input *input = strips->input;
    const uint8_t *end = input->bytes + input->byte_count, *next = strips->in.src->next_input_byte;
    // At the end of the file, libjpeg reads a marker that it has inserted itself.
    if (next >= input->bytes && next <= end) end = next;
    size_t before = (size_t)(end - input->bytes), found = (size_t)strips->errors.msg_parm.i[0];
    *count = found < before ? found : before;
    return end - *count;
}

// Stray bytes that a camera or a program has added are harmless. But if data of pixels are corrupt, libjpeg may decode
// all pixels from a part of the data, and report the rest of the data as stray bytes.
static bool are_stray_bytes_harmless(struct strips *strips) {
    size_t count;
    const uint8_t *bytes = stray_bytes(strips, &count);
    bool is_padding = true;
    for (size_t i = 1; i < count; i++) is_padding = is_padding && bytes[i] == bytes[0];
    if (is_padding) return true;
    if (!strips->is_scan_checked) strips->scan = darkroom_check_jpeg_scan(strips->input->bytes, strips->input->byte_count);
    strips->is_scan_checked = true;
    switch (strips->scan) {
    case DARKROOM_SCAN_SOUND:
        return true;
    case DARKROOM_SCAN_CORRUPT:
        return false;
    case DARKROOM_SCAN_UNKNOWN:
        return count <= DARKROOM_MOST_STRAY_BYTES;
    }
    return false;
}

bool darkroom_strips_tolerate_warning(struct strips *strips) {
    struct darkroom_session *session = strips->session;
    char message[JMSG_LENGTH_MAX], defect[100];
    strips->errors.format_message((j_common_ptr)&strips->in, message);
    if (strips->input->damage == DARKROOM_ACCEPT_DAMAGED) {
        // One text is enough: the later defects often follow from the first.
        if (!session->note[0]) darkroom_note(session, message);
        return true;
    }
    switch (strips->errors.msg_code) {
    case JWRN_NOT_SEQUENTIAL:
        // libjpeg does not use these values: a sequential scan always contains all coefficients (ITU T.81, B.2.3).
        return darkroom_tolerate(session, strips->input, "the parameters of the scan are not those of a sequential JPEG");
    case JWRN_EXTRANEOUS_DATA:
        if (!are_stray_bytes_harmless(strips)) return false;
        snprintf(defect, sizeof defect, "%d stray bytes after the pixels", strips->errors.msg_parm.i[0]);
        // Stray bytes before many restart markers are noted once.
        return strstr(session->note, "stray bytes") || darkroom_tolerate(session, strips->input, defect);
    case JWRN_JPEG_EOF:
        // If bits of pixels are also missing, libjpeg reports them separately. Its arithmetic decoder reads zeros
        // instead.
        if (strips->in.arith_code) return false;
        strips->lacks_end = true;
        return darkroom_tolerate(session, strips->input, "the end marker is missing");
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
    case JWRN_BOGUS_ICC:
        return darkroom_tolerate(session, strips->input, message);
    default:
        return false;
    }
}

void darkroom_strips_require_all_scans(struct strips *strips) {
    const struct jpeg_decompress_struct *in = &strips->in;
    if (strips->input->damage == DARKROOM_ACCEPT_DAMAGED || !jpeg_has_multiple_scans(&strips->in)) return;
    bool is_complete = true;
    for (int component = 0; component < in->num_components; component++) {
        if (!in->progressive_mode) {
            // The table is assigned in the first scan of the component.
            is_complete = is_complete && in->comp_info[component].quant_table;
            continue;
        }
        // The number of low bits of a coefficient that no scan contained; -1 if no scan contained the coefficient.
        const int *missing_bits = in->coef_bits[component];
        is_complete = is_complete && missing_bits[0] >= 0;
        // If the file has an end marker, the encoder has left out the missing bits.
        for (int i = 0; i < DCTSIZE2 && strips->lacks_end; i++) is_complete = is_complete && missing_bits[i] == 0;
    }
    if (is_complete) return;
    snprintf(strips->session->detail, sizeof strips->session->detail, "some of its scans are missing");
    darkroom_strips_fail(strips, DARKROOM_DAMAGED);
}

_Noreturn void darkroom_strips_end_early(struct strips *strips, const char *message) {
    char defect[JMSG_LENGTH_MAX + 30];
    snprintf(defect, sizeof defect, "after the pixels: %s", message);
    strips->has_all_rows = false;
    if (!darkroom_tolerate(strips->session, strips->input, defect)) darkroom_strips_fail(strips, DARKROOM_DAMAGED);
    longjmp(strips->tail, 1);
}

void darkroom_strips_finish_reading(struct strips *strips) {
    // Files with several scans were read to their end before the first row.
    strips->has_all_rows = !jpeg_has_multiple_scans(&strips->in);
    if (setjmp(strips->tail) == 0) jpeg_finish_decompress(&strips->in);
    strips->has_all_rows = false;
}
