#include "CImaging.h"
#include "TIFFDirectories.h"

#include <string.h>

struct signature {
    const char *name;
    size_t offset, length;
    const char *bytes;
};

#define SIGNATURE(name, offset, bytes) {name, offset, sizeof bytes - 1, bytes}

static const struct signature signatures[] = {
    SIGNATURE("Fujifilm RAF", 0, "FUJIFILMCCD-RAW"),
    SIGNATURE("Sigma X3F", 0, "FOVb"),
    SIGNATURE("Minolta MRW", 0, "\0MRM"),
    SIGNATURE("Canon CRW", 6, "HEAPCCDR"),
    SIGNATURE("Canon CR2", 8, "CR\2"),
    SIGNATURE("Canon CR3", 4, "ftypcrx "),
    SIGNATURE("Olympus ORF", 0, "IIRO"),
    SIGNATURE("Olympus ORF", 0, "IIRS"),
    SIGNATURE("Olympus ORF", 0, "MMOR"),
    SIGNATURE("Panasonic RW2", 0, "IIU\0"),
    SIGNATURE("Phase One IIQ", 8, "IIIITwaR"),
    SIGNATURE("Phase One IIQ", 8, "MMMMRawT"),
    SIGNATURE("Phase One IIQ", 0, "IIIITwaR"),
    SIGNATURE("Phase One IIQ", 0, "MMMMRawT"),
    SIGNATURE("ARRI raw", 0, "ARRI\x12\x34\x56\x78"),
    SIGNATURE("Apple QuickTake", 0, "qktk"),
    SIGNATURE("Apple QuickTake", 0, "qktn"),
};

// The names of raw formats that are TIFFs. The beginning of the tag Make determines the name.
static const struct {
    const char *make, *name;
} makes[] = {
    {"NIKON", "Nikon NEF"},       {"SONY", "Sony ARW"},           {"CANON", "Canon CR2"},
    {"PENTAX", "Pentax PEF"},     {"RICOH", "Pentax PEF"},        {"ASAHI", "Pentax PEF"},
    {"SAMSUNG", "Samsung SRW"},   {"OLYMPUS", "Olympus ORF"},     {"OM DIGITAL", "Olympus ORF"},
    {"PANASONIC", "Panasonic RW2"}, {"LEICA", "Leica RWL"},       {"HASSELBLAD", "Hasselblad 3FR"},
    {"PHASE ONE", "Phase One IIQ"}, {"LEAF", "Leaf MOS"},         {"KODAK", "Kodak DCR"},
    {"EASTMAN KODAK", "Kodak DCR"}, {"SEIKO EPSON", "Epson ERF"}, {"EPSON", "Epson ERF"},
    {"MAMIYA", "Mamiya MEF"},     {"KONICA", "Minolta MRW"},      {"MINOLTA", "Minolta MRW"},
    {"FUJIFILM", "Fujifilm RAF"}, {"SIGMA", "Sigma X3F"},         {"SINAR", "Sinar STI"},
};

static bool starts_with(const struct darkroom_tiff *tiff, const char *start) {
    for (size_t i = 0; start[i]; i++) {
        if (i >= tiff->make_length) return false;
        char letter = tiff->make[i];
        if (letter >= 'a' && letter <= 'z') letter = (char)(letter - 'a' + 'A');
        if (letter != start[i]) return false;
    }
    return true;
}

const char *darkroom_raw_format(const uint8_t *bytes, size_t byte_count) {
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++) {
        const struct signature *signature = &signatures[i];
        if (signature->offset + signature->length <= byte_count &&
            memcmp(bytes + signature->offset, signature->bytes, signature->length) == 0)
            return signature->name;
    }
    struct darkroom_tiff tiff;
    if (!darkroom_tiff_read(bytes, byte_count, &tiff) || !tiff.is_raw) return NULL;
    if (tiff.is_dng) return "DNG";
    for (size_t i = 0; i < sizeof makes / sizeof makes[0]; i++)
        if (starts_with(&tiff, makes[i].make)) return makes[i].name;
    return "camera raw";
}
