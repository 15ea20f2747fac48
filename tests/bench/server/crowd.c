/*
 * Many clients at once, each of which asks again as soon as it was answered: sessions made and ended, processes run to
 * their end, and small requests answered, in a second. All clients are in this one process.
 */
#include "server.h"
#include "tests/bench/bare/measure.h"
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

enum { EVENTS = 64 };

struct member {
	struct wire_client client;
	char session[SESSION_TEXT], extra[SESSION_TEXT];
	uint32_t asked; /* the open request */
	bool has_extra;
};

/* What they all do for a while. */
struct phase {
	const char *name;
	void (*ask)(struct member *member);
	/* The answer has come; whether that is one more. */
	bool (*answered)(struct member *member, struct reader *result);
};

static void ask_session(struct member *member)
{
	if (member->has_extra)
		writer_key_str(wire_client_request(&member->client, "session.end", 1), "session", member->extra);
	else
		wire_client_request(&member->client, "session.create", 0);
}

static bool session_answered(struct member *member, struct reader *result)
{
	member->has_extra = !member->has_extra;
	if (member->has_extra)
		work_read_session(result, member->extra);
	return !member->has_extra;
}

static void ask_run(struct member *member)
{
	struct writer *request = wire_client_request(&member->client, "process.run", 2);
	writer_key_str(request, "session", member->session);
	writer_str(request, "argv");
	writer_array(request, 1);
	writer_str(request, "/bin/true");
}

static void ask_templates(struct member *member)
{
	wire_client_request(&member->client, "template.list", 0);
}

static bool always(struct member *member, struct reader *result)
{
	(void)member, (void)result;
	return true;
}

static const struct phase PHASES[] = {
	{"creations", ask_session, session_answered},
	{"starts", ask_run, always},
	{"messages", ask_templates, always},
};

static void ask(struct member *member, const struct phase *phase)
{
	phase->ask(member);
	member->asked = wire_client_send(&member->client);
}

static void finish_session(struct member *member)
{
	if (member->has_extra)
		work_end(&member->client, member->extra);
	member->has_extra = false;
}

static uint64_t count_for(const struct phase *phase, int poll, uint64_t until)
{
	struct epoll_event events[EVENTS];
	uint64_t counted = 0;
	while (now_ns() < until) {
		int count = epoll_wait(poll, events, EVENTS, 1000);
		for (int i = 0; i < count; i++) {
			struct member *member = events[i].data.ptr;
			struct reader result = wire_client_result(&member->client, member->asked);
			counted += phase->answered(member, &result);
			ask(member, phase);
		}
	}
	return counted;
}

/* The last answers, which are waited for and count as well: else much that was begun in a short time would not. */
static uint64_t drain(const struct phase *phase, struct member *members, uint64_t clients)
{
	uint64_t counted = 0;
	for (uint64_t i = 0; i < clients; i++) {
		struct reader result = wire_client_result(&members[i].client, members[i].asked);
		counted += phase->answered(&members[i], &result) || members[i].has_extra;
		finish_session(&members[i]);
	}
	return counted;
}

/* How many in a second. */
static double measure(const struct phase *phase, struct member *members, uint64_t clients, int poll, uint64_t seconds)
{
	for (uint64_t i = 0; i < clients; i++)
		ask(&members[i], phase);
	uint64_t begin = now_ns(), counted = count_for(phase, poll, begin + seconds * 1000000000u);
	counted += drain(phase, members, clients);
	return (double)counted * 1e9 / (double)(now_ns() - begin);
}

static void come(struct member *member, const struct server *server, int poll)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = member};
	wire_client_open(&member->client, server->address, server->token);
	work_create(&member->client, member->session);
	if (epoll_ctl(poll, EPOLL_CTL_ADD, member->client.link.socket, &event) != 0)
		die("epoll_ctl");
}

int main(int argc, char **argv)
{
	uint64_t clients = 8, seconds = 2;
	const struct option_row options[] = {
		{"--clients", &clients, "how many"}, {"--seconds", &seconds, "for how long each"}, {NULL, NULL, NULL}};
	struct server server;
	options_read(argc, argv, options);
	struct member *members = calloc(clients, sizeof *members);
	int poll = epoll_create1(EPOLL_CLOEXEC);
	if (!members || poll < 0)
		die("prepare the clients");
	server_start(&server, NULL);
	for (uint64_t i = 0; i < clients; i++)
		come(&members[i], &server, poll);
	printf("{\"bench\": \"sandbar_crowd\", \"clients\": %llu", (unsigned long long)clients);
	for (size_t i = 0; i < sizeof PHASES / sizeof PHASES[0]; i++)
		printf(", \"%s_s\": %.1f", PHASES[i].name, measure(&PHASES[i], members, clients, poll, seconds));
	printf("}\n");
	for (uint64_t i = 0; i < clients; i++)
		wire_client_close(&members[i].client);
	free(members);
	return 0;
}
