/* The operators on one tile: what a firmware engineer replaces. Numbers are residues of PRIME; sums have 32 bits. */
#include "on_chip.h"

struct meeting { /* channels of an input position that meet a tap */
    const element *x;
    int tap, input, count; /* input: of the group */
};

/* Find what the outputs of a group meet at one position: channels of each operand, tap by tap. */
static int find(const struct layer *layer, struct region *const *x, int count, int sample, int row, int column,
                struct span inputs, struct meeting *found)
{
    int meetings = 0;
    for (int i = 0; i < layer->down.taps; i++) {
        int y = row * layer->down.stride - layer->down.padding + i * layer->down.dilation;
        for (int j = 0; j < layer->across.taps; j++) {
            int z = column * layer->across.stride - layer->across.padding + j * layer->across.dilation;
            if (y < 0 || z < 0 || y % layer->down.upsample || z % layer->across.upsample)
                continue;
            for (int p = 0, base = 0; p < count; base += x[p++]->of->channels) {
                int first = most(base, inputs.first), stop = least(base + x[p]->of->channels, inputs.stop);
                int down = y / layer->down.upsample, across = z / layer->across.upsample;
                if (first >= stop || down >= x[p]->of->height || across >= x[p]->of->width)
                    continue;
                struct meeting meeting = {at(x[p], sample, down, across) + first - base,
                                          i * layer->across.taps + j, first - inputs.first, stop - first};
                found[meetings++] = meeting;
            }
        }
    }
    return meetings;
}

/* Pass results of a word of channels through the layers that follow, and write them where they lie. */
static void finish(struct region *out, const struct follow *follow, int sample, int row, int column, int first,
                   int count, element *values)
{
    element *place = at(out, sample, row, column) + first;
    for (; follow && follow->op; follow++) {
        struct region *y = follow->operand;
        if (follow->passes && !y->rows) { /* without room of its own: into the place of the result */
            dma_load(INPUTS, place - on_chip, y->of->dram + (((long)sample * y->of->height + row) * y->of->width + column)
                     * y->of->channels + first, count);
            for (int k = 0; k < count; k++)
                values[k] = requantize(follow->op == '*' ? (total)values[k] * place[k] : (total)values[k] + place[k]);
            y = NULL;
        } else if (follow->passes) {
            y->channel = first;
            y->row_at[row] = y->column_at[column] = 0;
            y->sample = sample;
            dma_load(INPUTS, y->main, y->of->dram + (((long)sample * y->of->height + row) * y->of->width + column)
                     * y->of->channels + (y->of->channels > 1 ? first : 0), y->of->channels > 1 ? count : 1);
        }
        for (int k = 0; y && k < count; k++) {
            const element *other = at(y, sample, y->of->height > 1 ? row : 0, y->of->width > 1 ? column : 0);
            uint32_t operand = other[y->of->channels > 1 ? first + k : y->channel];
            values[k] = requantize(follow->op == '*' ? (total)values[k] * operand : (total)values[k] + operand);
        }
        if (follow->kept)
            memcpy(at(follow->kept, sample, row, column) + first, values, (size_t)count * sizeof(element));
        if (follow->stored >= 0) {
            memcpy(place, values, (size_t)count * sizeof(element));
            dma_store(follow->stored + (((long)sample * out->of->height + row) * out->of->width + column)
                      * out->of->channels + first, place - on_chip, count);
        }
    }
    memcpy(place, values, (size_t)count * sizeof(element));
}

static total dot(const struct meeting *found, int meetings, const struct weights *weights, int output, int input)
{
    total sum = 0;
    for (; weights; weights = weights->next) {
        if (output < weights->outputs.first || output >= weights->outputs.stop)
            continue;
        const element *mine = on_chip + weights->at + (output - weights->outputs.first) * weights->output_step;
        long step = weights->input_step;
        for (int i = 0; i < meetings; i++) {
            int before = input + found[i].input - weights->inputs.first; /* inputs of these weights before the first */
            int first = most(0, -before), stop = least(found[i].count, weights->inputs.stop - weights->inputs.first - before);
            const element *w = mine + found[i].tap * weights->tap_step, *x = found[i].x;
            if (step == 1)
                for (int c = first; c < stop; c++)
                    sum += (total)x[c] * w[before + c];
            else
                for (int c = first; c < stop; c++)
                    sum += (total)x[c] * w[(before + c) * step];
        }
    }
    return sum;
}

static long sum_at(const struct sums *sums, int sample, int row, int column, int output)
{
    struct tile of = sums->of;
    long place = (long)(sample - of.samples.first) * (of.rows.stop - of.rows.first) + row - of.rows.first;
    place = place * (of.columns.stop - of.columns.first) + column - of.columns.first;
    place = place * (of.outputs.stop - of.outputs.first) + output - of.outputs.first;
    return sums->at + place * SUM;
}

