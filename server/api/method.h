/*
 * method.h: every operation of the server, as one row of one table. Doors, the reference and other descriptions
 * derive from it.
 */
#ifndef SANDBAR_METHOD_H
#define SANDBAR_METHOD_H

#include "call.h"
#include "params.h"

struct method {
	const char *name;
	enum right right;           /* the token must carry it */
	const struct param *params; /* ended by a row without name */
	size_t size;                /* of the struct that the handler gets; at most METHOD_PARAMS_BYTES */
	const void *defaults;       /* such a struct; NULL: zeroes */
	void (*handle)(struct call *call, const void *params); /* PARAMS are valid until it returns */
	bool for_guests;                                       /* although it names neither a session nor a channel */
	const char *summary;
};

enum { METHOD_PARAMS_BYTES = 1024 };

const struct method *method_find(struct view name);
extern const struct method methods[]; /* ended by a row without name */

#endif
