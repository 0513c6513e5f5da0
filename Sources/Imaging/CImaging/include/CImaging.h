// Decodes, changes and encodes pictures for Swift. These functions hide libjpeg and libvips, which both require C:
// libjpeg reports errors with longjmp, and every libvips operation is variadic.

#ifndef CIMAGING_H
#define CIMAGING_H

#include "Raster.h"
#include "Status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum darkroom_format {
    DARKROOM_JPEG,
    DARKROOM_PNG,
    DARKROOM_WEBP,
    DARKROOM_AVIF,
    DARKROOM_HEIC,
    DARKROOM_JXL,
    DARKROOM_TIFF,
    DARKROOM_GIF,
};

// The callbacks of one photo, and the facts that the functions below record about the photo. All pictures of the photo
// use the same session.
struct darkroom_session {
    // The largest number of pixels of a picture in memory.
    int64_t max_pixels;
    // The largest number of pixels of a picture that is in memory only in strips, or only as a smaller copy that the
    // decoder makes; at least `max_pixels`.
    int64_t max_streamed_pixels;
    // Called when the header has been read and the size is allowed, possibly more than once. Must not be NULL.
    void (*size_is_known)(void *context, int64_t pixels);
    // Called while pixels are processed, on the calling thread or a libvips thread. If it returns true, the work ends
    // with DARKROOM_CANCELLED.
    bool (*is_cancelled)(void *context);
    void *context;

    // The width and height in the header; 0 before they are known.
    int width, height;
    // The error text; empty before a failure.
    char detail[256];
    // The first failure that a stage recorded: an `enum darkroom_status`, accessed atomically.
    int noted;
    // The tolerated defects of the file: the photo was decoded despite them. Empty if there are none.
    char note[200];
};

// What happens to files with defects.
enum darkroom_damage {
    // Any defect fails.
    DARKROOM_FAIL_DAMAGED,
    // A defect that loses no pixels is noted in the session. Missing or corrupt pixels fail.
    DARKROOM_TOLERATE_DAMAGED,
    // The file is decoded as far as possible.
    DARKROOM_ACCEPT_DAMAGED,
};

// The bytes of a photo.
struct darkroom_input {
    const uint8_t *bytes;
    size_t byte_count;
    enum darkroom_format format;
    enum darkroom_damage damage;
    // Whether all frames of an animation are read, instead of only the first frame.
    bool all_frames;
    // Whether pictures with the transfer functions PQ and HLG are rejected. Otherwise such pictures are converted to
    // sRGB.
    bool refuses_hdr;
};

// A file in memory, allocated with malloc and freed by the caller.
struct darkroom_file {
    uint8_t *bytes;
    size_t byte_count;
    int width, height;
    enum darkroom_format format;
};

enum darkroom_chroma { DARKROOM_CHROMA_BY_QUALITY, DARKROOM_CHROMA_420, DARKROOM_CHROMA_444 };

// How a picture is encoded. A format ignores settings that it does not support.
struct darkroom_encoding {
    enum darkroom_format format;
    // 1 to 100.
    int quality;
    bool lossless;
    // From 0, the fastest, to 9, the smallest file; -1 for the default of the format.
    int effort;
    bool progressive;
    enum darkroom_chroma chroma;
    bool palette;
    // The colour behind transparent pixels if the format has no transparency: red, green, blue, 0 to 255.
    double background[3];
};

// MARK: - The library

// Initializes libvips with only the loaders of the formats above, one thread per picture, and no cache. Must be called
// once, before the other functions. On failure, returns false and a reason in `detail`.
bool darkroom_imaging_start(char *detail, size_t capacity);

// The version of the installed libvips. The text is never freed.
const char *darkroom_imaging_version(void);

// The version of the libheif that libvips has loaded, such as 1.15.1; NULL if libvips has loaded no libheif.
const char *darkroom_heif_version(void);

// Whether this libheif reads photos in which several pictures share an auxiliary picture, such as photos of iOS 18.
// True from version 1.18 on, and if there is no libheif.
bool darkroom_heif_reads_shared(void);

// Frees libvips' memory for the calling thread.
void darkroom_imaging_thread_shutdown(void);

// Whether the installed libvips can write the format. Writes a small picture to test this.
bool darkroom_imaging_can_save(enum darkroom_format format);

// The largest width and height that the format supports.
int darkroom_longest_side(enum darkroom_format format);

// The name of the raw format of a camera, such as "Nikon NEF"; NULL if the bytes are not a raw photo. The text is never
// freed.
const char *darkroom_raw_format(const uint8_t *bytes, size_t byte_count);

// MARK: - Pictures

// A picture whose pixels are computed when an encoder or a function below needs them, in strips if possible. After a
// failure, a picture can only be freed. A picture is used by one thread at a time.
typedef struct darkroom_picture darkroom_picture;