/* Outputs of a tile; with sums the part of these inputs is added to them, and no result is made. */
static void reduce(const struct layer *layer, struct region *const *x, int count, const struct weights *weights,
                   const struct sums *sums, bool is_first, struct region *out, const struct follow *follow,
                   struct tile tile)
{
    static struct meeting found[MOST_MEETINGS];
    int width = layer->channels / layer->groups, depth = layer->in_channels / layer->groups;
    EACH_POSITION(tile)
    for (int first = tile.outputs.first, stop; first < tile.outputs.stop; first = stop) {
        int group = first / width;
        struct span inputs = {group * depth + tile.inputs.first, group * depth + tile.inputs.stop};
        int meetings = find(layer, x, count, sample, row, column, inputs, found);
        stop = least((group + 1) * width, tile.outputs.stop);
        for (int word = first; word < stop; word += WORD) {
            element values[WORD];
            int words = least(WORD, stop - word);
            for (int k = 0; k < words; k++) {
                total sum = dot(found, meetings, weights, word + k, tile.inputs.first);
                long place = sums ? sum_at(sums, sample, row, column, word + k) : 0;
                values[k] = requantize(sum);
                if (sums)
                    put(place, (uint64_t)sum + (is_first ? 0 : get(place)));
            }
            if (!sums)
                finish(out, follow, sample, row, column, word, words, values);
        }
    }
}

void convolve(const struct layer *layer, struct region *const *x, int count, const struct weights *weights,
              struct region *out, const struct follow *follow, struct tile tile)
{
    reduce(layer, x, count, weights, NULL, false, out, follow, tile);
}

void add_slice(const struct layer *layer, struct region *const *x, int count, const struct weights *weights,
               const struct sums *sums, bool is_first, struct tile tile)
{
    reduce(layer, x, count, weights, sums, is_first, NULL, NULL, tile);
}

/* Pass the results of a tile through what follows. They lie in `out`, or are sums, whose place they may take, because a
 * result takes less room than a sum.
 */
void settle(const struct sums *sums, struct region *out, const struct follow *follow, struct tile tile)
{
    EACH_POSITION(tile)
    for (int word = tile.outputs.first; word < tile.outputs.stop; word += WORD) {
        element values[WORD];
        int words = least(WORD, tile.outputs.stop - word);
        for (int k = 0; k < words; k++)
            values[k] = sums ? requantize(get(sum_at(sums, sample, row, column, word + k)))
                             : at(out, sample, row, column)[word + k];
        finish(out, follow, sample, row, column, word, words, values);
    }
}

/* A block of keys and values (the inputs of a tile) for a tile of queries, one head; the last block makes results.
 *
 * Powers lie where the scores lay. With sums (-1: none, one block), each query has a maximum, a total, and a sum of each
 * output; all are scaled anew when the maximum grows.
 */
void attend(const struct layer *scores, const struct layer *context, struct region *queries,
            const struct weights *keys, const struct weights *values, long powers, long sums, struct region *out,
            struct tile tile)
{
    int count = scores->channels / scores->groups, width = context->channels / context->groups;
    int depth = scores->in_channels / scores->groups, first = tile.outputs.first / width;
    int block = round_up(tile.inputs.stop - tile.inputs.first), sample = tile.samples.first;
    long words = round_up(width) + 2;
    for (int row = tile.rows.first; row < tile.rows.stop; row++)
    for (int column = tile.columns.first; column < tile.columns.stop; column++, powers += block, sums += SUM * words) {
        bool is_first = tile.inputs.first == 0, has_sums = tile.inputs.stop - tile.inputs.first < count;
        const element *query = at(queries, sample, row, column) + first * depth;
        element *result = at(out, sample, row, column) + tile.outputs.first;
        struct meeting found = {query, 0, 0, depth};
        uint32_t most_before = is_first ? 0 : get(sums), most_now = most_before;
        for (int key = tile.inputs.first; key < tile.inputs.stop; key++) {
            element score = requantize(dot(&found, 1, keys, first * count + key, 0));
            on_chip[powers + key - tile.inputs.first] = score;
            most_now = score > most_now ? score : most_now;
        }
        uint64_t factor = is_first ? 1 : power(most_now - most_before), divisor = is_first ? 0 : get(sums + SUM) * factor;
        for (int key = tile.inputs.first; key < tile.inputs.stop; key++) {
            element *score = on_chip + powers + key - tile.inputs.first;
            *score = (element)power(most_now - *score);
            divisor += *score;
        }
        divisor %= PRIME;
        struct meeting all = {on_chip + powers, 0, 0, tile.inputs.stop - tile.inputs.first};
        for (int k = 0; k < width; k++) {
            uint64_t sum = is_first ? 0 : get(sums + SUM * (2 + k)) * factor;
            sum = (sum + dot(&all, 1, values, first * width + k, tile.inputs.first)) % PRIME;
            if (tile.inputs.stop == count)
                result[k] = requantize((total)(sum * divisor));
            else
                put(sums + SUM * (2 + k), sum);
        }
        if (has_sums && tile.inputs.stop < count)
            put(sums, most_now), put(sums + SUM, divisor);
    }
}

/* Pools, resizes and slices: output channel k is of input channel k. */
void slide(const struct layer *layer, struct region *const *x, int count, struct region *out, struct tile tile)
{
    static struct meeting found[MOST_MEETINGS];
    EACH_POSITION(tile) {
        int meetings = find(layer, x, count, sample, row, column, tile.outputs, found);
        for (int k = tile.outputs.first; k < tile.outputs.stop; k++) {
            total result = 0;
            for (int i = 0; i < meetings; i++) {
                int c = k - tile.outputs.first - found[i].input;
                if (c < 0 || c >= found[i].count)
                    continue;
                total value = found[i].x[c];
                result = layer->op == 's' ? result + value : result > value ? result : value;
            }
            at(out, sample, row, column)[k] = requantize(result);
        }
    }
}
