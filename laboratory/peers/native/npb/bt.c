/* BT, as laboratory/programs/src/spmd/bt describes it, by one thread. */
#include "npb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So many lines are solved side by side. */
enum { LANES = 2 };
typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef lanes state[5];
typedef lanes block[5][5];
/* A block and, as its last column, a vector. */
typedef lanes extended[5][6];

static const double GAMMA = 1.4, VISCOSITY = 0.1, CONDUCTION = 1.96, DAMPING = 0.25;
static const double DIFFUSION[3] = {0.75, 0.75, 1.0};
/* The quantities, that momentum first which is along. */
static const int ORDER[3][5] = {{0, 1, 2, 3, 4}, {0, 2, 1, 3, 4}, {0, 3, 2, 1, 4}};

static const double COEFFICIENTS[13][5] = {
    {2.0, 1.0, 2.0, 2.0, 5.0},       {0.0, 0.0, 2.0, 2.0, 4.0},
    {0.0, 0.0, 0.0, 0.0, 3.0},       {4.0, 0.0, 0.0, 0.0, 2.0},
    {5.0, 1.0, 0.0, 0.0, 0.1},       {3.0, 2.0, 2.0, 2.0, 0.4},
    {0.5, 3.0, 3.0, 3.0, 0.3},       {0.02, 0.01, 0.04, 0.03, 0.05},
    {0.01, 0.03, 0.03, 0.05, 0.04},  {0.03, 0.02, 0.05, 0.04, 0.03},
    {0.5, 0.4, 0.3, 0.2, 0.1},       {0.4, 0.3, 0.5, 0.1, 0.3},
    {0.3, 0.5, 0.4, 0.3, 0.2},
};

struct norms {
    double residual[5], error[5];
};

struct class {
    char name;
    int points, steps;
    double interval;
    struct norms norms;
};

static const struct class CLASSES[] = {
    {'S', 12, 60, 0.010,
     {{1.7034283709541311e-01, 1.2975252070034097e-02, 3.2527926989486055e-02,
       2.6436421275166801e-02, 1.9211784131744430e-01},
      {4.9976913345811579e-04, 4.5195666782961927e-05, 7.3973765172921357e-05,
       7.3821238632439731e-05, 8.9269630987491446e-04}}},
    {'W', 24, 200, 0.0008,
     {{0.1125590409344e+03, 0.1180007595731e+02, 0.2710329767846e+02, 0.2469174937669e+02,
       0.2638427874317e+03},
      {0.4419655736008e+01, 0.4638531260002e+00, 0.1011551749967e+01, 0.9235878729944e+00,
       0.1018045837718e+02}}},
    {'A', 64, 200, 0.0008,
     {{1.0806346714637264e+02, 1.1319730901220813e+01, 2.5974354511582465e+01,
       2.3665622544678910e+01, 2.5278963211748344e+02},
      {4.2348416040525025e+00, 4.4390282496995698e-01, 9.6692480136345650e-01,
       8.8302063039765474e-01, 9.7379901770829278e+00}}},
};

struct bt {
    const struct class *class;
    int points, inner;
    /* From one point to the next, by direction. */
    size_t stride[3];
    double *field, *change, *forcing;
    /* What a line is solved in. */
    extended *rows;
    state *right;
};

/* What differences are multiplied by, and what diffuses. */
struct weights {
    double first, second, diffusion;
};

static struct weights weights(const struct bt *bt, int direction, double interval)
{
    double intervals = bt->points - 1;
    return (struct weights){0.5 * intervals * interval, intervals * intervals * interval,
                            DIFFUSION[direction]};
}

/* Velocities, and energies by mass. */
struct motion {
    lanes volume, u, v, w, kinetic, energy;
};

static inline struct motion motion(const state s)
{
    struct motion m;
    m.volume = 1.0 / s[0];
    m.u = s[1] * m.volume;
    m.v = s[2] * m.volume;
    m.w = s[3] * m.volume;
    m.kinetic = (m.u * m.u + m.v * m.v + m.w * m.w) * 0.5;
    m.energy = s[4] * m.volume;
    return m;
}

