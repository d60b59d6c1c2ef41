/* What a program of a plan stands on: two memories, the transfers between them, and the operators.
 *
 * A firmware engineer replaces dma_load and dma_store (on_chip.c) and the kernels (kernels.c); plan.c stays.
 */
#ifndef ON_CHIP_H
#define ON_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sizes.h"

#ifndef GUARD
#define GUARD 0 /* elements between any two regions in a build that checks them; none in the memory of the plan */
#endif
#define AT(address, place) ((address) + GUARD * ((place) + 1L)) /* place: of the region among all, by address */

/* Numbers are residues: a byte that was lost shows in every result that depends on it. Addresses count elements. */
#if BITS == 16
typedef uint16_t element;
typedef uint64_t total; /* of products, before it is a sum */
#define PRIME 65521
#else
typedef uint8_t element;
typedef uint32_t total;
#define PRIME 251
#endif
#define SUM ((long)(sizeof(uint32_t) / sizeof(element))) /* elements of a sum */
#define WORD 8 /* channels of a word */

static inline int least(int a, int b) { return a < b ? a : b; }
static inline int most(int a, int b) { return a > b ? a : b; }
static inline int round_up(int channels) { return (channels + 7) / 8 * 8; }

enum kind { WEIGHTS, INPUTS, OUTPUTS, KINDS };

extern element on_chip[ON_CHIP_BYTES / sizeof(element) + GUARD * (REGIONS + 2)];
extern element dram[DRAM_BYTES / sizeof(element)];
extern uint64_t moved[KINDS]; /* bytes that crossed, by kind */

static inline element requantize(total sum) { return (element)(sum % PRIME); }

static inline uint32_t power(uint32_t exponent) /* of 3, which stands for e */
{
    uint64_t result = 1, square = 3;
    for (; exponent; exponent /= 2, square = square * square % PRIME)
        result = exponent % 2 ? result * square % PRIME : result;
    return (uint32_t)result;
}

static inline uint32_t get(long place)
{
    uint32_t value;
    memcpy(&value, on_chip + place, sizeof value);
    return value;
}

static inline void put(long place, uint64_t sum) /* modulo a multiple of PRIME that fills 32 bits */
{
    uint32_t value = (uint32_t)(sum % ((uint64_t)PRIME << (sizeof(element) == 1 ? 24 : 16)));
    memcpy(on_chip + place, &value, sizeof value);
}

void dma_load(enum kind kind, long to, long from, long count);
void dma_store(long to, long from, long count);
void dma_pass(long count);
void move(long to, long from, long count);

struct tensor { /* in DRAM: samples, rows, columns, channels */
    const char *name;
    int height, width, channels;
    long dram;
    int rows, apart; /* of the map; heads may be rows one below the other, so many channels apart */
};

struct region { /* positions of a tensor on chip: samples, rows, columns, and the elements of a position */
    const struct tensor *of;
    long main;
    int rows, columns, cell;
    long side; /* rows of the whole width that the next row of tiles reads again, or that stay for all samples */
    int side_rows, side_columns;
    bool comes, folds;          /* from DRAM, piece by piece; a map whose heads are read as rows */
    int samples, stays, there;  /* at once; those whose first rows stay in SIDE; those of which they are there */
    int sample, channel; /* the first that it holds */
    int row_at[MOST_ROWS], column_at[MOST_COLUMNS];               /* slot of each row and column, -1 where not here */
    int side_at[MOST_ROWS], side_next[MOST_ROWS], side_column[MOST_COLUMNS];
};

struct span { int first, stop; };

struct pace { /* how a tensor advances along one axis: update k ends at step k + lead, clipped to its extent */
    int step, lead, extent;
    int period;   /* ticks from update to update */
    bool is_full; /* update 1 takes all that lies before it */
};

struct window { int taps, stride, dilation, padding, upsample; };

struct layer {
    const char *name;
    char op; /* 'c' convolution or product, 'm' maximum, 's' sum of a window, '+' '*' 'S' 'N' 'L' of each position */
    int height, width, channels, in_channels, groups, heads;
    struct window down, across;
    int used, active; /* experts whose weights come, for each so many that take part */
};

