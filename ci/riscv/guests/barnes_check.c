/* Barnes writes times alone. Linked to it, this tells at its end where the bodies are. */
#define global extern
#include "stdinc.h"

static void __attribute__((destructor)) tell(void) {
    double squares = 0, mixed = 0;
    for (long at = 0; at < nbody; at++) {
        bodyptr body = bodytab + at;
        for (int axis = 0; axis < NDIM; axis++) {
            squares += Pos(body)[axis] * Pos(body)[axis];
            mixed += Pos(body)[axis] * Vel(body)[axis];
        }
    }
    printf("BODIES %ld SQUARES %.12e MIXED %.12e\n", nbody, squares, mixed);
}
