/* What a process tells about itself: the maps of STARTED, EXITED, process.list and STATE. */
#include "process.h"

#include "protocol/check.h"
#include "session.h"

#include <assert.h>
#include <string.h>

size_t process_offsets(const struct process *process, struct stream_offset offsets[PROCESS_STREAMS])
{
	for (size_t i = 0; i < process->source_count; i++) {
		const struct source *source = &process->sources[i];
		offsets[i] = (struct stream_offset){source->stream, source->offset, source->fd >= 0};
	}
	return process->source_count;
}

void process_write_ending(struct writer *writer, const struct process *process)
{
	struct stream_offset offsets[PROCESS_STREAMS];
	size_t count = process_offsets(process, offsets);
	ending_write(writer, &process->ending, offsets, count);
}

void process_write(struct writer *writer, const struct process *process, uint64_t as_of,
                   const struct stream_offset offsets[PROCESS_STREAMS])
{
	bool exited = process->state == PROCESS_DONE && process->exited_seq <= as_of;
	writer_map(writer, PROCESS_START_KEYS + 7);
	writer_raw(writer, process->start_map, process->start_map_length);
	writer_key_uint(writer, "process", process->number);
	writer_key_uint(writer, "seq", process->started_seq);
	writer_key_uint(writer, "started_us", process->started_us);
	writer_key_str(writer, "state", exited ? "exited" : "running");
	writer_str(writer, "exited");
	if (exited)
		ending_write(writer, &process->ending, offsets, process->source_count);
	else
		writer_nil(writer);
	writer_str(writer, "offsets");
	offsets_write(writer, offsets, process->source_count);
	writer_key_bool(writer, "stdin_open", process->input.fd >= 0 && !process->input.end_taken);
}

static void write_argument(struct writer *writer, const char *argument, size_t most)
{
	size_t length = strnlen(argument, most);
	if (check_utf8((const uint8_t *)argument, length))
		writer_strn(writer, argument, length);
	else
		writer_bin(writer, argument, length);
}

/* The first ARGV_SHOWN arguments, up to ARGV_SHOWN_BYTES in sum; what is beyond is not shown. */
static void write_argv(struct writer *writer, const char *const *argv)
{
	uint32_t count = 0;
	size_t bytes = 0;
	for (; argv[count] && count < ARGV_SHOWN && bytes < ARGV_SHOWN_BYTES; count++)
		bytes += strlen(argv[count]) + 1;
	writer_array(writer, count);
	bytes = 0;
	for (uint32_t i = 0; i < count; i++) {
		write_argument(writer, argv[i], ARGV_SHOWN_BYTES - bytes);
		bytes += strlen(argv[i]) + 1;
	}
}

void process_remember_start(struct process *process, const struct process_options *options)
{
	struct writer writer;
	writer_init(&writer, JOURNAL_EVENT);
	writer_str(&writer, "argv");
	write_argv(&writer, options->argv);
	writer_str(&writer, "cwd");
	write_argument(&writer, options->cwd, CWD_SHOWN_BYTES);
	writer_key_str(&writer, "name", options->name);
	writer_str(&writer, "terminal");
	if (options->terminal) {
		writer_map(&writer, 2);
		writer_key_uint(&writer, "cols", options->cols);
		writer_key_uint(&writer, "rows", options->rows);
	} else {
		writer_nil(&writer);
	}
	writer_key_bool(&writer, "stdin", options->terminal || options->wants_stdin);
	writer_key_str(&writer, "by", options->by);
	writer_key_bool(&writer, "shell", options->is_shell);
	writer_str(&writer, "context");
	context_write(&writer, options->context);
	assert(!writer.failed);
	process->start_map = writer_steal(&writer, &process->start_map_length);
}
