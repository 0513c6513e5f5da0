// The boxes of files such as HEIC, AVIF and JPEG XL (ISO 14496-12, 4.2).

#ifndef CIMAGING_BOXES_H
#define CIMAGING_BOXES_H

#include "CImaging.h"

// The type of a box, and the offsets of its content in the file.
struct darkroom_box_content {
    char type[4];
    size_t start, end;
};

// Reads the box at `*position` and sets `*position` to the end of the box. Returns false if there is no complete, valid
// box before `end`.
bool darkroom_next_box(const uint8_t *file, size_t end, size_t *position, struct darkroom_box_content *box);

// Finds the first box of this type between `start` and `end`.
bool darkroom_find_box(
    const uint8_t *file, size_t start, size_t end, const char *type, struct darkroom_box_content *box);

// Whether a HEIF file contains an item of a type, such as `Exif`; `item` receives the identifier of the item. `meta` is
// the content of the box with the items.
bool darkroom_find_item(const uint8_t *file, struct darkroom_box_content meta, const char *type, uint32_t *item);

// Finds the box with the items.
bool darkroom_find_meta(const uint8_t *file, size_t count, struct darkroom_box_content *meta);

// Replaces the EXIF of a HEIF file. Leaves the file unchanged if it has no EXIF, or if the new EXIF cannot be stored in
// it. Returns false only if memory runs out.
bool darkroom_set_heif_exif(struct darkroom_file *file, const uint8_t *exif, size_t count);

#endif
