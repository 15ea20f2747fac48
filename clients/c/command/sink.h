/*
 * sink.h: where output goes (stdout, stderr), without ever blocking the loop: what the descriptor does not take now is
 * kept and written when it does. How much is kept is bounded by the channel's credit (sandbar_channel_held()).
 *
 * The descriptor itself is shared with other processes and is left as it is: a pipe or terminal is opened a second time
 * for a non-blocking description of its own; where that is not possible, poll(2) comes before each small write.
 */
#ifndef SANDBAR_COMMAND_SINK_H
#define SANDBAR_COMMAND_SINK_H

#include "clients/c/sandbar.h"

struct sink {
	struct sandbar *sandbar;
	int fd;      /* as given */
	int own;     /* a description of ours, or -1 */
	size_t most; /* bytes of one write that cannot block */
	bool is_socket, must_poll;
	int failure;    /* errno of a write that failed; what comes later is dropped */
	uint8_t *bytes; /* kept: from `start`, `length` bytes */
	size_t start, length, capacity;
	void (*changed)(struct sink *sink, void *user); /* some was written, or it failed; may be NULL */
	void *user;
};

void sink_init(struct sink *sink, struct sandbar *sandbar, int fd);
void sink_finish(struct sink *sink);
void sink_write(struct sink *sink, const void *bytes, size_t length);
size_t sink_held(const struct sink *sink); /* bytes that are not written yet */
/* Whether both write to the same file, so that their order matters. */
bool sink_is_same(int fd, int other);

#endif
