/* FT, as laboratory/programs/src/spmd/ft describes it, by one thread. */
#include "npb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 8, POINTS = 1024, ITERATIONS = 6 };

typedef struct {
    double re, im;
} number;

/* An element of eight series. */
typedef struct {
    _Alignas(64) double re[LANES];
    double im[LANES];
} row;

/* Transforms of one length. */
struct fft {
    int n;
    number (*turns)[3];
    int *order;
};

struct ft {
    char class;
    int sides[3];
    struct fft ffts[3];
    number *state, *evolved;
    double *factors[3];
    row *rows;
    number sums[ITERATIONS];
};

static int place(int index, int n)
{
    return n <= 2 ? index : index % 4 * (n / 4) + place(index / 4, n / 4);
}

static struct fft make_fft(int n)
{
    const double turn = 2.0 * acos(-1.0);
    struct fft fft = { n, malloc(sizeof *fft.turns * n), malloc(sizeof *fft.order * n) };
    int at = 0;
    for (int span = n; span > 4; span /= 4)
        for (int j = 0; j < span / 4; j++, at++)
            for (int k = 0; k < 3; k++) {
                double angle = -turn * ((k + 1) * j) / span;
                fft.turns[at][k] = (number){ cos(angle), sin(angle) };
            }
    for (int i = 0; i < n; i++)
        fft.order[i] = place(i, n);
    return fft;
}

static inline void turned(row *restrict a, row *restrict b, row *restrict c,
                          row *restrict d, const number turns[3])
{
    number one = turns[0], two = turns[1], three = turns[2];
    for (int l = 0; l < LANES; l++) {
        double sum_re = a->re[l] + c->re[l], sum_im = a->im[l] + c->im[l];
        double gap_re = a->re[l] - c->re[l], gap_im = a->im[l] - c->im[l];
        double odd_re = b->re[l] + d->re[l], odd_im = b->im[l] + d->im[l];
        double rest_re = b->re[l] - d->re[l], rest_im = b->im[l] - d->im[l];
        a->re[l] = sum_re + odd_re;
        a->im[l] = sum_im + odd_im;
        double re = gap_re + rest_im, im = gap_im - rest_re;
        b->re[l] = re * one.re - im * one.im;
        b->im[l] = re * one.im + im * one.re;
        re = sum_re - odd_re, im = sum_im - odd_im;
        c->re[l] = re * two.re - im * two.im;
        c->im[l] = re * two.im + im * two.re;
        re = gap_re - rest_im, im = gap_im + rest_re;
        d->re[l] = re * three.re - im * three.im;
        d->im[l] = re * three.im + im * three.re;
    }
}

static inline void in_four(row *restrict a, row *restrict b, row *restrict c,
                           row *restrict d)
{
    for (int l = 0; l < LANES; l++) {
        double sum_re = a->re[l] + c->re[l], sum_im = a->im[l] + c->im[l];
        double gap_re = a->re[l] - c->re[l], gap_im = a->im[l] - c->im[l];
        double odd_re = b->re[l] + d->re[l], odd_im = b->im[l] + d->im[l];
        double rest_re = b->re[l] - d->re[l], rest_im = b->im[l] - d->im[l];
        a->re[l] = sum_re + odd_re;
        a->im[l] = sum_im + odd_im;
        b->re[l] = gap_re + rest_im;
        b->im[l] = gap_im - rest_re;
        c->re[l] = sum_re - odd_re;
        c->im[l] = sum_im - odd_im;
        d->re[l] = gap_re - rest_im;
        d->im[l] = gap_im + rest_re;
    }
}

static inline void in_two(row *restrict a, row *restrict b)
{
    for (int l = 0; l < LANES; l++) {
        double re = b->re[l], im = b->im[l];
        b->re[l] = a->re[l] - re;
        b->im[l] = a->im[l] - im;
        a->re[l] += re;
        a->im[l] += im;
    }
}

