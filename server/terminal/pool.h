/*
 * pool.h: entries of one size that cells name by a number. Nobody counts who names one: when there is no room, their
 * owner marks what is still named, and the rest is swept.
 */
#ifndef SANDBAR_TERMINAL_POOL_H
#define SANDBAR_TERMINAL_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool {
	size_t size;
	uint8_t *entries, *marks;
	uint32_t count; /* of entries that were ever taken, and the number 0, which names none */
	uint32_t most;
	uint32_t free_count;
	uint32_t *free_list;
	uint32_t capacity;
};

void pool_init(struct pool *pool, size_t size, uint32_t most);
void pool_finish(struct pool *pool);
/* A zeroed entry, or 0 if there is no room. */
uint32_t pool_take(struct pool *pool);
/* Valid until the next pool_take(). */
void *pool_at(const struct pool *pool, uint32_t number);

void pool_unmark(struct pool *pool);
void pool_mark(struct pool *pool, uint32_t number);
bool pool_is_marked(const struct pool *pool, uint32_t number);
/* Make room of what is not marked. DROP, if not NULL, is called for each entry that goes. */
void pool_sweep(struct pool *pool, void (*drop)(void *entry));

size_t pool_memory(const struct pool *pool);

#endif
