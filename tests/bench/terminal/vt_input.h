/*
 * vt_input.h: what programs write to a terminal of 80x24, made up: the same bytes each time.
 */
#ifndef SANDBAR_BENCH_VT_INPUT_H
#define SANDBAR_BENCH_VT_INPUT_H

#include <stddef.h>
#include <stdint.h>

enum vt_kind { VT_PLAIN, VT_COLOURED, VT_REDRAWS, VT_KINDS };

enum { VT_INPUT_BYTES = 4 << 20, VT_CHUNK_BYTES = 65536 };

/* VT_INPUT_BYTES of KIND, malloc'd: lines of text; the same with colours, as of a compiler or ls; a full-screen program that
 * draws pieces of its screen again. */
uint8_t *vt_input(uint64_t kind);

#endif
