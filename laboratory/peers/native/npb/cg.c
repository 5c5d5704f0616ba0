/* CG, as laboratory/programs/src/spmd/cg describes it, by one thread. */
#include "npb.h"

#include <math.h>
#include <stdlib.h>

enum { INNER = 25 };

struct cg {
    int n, iterations;
    double shift, expected, zeta;
    uint32_t *starts, *columns;
    double *values;
    double *x, *z, *p, *q, *r;
};

static int by_number(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* The matrix: products of random vectors with themselves, row by row. */
static void make_matrix(struct cg *cg, int nonzeros)
{
    int n = cg->n, room = nonzeros + 1;
    uint32_t *places = malloc(sizeof *places * (size_t)n * room);
    double *elements = malloc(sizeof *elements * (size_t)n * room);
    int *lengths = malloc(sizeof *lengths * n);
    uint32_t *starts = calloc(n + 1, sizeof *starts);

    uint64_t random = 314159265;
    npb_random(&random);
    int power = 1;
    while (power < n)
        power *= 2;
    for (int i = 0; i < n; i++) {
        uint32_t *place = places + (size_t)i * room;
        double *element = elements + (size_t)i * room;
        int length = 0;
        while (length < nonzeros) {
            double value = npb_random(&random);
            uint32_t at = (uint32_t)(npb_random(&random) * power);
            int known = at >= (uint32_t)n;
            for (int k = 0; k < length && !known; k++)
                known = place[k] == at;
            if (known)
                continue;
            place[length] = at;
            element[length++] = value;
        }
        int own = 0;
        while (own < length && place[own] != (uint32_t)i)
            own++;
        place[own] = i;
        element[own] = 0.5;
        lengths[i] = length + (own == length);
        for (int k = 0; k < lengths[i]; k++)
            starts[place[k] + 1]++;
    }

    /* For each row the elements that vectors have there. */
    for (int i = 0; i < n; i++)
        starts[i + 1] += starts[i];
    uint32_t *next = malloc(sizeof *next * n);
    size_t *members = malloc(sizeof *members * starts[n]);
    for (int i = 0; i < n; i++)
        next[i] = starts[i];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < lengths[i]; k++)
            members[next[places[(size_t)i * room + k]]++] = (size_t)i * room + k;

    double *weights = malloc(sizeof *weights * n);
    double ratio = pow(0.1, 1.0 / n), weight = 1.0;
    for (int i = 0; i < n; i++, weight *= ratio)
        weights[i] = weight;

    size_t most = (size_t)starts[n] * room, entries = 0;
    cg->starts = malloc(sizeof *cg->starts * (n + 1));
    cg->columns = malloc(sizeof *cg->columns * most);
    cg->values = malloc(sizeof *cg->values * most);
    double *row_of = malloc(sizeof *row_of * n);
    int *seen = malloc(sizeof *seen * n);
    for (int i = 0; i < n; i++)
        seen[i] = -1;
    for (int row = 0; row < n; row++) {
        cg->starts[row] = entries;
        size_t first = entries;
        for (uint32_t m = starts[row]; m < starts[row + 1]; m++) {
            int vector = members[m] / room;
            double scale = weights[vector] * elements[members[m]];
            for (int k = 0; k < lengths[vector]; k++) {
                uint32_t column = places[(size_t)vector * room + k];
                double value = elements[(size_t)vector * room + k] * scale;
                if (column == (uint32_t)row && vector == row)
                    value = value + 0.1 - cg->shift;
                if (seen[column] != row) {
                    seen[column] = row;
                    row_of[column] = 0.0;
                    cg->columns[entries++] = column;
                }
                row_of[column] += value;
            }
        }
        qsort(cg->columns + first, entries - first, sizeof *cg->columns, by_number);
        for (size_t entry = first; entry < entries; entry++)
            cg->values[entry] = row_of[cg->columns[entry]];
    }
    cg->starts[n] = entries;
    free(places);
    free(elements);
    free(lengths);
    free(starts);
    free(next);
    free(members);
    free(weights);
    free(row_of);
    free(seen);
}