static inline void flux(state f, const state s, const struct motion *m)
{
    lanes pressure = (s[4] - s[0] * m->kinetic) * (GAMMA - 1.0);
    f[0] = s[1];
    f[1] = s[1] * m->u + pressure;
    f[2] = s[2] * m->u;
    f[3] = s[3] * m->u;
    f[4] = (s[4] + pressure) * m->u;
}

static inline void spread(state f, const state s, const struct motion *m, double diffusion)
{
    lanes heat = m->kinetic * (1.0 - CONDUCTION) + m->u * m->u * (1.0 / 6.0)
                 + m->energy * CONDUCTION;
    f[0] = s[0] * diffusion;
    f[1] = s[1] * diffusion + m->u * (VISCOSITY * 4.0 / 3.0);
    f[2] = s[2] * diffusion + m->v * VISCOSITY;
    f[3] = s[3] * diffusion + m->w * VISCOSITY;
    f[4] = s[4] * diffusion + heat * VISCOSITY;
}

/* A point's contributions to the row before it, its own and the next, where they are not
 * zero. */
static inline void set_column(extended before, block on, block below, const state s,
                              const struct weights *weights)
{
    struct motion m = motion(s);
    lanes zero = {0};
    lanes own = zero + weights->diffusion * weights->second, first = zero + weights->first;
    lanes fu = m.u * first, fv = m.v * first, fw = m.w * first;
    double gas = GAMMA - 1.0;
    lanes enthalpy = m.energy * GAMMA - m.kinetic * gas;
    lanes g = m.volume * (VISCOSITY * weights->second);
    lanes gu = m.u * g, gv = m.v * g, gw = m.w * g;
    lanes heat = m.kinetic * (2.0 * (CONDUCTION - 1.0)) - m.u * m.u * (1.0 / 3.0)
                 - m.energy * CONDUCTION;

#define ENTRY(row, column, carried, spreading)                                                \
    do {                                                                                      \
        lanes c = (carried), d = (spreading);                                                 \
        before[row][column] = c - d;                                                          \
        below[row][column] = -(c + d);                                                        \
        on[row][column] = (row) == (column) ? d + d + 1.0 : d + d;                            \
    } while (0)
    ENTRY(0, 0, zero, own);
    ENTRY(0, 1, first, zero);
    ENTRY(1, 0, m.kinetic * first * gas - m.u * fu, gu * (-4.0 / 3.0));
    ENTRY(1, 1, fu * (2.0 - gas), g * (4.0 / 3.0) + own);
    ENTRY(1, 2, fv * -gas, zero);
    ENTRY(1, 3, fw * -gas, zero);
    ENTRY(1, 4, first * gas, zero);
    ENTRY(2, 0, -(m.v * fu), -gv);
    ENTRY(2, 1, fv, zero);
    ENTRY(2, 2, fu, g + own);
    ENTRY(3, 0, -(m.w * fu), -gw);
    ENTRY(3, 1, fw, zero);
    ENTRY(3, 3, fu, g + own);
    ENTRY(4, 0, fu * (m.kinetic * gas - enthalpy), g * heat);
    ENTRY(4, 1, (enthalpy - m.u * m.u * gas) * first, gu * (4.0 / 3.0 - CONDUCTION));
    ENTRY(4, 2, m.v * fu * -gas, gv * (1.0 - CONDUCTION));
    ENTRY(4, 3, m.w * fu * -gas, gw * (1.0 - CONDUCTION));
    ENTRY(4, 4, fu * GAMMA, g * CONDUCTION + own);
#undef ENTRY
}

/* The columns in which a row of the contributions is not zero. */
static const int WIDTH[5] = {2, 5, 3, 3, 5};
static const int PATTERN[5][5] = {
    {0, 1}, {0, 1, 2, 3, 4}, {0, 1, 2}, {0, 1, 3}, {0, 1, 2, 3, 4}};

static inline void subtract_product(block on, extended row, const block below,
                                    const extended last)
{
    for (int r = 0; r < 5; r++) {
        for (int i = 0; i < WIDTH[r]; i++) {
            int k = PATTERN[r][i];
            lanes factor = below[r][k];
            for (int c = 0; c < 5; c++)
                on[r][c] -= factor * last[k][c];
            row[r][5] -= factor * last[k][5];
        }
    }
}

