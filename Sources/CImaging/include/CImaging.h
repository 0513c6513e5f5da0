#ifndef CIMAGING_H
#define CIMAGING_H
#endif
