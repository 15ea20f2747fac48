/*
 * decoration.h: what of a cell's attributes is rare: how it is underlined, in which colour, and where it links to
 * (OSC 8); and the clusters, the texts of cells with combining characters. Cells name them by number.
 *
 * When a table is full, collect() of whoever owns the cells is asked to mark what they name.
 */
#ifndef SANDBAR_TERMINAL_DECORATION_H
#define SANDBAR_TERMINAL_DECORATION_H

#include "pool.h"

#include <stdint.h>

enum {
	CLUSTER_BYTES = 31, /* of UTF-8, all characters of a cell together */
	CLUSTERS_MOST = 16384,
	DECORATIONS_MOST = 8192,
	LINKS_MOST = 1024,
	LINK_BYTES = 2083, /* of an address; a longer one is no link. What browsers of old took */
	LINK_ID_BYTES = 250,
	DECORATION_BUCKETS = 256,
};

struct cluster {
	uint8_t length;
	char text[CLUSTER_BYTES];
};

struct link {
	char *address; /* owned, as is id */
	char *id;      /* NULL if the program gave none */
};

struct decoration {
	uint32_t colour; /* of the underline; 0 is the text's */
	uint16_t link;   /* 0 is none */
	uint16_t style;  /* enum underline; what SGR said, which a link's own look does not change */
	uint32_t next;   /* with the same hash */
};

struct decorations {
	struct pool clusters, decorations, links;
	uint32_t buckets[DECORATION_BUCKETS];
	uint32_t patience;            /* so many more are refused without a look for room */
	void (*collect)(void *owner); /* call decorations_mark...() for each that is named */
	void *owner;
};

void decorations_init(struct decorations *decorations, void (*collect)(void *owner), void *owner);
void decorations_finish(struct decorations *decorations);
size_t decorations_memory(const struct decorations *decorations);

/* Each returns a number, 0 if there is no room. */
uint32_t decorations_cluster(struct decorations *decorations, const char *text, uint32_t length);
uint32_t decorations_link(struct decorations *decorations, const char *address, const char *id);
uint32_t decorations_number(struct decorations *decorations, struct decoration decoration);

static inline const struct cluster *decorations_cluster_at(const struct decorations *decorations, uint32_t number)
{
	return pool_at(&decorations->clusters, number);
}

/* Number 0 is no underline and no link. */
struct decoration decorations_at(const struct decorations *decorations, uint32_t number);
const struct link *decorations_link_at(const struct decorations *decorations, uint32_t number);

#endif
