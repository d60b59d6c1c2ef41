/* What a tile needs comes on chip: its input, weights, and parts of a second operand, unless they are there. */
#include <string.h>

#include "on_chip.h"

/* Mark the rows (or columns) of an input that a layer's outputs meet, tap by tap. */
static void meet(const struct window *window, int extent, struct span outputs, bool *met)
{
    memset(met, 0, (size_t)extent * sizeof *met);
    for (int i = outputs.first; i < outputs.stop; i++)
        for (int tap = 0; tap < window->taps; tap++) {
            int place = i * window->stride - window->padding + tap * window->dilation;
            if (place >= 0 && place % window->upsample == 0 && place / window->upsample < extent)
                met[place / window->upsample] = true;
        }
}

/* Give each row (or column) that is wanted a slot, and mark those that are new. */
static void take(int *slots, int extent, int room, const bool *wanted, bool *is_new, const char *name)
{
    for (int i = 0; i < extent; i++) {
        is_new[i] = wanted[i] && slots[i] < 0;
        for (int slot = 0; is_new[i] && slots[i] < 0; slot++) {
            if (slot == room)
                fail("a position has no room on chip", name);
            bool is_free = true;
            for (int other = 0; other < extent; other++)
                is_free = is_free && slots[other] != slot;
            slots[i] = is_free ? slot : -1;
        }
    }
}

/* Number those that are met, up to so many; the others have no slot. */
static void number(int *slots, int extent, const bool *met, int count)
{
    for (int i = 0, slot = 0; i < extent; i++)
        slots[i] = met[i] && slot < count ? slot++ : -1;
}

/* Load the first rows of an input that its layer meets, for samples that do not have them; they stay over the chunks. */
static void bring_rows(struct region *x, const struct layer *layer, struct span channels, struct span samples)
{
    static bool met[MOST_ROWS > MOST_COLUMNS ? MOST_ROWS : MOST_COLUMNS];
    struct span rows = {0, layer->height}, columns = {0, layer->width};
    meet(&layer->down, x->of->height, rows, met);
    number(x->side_at, x->of->height, met, x->side_rows);
    meet(&layer->across, x->of->width, columns, met);
    number(x->side_column, x->of->width, met, x->side_columns);
    x->there = x->channel == channels.first ? most(x->there, samples.first) : samples.first;
    for (; x->there < samples.stop; x->there++)
        for (int row = 0; row < x->of->height; row++)
            for (int column = 0; x->side_at[row] >= 0 && column < x->of->width; column++)
                if (x->side_column[column] >= 0)
                    dma_load(INPUTS, side_address(x, x->side_at[row], x->there, x->side_column[column]),
                             in_dram(x->of, x->there, row, column) + channels.first, channels.stop - channels.first);
}

static void keep(int *slots, int extent, const bool *stays)
{
    for (int i = 0; i < extent; i++)
        slots[i] = stays && stays[i] ? slots[i] : -1;
}