static double *vector_of(int n, double value)
{
    double *vector = malloc(sizeof *vector * n);
    for (int i = 0; i < n; i++)
        vector[i] = value;
    return vector;
}

static void *make(char class)
{
    struct cg *cg = calloc(1, sizeof *cg);
    int nonzeros;
    cg->iterations = 15;
    switch (class) {
    case 'S':
        cg->n = 1400, nonzeros = 7, cg->shift = 10, cg->expected = 8.5971775078648;
        break;
    case 'W':
        cg->n = 7000, nonzeros = 8, cg->shift = 12, cg->expected = 10.362595087124;
        break;
    case 'A':
        cg->n = 14000, nonzeros = 11, cg->shift = 20, cg->expected = 17.130235054029;
        break;
    default:
        free(cg);
        return NULL;
    }
    make_matrix(cg, nonzeros);
    cg->x = vector_of(cg->n, 0.0);
    cg->z = vector_of(cg->n, 1.0);
    cg->p = vector_of(cg->n, 0.0);
    cg->q = vector_of(cg->n, 0.0);
    cg->r = vector_of(cg->n, 0.0);
    return cg;
}

/* A row's product with a vector, in four sums. */
static inline double product(const struct cg *cg, int row, const double *restrict vector)
{
    const uint32_t *restrict columns = cg->columns;
    const double *restrict values = cg->values;
    double a = 0, b = 0, c = 0, d = 0;
    uint32_t at = cg->starts[row], end = cg->starts[row + 1];
    for (; at + 4 <= end; at += 4) {
        a += values[at] * vector[columns[at]];
        b += values[at + 1] * vector[columns[at + 1]];
        c += values[at + 2] * vector[columns[at + 2]];
        d += values[at + 3] * vector[columns[at + 3]];
    }
    for (; at < end; at++)
        a += values[at] * vector[columns[at]];
    return (a + b) + (c + d);
}

static void run(void *data)
{
    struct cg *cg = data;
    int n = cg->n;
    double *restrict x = cg->x, *restrict z = cg->z, *restrict p = cg->p;
    double *restrict q = cg->q, *restrict r = cg->r;
    double scale = 1.0;
    for (int iteration = 0; iteration < cg->iterations; iteration++) {
        double rho = 0;
        for (int i = 0; i < n; i++) {
            x[i] = scale * z[i];
            z[i] = 0;
            r[i] = p[i] = x[i];
            rho += x[i] * x[i];
        }
        for (int inner = 1; inner <= INNER; inner++) {
            double along = 0, before = rho;
            for (int i = 0; i < n; i++) {
                q[i] = product(cg, i, p);
                along += p[i] * q[i];
            }
            double alpha = rho / along;
            rho = 0;
            for (int i = 0; i < n; i++) {
                z[i] += alpha * p[i];
                r[i] -= alpha * q[i];
                rho += r[i] * r[i];
            }
            double beta = rho / before;
            if (inner < INNER)
                for (int i = 0; i < n; i++)
                    p[i] = r[i] + beta * p[i];
        }
        double residual = 0, along = 0, square = 0;
        for (int i = 0; i < n; i++) {
            double gap = x[i] - product(cg, i, z);
            residual += gap * gap;
            along += x[i] * z[i];
            square += z[i] * z[i];
        }
        /* Nobody uses the residual but to see that it is small. */
        cg->zeta = residual < 1 ? cg->shift + 1.0 / along : NAN;
        scale = 1.0 / sqrt(square);
    }
}

static double error(const void *data)
{
    const struct cg *cg = data;
    return fabs(cg->zeta - cg->expected) / cg->expected / 1e-10;
}

static void drop(void *data)
{
    struct cg *cg = data;
    free(cg->starts);
    free(cg->columns);
    free(cg->values);
    free(cg->x);
    free(cg->z);
    free(cg->p);
    free(cg->q);
    free(cg->r);
    free(cg);
}

const struct npb npb_cg = { make, run, error, drop };
