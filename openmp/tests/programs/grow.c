// Regions of two sizes. The first argument is the larger one. Prints whether each region has at least one member, and
// at most as many as it wants.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int is_right(int wanted) {
    int members = 0, counted = 0;
#pragma omp parallel num_threads(wanted) reduction(+ : counted)
    {
        counted++;
#pragma omp single
        members = omp_get_num_threads();
    }
    return members == counted && members >= 1 && members <= wanted;
}

int main(int count, char **arguments) {
    int most = count > 1 ? atoi(arguments[1]) : 40;
    for (int round = 0; round < 3; round++)
        printf("%d %d\n", is_right(5), is_right(most));
    return 0;
}
