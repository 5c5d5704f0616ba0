// Regions of two sizes. The first argument is the larger one. Prints the number of members of each region, or 0 if
// other members have executed the region.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int members_of(int wanted) {
    int members = 0, counted = 0;
#pragma omp parallel num_threads(wanted) reduction(+ : counted)
    {
        counted++;
#pragma omp single
        members = omp_get_num_threads();
    }
    return members == counted ? members : 0;
}

int main(int count, char **arguments) {
    int most = count > 1 ? atoi(arguments[1]) : 40;
    for (int round = 0; round < 3; round++)
        printf("%d %d\n", members_of(5), members_of(most));
    return 0;
}
