/* A process as a row of the record file, and back: what a later gateway must know of it. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void save_text(char *to, size_t size, const char *from)
{
	if (from != to) /* of a restored process, the text stands in its record */
		snprintf(to, size, "%s", from ? from : "");
}

static const char *text_of(const char *text)
{
	return text[0] ? text : NULL;
}

static void save_ending(struct process_record *record, const struct process *process)
{
	const struct ending *ending = &process->ending;
	record->reason = (uint8_t)ending->reason;
	record->exit_code = ending->exit_code;
	record->signal = (uint8_t)(ending->signal ? signal_number(ending->signal, strlen(ending->signal)) : 0);
	record->wall_us = ending->wall_us;
	record->user_us = ending->usage.user_us;
	record->system_us = ending->usage.system_us;
	record->memory_peak = ending->usage.memory_peak;
	save_text(record->control, sizeof record->control, ending->control);
	save_text(record->message, sizeof record->message, ending->message);
}

void process_save(struct process *process)
{
	struct process_record *record = process->record;
	record->started_seq = process->started_seq;
	record->exited_seq = process->exited_seq;
	record->started_us = process->started_us;
	record->cols = process->cols;
	record->rows = process->rows;
	record->signals = process->intervention.signals;
	record->intervened = (uint8_t)process->intervention.reason;
	save_text(record->intervened_control, sizeof record->intervened_control, process->intervention.control);
	record->is_ending = process->must_empty && !process->is_empty;
	record->forgotten = process->forgotten;
	for (size_t i = 0; i < process->source_count; i++)
		record->stream_ended[i] = process->sources[i].fd < 0;
	save_ending(record, process);
	record->state = process->state;
}

bool process_record_make(struct process *process, const struct process_options *options)
{
	struct process_record *record = records_take(process->session->records);
	if (!record || process->start_map_length > sizeof record->start_map)
		return false;
	process->record = record;
	record->terminal = options->terminal;
	record->wants_stdin = options->wants_stdin;
	record->kill_on_exit = options->kill_on_exit;
	record->kill_on_disconnect = options->kill_on_disconnect;
	record->is_run = options->is_run;
	record->is_shell = options->is_shell;
	record->output_limit = options->output_bytes;
	record->grace_ms = options->grace_ms;
	record->idle_ms = options->idle_ms;
	record->cpu_ms = options->cpu_ms;
	record->wall_ms = options->wall_ms;
	record->disconnect_ms = options->disconnect_ms;
	memcpy(record->client, options->client, sizeof record->client);
	memcpy(record->start_map, process->start_map, process->start_map_length);
	record->start_map_length = (uint32_t)process->start_map_length;
	process_save(process);
	__atomic_store_n(&record->number, process->number, __ATOMIC_RELEASE);
	return true;
}

static void restore_ending(struct process *process, const struct process_record *record)
{
	struct ending *ending = &process->ending;
	ending->reason = (enum reason)record->reason;
	ending->exit_code = record->exit_code;
	ending->signal = record->signal ? signal_name(record->signal) : NULL;
	ending->wall_us = record->wall_us;
	ending->control = text_of(record->control); /* the record outlives the process */
	ending->usage = (struct process_usage){.user_us = record->user_us,
	                                       .system_us = record->system_us,
	                                       .memory_peak = record->memory_peak,
	                                       .oom_kills = UINT64_MAX,
	                                       .populated = UINT64_MAX};
	memcpy(ending->message, record->message, sizeof ending->message);
	process->intervention.reason = (enum reason)record->intervened;
	process->intervention.control = text_of(record->intervened_control);
	process->intervention.signals = record->signals;
}

/* What was stored of a moment whose event was not committed has not happened. */
static enum process_state state_of(const struct process_record *record, uint64_t last_seq)
{
	if (record->started_seq == 0 || record->started_seq > last_seq)
		return PROCESS_STARTING;
	if (record->state == PROCESS_DONE && record->exited_seq <= last_seq)
		return PROCESS_DONE;
	return PROCESS_RUNNING; /* init tells again that its leader was reaped */
}

struct process *process_restore(struct session *session, struct process_record *record)
{
	const struct process_options options = {
		.terminal = record->terminal,
		.wants_stdin = record->wants_stdin,
		.kill_on_exit = record->kill_on_exit,
		.kill_on_disconnect = record->kill_on_disconnect,
		.is_run = record->is_run,
		.is_shell = record->is_shell,
		.cols = record->cols,
		.rows = record->rows,
		.output_bytes = record->output_limit,
		.grace_ms = record->grace_ms,
		.idle_ms = record->idle_ms,
		.cpu_ms = record->cpu_ms,
		.wall_ms = record->wall_ms,
		.disconnect_ms = record->disconnect_ms,
	};
	struct process *process = process_create(session, record->number, &options);
	memcpy(process->client, record->client, sizeof process->client);
	process->start_map_length = record->start_map_length <= sizeof record->start_map ? record->start_map_length : 0;
	process->start_map = malloc(process->start_map_length + 1);
	if (!process->start_map)
		abort();
	memcpy(process->start_map, record->start_map, process->start_map_length);
	process->record = record;
	process->state = state_of(record, history_last(session));
	process->started_seq = process->state == PROCESS_STARTING ? 0 : record->started_seq;
	process->started_us = record->started_us;
	process->must_empty = record->is_ending;
	process->forgotten = record->forgotten;
	process->is_empty = record->forgotten;
	process->awaits_init = !record->forgotten;
	for (size_t i = 0; i < PROCESS_STREAMS; i++)
		process->newest[i] = history_last(session); /* at most */
	if (process->state == PROCESS_DONE)
		process->exited_seq = record->exited_seq;
	restore_ending(process, record);
	sharing_restore(&process->sharing, record);
	process_restore_sources(process);
	return process;
}
