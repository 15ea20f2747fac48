/*
 * channel.h: the channels of a connection, over its cuts: what the connection does with them.
 */
#ifndef SANDBAR_CLIENT_CHANNEL_H
#define SANDBAR_CLIENT_CHANNEL_H

#include "input.h"
#include "offsets.h"
#include "sandbar.h"
#include "protocol/pace.h"
#include "protocol/reader.h"
#include "protocol/wire.h"

/* What this client has of one process's input: the bytes that are not acknowledged, and the size it asked for. */
struct channel_input {
	struct channel_input *next;
	uint32_t process, cols, rows;
	struct input input;
};

struct sandbar_channel {
	struct sandbar_channel *next;
	struct sandbar *sandbar;
	bool is_gone;      /* swept away at the end of this turn of the loop */
	bool is_attached;  /* on this connection, as `number` */
	bool was_attached; /* ever */
	uint64_t number;
	uint32_t request; /* the open session.attach; 0 = none */

	char session[SANDBAR_SESSION_BYTES], name[LIMIT_NAME_BYTES + 1], role[16];
	bool lossless, has_name;
	uint32_t *processes; /* NULL: all */
	size_t process_count;
	const struct sandbar_events *events;
	void *user;

	bool has_seq; /* `seq` is the last event handled */
	uint64_t seq;
	struct offsets offsets;
	uint64_t replay;
	uint32_t screens;
	uint64_t window, received, granted, held; /* credit, in bytes of frames since it was attached */
	bool is_paced;
	struct pace pace; /* of what is drawn */
	struct channel_input *inputs;
};

struct sandbar;

/* channel.c: life */
void channels_attach(struct sandbar *sandbar); /* there is a connection: attach those that are not */
void channels_cut(struct sandbar *sandbar);
void channels_close(struct sandbar *sandbar, const struct sandbar_error *why); /* tell `closed` to all */
void channels_error(struct sandbar *sandbar, const struct sandbar_error *error);
void channels_sweep(struct sandbar *sandbar); /* free those that are gone */
void channels_free(struct sandbar *sandbar);
void channel_close(struct sandbar_channel *channel, const struct sandbar_error *why);
void channel_report(struct sandbar_channel *channel, uint32_t process, const struct sandbar_error *error);
bool channel_follows(const struct sandbar_channel *channel, uint32_t process); /* gets its output */

/* channel_frames.c: what comes */
void channel_message(struct sandbar *sandbar, uint64_t number, struct reader *reader);
void channel_closed_notice(struct sandbar *sandbar, struct reader *params);

/* channel_input.c: what goes */
void channels_pump(struct sandbar *sandbar); /* send input, as far as there is room */
void channel_pump(struct sandbar_channel *channel);
void channel_grant(struct sandbar_channel *channel);
uint64_t channel_first_grant(struct sandbar_channel *channel);                             /* on a new connection */
struct channel_input *channel_input_of(struct sandbar_channel *channel, uint32_t process); /* made if need be */
/* After session.attach: STDIN is the list [[process, offset], …] of its answer. */
void channel_resume_inputs(struct sandbar_channel *channel, struct reader *stdin_list);
/* A frame of ours was refused. True if that was dealt with, so that nobody need hear of it. */
bool channel_input_error(struct sandbar_channel *channel, uint32_t process, const struct sandbar_error *error,
                         struct reader data);
void channel_inputs_free(struct sandbar_channel *channel);

#endif
