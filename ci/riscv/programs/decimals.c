/* Numbers as text and back: printf of floating point in all formats, strtod, scanf. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    uint64_t seed = 88172645463325252u, wrong = 0;
    for (int i = 0; i < 400; i++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        double value;
        memcpy(&value, &seed, sizeof value);
        if (!isfinite(value)) continue;
        char text[400];
        snprintf(text, sizeof text, "%.17g", value);
        wrong += strtod(text, NULL) != value;
        snprintf(text, sizeof text, "%a", value);
        wrong += strtod(text, NULL) != value;
        float single = (float)value, back;
        snprintf(text, sizeof text, "%.9g", single);
        wrong += sscanf(text, "%f", &back) != 1 || back != single;
        if (i % 25 == 0) printf("%.17g %.3e %g %a\n", value, value, value, single);
    }
    double list[] = {0.0, -0.0, 0.5, 1.5, 2.5, 1e15, 1e16, 123456.789, 1e-5, DBL_MIN / 4, DBL_MAX};
    for (unsigned i = 0; i < sizeof list / sizeof *list; i++)
        printf("[%f] [%+.0f] [%10.3f] [%-12.4e] [%#g] [%G] [%08.2f]\n", list[i], list[i], list[i],
               list[i], list[i], list[i], fmod(list[i], 1e6));
    long double wide = 1;
    for (int i = 2; i < 30; i++) wide *= i;
    printf("%.0Lf %.20Lg %La\n", wide, 1 / wide, wide);
    int whole;
    unsigned hex;
    char word[16];
    double real;
    int read = sscanf("  -42 0xBEEF some 2.5e-3 tail", "%d %x %15s %lf", &whole, &hex, word, &real);
    printf("%d %d %x %s %g %" PRIu64 "\n", read, whole, hex, word, real, wrong);
    return (int)wrong;
}
