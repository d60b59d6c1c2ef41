/* The two memories, what crosses between them, and where the positions of a region lie. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "on_chip.h"

element on_chip[ON_CHIP_BYTES / sizeof(element) + GUARD * (REGIONS + 2)];
element dram[DRAM_BYTES / sizeof(element)];
uint64_t moved[KINDS];

void fail(const char *what, const char *name)
{
    fprintf(stderr, "%s: %s\n", name, what);
    exit(1);
}

void dma_load(enum kind kind, long to, long from, long count)
{
    memcpy(on_chip + to, dram + from, (size_t)count * sizeof(element));
    moved[kind] += (uint64_t)count * sizeof(element);
}

void dma_store(long to, long from, long count)
{
    memcpy(dram + to, on_chip + from, (size_t)count * sizeof(element));
    moved[OUTPUTS] += (uint64_t)count * sizeof(element);
}

/* Inputs that no window meets cross once in the claim; nothing here needs them. */
void dma_pass(long count) { moved[INPUTS] += (uint64_t)count * sizeof(element); }

/* Copy elements on chip. */
void move(long to, long from, long count)
{
    memcpy(on_chip + to, on_chip + from, (size_t)count * sizeof(element));
}

long side_address(const struct region *region, int slot, int sample, int column)
{
    long place = (long)(region->stays ? sample % region->stays : sample - region->sample) * region->side_rows + slot;
    return region->side + (place * region->side_columns + column) * region->cell;
}

long address(const struct region *region, int sample, int row, int column)
{
    if (region->stays && region->side_at[row] >= 0 && region->side_column[column] >= 0)
        return side_address(region, region->side_at[row], sample, region->side_column[column]);
    if (region->row_at[row] < 0 || region->column_at[column] < 0)
        fail("a position is read that is not on chip", region->of->name);
    long place = (long)(sample - region->sample) * region->rows + region->row_at[row];
    return region->main + (place * region->columns + region->column_at[column]) * region->cell
           + (region->folds ? row / region->of->rows * region->of->apart : 0);
}

/* Channel 0 of a position; that it holds only some channels is taken into account. */
element *at(const struct region *region, int sample, int row, int column)
{
    return on_chip + address(region, sample, row, column) - region->channel;
}

/* Row r lies in slot r modulo the rows of the region, and columns likewise. */
void ring(struct region *region)
{
    for (int i = 0; i < region->of->height; i++)
        region->row_at[i] = i % region->rows;
    for (int i = 0; i < region->of->width; i++)
        region->column_at[i] = i % region->columns;
}

/* Let a region hold just this tile, from its first byte on. */
void place(struct region *region, struct tile tile)
{
    region->rows = tile.rows.stop - tile.rows.first;
    region->columns = tile.columns.stop - tile.columns.first;
    for (int i = tile.rows.first; i < tile.rows.stop; i++)
        region->row_at[i] = i - tile.rows.first;
    for (int i = tile.columns.first; i < tile.columns.stop; i++)
        region->column_at[i] = i - tile.columns.first;
    region->sample = tile.samples.first;
    region->channel = tile.outputs.first;
}

void drop(struct region *region)
{
    for (int i = 0; i < MOST_ROWS; i++)
        region->row_at[i] = region->side_at[i] = region->side_next[i] = -1;
    for (int i = 0; i < MOST_COLUMNS; i++)
        region->column_at[i] = -1;
}

static int clipped(long end, int extent) { return end < 0 ? 0 : end > extent ? extent : (int)end; }

struct span span_of(const struct pace *pace, int tick)
{
    struct span none = {0, 0};
    if (tick % pace->period)
        return none;
    long update = tick / pace->period + 1;
    if (pace->is_full && update < 1)
        return none;
    long first = pace->is_full && update == 1 ? 0 : pace->step * (update - 1) + pace->lead;
    struct span found = {clipped(first, pace->extent), clipped(pace->step * update + pace->lead, pace->extent)};
    return found;
}

long in_dram(const struct tensor *of, int sample, int row, int column)
{
    long place = ((long)sample * of->rows + row % of->rows) * of->width + column;
    return of->dram + place * of->channels + row / of->rows * of->apart;
}

/* The channels of a tile are its outputs, here and there. */
void load_tile(struct region *region, struct tile tile)
{
    EACH_POSITION(tile)
        dma_load(INPUTS, address(region, sample, row, column) + tile.outputs.first - region->channel,
                 in_dram(region->of, sample, row, column) + tile.outputs.first,
                 tile.outputs.stop - tile.outputs.first);
}

/* A whole map, all samples. */
void load_map(struct region *region)
{
    const struct tensor *of = region->of;
    struct tile all = {{0, BATCH}, {0, of->height}, {0, of->width}, {0, of->channels}, {0, 1}};
    ring(region);
    load_tile(region, all);
}

void store_tile(const struct region *region, struct tile tile)
{
    EACH_POSITION(tile)
        dma_store(in_dram(region->of, sample, row, column) + tile.outputs.first,
                  address(region, sample, row, column) + tile.outputs.first - region->channel,
                  tile.outputs.stop - tile.outputs.first);
}

/* Copy the rows above these from SIDE back to MAIN, as far as both have room. */
void restore(struct region *region, struct span samples, struct span rows, struct span columns)
{
    int top = most(0, most(rows.first - region->side_rows, rows.stop - region->rows));
    for (int sample = samples.first; region->side_rows && sample < samples.stop; sample++)
        for (int row = top; row < rows.first; row++)
            for (int column = columns.first; column < columns.stop; column++)
                move(address(region, sample, row, column),
                     side_address(region, row % region->side_rows, sample, column), region->cell);
}

/* Copy the last rows of a block from MAIN to SIDE, for the next row of tiles. */
void save(struct region *region, struct span samples, struct span rows, struct span columns)
{
    for (int sample = samples.first; region->side_rows && sample < samples.stop; sample++)
        for (int row = most(0, rows.stop - region->side_rows); row < rows.stop; row++)
            for (int column = columns.first; column < columns.stop; column++)
                move(side_address(region, row % region->side_rows, sample, column),
                     address(region, sample, row, column), region->cell);
}

/* Guard words stand before and behind each region of a step: (start, bytes) pairs. */
void guard_begin(const long *regions, int count)
{
    for (int i = 0; i < count; i++)
        for (int byte = 0; byte < GUARD; byte++)
            on_chip[regions[2 * i] - GUARD + byte] = on_chip[regions[2 * i] + regions[2 * i + 1] + byte] = 0xA5;
}

void guard_end(const char *step, const long *regions, int count)
{
    for (int i = 0; i < count; i++)
        for (int byte = 0; byte < GUARD; byte++)
            if (on_chip[regions[2 * i] - GUARD + byte] != 0xA5 ||
                on_chip[regions[2 * i] + regions[2 * i + 1] + byte] != 0xA5)
                fail("a guard word was overwritten", step);
}
