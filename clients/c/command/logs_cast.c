/* `logs --cast`: a terminal as a recording. */
#include "cast.h"
#include "commands.h"
#include "context.h"
#include "crowd.h"
#include "outlet.h"
#include "query.h"
#include "clients/c/sharing.h"
#include "protocol/wire.h"
#include "server/terminal/terminal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 1024 * 1024, LABEL_BYTES = 1200 };

struct recording {
	struct context context;
	const struct options *options;
	char session[SANDBAR_SESSION_BYTES];
	char *title, *command;
	uint64_t created_us;

	uint32_t process;  /* 0: the first terminal that comes */
	uint64_t began_us; /* when it was started, in the session's time */
	uint64_t from_seq; /* --from: behind this event */
	uint64_t from_us;  /* --from: so long after it was started */
	bool is_lost;      /* since a gap what it shows is not known */
	bool has_begun;    /* the header is out */
	bool is_done;
	struct terminal *copy; /* as it is at this moment; NULL: not known */
	uint8_t *pieces;       /* of a checkpoint */
	size_t pieces_length;
	struct crowd crowd; /* names by number */
	uint64_t seq, t_us; /* of the event that is handled */

	struct sandbar_channel *channel;
	struct outlet outlet;
	struct cast cast;
	FILE *text; /* what is written next */
	char *bytes;
	size_t length;
	int write_errno;
	struct sandbar_error closed;
};

/* ---- Beginning, also in the middle ---- */

static void draw(struct recording *recording, uint32_t scrollback)
{
	size_t length, pending_length;
	uint8_t *screen = terminal_screen(recording->copy, scrollback, &length);
	uint8_t *pending = terminal_pending(recording->copy, &pending_length);

	cast_output(&recording->cast, recording->t_us, screen, length);
	if (pending_length > 0)
		cast_output(&recording->cast, recording->t_us, pending, pending_length);
	free(pending);
	free(screen);
}

static bool is_in_range(const struct recording *recording)
{
	return recording->seq > recording->from_seq && recording->t_us >= recording->began_us + recording->from_us;
}

/* The header, with what the terminal shows at this moment: it needs none of what came before. */
static void begin(struct recording *recording)
{
	struct cast_header header = {
		.session = recording->session,
		.title = recording->title,
		.command = recording->command,
		.process = recording->process,
		.cols = terminal_columns(recording->copy),
		.rows = terminal_rows(recording->copy),
		.began_us = recording->created_us,
	};

	recording->has_begun = true;
	cast_begin(&recording->cast, recording->text, &header, recording->t_us);
	if (recording->from_seq || recording->from_us || recording->is_lost)
		draw(recording, TERMINAL_SCROLLBACK_LINES);
	recording->is_lost = false;
}

/* Whether the event that is handled is written. It is called before the event changes the copy. */
static bool is_written(struct recording *recording)
{
	if (!recording->copy || recording->is_done || (!recording->has_begun && !is_in_range(recording)))
		return false;
	if (!recording->has_begun && !recording->is_lost)
		begin(recording);
	return recording->has_begun && !recording->is_lost;
}

static void flush(struct recording *recording)
{
	fflush(recording->text);
	if (recording->length > 0)
		outlet_text(&recording->outlet, recording->bytes, recording->length);
	rewind(recording->text);
}

/* ---- What the session tells ---- */

static void on_frame(struct sandbar_channel *channel, unsigned kind, const void *frame, size_t length, void *user)
{
	struct recording *recording = user;
	struct reader reader = reader_over(frame, length);
	uint64_t number, bytes = 0;
	uint32_t count, participant = 0, process = 0;

	(void)channel;
	if (kind >= FRAME_GAP || !reader_array(&reader, &count) || !reader_uint(&reader, &number) ||
	    !reader_uint(&reader, &recording->seq) || !reader_uint(&reader, &recording->t_us))
		return;
	if (kind != FRAME_INPUT || !sharing_u32(&reader, &participant) || !sharing_u32(&reader, &process) ||
	    !reader_uint(&reader, &bytes) || process != recording->process || !is_written(recording))
		return;
	const struct person *person = crowd_find(&recording->crowd, participant);
	cast_input(&recording->cast, recording->t_us, person ? person->name : "", participant, bytes);
	flush(recording);
}

static char *join_arguments(const struct reader *map)
{
	struct reader arguments = query_field(map, "argv"), argument;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		abort();
	for (bool first = true; query_next(&arguments, &argument); first = false) {
		struct view view = {"", 0};
		reader_str(&argument, &view);
		fprintf(out, "%s%.*s", first ? "" : " ", (int)view.length, view.data);
	}
	fclose(out);
	return text;
}

