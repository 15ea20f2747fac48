/*
 * params.h: the parameters of a method as rows of a table, from which they are checked and decoded into a struct.
 *
 * A handler's struct is copied from the row table's defaults, then filled. Text and lists live in an arena that the
 * caller of params_decode() frees after the handler has returned.
 */
#ifndef SANDBAR_PARAMS_H
#define SANDBAR_PARAMS_H

#include "protocol/reader.h"
#include "protocol/wire.h"

enum param_type {
	PARAM_TEXT,     /* const char *: least ... most bytes, no NUL inside */
	PARAM_PATH,     /* const char *: an absolute path, at most `most` bytes, no NUL inside */
	PARAM_UINT,     /* uint64_t: least ... most */
	PARAM_OPTIONAL, /* struct optional_uint: the same, or nil */
	PARAM_BOOL,     /* bool */
	PARAM_CHOICE,   /* int: the index in `choices` */
	PARAM_BYTES,    /* struct view: at most `most` bytes; borrowed from the message */
	PARAM_STRINGS,  /* const char **, ended by NULL: least ... most of them, each text or bytes without NUL */
	PARAM_ENV,      /* const char **, ended by NULL: "NAME=value" from a map; at most `most` */
	PARAM_CONTEXT,  /* const char **, ended by NULL: name, text, … from a map, as context.h; at most `most` bytes */
	PARAM_UINTS,    /* struct uint_list: at most `most`; nil = absent */
	PARAM_MAP,      /* struct optional_map, whose fields are the rows of `fields`; nil = absent */
};

struct optional_uint {
	uint64_t value;
	bool has;
};

struct uint_list {
	uint32_t *values; /* NULL: absent */
	size_t count;
};

struct param {
	const char *name;
	enum param_type type;
	size_t offset; /* in the handler's struct */
	bool required;
	uint64_t least, most;
	const char *const *choices; /* ended by NULL */
	const struct param *fields; /* PARAM_MAP: rows with offsets in the same struct; ended by a row without name */
	size_t has_offset;          /* PARAM_MAP: of a bool that tells whether it was there */
	const char *summary;
};

enum { PARAMS_TEXT_BYTES = 384, ARENA_BLOCKS = 16 }; /* a text that names all rows of a method, and a key, fits */

struct params_error {
	enum error_code code;
	const char *field;               /* static, or "" */
	char message[PARAMS_TEXT_BYTES]; /* what was wrong and what is allowed */
};

struct arena {
	void *blocks[ARENA_BLOCKS];
	size_t used;
};
void arena_finish(struct arena *arena);

/* Decode the map that READER stands before (or the empty map, when it is at its end) by ROWS into INTO. */
bool params_decode(struct reader reader, const struct param *rows, void *into, struct arena *arena,
                   struct params_error *error);

#define PARAM_TIME_MOST (UINT64_C(10) * 365 * 24 * 3600 * 1000) /* milliseconds: ten years */
#define PARAM_GRACE_MOST (3600 * 1000)                          /* milliseconds, between SIGTERM and SIGKILL */

/* The row of a method that is about a session, whose TYPE has the id in `session`. */
#define PARAM_SESSION(type)                                                                                 \
	{                                                                                                       \
		"session", PARAM_TEXT, offsetof(struct type, session), .required = true, .most = LIMIT_NAME_BYTES,  \
															   .summary = "the id that session.create gave" \
	}

#endif
