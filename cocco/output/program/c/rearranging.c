/* Elements of maps in another order: one tile of a map on chip, or word by word. */
#include "on_chip.h"

/* Element number e of a sample of maps that stand one behind the other: rows, columns, channels. */
static element *place_of(struct region *const *x, int sample, long e)
{
    for (;; x++) {
        const struct tensor *of = (*x)->of;
        long size = (long)of->height * of->width * of->channels, position = e / of->channels;
        if (e < size)
            return at(*x, sample, (int)(position / of->width), (int)(position % of->width)) + e % of->channels;
        e -= size;
    }
}

/* Elements in another order, which the layer graph does not say: here those of all maps from the last to the first. */
void rearrange(const struct layer *layer, struct region *const *x, int count, struct region *out, struct tile tile)
{
    long all = 0;
    for (int p = 0; p < count; p++)
        all += (long)x[p]->of->height * x[p]->of->width * x[p]->of->channels;
    EACH_POSITION(tile)
        for (int k = 0; k < layer->channels; k++) {
            long e = ((long)row * layer->width + column) * layer->channels + k;
            at(out, sample, row, column)[k] = *place_of(x, sample, all - 1 - e % all);
        }
}

static long elements_of(const struct region *x) { return (long)x->of->height * x->of->width * x->of->channels; }

/* The same word by word, through the room of a word: each element goes wherever it belongs, of a map that is read twice
 * to more places.
 */
void copy(const struct layer *layer, struct region *const *x, int count, struct region *out, long word, long stored)
{
    long all = 0, outputs = (long)layer->height * layer->width * layer->channels;
    for (int p = 0; p < count; p++)
        all += elements_of(x[p]);
    for (int sample = 0; sample < BATCH; sample++)
        for (int p = 0; p < count; p++) {
            bool came = false;
            for (int q = 0; q < p; q++)
                came = came || x[q] == x[p];
            for (long i = 0, size = elements_of(x[p]); !came && i < size; i++) {
                if (x[p]->comes && i % WORD == 0)
                    dma_load(INPUTS, word, x[p]->of->dram + sample * size + i, size - i < WORD ? size - i : WORD);
                element *from = x[p]->comes ? on_chip + word + i % WORD : place_of(x + p, sample, i);
                long base = 0;
                for (int q = 0; q < count; base += elements_of(x[q++]))
                    for (long e = all - 1 - base - i; x[q] == x[p] && e < outputs; e += all) {
                        if (out)
                            *place_of(&out, sample, e) = *from;
                        if (stored >= 0)
                            dma_store(stored + sample * outputs + e, from - on_chip, 1);
                    }
            }
        }
}