static inline void divide(block on, extended row)
{
    for (int r = 0; r < 5; r++) {
        for (int k = 0; k < r; k++)
            for (int c = k + 1; c < 5; c++)
                on[r][c] -= on[r][k] * on[k][c];
        lanes inverse = 1.0 / on[r][r];
        for (int c = r + 1; c < 5; c++)
            on[r][c] *= inverse;
        for (int k = 0; k < r; k++)
            for (int c = 0; c < 6; c++)
                row[r][c] -= on[r][k] * row[k][c];
        for (int c = 0; c < 6; c++)
            row[r][c] *= inverse;
    }
    for (int r = 3; r >= 0; r--)
        for (int k = r + 1; k < 5; k++)
            for (int c = 0; c < 6; c++)
                row[r][c] -= on[r][k] * row[k][c];
}

static inline void load(state s, const struct bt *bt, const double *array, const size_t *starts,
                        int direction, int point)
{
    for (int c = 0; c < 5; c++) {
        size_t offset = point * bt->stride[direction] + ORDER[direction][c] * bt->points;
        for (int lane = 0; lane < LANES; lane++)
            s[c][lane] = array[starts[lane] + offset];
    }
}

/* Solves the lines that begin with these points. The right side is what `right` says, or
 * the change; the solution is the change or, in the last direction, added to the field. */
static inline void solve(struct bt *bt, const size_t *starts, int direction, const state *right)
{
    struct weights w = weights(bt, direction, bt->class->interval);
    block on[3] = {0}, below[3] = {0};
    extended none;
    state s;
    load(s, bt, bt->field, starts, direction, 1);
    set_column(none, on[1], below[1], s, &w);
    for (int point = 1; point <= bt->inner; point++) {
        lanes(*row)[6] = bt->rows[point];
        memset(row, 0, sizeof(extended));
        if (right)
            memcpy(s, right[point], sizeof s);
        else
            load(s, bt, bt->change, starts, direction, point);
        for (int c = 0; c < 5; c++)
            row[c][5] = s[c];
        int next = (point + 1) % 3;
        load(s, bt, bt->field, starts, direction, point + 1);
        set_column(row, on[next], below[next], s, &w);
        block own;
        memcpy(own, on[point % 3], sizeof own);
        if (point > 1)
            subtract_product(own, row, below[(point + 2) % 3], bt->rows[point - 1]);
        divide(own, row);
    }
    state next = {0};
    for (int point = bt->inner; point >= 1; point--) {
        lanes(*row)[6] = bt->rows[point];
        state found;
        for (int r = 0; r < 5; r++) {
            found[r] = row[r][5];
            for (int c = 0; c < 5; c++)
                found[r] -= row[r][c] * next[c];
        }
        memcpy(next, found, sizeof next);
        for (int c = 0; c < 5; c++) {
            size_t offset = point * bt->stride[direction] + ORDER[direction][c] * bt->points;
            for (int lane = 0; lane < LANES; lane++) {
                if (direction == 2)
                    bt->field[starts[lane] + offset] += found[c][lane];
                else
                    bt->change[starts[lane] + offset] = found[c][lane];
            }
        }
    }
}

/* The fourth difference at a point, without what lies on the ends or beyond. */
static void damping(double *factors, int point, int points)
{
    static const double inside[5] = {1.0, -4.0, 6.0, -4.0, 1.0};
    for (int i = 0; i < 5; i++) {
        int other = point + i - 2;
        factors[i] = other < 1 || other > points - 2 ? 0.0 : -DAMPING * inside[i];
    }
    if (point == 1 || point == points - 2)
        factors[2] = -DAMPING * 5.0;
}

static size_t at(const struct bt *bt, int x, int y, int z)
{
    return x * bt->stride[0] + y * bt->stride[1] + z * bt->stride[2];
}

