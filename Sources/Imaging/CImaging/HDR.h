// The formulas of ITU-R BT.2100 for high dynamic range, and of BT.2390 and BT.2408 for showing HDR on other displays.

#ifndef CIMAGING_HDR_H
#define CIMAGING_HDR_H

// The luminance of HDR reference white, in cd/m2 (BT.2408, 2.1): the greatest luminance of the result.
#define DARKROOM_REFERENCE_WHITE 203.0

// The assumed peak luminance of a picture that states none, and the nominal peak luminance of HLG, in cd/m2.
#define DARKROOM_USUAL_PEAK 1000.0

// The luminance in cd/m2 of a PQ value from 0 to 1, and the inverse function (BT.2100, table 4).
double darkroom_pq_light(double value);
double darkroom_pq_value(double light);

// The scene light, 0 to 1, of an HLG value from 0 to 1 (BT.2100, table 5: inverse OETF).
double darkroom_hlg_light(double value);

// The exponent of the HLG OOTF for a display with this peak luminance in cd/m2 (BT.2100, note 5f).
double darkroom_hlg_gamma(double peak);

// Compresses luminance in cd/m2 from the range up to `peak` to the range up to DARKROOM_REFERENCE_WHITE (BT.2390, 5.4.1;
// BT.2408, annex 5: EETF with black at 0).
double darkroom_tone_map(double light, double peak);

#endif
