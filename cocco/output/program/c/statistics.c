/* Layers of each position: sums and products; softmax and norms, by two statistics of the channels of a head. */
#include "on_chip.h"

struct statistics { uint32_t first, second; }; /* maximum and sum of powers; or sum, and sum of squares */

/* Take some channels into the statistics; powers are scaled anew where the maximum grows. */
static struct statistics take(char op, struct statistics so_far, const element *y, int count)
{
    uint64_t first = so_far.first, second = so_far.second;
    if (op == 'S') {
        for (int c = 0; c < count; c++)
            first = first > y[c] ? first : y[c];
        second = second * power((uint32_t)first - so_far.first);
    }
    for (int c = 0; c < count; c++) {
        second += op == 'S' ? power((uint32_t)first - y[c]) : (uint64_t)y[c] * y[c];
        first += op == 'S' ? 0 : y[c];
    }
    struct statistics found = {(uint32_t)(op == 'S' ? first : first % PRIME), (uint32_t)(second % PRIME)};
    return found;
}

/* A result: of an element and the statistics of all channels. */
static element result_of(char op, struct statistics of, element y)
{
    uint64_t result = (uint64_t)y * of.first;
    if (op == 'S')
        result = (uint64_t)power(of.first - y) * of.second;
    else if (op == 'N')
        result += PRIME - of.second;
    return (element)(result % PRIME);
}

/* Channels of a tile, each position at once: all of a head are there. */
void join(const struct layer *layer, struct region *const *x, int count, struct region *out, struct tile tile)
{
    int width = layer->channels / layer->heads;
    EACH_POSITION(tile) {
        element *place = at(out, sample, row, column);
        struct statistics of = {0, 0};
        for (int k = tile.outputs.first; k < tile.outputs.stop; k++) {
            if (layer->op == '+' || layer->op == '*') {
                uint64_t result = layer->op == '*';
                for (int p = 0; p < count; p++) {
                    const struct tensor *map = x[p]->of;
                    const element *y = at(x[p], sample, map->height > 1 ? row : 0, map->width > 1 ? column : 0);
                    uint64_t value = y[map->channels > 1 ? k : x[p]->channel];
                    result = (layer->op == '*' ? result * value : result + value) % PRIME;
                }
                place[k] = (element)result;
                continue;
            }
            const element *y = at(x[0], sample, row, column);
            if (k % width == 0 || k == tile.outputs.first) {
                struct statistics none = {0, 0};
                of = take(layer->op, none, y + k, width - k % width);
            }
            place[k] = result_of(layer->op, of, y[k]);
        }
    }
}

static long statistics_at(struct tile tile, int row, int column, long statistics)
{
    long place = (long)(row - tile.rows.first) * (tile.columns.stop - tile.columns.first) + column - tile.columns.first;
    return statistics + 2 * SUM * place;
}

/* First pass over a head whose channels are not there together: the outputs of a tile go into its statistics. */
void gather(const struct layer *layer, const struct region *x, long statistics, struct tile tile)
{
    bool is_first = tile.outputs.first % (layer->channels / layer->heads) == 0;
    EACH_POSITION(tile) {
        long place = statistics_at(tile, row, column, statistics);
        struct statistics of = {is_first ? 0 : get(place), is_first ? 0 : get(place + SUM)};
        of = take(layer->op, of, at(x, sample, row, column) + tile.outputs.first, tile.outputs.stop - tile.outputs.first);
        put(place, of.first), put(place + SUM, of.second);
    }
}

/* Second pass: results, of these channels and the statistics of all. */
void normalize(const struct layer *layer, const struct region *x, long statistics, struct region *out, struct tile tile)
{
    EACH_POSITION(tile) {
        long place = statistics_at(tile, row, column, statistics);
        struct statistics of = {get(place), get(place + SUM)};
        for (int k = tile.outputs.first; k < tile.outputs.stop; k++)
            at(out, sample, row, column)[k] = result_of(layer->op, of, at(x, sample, row, column)[k]);
    }
}
