/* What NPB's sources for simulators call around the part that they time. */
#include "manycore.h"

void roi_begin(void) { mc_region_begin(); }
void roi_end(void) { mc_region_end(); }
void roi_begin_(void) { mc_region_begin(); }
void roi_end_(void) { mc_region_end(); }
