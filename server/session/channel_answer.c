/* What a channel tells of its client's own frames, and of somebody else's typing. */
#include "channel_answer.h"

#include "session.h"

enum { TYPING_US = 1000000 };

/* ACK and ERROR are made at a client's own pace; one that never reads them must not make the server keep them. */
static bool own_has_room(const struct channel *channel)
{
	return channel->own.length < CHANNEL_OWN_BYTES / 4;
}

void channel_ack(struct channel *channel, uint32_t process, uint64_t offset)
{
	if (!own_has_room(channel))
		return;
	writer_array(&channel->own, 3);
	writer_uint(&channel->own, FRAME_STDIN_ACK);
	writer_uint(&channel->own, process);
	writer_uint(&channel->own, offset);
	channel->wake(channel->owner);
}

static void tell_typing(struct channel *channel, uint32_t participant, uint32_t process)
{
	if (!channel->live_sent || channel->own.length > 0 || history_is_behind(&channel->at))
		return; /* it would come late, and is worth nothing then */
	writer_array(&channel->own, 3);
	writer_uint(&channel->own, FRAME_TYPING);
	writer_uint(&channel->own, participant);
	writer_uint(&channel->own, process);
	channel->wake(channel->owner);
}

void channel_types(struct channel *channel, uint32_t process)
{
	uint64_t now_us = journal_now_us(channel->session->journal);
	if (channel->typed_us != 0 && now_us - channel->typed_us < TYPING_US)
		return;
	channel->typed_us = now_us;
	struct channel *other;
	LIST_FOREACH(other, &channel->session->channels, link)
		if (other != channel && channel_follows(other, process))
			tell_typing(other, channel->participant, process);
}

static void begin_error(struct channel *channel, uint32_t process, enum error_code code, const char *message)
{
	writer_array(&channel->own, 5);
	writer_uint(&channel->own, FRAME_ERROR);
	writer_uint(&channel->own, process);
	writer_str(&channel->own, error_code_name(code));
	writer_str(&channel->own, message);
}

void channel_error(struct channel *channel, uint32_t process, enum error_code code, const char *message,
                   const char *key, uint64_t value)
{
	if (!own_has_room(channel))
		return;
	begin_error(channel, process, code, message);
	writer_map(&channel->own, key ? 1 : 0);
	if (key)
		writer_key_uint(&channel->own, key, value);
	channel->wake(channel->owner);
}

void channel_tell_unknown_input(struct channel *channel)
{
	struct process *process;
	TAILQ_FOREACH(process, &channel->session->processes, link) {
		uint64_t from, to;
		if (!input_unknown(&process->input, channel->client, &from, &to))
			continue;
		begin_error(channel, process->number, CODE_STDIN_UNKNOWN,
		            "the server failed while it wrote this input: it may have arrived, whole or in part, or not");
		writer_map(&channel->own, 2);
		writer_key_uint(&channel->own, "from", from);
		writer_key_uint(&channel->own, "to", to);
	}
}
