#ifndef DARKROOM_CIDN_H
#define DARKROOM_CIDN_H

#include <idn2.h>

#endif
