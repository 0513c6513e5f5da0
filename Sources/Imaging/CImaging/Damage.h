#ifndef CIMAGING_DAMAGE_H
#define CIMAGING_DAMAGE_H

// The treatment of files with defects.

#include "CImaging.h"

// Adds a defect to the note of the session. The note is at most sizeof session->note - 1 bytes long. A defect whose
// text is already part of the note is not added again.
void darkroom_note(struct darkroom_session *session, const char *defect);

// Notes a defect that loses no pixels. If the input must have no defects, returns false, and the detail of the session
// names the defect.
bool darkroom_tolerate(struct darkroom_session *session, const struct darkroom_input *input, const char *defect);

// Whether the compressed texts and the profile of a PNG inflate to a bounded number of bytes. If not, the detail of the
// session says so.
bool darkroom_png_inflates_to_little(struct darkroom_session *session, const struct darkroom_input *input);

// The parts of darkroom_mend for single formats. They leave `mended` unchanged if the file has no defects, or has defects
// that cannot be mended.
enum darkroom_status darkroom_mend_png(
    struct darkroom_session *session, const struct darkroom_input *input, struct darkroom_file *mended);
enum darkroom_status darkroom_mend_webp(
    struct darkroom_session *session, const struct darkroom_input *input, struct darkroom_file *mended);
enum darkroom_status darkroom_mend_gif(
    struct darkroom_session *session, const struct darkroom_input *input, struct darkroom_file *mended);

#endif