/* Make the input of a tile be on chip: from SIDE what lies there, else from DRAM. */
void bring(struct region *x, const struct layer *layer, enum mode mode, struct span channels, struct tile tile)
{
    static bool down[MOST_ROWS], below[MOST_ROWS], later[MOST_ROWS], new_row[MOST_ROWS];
    static bool across[MOST_COLUMNS], right[MOST_COLUMNS], new_column[MOST_COLUMNS];
    const struct tensor *of = x->of;
    struct span from_here = {tile.rows.first, layer->height}, after = {tile.rows.stop, layer->height};
    struct span to_right = {tile.columns.first, layer->width};
    meet(&layer->down, of->height, tile.rows, down);
    meet(&layer->down, of->height, from_here, below);
    meet(&layer->down, of->height, after, later);
    meet(&layer->across, of->width, tile.columns, across);
    meet(&layer->across, of->width, to_right, right);
    if (mode == RING || mode == BLOCK_ROW) {
        keep(x->row_at, of->height, below);
    } else if ((mode == SIDE || mode == SLIDE) && tile.columns.first > 0) {
        keep(x->column_at, of->width, right);
    } else if (mode != WHOLE) {
        keep(x->row_at, of->height, NULL);
        keep(x->column_at, of->width, NULL);
    }
    if (mode == SIDE && tile.columns.first == 0) { /* SIDE of the rows above becomes that of these */
        bool fresh[MOST_ROWS], *gone = fresh;
        for (int i = 0; i < of->height; i++) {
            x->side_at[i] = x->side_next[i];
            gone[i] = later[i] && (x->side_at[i] >= 0 || down[i]);
        }
        keep(x->side_next, of->height, gone);
        bool is_new[MOST_ROWS];
        take(x->side_next, of->height, x->side_rows, gone, is_new, of->name);
        struct span all = {0, layer->width};
        bool met[MOST_COLUMNS];
        meet(&layer->across, of->width, all, met);
        number(x->side_column, of->width, met, x->side_columns);
    }
    if (x->stays)
        bring_rows(x, layer, channels, tile.samples);
    for (int i = 0; x->stays && i < of->height; i++)
        down[i] = down[i] && x->side_at[i] < 0;
    take(x->row_at, of->height, x->rows, down, new_row, of->name);
    take(x->column_at, of->width, x->columns, across, new_column, of->name);
    x->sample = tile.samples.first;
    x->channel = channels.first;
    for (int sample = tile.samples.first; sample < tile.samples.stop; sample++)
        for (int column = 0; column < of->width; column++) {
            for (int row = 0; across[column] && row < of->height; row++)
                if (down[row] && (new_row[row] || new_column[column])) {
                    long here = address(x, sample, row, column);
                    if (mode == SIDE && x->side_at[row] >= 0)
                        move(here, side_address(x, x->side_at[row], sample, x->side_column[column]), x->cell);
                    else
                        dma_load(INPUTS, here, in_dram(of, sample, row, column) + channels.first,
                                 channels.stop - channels.first);
                }
            for (int row = 0; mode == SIDE && new_column[column] && row < of->height; row++)
                if (down[row] && x->side_next[row] >= 0)
                    move(side_address(x, x->side_next[row], sample, x->side_column[column]),
                         address(x, sample, row, column), x->cell);
        }
}

/* The same of all operands that come: these of the channels of all together, one behind the other from `at` on.
 *
 * at: -1 if each has a place of its own, with all of its channels.
 */
void bring_all(struct region *const *x, int count, long at, const struct layer *layer, enum mode mode,
               struct span channels, struct tile tile)
{
    for (int p = 0, base = 0; p < count; base += x[p++]->of->channels) {
        struct span mine = {most(base, channels.first) - base, least(base + x[p]->of->channels, channels.stop) - base};
        if (!x[p]->comes || mine.first >= mine.stop)
            continue;
        if (at >= 0) {
            x[p]->cell = round_up(mine.stop - mine.first);
            x[p]->side = at;
            x[p]->main = at + (long)(x[p]->stays ? x[p]->stays : x[p]->samples) * x[p]->side_rows * x[p]->side_columns * x[p]->cell;
            at = x[p]->main + (long)x[p]->samples * x[p]->rows * x[p]->columns * x[p]->cell;
        }
        bring(x[p], layer, mode, mine, tile);
    }
}

/* Bytes of a position of one sample that no window of a layer meets, times its channels. */
long unmet(const struct layer *layer, const struct tensor *of)
{
    static bool down[MOST_ROWS], across[MOST_COLUMNS];
    struct span rows = {0, layer->height}, columns = {0, layer->width};
    long met_rows = 0, met_columns = 0;
    meet(&layer->down, of->height, rows, down);
    meet(&layer->across, of->width, columns, across);
    for (int i = 0; i < of->height; i++)
        met_rows += down[i];
    for (int i = 0; i < of->width; i++)
        met_columns += across[i];
    return ((long)of->height * of->width - met_rows * met_columns) * of->channels;
}

static bool is_held(struct weights *held, const int *part)
{
    bool found = memcmp(held->held, part, sizeof held->held) == 0;
    memcpy(held->held, part, sizeof held->held);
    return found;
}

