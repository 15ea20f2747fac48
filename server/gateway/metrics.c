#include "metrics.h"

#include "driver/namespaces.h"
#include "gateway.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Upper bounds of the buckets in seconds; the last has none. */
static const double turn_bounds[METRICS_TURN_BUCKETS - 1] = {0.0005, 0.001, 0.005, 0.02, 0.1, 1};

/* --- turns of the loop ---------------------------------------------------------------------------------------- */

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void on_check(struct ev_loop *loop, ev_check *check, int events)
{
	(void)loop, (void)events;
	struct metrics *metrics = check->data;
	metrics->woke = now_s();
}

static void on_prepare(struct ev_loop *loop, ev_prepare *prepare, int events)
{
	(void)loop, (void)events;
	struct metrics *metrics = prepare->data;
	size_t bucket = 0;
	if (metrics->woke == 0)
		return; /* the first turn has not begun */
	double took = now_s() - metrics->woke;
	while (bucket < METRICS_TURN_BUCKETS - 1 && took > turn_bounds[bucket])
		bucket++;
	metrics->turns[bucket]++;
	metrics->turn_seconds += took;
}

void metrics_begin(struct metrics *metrics, struct ev_loop *loop)
{
	metrics->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ev_prepare_init(&metrics->prepare, on_prepare);
	ev_check_init(&metrics->check, on_check);
	ev_set_priority(&metrics->check, EV_MAXPRI); /* before what the turn does */
	metrics->prepare.data = metrics->check.data = metrics;
	ev_prepare_start(loop, &metrics->prepare);
	ev_check_start(loop, &metrics->check);
	ev_unref(loop);
	ev_unref(loop);
}

void metrics_end(struct metrics *metrics, struct ev_loop *loop)
{
	ev_ref(loop);
	ev_ref(loop);
	close(metrics->statm);
	ev_prepare_stop(loop, &metrics->prepare);
	ev_check_stop(loop, &metrics->check);
}

/* --- the table ------------------------------------------------------------------------------------------------ */

static double uptime(const struct gateway *gateway)
{
	return now_s() - (double)gateway->server.started_us / 1e6;
}

