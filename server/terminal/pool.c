#include "pool.h"

#include "bytes.h"

#include <stdlib.h>
#include <string.h>

void pool_init(struct pool *pool, size_t size, uint32_t most)
{
	*pool = (struct pool){.size = size, .most = most, .count = 1};
}

void pool_finish(struct pool *pool)
{
	free(pool->entries);
	free(pool->marks);
	free(pool->free_list);
	*pool = (struct pool){0};
}

static void grow(struct pool *pool)
{
	uint32_t capacity = pool->capacity ? pool->capacity * 2 : 16;
	if (capacity > pool->most)
		capacity = pool->most;
	pool->entries = terminal_reallocate(pool->entries, capacity, pool->size);
	pool->marks = terminal_reallocate(pool->marks, capacity, 1);
	pool->free_list = terminal_reallocate(pool->free_list, capacity, sizeof *pool->free_list);
	memset(pool->marks + pool->capacity, 0, capacity - pool->capacity);
	pool->capacity = capacity;
}

uint32_t pool_take(struct pool *pool)
{
	uint32_t number;
	if (pool->free_count > 0) {
		number = pool->free_list[--pool->free_count];
	} else {
		if (pool->count >= pool->capacity) {
			if (pool->capacity >= pool->most)
				return 0;
			grow(pool);
		}
		number = pool->count++;
	}
	pool->marks[number] = 1;
	memset(pool_at(pool, number), 0, pool->size);
	return number;
}

void *pool_at(const struct pool *pool, uint32_t number)
{
	return pool->entries + number * pool->size;
}

void pool_unmark(struct pool *pool)
{
	if (pool->capacity > 0)
		memset(pool->marks, 0, pool->capacity);
}

void pool_mark(struct pool *pool, uint32_t number)
{
	if (number > 0 && number < pool->count)
		pool->marks[number] = 1;
}

bool pool_is_marked(const struct pool *pool, uint32_t number)
{
	return number > 0 && number < pool->count && pool->marks[number];
}

void pool_sweep(struct pool *pool, void (*drop)(void *entry))
{
	uint8_t *is_free = terminal_allocate(pool->count, 1);
	for (uint32_t i = 0; i < pool->free_count; i++)
		is_free[pool->free_list[i]] = 1;
	for (uint32_t i = 1; i < pool->count; i++) {
		if (pool->marks[i] || is_free[i])
			continue;
		if (drop)
			drop(pool_at(pool, i));
		pool->free_list[pool->free_count++] = i;
	}
	free(is_free);
}

size_t pool_memory(const struct pool *pool)
{
	return pool->capacity * (pool->size + 1 + sizeof *pool->free_list);
}
