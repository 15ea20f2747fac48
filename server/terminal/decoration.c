#include "decoration.h"

#include "bytes.h"

#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 256 };

void decorations_init(struct decorations *decorations, void (*collect)(void *owner), void *owner)
{
	*decorations = (struct decorations){.collect = collect, .owner = owner};
	pool_init(&decorations->clusters, sizeof(struct cluster), CLUSTERS_MOST);
	pool_init(&decorations->decorations, sizeof(struct decoration), DECORATIONS_MOST);
	pool_init(&decorations->links, sizeof(struct link), LINKS_MOST);
}

static void drop_link(void *entry)
{
	struct link *link = entry;
	free(link->address);
	free(link->id);
	*link = (struct link){0};
}

void decorations_finish(struct decorations *decorations)
{
	pool_unmark(&decorations->links);
	pool_sweep(&decorations->links, drop_link);
	pool_finish(&decorations->clusters);
	pool_finish(&decorations->decorations);
	pool_finish(&decorations->links);
}

size_t decorations_memory(const struct decorations *decorations)
{
	size_t bytes = pool_memory(&decorations->clusters) + pool_memory(&decorations->decorations) +
	               pool_memory(&decorations->links);
	for (uint32_t i = 1; i < decorations->links.count; i++) {
		const struct link *link = pool_at(&decorations->links, i);
		bytes += (link->address ? strlen(link->address) + 1 : 0) + (link->id ? strlen(link->id) + 1 : 0);
	}
	return bytes;
}

static uint32_t bucket_of(const struct decoration *decoration)
{
	uint32_t hash = decoration->colour * 2654435761u ^ decoration->link * 40503u ^ decoration->style * 97u;
	return (hash ^ hash >> 16) % DECORATION_BUCKETS;
}

static void rebuild_buckets(struct decorations *decorations)
{
	memset(decorations->buckets, 0, sizeof decorations->buckets);
	for (uint32_t i = 1; i < decorations->decorations.count; i++) {
		if (!pool_is_marked(&decorations->decorations, i))
			continue;
		struct decoration *decoration = pool_at(&decorations->decorations, i);
		uint32_t bucket = bucket_of(decoration);
		decoration->next = decorations->buckets[bucket];
		decorations->buckets[bucket] = i;
	}
}

static void collect(struct decorations *decorations)
{
	pool_unmark(&decorations->clusters);
	pool_unmark(&decorations->decorations);
	pool_unmark(&decorations->links);
	decorations->collect(decorations->owner);
	for (uint32_t i = 1; i < decorations->decorations.count; i++) {
		const struct decoration *decoration = pool_at(&decorations->decorations, i);
		if (pool_is_marked(&decorations->decorations, i))
			pool_mark(&decorations->links, decoration->link);
	}
	pool_sweep(&decorations->clusters, NULL);
	pool_sweep(&decorations->decorations, NULL);
	pool_sweep(&decorations->links, drop_link);
	rebuild_buckets(decorations);
}

/* Where all is in use, the next PATIENCE are refused at once: a look for room costs a screen. */
static uint32_t take(struct decorations *decorations, struct pool *pool)
{
	uint32_t number = pool_take(pool);
	if (number > 0)
		return number;
	if (decorations->patience > 0) {
		decorations->patience--;
		return 0;
	}
	collect(decorations);
	if (pool->free_count < PATIENCE)
		decorations->patience = PATIENCE;
	return pool_take(pool);
}

uint32_t decorations_cluster(struct decorations *decorations, const char *text, uint32_t length)
{
	uint32_t number = take(decorations, &decorations->clusters);
	if (number > 0) {
		struct cluster *cluster = pool_at(&decorations->clusters, number);
		cluster->length = (uint8_t)length;
		memcpy(cluster->text, text, length);
	}
	return number;
}

/* Of links without an id each is one of its own, also if another has the same address. */
uint32_t decorations_link(struct decorations *decorations, const char *address, const char *id)
{
	for (uint32_t i = 1; id && i < decorations->links.count; i++) {
		const struct link *link = pool_at(&decorations->links, i);
		if (link->id && strcmp(link->id, id) == 0 && strcmp(link->address, address) == 0)
			return i;
	}
	uint32_t number = take(decorations, &decorations->links);
	if (number > 0) {
		struct link *link = pool_at(&decorations->links, number);
		link->address = strdup(address);
		link->id = id ? strdup(id) : NULL;
		if (!link->address || (id && !link->id))
			abort();
	}
	return number;
}

uint32_t decorations_number(struct decorations *decorations, struct decoration decoration)
{
	uint32_t bucket = bucket_of(&decoration);
	for (uint32_t i = decorations->buckets[bucket]; i > 0;) {
		const struct decoration *other = pool_at(&decorations->decorations, i);
		if (other->colour == decoration.colour && other->link == decoration.link && other->style == decoration.style)
			return i;
		i = other->next;
	}
	uint32_t number = take(decorations, &decorations->decorations);
	if (number > 0) {
		decoration.next = decorations->buckets[bucket];
		*(struct decoration *)pool_at(&decorations->decorations, number) = decoration;
		decorations->buckets[bucket] = number;
	}
	return number;
}

struct decoration decorations_at(const struct decorations *decorations, uint32_t number)
{
	static const struct decoration none;
	return number == 0 ? none : *(const struct decoration *)pool_at(&decorations->decorations, number);
}

const struct link *decorations_link_at(const struct decorations *decorations, uint32_t number)
{
	return pool_at(&decorations->links, number);
}
