#ifndef CIMAGING_STATUS_H
#define CIMAGING_STATUS_H

enum darkroom_status {
    DARKROOM_DONE,
    DARKROOM_DAMAGED,
    DARKROOM_UNSUPPORTED,
    DARKROOM_TOO_MANY_PIXELS,
    DARKROOM_OUT_OF_MEMORY,
    DARKROOM_FILTER_FAILED,
    DARKROOM_CANCELLED,
    // The filter keeps rows of the picture in memory, and the rows are too long for this.
    DARKROOM_ROWS_TOO_LONG,
    // The header of the JPEG is valid, but the file needs libvips.
    DARKROOM_NOT_FOR_STRIPS,
};

#endif