static void on_started(struct sandbar_channel *channel, const struct sandbar_started *started, void *user)
{
	struct recording *recording = user;
	struct reader map = reader_over(started->map, started->map_length);

	(void)channel;
	if (recording->process == 0 && started->cols)
		recording->process = started->process;
	if (recording->process != started->process || recording->copy || !started->cols)
		return;
	recording->began_us = started->t_us;
	recording->command = join_arguments(&map);
	recording->copy = terminal_create(started->cols, started->rows, TERMINAL_SCROLLBACK_LINES);
}

static void on_output(struct sandbar_channel *channel, const struct sandbar_output *output, void *user)
{
	struct recording *recording = user;

	(void)channel;
	if (output->process != recording->process || !recording->copy)
		return;
	bool writes = is_written(recording);
	terminal_feed(recording->copy, output->data, output->length, NULL);
	if (writes) {
		cast_output(&recording->cast, output->t_us, output->data, output->length);
		flush(recording);
	}
}

/* Players lay lines out anew in ways of their own: after a change of size they are shown what is there. */
static void on_resized(struct sandbar_channel *channel, uint32_t process, uint32_t cols, uint32_t rows, void *user)
{
	struct recording *recording = user;

	(void)channel;
	if (process != recording->process || !recording->copy)
		return;
	bool writes = is_written(recording);
	terminal_resize(recording->copy, cols, rows);
	if (writes) {
		cast_resize(&recording->cast, recording->t_us, cols, rows);
		draw(recording, 0);
		flush(recording);
	}
}

/* What is missing was lost by the server: it is said, and the next screen or checkpoint goes on. */
static void on_gap(struct sandbar_channel *channel, uint64_t from, uint64_t to, void *user)
{
	struct recording *recording = user;
	char label[64];

	(void)channel;
	snprintf(label, sizeof(label), "events %" PRIu64 " to %" PRIu64 " are missing", from, to);
	context_say("%s", label);
	if (recording->has_begun && !recording->is_lost) {
		cast_marker(&recording->cast, recording->t_us, label);
		flush(recording);
	}
	recording->is_lost = true;
	recording->pieces_length = 0;
}

/* After a gap: the terminal as it is. */
static void go_on_from(struct recording *recording, const struct sandbar_screen *screen, const void *bytes,
                       size_t length)
{
	if (recording->process == 0)
		recording->process = screen->process;
	terminal_destroy(recording->copy);
	recording->copy = terminal_create(screen->cols, screen->rows, TERMINAL_SCROLLBACK_LINES);
	terminal_feed(recording->copy, bytes, length, NULL);
	if (!recording->has_begun) {
		recording->is_lost = !is_in_range(recording);
		if (!recording->is_lost) {
			recording->is_lost = true; /* so that it is drawn */
			begin(recording);
		}
		recording->is_lost = false;
	} else {
		recording->is_lost = false;
		cast_resize(&recording->cast, recording->t_us, screen->cols, screen->rows);
		draw(recording, 0);
	}
	flush(recording);
}

static bool is_wanted(const struct recording *recording, uint32_t process)
{
	return (recording->is_lost || !recording->copy) && (!recording->process || recording->process == process);
}

static void on_screen(struct sandbar_channel *channel, const struct sandbar_screen *screen, void *user)
{
	(void)channel;
	if (is_wanted(user, screen->process))
		go_on_from(user, screen, screen->data, screen->length);
}

static void on_checkpoint(struct sandbar_channel *channel, const struct sandbar_screen *screen, void *user)
{
	struct recording *recording = user;

	(void)channel;
	if (!is_wanted(recording, screen->process) || (screen->part > 1 && recording->pieces_length == 0))
		return;
	size_t before = screen->part == 1 ? 0 : recording->pieces_length;
	recording->pieces = realloc(recording->pieces, before + screen->length + 1);
	if (!recording->pieces)
		abort();
	memcpy(recording->pieces + before, screen->data, screen->length);
	recording->pieces_length = before + screen->length;
	if (screen->part == screen->parts)
		go_on_from(recording, screen, recording->pieces, recording->pieces_length);
}

static void on_participant(struct sandbar_channel *channel, const struct sandbar_participant *participant, void *user)
{
	(void)channel;
	if (participant->joined)
		crowd_participant(&((struct recording *)user)->crowd, participant);
}

static void on_note(struct sandbar_channel *channel, const struct sandbar_note *note, void *user)
{
	struct recording *recording = user;
	char label[LABEL_BYTES];

	(void)channel;
	if ((note->process && note->process != recording->process) || !is_written(recording))
		return;
	snprintf(label, sizeof(label), "%s: %s", note->by, note->text);
	cast_marker(&recording->cast, note->t_us, label);
	flush(recording);
}

static void on_exited(struct sandbar_channel *channel, uint32_t process, const struct sandbar_ending *ending,
                      void *user)
{
	struct recording *recording = user;

	(void)channel;
	if (process != recording->process)
		return;
	if (recording->copy && !recording->has_begun && !recording->is_done)
		begin(recording);
	if (is_written(recording))
		cast_exit(&recording->cast, recording->t_us, ending);
	flush(recording);
	recording->is_done = true;
}