struct darkroom_facts {
    // In pixels. `height` is the height of one frame.
    int width, height, frames;
    // 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha.
    int bands;
    // Whether samples have 16 bits; otherwise they have 8 bits.
    bool wide;
    // The EXIF orientation, 1 to 8.
    int orientation;
};

// If a file has defects outside of its pixels, makes a copy without these defects, and notes the defects in the
// session. If the file needs no copy, `mended->bytes` is NULL. Returns DARKROOM_DAMAGED if the input must have no
// defects.
enum darkroom_status darkroom_mend(
    struct darkroom_session *session, const struct darkroom_input *input, struct darkroom_file *mended);

// Reads the header, and checks the size. The bytes must stay valid as long as the picture exists.
enum darkroom_status darkroom_open(
    struct darkroom_session *session, const struct darkroom_input *input, darkroom_picture **picture);

struct darkroom_facts darkroom_picture_facts(const darkroom_picture *picture);

// Decodes an opened picture, rotates it to upright, and converts it to grey or RGB with 8 or 16 bits.
//
// `shrink` is 1, 2, 4 or 8: JPEG and WebP are decoded with width and height divided by this number and rounded down.
// Unless `in_memory` is true, the rows can be read only once, from top to bottom.
enum darkroom_status darkroom_decode(
    darkroom_picture *picture, const struct darkroom_input *input, int shrink, bool in_memory);

// Returns a second picture with the same pixels, for any session. The pixels of the first picture must be in memory.
// Returns NULL if memory runs out.
darkroom_picture *darkroom_copy(const darkroom_picture *picture, struct darkroom_session *session);
void darkroom_free(darkroom_picture *picture);

// Computes the pixels and keeps them in memory.
enum darkroom_status darkroom_keep_in_memory(darkroom_picture *picture);

// Computes the pixels in memory. The caller must not change the pixels, because other pictures may use them.
enum darkroom_status darkroom_look(darkroom_picture *picture, struct darkroom_raster *raster);

// Computes the pixels in memory that no other picture uses. The caller may change the pixels until the picture is used
// again.
enum darkroom_status darkroom_edit(darkroom_picture *picture, struct darkroom_raster *raster);

// Creates a picture from a copy of the given pixels.
enum darkroom_status darkroom_create(
    struct darkroom_session *session, const struct darkroom_raster *raster, darkroom_picture **picture);

// MARK: Colours

enum darkroom_status darkroom_make_rgb(darkroom_picture *picture);
enum darkroom_status darkroom_add_alpha(darkroom_picture *picture);
enum darkroom_status darkroom_make_narrow(darkroom_picture *picture);
enum darkroom_status darkroom_make_wide(darkroom_picture *picture);

// Converts the colours from the embedded profile to sRGB. Without a profile, the colours already count as sRGB.
enum darkroom_status darkroom_make_srgb(darkroom_picture *picture);

// Applies filters that change each pixel on its own. The points are copied.
enum darkroom_status darkroom_filter_points(darkroom_picture *picture, const struct darkroom_point *points, int count);

// MARK: Geometry. Colours are red, green, blue and alpha, 0 to 255.

enum darkroom_kernel {
    DARKROOM_NEAREST,
    DARKROOM_LINEAR,
    DARKROOM_CUBIC,
    DARKROOM_MITCHELL,
    DARKROOM_LANCZOS2,
    DARKROOM_LANCZOS3,
};

// How a picture is made smaller.
struct darkroom_scaling {
    // The size of the picture.
    int width, height;
    // The size of the scaled picture; no side is longer than before.
    int scaled_width, scaled_height;
    // The factors of the sides, at most 1. The middle of the picture stays the middle, even if a scaled side is a
    // fraction of a pixel longer or shorter than the side times its factor.
    double across, down;
    enum darkroom_kernel kernel;
    // The number of samples per pixel, with 16 bits each if `wide`, otherwise 8. If there are 2 or 4 samples, the last
    // is alpha.
    int bands;
    bool wide;
};

// Multiplies the width by `across` and the height by `down`, and rounds them to the nearest pixel, halves up. If
// `linear` is true, averages light instead of stored values.
enum darkroom_status darkroom_resize(
    darkroom_picture *picture, double across, double down, enum darkroom_kernel kernel, bool linear);
enum darkroom_status darkroom_extract(darkroom_picture *picture, struct darkroom_box box);
// Places the picture at `x` and `y` in a picture of `width` x `height` pixels. Fills the rest with the background.
enum darkroom_status darkroom_embed(darkroom_picture *picture, struct darkroom_box box, const double background[4]);
// Finds the box of the given size that attracts the most attention, or that contains the most detail.
enum darkroom_status darkroom_find_crop(
    darkroom_picture *picture, int width, int height, bool attention, struct darkroom_box *box);
