// Makes a picture smaller, row by row. Gives the same bytes on every CPU.

#ifndef DARKROOM_SCALER_H
#define DARKROOM_SCALER_H

#include "CImaging.h"

struct darkroom_scaler;

// NULL without memory.
struct darkroom_scaler *darkroom_scaler_new(const struct darkroom_scaling *scaling);
void darkroom_scaler_free(struct darkroom_scaler *scaler);

// Takes the next row of the picture.
void darkroom_scaler_take(struct darkroom_scaler *scaler, const void *row);

// Writes the next row of the scaled picture, and returns true, if enough rows have been taken for it. After each taken
// row, the caller must call this function until it returns false. After the last row of the picture, all rows of the
// scaled picture have been written.
bool darkroom_scaler_give(struct darkroom_scaler *scaler, void *row);

#endif