static void transform(const struct fft *fft, row *rows)
{
    const number(*turns)[3] = (const number(*)[3])fft->turns;
    int n = fft->n, span = n;
    for (; span > 4; span /= 4) {
        int quarter = span / 4;
        for (row *block = rows; block < rows + n; block += span)
            for (int j = 0; j < quarter; j++)
                turned(block + j, block + quarter + j, block + 2 * quarter + j,
                       block + 3 * quarter + j, turns[j]);
        turns += quarter;
    }
    if (span == 4)
        for (row *block = rows; block < rows + n; block += 4)
            in_four(block, block + 1, block + 2, block + 3);
    else
        for (row *block = rows; block < rows + n; block += 2)
            in_two(block, block + 1);
}

/* Along x, eight lines at a time; from the state to itself, or evolved to another. */
static void along_x(struct ft *ft, number *restrict to, int evolve)
{
    int nx = ft->sides[0], ny = ft->sides[1], lines = ny * ft->sides[2];
    const struct fft *fft = &ft->ffts[0];
    row *rows = ft->rows;
    for (int line = 0; line < lines; line += LANES) {
        const number *from = ft->state + (size_t)line * nx;
        for (int x = 0; x < nx; x++)
            for (int l = 0; l < LANES; l++) {
                number it = from[(size_t)l * nx + x];
                if (evolve) {
                    double factor = ft->factors[0][x] * ft->factors[1][(line + l) % ny] *
                                    ft->factors[2][line / ny];
                    it = (number){ it.im * factor, it.re * factor };
                }
                rows[x].re[l] = it.re;
                rows[x].im[l] = it.im;
            }
        transform(fft, rows);
        number *out = to + (size_t)line * nx;
        for (int x = 0; x < nx; x++) {
            const row *row = &rows[fft->order[x]];
            for (int l = 0; l < LANES; l++)
                out[(size_t)l * nx + x] = (number){ row->re[l], row->im[l] };
        }
    }
}

/* Along y or z, eight columns side by side. */
static void along(struct ft *ft, number *numbers, int axis, int swap)
{
    int n = ft->sides[axis];
    size_t stride = (size_t)ft->sides[0] * (axis == 1 ? 1 : ft->sides[1]);
    size_t all = (size_t)ft->sides[0] * ft->sides[1] * ft->sides[2];
    const struct fft *fft = &ft->ffts[axis];
    row *rows = ft->rows;
    for (size_t plane = 0; plane < all; plane += stride * n)
        for (size_t foot = plane; foot < plane + stride; foot += LANES) {
            for (int i = 0; i < n; i++) {
                const number *from = numbers + foot + i * stride;
                for (int l = 0; l < LANES; l++) {
                    rows[i].re[l] = from[l].re;
                    rows[i].im[l] = from[l].im;
                }
            }
            transform(fft, rows);
            for (int i = 0; i < n; i++) {
                const row *row = &rows[fft->order[i]];
                number *to = numbers + foot + i * stride;
                for (int l = 0; l < LANES; l++)
                    to[l] = swap ? (number){ row->im[l], row->re[l] }
                                 : (number){ row->re[l], row->im[l] };
            }
        }
}

static void run(void *data)
{
    struct ft *ft = data;
    int nx = ft->sides[0], ny = ft->sides[1], nz = ft->sides[2];
    double all = (double)nx * ny * nz;
    const double pi = acos(-1.0);
    along_x(ft, ft->state, 0);
    along(ft, ft->state, 1, 0);
    along(ft, ft->state, 2, 0);
    for (int t = 1; t <= ITERATIONS; t++) {
        for (int axis = 0; axis < 3; axis++)
            for (int i = 0; i < ft->sides[axis]; i++) {
                double wave = 2 * i < ft->sides[axis] ? i : i - ft->sides[axis];
                ft->factors[axis][i] = exp(-4e-6 * pi * pi * t * wave * wave);
            }
        along_x(ft, ft->evolved, 1);
        along(ft, ft->evolved, 1, 0);
        along(ft, ft->evolved, 2, 1);
        number sum = { 0, 0 };
        for (int j = 1; j <= POINTS; j++) {
            size_t at = j % nx + (size_t)nx * (3 * j % ny + (size_t)ny * (5 * j % nz));
            sum.re += ft->evolved[at].re;
            sum.im += ft->evolved[at].im;
        }
        ft->sums[t - 1] = (number){ sum.re / all, sum.im / all };
    }
}

