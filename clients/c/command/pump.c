#include "pump.h"

#include "context.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 64 * 1024 };

static void on_end(struct pump *pump, int errnum)
{
	if (errnum)
		context_say("read stdin: %s", strerror(errnum));
	if (pump->passes_eof)
		sandbar_input_eof(pump->channel, pump->process);
	pump->is_over = true;
}

static void send(struct pump *pump, const uint8_t *bytes, size_t length)
{
	if (length > 0 && pump->channel && (!pump->may_type || pump->may_type(bytes, length, pump->user)))
		sandbar_input(pump->channel, pump->process, bytes, length);
}

/* What was typed before a command is sent before the command acts. */
static void read_keys(struct pump *pump, const uint8_t *typed, size_t length)
{
	uint8_t passed[READ_BYTES + 1];

	while (length > 0 && pump->channel) {
		struct detach_key_result result = detach_key_feed(&pump->detach_key, typed, length, passed);
		send(pump, passed, result.passed);
		typed += result.taken;
		length -= result.taken;
		if (result.command)
			pump->on_command(result.command, pump->user);
		if (result.command == DETACH_KEY_LEAVE)
			return;
	}
}

/* One byte of room is kept for an escape character that was held back. */
static void on_readable(struct sandbar *sandbar, int fd, unsigned ready, void *user)
{
	struct pump *pump = user;
	uint8_t typed[READ_BYTES];
	size_t room = sandbar_input_room(pump->channel, pump->process);

	(void)sandbar, (void)ready;
	if (room < 2)
		return;
	ssize_t length = read(fd, typed, room - 1 < sizeof(typed) ? room - 1 : sizeof(typed));
	if (length < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (length <= 0)
		on_end(pump, length < 0 ? errno : 0);
	else if (pump->has_detach_key)
		read_keys(pump, typed, (size_t)length);
	else
		send(pump, typed, (size_t)length);
	pump_update(pump);
}

void pump_start(struct pump *pump, struct sandbar_channel *channel, uint32_t process)
{
	pump->channel = channel;
	pump->process = process;
	pump_update(pump);
}

void pump_update(struct pump *pump)
{
	struct sandbar_error error;

	if (!pump->channel)
		return;
	bool wants = !pump->is_over && sandbar_input_room(pump->channel, pump->process) >= 2;
	if (sandbar_watch_fd(sandbar_channel_connection(pump->channel), STDIN_FILENO, wants ? SANDBAR_READABLE : 0,
	                     on_readable, pump, &error) == 0)
		return;
	context_say("%s", error.message);
	on_end(pump, 0);
}

void pump_stop(struct pump *pump)
{
	pump->is_over = true;
	if (pump->channel)
		sandbar_unwatch_fd(sandbar_channel_connection(pump->channel), STDIN_FILENO);
	pump->channel = NULL;
}