struct weights { /* of outputs and inputs of a part: where (output, tap, input) lies */
    long at, output_step, tap_step, input_step;
    struct span outputs, inputs;
    int held[7];          /* which part is here, so that it is not loaded twice */
    struct weights *next; /* those of the next of several maps */
};

struct tile { struct span samples, rows, columns, outputs, inputs; };

struct sums { /* 32 bits for each result of a tile */
    long at;
    struct tile of;
};

struct follow { /* a sum or product after a layer, element by element, before the result is stored; '=': none */
    char op;
    struct region *operand;
    bool passes;         /* from DRAM, a word of channels at a time */
    long stored;         /* where this result is written as well in DRAM, -1: nowhere */
    struct region *kept; /* where it stays on chip as well */
};

enum mode { RING, ROWS, SIDE, SLIDE, BLOCK, BLOCK_ROW, WHOLE };

/* Pieces of a span one after the other, each of this size but the last. */
#define EACH(span, from, until, size) \
    for (span.first = (from); span.first < (until) && (span.stop = least(span.first + (size), until)); \
         span.first += (size))

#define EACH_POSITION(tile) \
    for (int sample = tile.samples.first; sample < tile.samples.stop; sample++) \
        for (int row = tile.rows.first; row < tile.rows.stop; row++) \
            for (int column = tile.columns.first; column < tile.columns.stop; column++)

/* on_chip.c */
long address(const struct region *region, int sample, int row, int column);
long side_address(const struct region *region, int slot, int sample, int column);
long in_dram(const struct tensor *of, int sample, int row, int column);
element *at(const struct region *region, int sample, int row, int column);
void ring(struct region *region);
void drop(struct region *region);
struct span span_of(const struct pace *pace, int tick);
void load_map(struct region *region);
void load_tile(struct region *region, struct tile tile);
void store_tile(const struct region *region, struct tile tile);
void restore(struct region *region, struct span samples, struct span rows, struct span columns);
void save(struct region *region, struct span samples, struct span rows, struct span columns);
void place(struct region *region, struct tile tile);
void guard_begin(const long *regions, int count);
void guard_end(const char *step, const long *regions, int count);
void fail(const char *what, const char *name);

/* arriving.c */
void bring(struct region *x, const struct layer *layer, enum mode mode, struct span channels, struct tile tile);
void bring_all(struct region *const *x, int count, long at, const struct layer *layer, enum mode mode,
               struct span channels, struct tile tile);
long unmet(const struct layer *layer, const struct tensor *of);
void load_weights(struct weights *held, const struct layer *layer, long from, struct span outputs, struct span inputs);
void load_second(struct weights *held, const struct layer *layer, struct region *const *y, int count,
                 bool is_transposed, int sample, int head, struct span outputs, struct span inputs);
void forget(struct weights *held);

/* kernels.c */
void convolve(const struct layer *layer, struct region *const *x, int count, const struct weights *weights,
              struct region *out, const struct follow *follow, struct tile tile);
void add_slice(const struct layer *layer, struct region *const *x, int count, const struct weights *weights,
               const struct sums *sums, bool is_first, struct tile tile);
void settle(const struct sums *sums, struct region *out, const struct follow *follow, struct tile tile);
void attend(const struct layer *scores, const struct layer *context, struct region *queries,
            const struct weights *keys, const struct weights *values, long powers, long sums, struct region *out,
            struct tile tile);
void slide(const struct layer *layer, struct region *const *x, int count, struct region *out, struct tile tile);

/* rows.c */
void sum_rows(const struct layer *layer, struct region *x, struct span channels, struct region *const *sums,
              struct region *const *out, const int *starts, int count, int sample, bool stores);

/* statistics.c */
void join(const struct layer *layer, struct region *const *x, int count, struct region *out, struct tile tile);
void gather(const struct layer *layer, const struct region *x, long statistics, struct tile tile);
void normalize(const struct layer *layer, const struct region *x, long statistics, struct region *out,
               struct tile tile);

/* rearranging.c */
void rearrange(const struct layer *layer, struct region *const *x, int count, struct region *out, struct tile tile);
void copy(const struct layer *layer, struct region *const *x, int count, struct region *out, long word, long stored);

#endif