static void *make(char class)
{
    static const struct {
        char class;
        int sides[3];
    } classes[] = { { 'S', { 64, 64, 64 } },
                    { 'W', { 128, 128, 32 } },
                    { 'A', { 256, 256, 128 } } };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (classes[i].class != class)
            continue;
        struct ft *ft = calloc(1, sizeof *ft);
        size_t all = 1;
        int longest = 0;
        ft->class = class;
        for (int axis = 0; axis < 3; axis++) {
            int side = ft->sides[axis] = classes[i].sides[axis];
            all *= side;
            longest = side > longest ? side : longest;
            ft->ffts[axis] = make_fft(side);
            ft->factors[axis] = malloc(sizeof *ft->factors[axis] * side);
        }
        ft->rows = aligned_alloc(64, sizeof *ft->rows * longest);
        ft->state = malloc(sizeof *ft->state * all);
        ft->evolved = malloc(sizeof *ft->evolved * all);
        /* Touched now, as the other side's is. */
        memset(ft->evolved, 0, sizeof *ft->evolved * all);
        uint64_t random = 314159265;
        for (size_t at = 0; at < all; at++) {
            ft->state[at].re = npb_random(&random);
            ft->state[at].im = npb_random(&random);
        }
        return ft;
    }
    return NULL;
}

static double error(const void *data)
{
    /* NPB's checksums. */
    static const number expected[3][ITERATIONS] = {
        { { 5.546087004964e2, 4.845363331978e2 },
          { 5.546385409189e2, 4.865304269511e2 },
          { 5.546148406171e2, 4.883910722336e2 },
          { 5.545423607415e2, 4.901273169046e2 },
          { 5.544255039624e2, 4.917475857993e2 },
          { 5.542683411902e2, 4.932597244941e2 } },
        { { 5.673612178944e2, 5.293246849175e2 },
          { 5.631436885271e2, 5.282149986629e2 },
          { 5.594024089970e2, 5.270996558037e2 },
          { 5.560698047020e2, 5.260027904925e2 },
          { 5.530898991250e2, 5.249400845633e2 },
          { 5.504159734538e2, 5.239212247086e2 } },
        { { 5.046735008193e2, 5.114047905510e2 },
          { 5.059412319734e2, 5.098809666433e2 },
          { 5.069376896287e2, 5.098144042213e2 },
          { 5.077892868474e2, 5.101336130759e2 },
          { 5.085233095391e2, 5.104914655194e2 },
          { 5.091487099959e2, 5.107917842803e2 } },
    };
    const struct ft *ft = data;
    const number *known = expected[ft->class == 'S' ? 0 : ft->class == 'W' ? 1 : 2];
    double most = 0;
    for (int t = 0; t < ITERATIONS; t++) {
        double re = fabs(ft->sums[t].re - known[t].re) / known[t].re / 1e-12;
        double im = fabs(ft->sums[t].im - known[t].im) / known[t].im / 1e-12;
        if (isnan(re) || isnan(im))
            return NAN;
        most = fmax(most, fmax(re, im));
    }
    return most;
}

static void drop(void *data)
{
    struct ft *ft = data;
    for (int axis = 0; axis < 3; axis++) {
        free(ft->ffts[axis].turns);
        free(ft->ffts[axis].order);
        free(ft->factors[axis]);
    }
    free(ft->rows);
    free(ft->state);
    free(ft->evolved);
    free(ft);
}

const struct npb npb_ft = { make, run, error, drop };
