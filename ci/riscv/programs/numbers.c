/* Floating point in all rounding modes, conversions, and output with printf. */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
int main(void) {
    int mode[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    volatile double third = 3, tiny = DBL_MIN, big = DBL_MAX;
    for (int m = 0; m < 4; m++) {
        fesetround(mode[m]);
        feclearexcept(FE_ALL_EXCEPT);
        volatile double a = 1 / third, b = tiny / third, c = big * third;
        volatile float f = (float)(a * 1e-38);
        printf("%a %a %a %a %ld %x\n", a, b, c, f, lrint(-2.5 * third),
               fetestexcept(FE_ALL_EXCEPT));
    }
    fesetround(FE_TONEAREST);
    double sum = 0;
    for (int i = 1; i < 2000; i++)
        sum += sin(i) * exp(-i / 300.0) + log(i) / pow(i, 1.1) + fma(i, 0.1, -i) + cbrt(i);
    printf("%.17g %.3Lf %g %g\n", sum, (long double)sum * 3, INFINITY, -NAN);
    return 0;
}
