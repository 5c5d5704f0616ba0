/* Expressions: recursive descent, longjmp out of nested calls, decimal and hexadecimal numbers. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static jmp_buf failed;
static const char *at;
static volatile int depth, deepest;
static double sum(void);
static void skip(void) { while (isspace((unsigned char)*at)) at++; }
static double atom(void) {
    depth++;
    deepest = depth > deepest ? depth : deepest;
    skip();
    double value;
    if (*at == '(') {
        at++;
        value = sum();
        skip();
        if (*at++ != ')') longjmp(failed, 1);
    } else if (*at == '-') {
        at++;
        value = -atom();
    } else if (strncmp(at, "sqrt", 4) == 0) {
        at += 4;
        value = sqrt(atom());
    } else {
        char *end;
        errno = 0;
        value = strtod(at, &end);
        if (end == at) longjmp(failed, 2);
        if (errno == ERANGE) longjmp(failed, 3);
        at = end;
    }
    depth--;
    return value;
}
static double power(void) {
    double base = atom();
    skip();
    return *at == '^' ? (at++, pow(base, power())) : base;
}
static double product(void) {
    double value = power();
    for (skip(); *at == '*' || *at == '/'; skip())
        if (*at++ == '*') value *= power();
        else value /= power();
    return value;
}
static double sum(void) {
    double value = product();
    for (skip(); *at == '+' || *at == '-'; skip())
        if (*at++ == '+') value += product();
        else value -= product();
    return value;
}
int main(void) {
    const char *text[] = {"1 + 2*3 - 4/5",  "2^3^2 / 7",   "-(0x1.8p3 - 1e-3)*sqrt 2",
                          "1/0 - 1/0",      "(((1+2)*3)+", "3 * frog",
                          "1e999",          "((((((((((1))))))))))", "0.1+0.2-0.3"};
    volatile int wrong = 0;
    for (volatile unsigned i = 0; i < sizeof text / sizeof *text; i++) {
        at = text[i];
        depth = deepest = 0;
        int reason = setjmp(failed);
        if (reason == 0) {
            double value = sum();
            printf("%s = %.17g %a %d\n", text[i], value, value, deepest);
        } else {
            printf("%s: error %d at depth %d\n", text[i], reason, depth);
            wrong++;
        }
    }
    return wrong;
}