/* The right side without forcing, by quantity and point of a row. */
static inline void residual(const struct bt *bt, const double *field, int y, int z, double *sums)
{
    int n = bt->points;
    for (int i = 1; i <= bt->inner; i += LANES) {
        int x = i < n - 1 - LANES ? i : n - 1 - LANES;
        size_t here = at(bt, x, y, z);
        state sum = {0};
        for (int direction = 0; direction < 3; direction++) {
            struct weights w = weights(bt, direction, 1.0);
            lanes factors[5] = {0};
            double single[5];
            for (int lane = 0; lane < LANES; lane++) {
                damping(single, direction == 0 ? x + lane : direction == 1 ? y : z, n);
                for (int j = 0; j < 5; j++)
                    factors[j][lane] = single[j];
            }
            state states[5];
            for (int j = 0; j < 5; j++) {
                int point = direction == 1 ? y : z, moved = point + j - 2;
                moved = moved < 0 ? 0 : moved > n - 1 ? n - 1 : moved;
                size_t there = direction == 0 ? here + j - 2
                                              : here + moved * bt->stride[direction]
                                                    - point * bt->stride[direction];
                for (int c = 0; c < 5; c++)
                    memcpy(&states[j][c], field + there + ORDER[direction][c] * n, sizeof(lanes));
            }
            struct motion last = motion(states[1]), own = motion(states[2]),
                          next = motion(states[3]);
            state in, out, before, middle, after;
            flux(in, states[1], &last);
            flux(out, states[3], &next);
            spread(before, states[1], &last, w.diffusion);
            spread(middle, states[2], &own, w.diffusion);
            spread(after, states[3], &next, w.diffusion);
            for (int c = 0; c < 5; c++) {
                lanes added = (in[c] - out[c]) * w.first
                              + (before[c] - middle[c] - middle[c] + after[c]) * w.second;
                for (int j = 0; j < 5; j++)
                    added += states[j][c] * factors[j];
                sum[ORDER[direction][c]] += added;
            }
        }
        for (int c = 0; c < 5; c++)
            memcpy(sums + c * n + x, &sum[c], sizeof(lanes));
    }
}

/* The lines side by side from number `first` on. */
static void lines(const struct bt *bt, size_t *starts, int direction, int first)
{
    for (int lane = 0; lane < LANES; lane++) {
        int slow = (first + lane) / bt->inner + 1, fast = (first + lane) % bt->inner + 1;
        starts[lane] = direction == 0   ? at(bt, 0, fast, slow)
                       : direction == 1 ? at(bt, fast, 0, slow)
                                        : at(bt, fast, slow, 0);
    }
}

static void bt_run(void *data)
{
    struct bt *bt = data;
    int n = bt->points, count = bt->inner * bt->inner;
    double *sums = malloc(sizeof *sums * 5 * n);
    size_t starts[LANES];
    for (int step = 0; step < bt->class->steps; step++) {
        for (int first = 0; first < count; first += LANES) {
            lines(bt, starts, 0, first);
            for (int lane = 0; lane < LANES; lane++) {
                int number = first + lane;
                residual(bt, bt->field, number % bt->inner + 1, number / bt->inner + 1, sums);
                const double *forcing = bt->forcing + starts[lane];
                for (int c = 0; c < 5; c++)
                    for (int x = 1; x <= bt->inner; x++)
                        bt->right[x][c][lane] =
                            (sums[c * n + x] + forcing[c * n + x]) * bt->class->interval;
            }
            solve(bt, starts, 0, (const state *)bt->right);
        }
        for (int first = 0; first < count; first += LANES) {
            lines(bt, starts, 1, first);
            solve(bt, starts, 1, NULL);
        }
        for (int first = 0; first < count; first += LANES) {
            lines(bt, starts, 2, first);
            solve(bt, starts, 2, NULL);
        }
    }
    free(sums);
}

static double exact(const double *point, int quantity)
{
    double value = COEFFICIENTS[0][quantity];
    for (int axis = 0; axis < 3; axis++) {
        double sum = 0.0;
        for (int power = 3; power >= 0; power--)
            sum = (sum + COEFFICIENTS[1 + 3 * power + axis][quantity]) * point[axis];
        value += sum;
    }
    return value;
}

