/*
 * The gateway is killed; its client sees the connection end, connects again and attaches after the last event that it
 * has: from the kill to the first byte of output that comes then. A process writes a byte each millisecond. The
 * other sessions hold a process that sleeps.
 */
#include "server.h"
#include "tests/bench/bare/measure.h"
#include "usage.h"
#include "work.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { APART_US = 500000 };

/* Its last event: where it goes on. */
struct place {
	char session[SESSION_TEXT];
	uint64_t seq;
};

static void attach_after(struct wire_client *client, const struct place *place)
{
	struct writer *request = wire_client_request(client, "session.attach", 2);
	writer_key_str(request, "session", place->session);
	writer_key_uint(request, "after", place->seq);
	wire_client_send(client);
}

static void await_output(struct wire_client *client, struct place *place)
{
	struct wire_frame frame;
	struct output_header output;
	while (work_next_event(client, &frame) != FRAME_OUTPUT)
		;
	if (!output_header_read(frame.bytes, frame.length, &output) || output.seq <= place->seq)
		die("an event that has come before");
	place->seq = output.seq;
}

/* All that comes for a while; then the client has nothing unread but what is on its way. */
static void read_on(struct wire_client *client, struct place *place)
{
	for (uint64_t until = now_ns() + APART_US * 1000u; now_ns() < until;)
		await_output(client, place);
}

static void await_end(struct wire_client *client)
{
	char bytes[4096];
	while (link_read(&client->link, bytes, sizeof bytes) > 0)
		;
}

static uint64_t resume_once(struct wire_client *client, struct place *place, const struct server *server)
{
	read_on(client, place);
	pid_t gateway = usage_gateway(server->pid);
	uint64_t begin = now_ns();
	if (gateway == 0 || kill(gateway, SIGKILL) != 0)
		die("kill the gateway");
	await_end(client);
	wire_client_close(client);
	wire_client_open(client, server->address, server->token);
	attach_after(client, place);
	await_output(client, place);
	return now_ns() - begin;
}

static void start_ticking(struct wire_client *client, struct place *place)
{
	static const char *const ticker[] = {
		"bash", "-c", "mkfifo /tmp/f; exec 3<>/tmp/f; while :; do printf x; read -t 0.001 -u 3; done", NULL};
	work_create(client, place->session);
	attach_after(client, place);
	work_start(client, place->session, ticker, false);
	await_output(client, place);
}

static void sleep_in_others(struct wire_client *client, uint64_t count)
{
	static const char *const sleeper[] = {"sleep", "1000", NULL};
	char session[SESSION_TEXT];
	for (uint64_t i = 0; i < count; i++) {
		work_create(client, session);
		work_start(client, session, sleeper, false);
	}
}

int main(int argc, char **argv)
{
	uint64_t runs = 20, sessions = 1;
	const struct option_row options[] = {
		{"--runs", &runs, "how many kills"}, {"--sessions", &sessions, "how many there are"}, {NULL, NULL, NULL}};
	struct samples samples;
	struct server server;
	struct wire_client client;
	struct place place = {.seq = 0};
	options_read(argc, argv, options);
	samples_init(&samples, runs);
	server_start(&server, &(struct server_options){.sessions = sessions + 1, .quiet = true});
	wire_client_open(&client, server.address, server.token);
	sleep_in_others(&client, sessions - 1);
	start_ticking(&client, &place);
	for (uint64_t i = 0; i < runs; i++)
		samples_add(&samples, resume_once(&client, &place, &server));
	samples_print(&samples, "sandbar_resume");
	samples_finish(&samples);
	wire_client_close(&client);
	return 0;
}