void forget(struct weights *held) { held->held[0] = 0; }

/* Load the weights of these outputs and inputs (of a group), unless they are here. In DRAM: outputs, taps, inputs.
 *
 * Which tokens take which experts a layer does not say: here all take the same. The others come as well, behind them.
 */
void load_weights(struct weights *held, const struct layer *layer, long from, struct span outputs, struct span inputs)
{
    int part[7] = {1, outputs.first, outputs.stop, inputs.first, inputs.stop};
    long taps = (long)layer->down.taps * layer->across.taps, all = layer->in_channels / layer->groups;
    long count = inputs.stop - inputs.first, outputs_count = outputs.stop - outputs.first;
    held->outputs = outputs, held->inputs = inputs;
    held->output_step = taps * count, held->tap_step = count, held->input_step = 1;
    if (is_held(held, part))
        return;
    if (count == all)
        dma_load(WEIGHTS, held->at, from + outputs.first * taps * all, outputs_count * taps * all);
    for (int output = outputs.first; count < all && output < outputs.stop; output++)
        for (long tap = 0; tap < taps; tap++)
            dma_load(WEIGHTS, held->at + ((output - outputs.first) * taps + tap) * count,
                     from + (output * taps + tap) * all + inputs.first, count);
    long others = layer->used - layer->active, before = outputs.first * all + inputs.first * outputs_count;
    dma_load(WEIGHTS, held->at + outputs_count * taps * count,
             from + layer->channels * taps * all + before * taps * others / layer->active,
             outputs_count * taps * count * others / layer->active);
}

static void view(struct weights *part, long at, int cell, bool is_transposed, struct span outputs, struct span inputs)
{
    part->at = at, part->outputs = outputs, part->inputs = inputs;
    part->output_step = is_transposed ? cell : 1, part->input_step = is_transposed ? 1 : cell;
}

/* The same of the second operand of a product, head by head: the rows of its maps one below the other (y).
 *
 * Maps that are whole on chip are read where they are. outputs: of the layer; inputs: of a head.
 */
void load_second(struct weights *held, const struct layer *layer, struct region *const *y, int count,
                 bool is_transposed, int sample, int head, struct span outputs, struct span inputs)
{
    int width = layer->channels / layer->groups, depth = layer->in_channels / layer->groups, low = head * width;
    int part[7] = {2, outputs.first, outputs.stop, inputs.first, inputs.stop, sample, head};
    struct span mine = {outputs.first - low, outputs.stop - low};
    struct span rows = is_transposed ? mine : inputs, channels = is_transposed ? inputs : mine;
    int first = head / layer->heads * (is_transposed ? depth : width) + channels.first, size = channels.stop - channels.first;
    bool is_loaded = is_held(held, part), are_here = true;
    for (int p = 0; p < count; p++)
        are_here = are_here && y[p]->rows;
    if (!are_here)
        view(held, held->at, round_up(size), is_transposed, outputs, inputs);
    for (int p = 0, base = 0; p < count; base += y[p]->of->height * y[p]->of->width, p++) {
        const struct tensor *of = y[p]->of;
        struct span here = {most(rows.first, base), least(rows.stop, base + of->height * of->width)};
        struct span shifted = {low + here.first, low + here.stop};
        if (are_here) {
            long place = (long)(sample - y[p]->sample) * of->height * of->width + here.first - base;
            view(held, y[p]->main + place * y[p]->cell + first - y[p]->channel, y[p]->cell, is_transposed,
                 is_transposed ? shifted : outputs, is_transposed ? inputs : here);
            held = held->next;
        }
        for (int row = here.first; !are_here && !is_loaded && row < here.stop; row++) {
            int down = (row - base) / of->width, across = (row - base) % of->width;
            long to = held->at + (long)(row - rows.first) * round_up(size);
            if (y[p]->rows)
                move(to, address(y[p], sample, down, across) + first - y[p]->channel, size);
            else
                dma_load(INPUTS, to, in_dram(of, sample, down, across) + first, size);
        }
    }
}