static double initial(const double *point, int quantity)
{
    double product = 1.0;
    for (int axis = 0; axis < 3; axis++) {
        if (point[axis] == 0.0 || point[axis] == 1.0)
            return exact(point, quantity);
        double near[3], far[3];
        memcpy(near, point, sizeof near);
        memcpy(far, point, sizeof far);
        near[axis] = 0.0;
        far[axis] = 1.0;
        product *= 1.0
                   - (point[axis] * exact(far, quantity)
                      + (1.0 - point[axis]) * exact(near, quantity));
    }
    return 1.0 - product;
}

static void fill(const struct bt *bt, double *field, double value(const double *, int))
{
    int n = bt->points;
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                double h = n - 1, point[3] = {x / h, y / h, z / h};
                for (int c = 0; c < 5; c++)
                    field[at(bt, x, y, z) + c * n] = value(point, c);
            }
}

static void bt_drop(void *data)
{
    struct bt *bt = data;
    free(bt->field);
    free(bt->change);
    free(bt->forcing);
    free(bt->rows);
    free(bt->right);
    free(bt);
}

/* Rows, and planes, are an odd number of cache lines apart. */
static size_t odd_lines(size_t numbers)
{
    return ((numbers + 7) / 8 | 1) * 8;
}

static void *bt_make(char name)
{
    const struct class *class = NULL;
    for (size_t i = 0; i < sizeof CLASSES / sizeof *CLASSES; i++)
        if (CLASSES[i].name == name)
            class = &CLASSES[i];
    struct bt *bt = class ? calloc(1, sizeof *bt) : NULL;
    if (!bt)
        return NULL;
    int n = class->points;
    bt->class = class;
    bt->points = n;
    bt->inner = n - 2;
    bt->stride[0] = 1;
    bt->stride[1] = odd_lines(5 * n);
    bt->stride[2] = odd_lines(n * bt->stride[1]);
    size_t size = n * bt->stride[2];
    bt->field = calloc(size, sizeof(double));
    bt->change = calloc(size, sizeof(double));
    bt->forcing = calloc(size, sizeof(double));
    bt->rows = aligned_alloc(64, (sizeof *bt->rows * n + 63) / 64 * 64);
    bt->right = aligned_alloc(64, (sizeof *bt->right * n + 63) / 64 * 64);
    if (!bt->field || !bt->change || !bt->forcing || !bt->rows || !bt->right) {
        bt_drop(bt);
        return NULL;
    }
    fill(bt, bt->field, exact);
    for (int z = 1; z < n - 1; z++)
        for (int y = 1; y < n - 1; y++) {
            double *forcing = bt->forcing + at(bt, 0, y, z);
            residual(bt, bt->field, y, z, forcing);
            for (int i = 0; i < 5 * n; i++)
                forcing[i] = -forcing[i];
        }
    fill(bt, bt->field, initial);
    return bt;
}

static double bt_error(const void *data)
{
    const struct bt *bt = data;
    int n = bt->points;
    struct norms found = {0};
    double *sums = malloc(sizeof *sums * 5 * n);
    if (!sums)
        return NAN;
    for (int z = 1; z < n - 1; z++)
        for (int y = 1; y < n - 1; y++) {
            residual(bt, bt->field, y, z, sums);
            for (int x = 1; x < n - 1; x++) {
                double h = n - 1, point[3] = {x / h, y / h, z / h};
                for (int c = 0; c < 5; c++) {
                    size_t there = at(bt, x, y, z) + c * n;
                    double right = sums[c * n + x] + bt->forcing[there];
                    double off = bt->field[there] - exact(point, c);
                    found.residual[c] += right * right;
                    found.error[c] += off * off;
                }
            }
        }
    free(sums);
    double count = pow(bt->inner, 3), worst = 0.0;
    for (int c = 0; c < 5; c++) {
        const struct norms *known = &bt->class->norms;
        double residual = sqrt(found.residual[c] / count) / known->residual[c] - 1.0;
        double error = sqrt(found.error[c] / count) / known->error[c] - 1.0;
        if (isnan(residual) || isnan(error))
            return NAN;
        worst = fmax(worst, fmax(fabs(residual), fabs(error)));
    }
    return worst / 1e-8;
}

const struct npb npb_bt = { bt_make, bt_run, bt_error, bt_drop };
