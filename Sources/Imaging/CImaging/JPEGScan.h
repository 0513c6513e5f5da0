#ifndef CIMAGING_JPEG_SCAN_H
#define CIMAGING_JPEG_SCAN_H

#include <stddef.h>
#include <stdint.h>

enum darkroom_scan {
    // Each interval of the scan ends where its last block ends, and each coefficient is in its range.
    DARKROOM_SCAN_SOUND,
    DARKROOM_SCAN_CORRUPT,
    // The file has another kind of scan.
    DARKROOM_SCAN_UNKNOWN,
};

enum {
    // The number of tolerated stray bytes before a restart marker, and in scans that cannot be checked.
    DARKROOM_MOST_STRAY_BYTES = 32,
};

// Checks the data of the only scan of a sequential (not progressive) JPEG with Huffman coding.
enum darkroom_scan darkroom_check_jpeg_scan(const uint8_t *bytes, size_t count);

#endif
