/*
 * One terminal that floods before many viewers, some of whom never read; beside it stands lws_fanout. What the gateway delivers
 * a second of its own processor time, what it holds for each viewer, and how long a key takes meanwhile to its echo, in another
 * terminal of the same session.
 */
#include "server.h"
#include "tests/bench/bare/drain.h"
#include "tests/bench/bare/measure.h"
#include "typist.h"
#include "usage.h"
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TYPIST = 2, SETTLE_US = 500000, KEY_US = 5000 };

struct crowd {
	struct wire_client *viewers;
	int *sockets;
	uint64_t count, silent; /* the first ones never read */
};

/* To all there is; or, for who types, to the terminal that he types to. */
static void attach(struct wire_client *client, const char *session, uint64_t process)
{
	struct writer *request = wire_client_request(client, "session.attach", process ? 2 : 1);
	writer_key_str(request, "session", session);
	if (process) {
		writer_str(request, "processes");
		writer_array(request, 1);
		writer_uint(request, process);
	}
	wire_client_result(client, wire_client_send(client));
}

static void come(struct crowd *crowd, const struct server *server, const char *session)
{
	crowd->viewers = calloc(crowd->count, sizeof *crowd->viewers);
	crowd->sockets = calloc(crowd->count, sizeof *crowd->sockets);
	if (!crowd->viewers || !crowd->sockets)
		die("memory for the viewers");
	for (uint64_t i = 0; i < crowd->count; i++) {
		wire_client_open(&crowd->viewers[i], server->address, server->token);
		attach(&crowd->viewers[i], session, 0);
		crowd->sockets[i] = crowd->viewers[i].link.socket;
	}
}

static void leave(struct crowd *crowd)
{
	for (uint64_t i = 0; i < crowd->count; i++)
		wire_client_close(&crowd->viewers[i]);
	free(crowd->viewers);
	free(crowd->sockets);
}

/* What was there at one moment. */
struct moment {
	uint64_t ns, cpu, drained, messages, written;
};

static struct moment look(const struct drain *drain, pid_t gateway, struct wire_client *client, const char *session)
{
	return (struct moment){now_ns(), cpu_ns(gateway), drain_bytes(drain), drain_units(drain),
	                       work_terminal_offset(client, session)};
}

static void tell(const struct crowd *crowd, const struct moment *from, const struct moment *to, double viewer_kib)
{
	double seconds = (double)(to->ns - from->ns) / 1e9, cpu = (double)(to->cpu - from->cpu) / 1e9;
	double messages = (double)(to->messages - from->messages);
	double drained = (double)(to->drained - from->drained) / 1e6, written = (double)(to->written - from->written) / 1e6;
	double readers = (double)(crowd->count - crowd->silent);
	printf(
		"{\"bench\": \"sandbar_fanout\", \"viewers\": %llu, \"mb_cpu_s\": %.1f, \"deliveries_cpu_s\": %.0f, "
		"\"message_bytes\": %.0f, \"apart_us\": %.0f, \"rate_mb_s\": %.1f, \"each_mb_s\": %.2f, \"flood_mb_s\": %.1f, "
		"\"viewer_kib\": %.1f, ",
		(unsigned long long)crowd->count, drained / cpu, messages / cpu, drained * 1e6 / messages,
		seconds * 1e6 * readers / messages, drained / seconds, drained / seconds / readers, written / seconds,
		viewer_kib);
}

static void measure(struct crowd *crowd, struct wire_client *clients, const char *session, const struct server *server,
                    uint64_t seconds)
{
	struct samples samples;
	struct typist typist;
	pid_t gateway = usage_gateway(server->pid);
	uint64_t before = usage_resident_kib(gateway), keys = seconds * 1000000 / KEY_US;
	samples_init(&samples, keys);
	come(crowd, server, session);
	struct drain *drain = drain_start(crowd->sockets + crowd->silent, crowd->count - crowd->silent,
	                                  crowd->viewers->link.tls ? DRAIN_RECORDS : DRAIN_MESSAGES);
	attach(&clients[1], session, TYPIST);
	typist_init(&typist, &clients[1], session, TYPIST);
	usleep(SETTLE_US);
	struct moment from = look(drain, gateway, &clients[0], session);
	for (uint64_t until = from.ns + seconds * 1000000000u; now_ns() < until;)
		typist_type(&typist, &samples, 1, KEY_US);
	struct moment to = look(drain, gateway, &clients[0], session);
	tell(crowd, &from, &to, ((double)usage_resident_kib(gateway) - (double)before) / (double)crowd->count);
	samples_write(&samples);
	printf("}\n");
	drain_stop(drain);
	typist_finish(&typist);
	samples_finish(&samples);
	leave(crowd);
}

int main(int argc, char **argv)
{
	static const char *const flood[] = {"sh", "-c", "stty raw -echo; exec yes \"$(printf '0123456789abcd\\r')\"", NULL};
	uint64_t seconds = 5, tls = 0;
	struct crowd crowd = {.count = 10};
	const struct option_row options[] = {{"--viewers", &crowd.count, "how many"},
	                                     {"--silent", &crowd.silent, "so many of them never read"},
	                                     {"--seconds", &seconds, "for how long"},
	                                     {"--tls", &tls, "1: over TLS; a message is one of its records then"},
	                                     {NULL, NULL, NULL}};
	struct server server;
	struct wire_client clients[2];
	char session[SESSION_TEXT];
	options_read(argc, argv, options);
	if (crowd.silent >= crowd.count) {
		fprintf(stderr, "somebody must read\n");
		return 2;
	}
	raise_descriptors();
	server_start(&server, &(struct server_options){.connections = crowd.count + 4, .tls = tls});
	for (int i = 0; i < 2; i++)
		wire_client_open(&clients[i], server.address, server.token);
	work_create(&clients[0], session);
	work_start(&clients[0], session, flood, true);
	usleep(SETTLE_US);
	measure(&crowd, clients, session, &server, seconds);
	for (int i = 0; i < 2; i++)
		wire_client_close(&clients[i]);
	return 0;
}