static void on_live(struct sandbar_channel *channel, uint64_t seq, void *user)
{
	struct recording *recording = user;

	(void)channel, (void)seq;
	if (recording->options->follow || recording->is_done)
		return;
	if (recording->copy && !recording->has_begun)
		begin(recording);
	flush(recording);
	recording->is_done = true;
}

static void on_ended(struct sandbar_channel *channel, const char *reason, void *user)
{
	(void)channel, (void)reason;
	((struct recording *)user)->is_done = true;
}

static void on_closed(struct sandbar_channel *channel, const struct sandbar_error *why, void *user)
{
	struct recording *recording = user;

	(void)channel;
	recording->channel = recording->outlet.channel = NULL;
	recording->closed = *why;
}

static const struct sandbar_events EVENTS = {
	.frame = on_frame,
	.started = on_started,
	.output = on_output,
	.resized = on_resized,
	.gap = on_gap,
	.screen = on_screen,
	.checkpoint = on_checkpoint,
	.participant = on_participant,
	.note = on_note,
	.exited = on_exited,
	.live = on_live,
	.ended = on_ended,
	.closed = on_closed,
};

/* ---- The command ---- */

static void on_write_failed(int errnum, void *user)
{
	((struct recording *)user)->write_errno = errnum;
}

static bool is_over(const struct recording *recording)
{
	bool has_end = recording->is_done || recording->closed.code[0];

	return recording->write_errno || (has_end && outlet_is_drained(&recording->outlet));
}

static int outcome(const struct recording *recording, const struct sandbar_error *error)
{
	if (recording->write_errno == EPIPE)
		return 128 + SIGPIPE;
	if (recording->write_errno) {
		context_say("write: %s", strerror(recording->write_errno));
		return EXIT_FAILED;
	}
	if (!recording->is_done)
		return context_fail(&recording->context, NULL, recording->closed.code[0] ? &recording->closed : error);
	if (recording->has_begun)
		return EXIT_OK;
	context_say("%s: there is no such terminal in what is kept", recording->session);
	return EXIT_NOT_FOUND;
}

/* Behind an event ("1234"), or so long after the terminal was started ("90s"). */
static int read_from(struct recording *recording)
{
	const char *text = recording->options->from, *allowed;

	if (!text)
		return -1;
	if (text[0] && strspn(text, "0123456789") == strlen(text) && strlen(text) < 16) {
		recording->from_seq = strtoull(text, NULL, 10);
		return -1;
	}
	allowed = options_read_duration(text, &recording->from_us);
	recording->from_us *= 1000;
	if (!allowed)
		return -1;
	context_say("--from: it must be the number of an event, or a time such as 90s");
	return EXIT_USAGE;
}

/* When the session was made, and its name: for the header, which can do without. */
static void ask_about(struct recording *recording)
{
	struct query query;

	if (query_session(&query, recording->context.sandbar, "session.info", recording->session, 0, NULL) < 0)
		return;
	struct view name = query_text(&query.result, "name");
	recording->created_us = query_number(&query.result, "created_us");
	recording->title = strndup(name.data, name.length);
	query_finish(&query);
}

static int record(struct recording *recording)
{
	struct sandbar_error error = {0};
	struct sandbar_attachment request = {
		.session = recording->session,
		.after = 0,
		.role = "viewer",
		.processes = recording->process ? &recording->process : NULL,
		.process_count = recording->process ? 1 : 0,
		.window = WINDOW,
		.events = &EVENTS,
		.user = recording,
	};
	int status = 0;

	ask_about(recording);
	outlet_init(&recording->outlet, recording->context.sandbar, on_write_failed, recording);
	recording->text = open_memstream(&recording->bytes, &recording->length);
	if (!recording->text)
		abort();
	recording->channel = sandbar_attach(recording->context.sandbar, &request, &error);
	recording->outlet.channel = recording->channel;
	if (!recording->channel)
		return context_fail(&recording->context, NULL, &error);
	while (status == 0 && !is_over(recording))
		status = context_turn(&recording->context, &error);
	return outcome(recording, &error);
}

static void finish(struct recording *recording)
{
	if (recording->text) {
		fclose(recording->text);
		outlet_finish(&recording->outlet);
	}
	terminal_destroy(recording->copy);
	free(recording->pieces);
	free(recording->bytes);
	free(recording->title);
	free(recording->command);
	context_finish(&recording->context);
}

int command_logs_cast(struct options *options)
{
	struct recording *recording = calloc(1, sizeof(*recording));

	if (!recording)
		abort();
	recording->options = options;
	recording->process = (uint32_t)options->process;
	int status = read_from(recording);
	if (status < 0)
		status = context_connect(&recording->context, options);
	if (status < 0)
		status = context_session(&recording->context, options->arguments[0], recording->session);
	if (status < 0)
		status = record(recording);
	finish(recording);
	free(recording);
	return status;
}
