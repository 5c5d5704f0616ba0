divert(-1)
The region of interest of SPLASH-3, by hooks.c.
define(SPLASH3_ROI_BEGIN, `roi_begin($*)')
define(SPLASH3_ROI_END, `roi_end($*)')
divert(0)dnl
