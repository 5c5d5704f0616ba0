/* What PARSEC's programs call where ENABLE_PARSEC_HOOKS is defined: its region of interest. */
#ifndef HOOKS_H
#define HOOKS_H

#include "manycore.h"

#define __parsec_bench_begin(name) ((void)0)
#define __parsec_bench_end() ((void)0)
#define __parsec_roi_begin() mc_region_begin()
#define __parsec_roi_end() mc_region_end()

#endif
