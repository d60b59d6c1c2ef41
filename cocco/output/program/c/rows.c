/* Pools row by row: each input row comes once, and is added to all output rows that meet it. */
#include "on_chip.h"

/* How many taps of output i lie at an input position. */
static int taps_at(const struct window *window, int i, int position)
{
    int found = 0;
    for (int tap = 0; tap < window->taps; tap++)
        found += i * window->stride - window->padding + tap * window->dilation == position * window->upsample;
    return found;
}

/* Load the columns that windows meet of one row; those of others stay away. */
static void bring_row(struct region *x, const struct layer *layer, int sample, int row, struct span channels)
{
    drop(x);
    x->sample = sample, x->channel = channels.first, x->row_at[row] = 0;
    for (int column = 0, slot = 0; column < x->of->width; column++) {
        bool is_met = false;
        for (int i = 0; i < layer->width; i++)
            is_met = is_met || taps_at(&layer->across, i, column);
        if (is_met) {
            x->column_at[column] = slot++;
            dma_load(INPUTS, address(x, sample, row, column), in_dram(x->of, sample, row, column) + channels.first,
                     channels.stop - channels.first);
        }
    }
}

/* Begin the sums of an output row in a slot that is free. */
static void begin(struct region *sums, const struct layer *layer, int output)
{
    for (int slot = 0; sums->row_at[output] < 0; slot++) {
        if (slot == sums->rows)
            fail("a row of sums has no room on chip", layer->name);
        bool is_free = true;
        for (int other = 0; other < layer->height; other++)
            is_free = is_free && sums->row_at[other] != slot;
        sums->row_at[output] = is_free ? slot : -1;
    }
    for (int column = 0; column < layer->width; column++)
        for (int k = 0; k < WORD; k++)
            put(address(sums, sums->sample, output, column) + SUM * k, 0);
}

/* Add an input row to the sums of an output row, or let it raise their maxima. */
static void add(struct region *sums, const struct layer *layer, struct region *x, int row, int output,
                struct span channels)
{
    int times = taps_at(&layer->down, output, row), sample = sums->sample;
    for (int column = 0; column < x->of->width; column++)
        for (int across = 0; across < layer->width; across++) {
            int often = times * taps_at(&layer->across, across, column);
            for (int k = 0; often && k < channels.stop - channels.first; k++) {
                long place = address(sums, sample, output, across) + SUM * k;
                uint32_t value = at(x, sample, row, column)[channels.first + k], sum = get(place);
                put(place, layer->op == 's' ? sum + (uint64_t)often * value : sum > value ? sum : value);
            }
        }
}

/* Make the results of an output row where its sums lie, or in a map that stays; its slot is free again. */
static void finish(struct region *sums, const struct layer *layer, struct region *out, int output, struct span outputs,
                   bool stores)
{
    struct tile tile = {{sums->sample, sums->sample + 1}, {output, output + 1}, {0, layer->width}, outputs, {0, 1}};
    EACH_POSITION(tile)
        for (int k = outputs.first; k < outputs.stop; k++) {
            element result = requantize(get(address(sums, sample, row, column) + SUM * (k - outputs.first)));
            at(out, sample, row, column)[k] = result;
        }
    if (stores && outputs.first < outputs.stop)
        store_tile(out, tile);
    sums->row_at[output] = -1;
}

/* Channels of an input, which are outputs from each of `starts` on: all rows of a sample.
 *
 * sums: of each start those that are begun and not finished; out: the same regions, or maps that stay.
 */
void sum_rows(const struct layer *layer, struct region *x, struct span channels, struct region *const *sums,
              struct region *const *out, const int *starts, int count, int sample, bool stores)
{
    for (int i = 0; i < count; i++) {
        drop(sums[i]);
        sums[i]->sample = sample, sums[i]->channel = starts[i] + channels.first;
        for (int column = 0; column < layer->width; column++)
            sums[i]->column_at[column] = column;
    }
    for (int row = 0; row <= x->of->height; row++) { /* the last finishes rows that meet none */
        bool is_met = false;
        for (int output = 0; row < x->of->height && output < layer->height; output++)
            is_met = is_met || taps_at(&layer->down, output, row);
        if (is_met && x->comes)
            bring_row(x, layer, sample, row, channels);
        for (int output = 0; output < layer->height; output++) {
            bool is_last = true, is_empty = row == x->of->height, adds = is_met && taps_at(&layer->down, output, row);
            for (int other = 0; other < x->of->height; other++) {
                is_last = is_last && !(other > row && taps_at(&layer->down, output, other));
                is_empty = is_empty && !taps_at(&layer->down, output, other);
            }
            for (int i = 0; i < count && (adds || is_empty); i++) {
                struct span outputs = {least(starts[i] + channels.first, layer->channels),
                                       least(starts[i] + channels.stop, layer->channels)};
                if (sums[i]->row_at[output] < 0)
                    begin(sums[i], layer, output);
                if (adds)
                    add(sums[i], layer, x, row, output, channels);
                if (is_last)
                    finish(sums[i], layer, out[i], output, outputs, stores);
            }
        }
    }
}