static double resident_bytes(const struct gateway *gateway)
{
	char text[128] = "";
	unsigned long pages;
	if (pread(gateway->metrics.statm, text, sizeof text - 1, 0) <= 0 || sscanf(text, "%*u %lu", &pages) != 1)
		return 0;
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double cpu_seconds(const struct gateway *gateway)
{
	(void)gateway;
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double running_processes(const struct gateway *gateway)
{
	size_t count = 0;
	const struct session *session;
	LIST_FOREACH(session, &gateway->server.sessions.list, link)
		count += session->running_count;
	return (double)count;
}

#define NUMBER(name, expression)                      \
	static double name(const struct gateway *gateway) \
	{                                                 \
		return (double)(expression);                  \
	}
NUMBER(sessions, gateway->server.sessions.count)
NUMBER(warm, namespaces_driver_warm(gateway->driver))
NUMBER(connections, gateway->server.connections)
NUMBER(connections_since, gateway->metrics.connections)
NUMBER(answer_bytes, gateway->server.queued_bytes)
NUMBER(unfinished_bytes, gateway->server.reassembly_bytes)
NUMBER(started, gateway->server.sessions.counters.events[FRAME_STARTED])
NUMBER(output_bytes, gateway->server.sessions.counters.output_bytes)
NUMBER(output_events, gateway->server.sessions.counters.events[FRAME_OUTPUT])
NUMBER(input_bytes, gateway->server.sessions.counters.input_bytes)
NUMBER(gaps, gateway->server.sessions.counters.gaps)
NUMBER(sent_bytes, gateway->metrics.sent_bytes)
NUMBER(sent_messages, gateway->metrics.sent_messages)
NUMBER(received_bytes, gateway->metrics.received_bytes)
NUMBER(received_messages, gateway->metrics.received_messages)
NUMBER(epoch, gateway->config.epoch)
NUMBER(is_draining, gateway->server.is_stopping || gateway->server.is_draining)

/* METRIC(name, type, unit or "", what it says, value). A counter's sample ends in _total. */
static const struct {
	const char *name, *type, *unit, *help;
	double (*value)(const struct gateway *gateway);
} metrics[] = {
	{"sandbar_uptime_seconds", "gauge", "seconds", "since this gateway started", uptime},
	{"sandbar_gateway_epoch", "gauge", "", "how many gateways this server has had", epoch},
	{"sandbar_stopping", "gauge", "", "1 while the server stops or drains", is_draining},
	{"sandbar_sessions", "gauge", "", "sessions that are there", sessions},
	{"sandbar_warm_sandboxes", "gauge", "", "sandboxes that stand ready for a session", warm},
	{"sandbar_processes", "gauge", "", "processes that run", running_processes},
	{"sandbar_processes_started", "counter", "", "processes that were started", started},
	{"sandbar_output_bytes", "counter", "bytes", "read from processes", output_bytes},
	{"sandbar_output_events", "counter", "", "OUTPUT events in journals", output_events},
	{"sandbar_input_bytes", "counter", "bytes", "written to processes", input_bytes},
	{"sandbar_gaps", "counter", "", "gaps that viewers were told of", gaps},
	{"sandbar_connections", "gauge", "", "WebSocket connections that are open", connections},
	{"sandbar_connections_opened", "counter", "", "WebSocket connections that were opened", connections_since},
	{"sandbar_sent_bytes", "counter", "bytes", "of messages to clients", sent_bytes},
	{"sandbar_sent_messages", "counter", "", "messages to clients", sent_messages},
	{"sandbar_received_bytes", "counter", "bytes", "of messages from clients", received_bytes},
	{"sandbar_received_messages", "counter", "", "messages from clients", received_messages},
	{"sandbar_answer_queue_bytes", "gauge", "bytes", "answers that clients have not taken yet", answer_bytes},
	{"sandbar_unfinished_bytes", "gauge", "bytes", "of messages whose end has not come", unfinished_bytes},
	{"process_resident_memory_bytes", "gauge", "bytes", "of the gateway", resident_bytes},
	{"process_cpu_seconds", "counter", "seconds", "of the gateway", cpu_seconds},
};

/* --- text ----------------------------------------------------------------------------------------------------- */

static void head(FILE *out, const char *name, const char *type, const char *unit, const char *help)
{
	fprintf(out, "# TYPE %s %s\n", name, type);
	if (unit[0])
		fprintf(out, "# UNIT %s %s\n", name, unit);
	fprintf(out, "# HELP %s %s\n", name, help);
}

static void write_exits(FILE *out, const struct counters *counters)
{
	head(out, "sandbar_processes_exited", "counter", "", "processes that are done, by reason");
	for (int reason = REASON_NONE + 1; reason < REASON_COUNT; reason++)
		fprintf(out, "sandbar_processes_exited_total{reason=\"%s\"} %" PRIu64 "\n", reason_name((enum reason)reason),
		        counters->exited[reason]);
}

static void write_errors(FILE *out, const struct server *server)
{
	head(out, "sandbar_errors", "counter", "", "errors that clients were answered, by code");
	for (int code = ERROR_CODE_NONE + 1; code < ERROR_CODE_COUNT; code++)
		if (server->errors[code] > 0)
			fprintf(out, "sandbar_errors_total{code=\"%s\"} %" PRIu64 "\n", error_code_name((enum error_code)code),
			        server->errors[code]);
}

static void write_turns(FILE *out, const struct metrics *own)
{
	uint64_t count = 0;
	head(out, "sandbar_loop_turn_seconds", "histogram", "seconds",
	     "how long a turn of the loop kept all others waiting");
	for (size_t i = 0; i < METRICS_TURN_BUCKETS; i++) {
		char bound[32] = "+Inf";
		if (i < METRICS_TURN_BUCKETS - 1)
			snprintf(bound, sizeof bound, "%g", turn_bounds[i]);
		count += own->turns[i];
		fprintf(out, "sandbar_loop_turn_seconds_bucket{le=\"%s\"} %" PRIu64 "\n", bound, count);
	}
	fprintf(out, "sandbar_loop_turn_seconds_count %" PRIu64 "\nsandbar_loop_turn_seconds_sum %.6f\n", count,
	        own->turn_seconds);
}

char *metrics_text(const struct gateway *gateway, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);
	if (!out)
		abort();
	fprintf(out, "# TYPE sandbar_build info\n# HELP sandbar_build what this is\nsandbar_build_info{version=\"%s\"} 1\n",
	        SANDBAR_VERSION);
	for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
		bool is_counter = strcmp(metrics[i].type, "counter") == 0;
		head(out, metrics[i].name, metrics[i].type, metrics[i].unit, metrics[i].help);
		fprintf(out, "%s%s %.17g\n", metrics[i].name, is_counter ? "_total" : "", metrics[i].value(gateway));
	}
	write_exits(out, &gateway->server.sessions.counters);
	write_errors(out, &gateway->server);
	write_turns(out, &gateway->metrics);
	fputs("# EOF\n", out);
	if (fclose(out) != 0)
		abort();
	return text;
}