// Rotates clockwise by 90 degrees times `turns`, 0 to 3. The pixels must be in memory.
enum darkroom_status darkroom_turn(darkroom_picture *picture, int turns);
// Rotates clockwise. The picture grows so that all of it stays visible. The pixels must be in memory.
enum darkroom_status darkroom_rotate(darkroom_picture *picture, double degrees, const double background[4]);
// Mirrors left and right, or top and bottom. The pixels must be in memory.
enum darkroom_status darkroom_mirror(darkroom_picture *picture, bool left_right);

// MARK: Frames

// Creates a picture of one frame. The pixels of the animation must be in memory.
enum darkroom_status darkroom_frame(const darkroom_picture *picture, int index, darkroom_picture **frame);
// Creates an animation in memory whose frames have the size and the kind of `frame`. The number of frames, the delays and
// the number of loops are those of `like`. The pixels must be set with the function below.
enum darkroom_status darkroom_new_animation(
    const darkroom_picture *like, const darkroom_picture *frame, darkroom_picture **animation);
// Copies the pixels of `frame` into the animation. The frame must have the size and the kind of the first frame.
enum darkroom_status darkroom_set_frame(darkroom_picture *animation, int index, darkroom_picture *frame);

// MARK: Text

// Renders text in white on a transparent background, as grey with alpha, in the given font family. A line is `height`
// pixels high.
enum darkroom_status darkroom_render_text(
    struct darkroom_session *session, const char *text, const char *font, int height, darkroom_picture **picture);

// MARK: Metadata

enum darkroom_metadata {
    DARKROOM_EXIF = 1,
    DARKROOM_XMP = 2,
    DARKROOM_IPTC = 4,
    DARKROOM_ICC = 8,
    // The tags Copyright and Artist of EXIF.
    DARKROOM_COPYRIGHT = 16,
    // The GPS tags of EXIF, and XMP that contains GPS data.
    DARKROOM_GPS = 32,
    DARKROOM_ALL_METADATA = 63,
};

// Removes all metadata except the given kinds, a sum of `enum darkroom_metadata`. If the profile is removed, the colours
// are converted to sRGB.
enum darkroom_status darkroom_keep_metadata(darkroom_picture *picture, int kinds);

// Whether the file contains a gain map, which turns the picture of the file into one with a high dynamic range. A
// developed file has no gain map.
bool darkroom_has_gain_map(const struct darkroom_input *input);

// MARK: Encoding

// Encodes the picture. A picture can be encoded again only if its pixels are in memory.
enum darkroom_status darkroom_encode(
    const darkroom_picture *picture, const struct darkroom_encoding *encoding, struct darkroom_file *file);

// MARK: - JPEG to JPEG

// How the rows of a JPEG are scaled.
struct darkroom_strips_scaling {
    // The scaling of the picture that the decoder has shrunk. The width is 0 if the picture is not scaled. Bands and
    // bits are set by darkroom_develop_by_strips.
    struct darkroom_scaling scaling;
    // The part of the scaled picture that is kept.
    struct darkroom_box cut;
};

// Decides how the pictures of several jobs are scaled.
struct darkroom_planner {
    // Sets the scaling of job number `index` for a picture of this size, and `shrink`, which must be the same for all
    // jobs: the decoder divides width and height by 1, 2, 4 or 8, and rounds down. Returns false if the job needs
    // libvips. `plan` is NULL if no job scales.
    bool (*plan)(const void *context, int index, int width, int height, int *shrink,
                 struct darkroom_strips_scaling *scaling);
    const void *context;
};

// The work for one file that can be done in strips of rows.
struct darkroom_strips_job {
    // Applied to the scaled picture.
    const struct darkroom_point *points;
    int point_count;
    // Whether the points keep grey pixels grey.
    bool keeps_grey;
    int quality;
    enum darkroom_chroma chroma;
    // The metadata to keep: DARKROOM_ALL_METADATA, DARKROOM_ICC or 0.
    int metadata;
};

// Develops JPEG to JPEG in strips: a file for each of `count` jobs. Returns DARKROOM_NOT_FOR_STRIPS if `plan` returns
// false, or if the file needs libvips. A file needs libvips if it must be rotated, if its colours are not YCbCr, RGB or
// grey, or if it has a profile that must be applied: because the picture is grey, because the profile is not for RGB or
// is for HDR, or because a job removes the profile.
enum darkroom_status darkroom_develop_by_strips(
    struct darkroom_session *session, const struct darkroom_input *input, const struct darkroom_strips_job *jobs, int count,
    struct darkroom_planner planner, struct darkroom_file *files);

// Decodes a JPEG without using its pixels, to check that it is complete.
enum darkroom_status darkroom_check_jpeg(struct darkroom_session *session, const struct darkroom_input *input);

#endif
