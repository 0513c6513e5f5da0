// Makes a picture smaller, row by row. Gives the same bytes on every CPU.

#ifndef DARKROOM_SCALER_H
#define DARKROOM_SCALER_H

#include "CImaging.h"

struct darkroom_scaler;

// Returns NULL if memory runs out.
struct darkroom_scaler *darkroom_scaler_new(const struct darkroom_scaling *scaling);
void darkroom_scaler_free(struct darkroom_scaler *scaler);

// Takes the next row of the picture.
void darkroom_scaler_take(struct darkroom_scaler *scaler, const void *row);

// If enough rows have been taken for the next row of the scaled picture, writes it to `row` and returns true; otherwise
// returns false. After each taken row, the caller must call this function until it returns false. The scaled picture is
// complete after these calls for the last row of the picture.
bool darkroom_scaler_give(struct darkroom_scaler *scaler, void *row);

#endif
