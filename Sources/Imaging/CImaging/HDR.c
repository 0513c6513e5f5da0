#include "HDR.h"

#include <math.h>

static const double m1 = 2610 / 16384.0, m2 = 2523 / 4096.0 * 128, c1 = 3424 / 4096.0, c2 = 2413 / 4096.0 * 32,
                    c3 = 2392 / 4096.0 * 32;

double darkroom_pq_light(double value) {
    double power = pow(fmax(value, 0), 1 / m2);
    return 10000 * pow(fmax(power - c1, 0) / (c2 - c3 * power), 1 / m1);
}

double darkroom_pq_value(double light) {
    double power = pow(fmax(light, 0) / 10000, m1);
    return pow((c1 + c2 * power) / (1 + c3 * power), m2);
}

double darkroom_hlg_light(double value) {
    const double a = 0.17883277, b = 1 - 4 * a, c = 0.5 - a * log(4 * a);
    return value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12;
}

double darkroom_hlg_gamma(double peak) { return 1.2 + 0.42 * log10(peak / 1000); }

double darkroom_tone_map(double light, double peak) {
    if (peak <= DARKROOM_REFERENCE_WHITE) return fmin(light, DARKROOM_REFERENCE_WHITE);
    double source = darkroom_pq_value(peak), most = darkroom_pq_value(DARKROOM_REFERENCE_WHITE) / source;
    double value = fmin(darkroom_pq_value(light) / source, 1), knee = 1.5 * most - 0.5;
    if (value >= knee) {
        double t = (value - knee) / (1 - knee), t2 = t * t, t3 = t2 * t;
        value = (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (-2 * t3 + 3 * t2) * most;
    }
    return darkroom_pq_light(value * source);
}
