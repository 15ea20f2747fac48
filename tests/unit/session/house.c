#include "house.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static const struct layer_report no_layers;

/* --- the driver ---------------------------------------------------------------------------------------------- */

static bool offer(void *context, struct sandbox_spec *spec)
{
	(void)context, (void)spec;
	return false;
}

static struct sandbox *create(void *context, const struct sandbox_spec *spec, const struct sandbox_events *events,
                              void *owner)
{
	struct house *house = context;
	struct sandbox *sandbox = calloc(1, sizeof *sandbox);
	cr_assert(sandbox && house->sandbox_count < sizeof house->sandboxes / sizeof *house->sandboxes);
	sandbox->events = events;
	sandbox->owner = owner;
	sandbox->spec = *spec;
	house->sandbox = house->sandboxes[house->sandbox_count++] = sandbox;
	return sandbox;
}

static void destroy(struct sandbox *sandbox)
{
	cr_assert_eq(sandbox->destroys++, 0, "destroyed twice");
}

static struct actor *actor_of(const struct sandbox *sandbox, uint32_t number)
{
	cr_assert_eq(sandbox->destroys, 0, "the driver is asked for something after destroy()");
	for (size_t i = 0; i < sandbox->actor_count; i++)
		if (sandbox->actors[i]->number == number)
			return sandbox->actors[i];
	cr_assert_fail("there is no process %u", number);
	return NULL;
}

static void start(struct sandbox *sandbox, const struct process_spec *spec)
{
	struct actor *actor = calloc(1, sizeof *actor);
	cr_assert(actor && sandbox->actor_count < HOUSE_PROCESSES && sandbox->destroys == 0);
	*actor = (struct actor){.number = spec->process, .terminal = spec->terminal, .wants_stdin = spec->wants_stdin};
	actor->in = actor->out = actor->err = -1;
	size_t count = 0;
	while (spec->envp[count])
		count++;
	actor->env = calloc(count + 1, sizeof *actor->env);
	cr_assert_not_null(actor->env);
	for (size_t i = 0; i < count; i++)
		actor->env[i] = strdup(spec->envp[i]);
	sandbox->actors[sandbox->actor_count++] = actor;
}

static void send_signal(struct sandbox *sandbox, uint32_t number, int signo, enum signal_scope scope)
{
	struct actor *actor = actor_of(sandbox, number);
	cr_assert_lt(actor->signal_count, HOUSE_SIGNALS);
	actor->signals[actor->signal_count].number = signo;
	actor->signals[actor->signal_count++].scope = scope;
}

static void kill_tree(struct sandbox *sandbox, uint32_t number)
{
	actor_of(sandbox, number)->kills++;
}

static void ask_usage(struct sandbox *sandbox, uint32_t number)
{
	actor_of(sandbox, number)->usages++;
}

static void measure(struct sandbox *sandbox)
{
	cr_assert_eq(sandbox->destroys, 0, "the driver is asked for something after destroy()");
	sandbox->measures++;
}

static void close_stdin(struct sandbox *sandbox, uint32_t number)
{
	actor_of(sandbox, number)->stdin_closes++;
}

static void forget(struct sandbox *sandbox, uint32_t number)
{
	bool is_known = false;
	for (size_t i = 0; i < sandbox->actor_count; i++)
		is_known |= sandbox->actors[i]->number == number;
	if (is_known)
		cr_assert_eq(actor_of(sandbox, number)->forgets++, 0, "forgotten twice");
	else
		sandbox->strangers++;
}

/* --- the house ----------------------------------------------------------------------------------------------- */

void house_open_empty(struct house *house, uint64_t ring)
{
	*house = (struct house){.folder = "/tmp/sandbar-house-XXXXXX"};
	house->driver = (struct driver){.name = "recorded",
	                                .context = house,
	                                .offer = offer,
	                                .create = create,
	                                .destroy = destroy,
	                                .start = start,
	                                .signal = send_signal,
	                                .kill = kill_tree,
	                                .usage = ask_usage,
	                                .measure = measure,
	                                .close_stdin = close_stdin,
	                                .forget = forget};
	cr_assert_not_null(mkdtemp(house->folder));
	int directory = open(house->folder, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	house->loop = ev_loop_new(EVFLAG_AUTO);
	cr_assert(directory >= 0 && house->loop);
	sessions_init(&house->sessions, house->loop, &house->driver, directory);
	house->sessions.most = 8;
	house->sessions.ring_bytes = ring ? ring : JOURNAL_RING_LEAST;
}

void house_open(struct house *house, uint64_t ring)
{
	house_open_empty(house, ring);
	struct ear ear = {0};
	house_create(house, &ear);
	house_created(house);
	cr_assert_eq(ear.created, 1);
}

static void free_sandbox(struct sandbox *sandbox)
{
	for (size_t i = 0; i < sandbox->actor_count; i++) {
		struct actor *actor = sandbox->actors[i];
		actor_close(actor);
		for (char **entry = actor->env; *entry; entry++)
			free(*entry);
		free(actor->env);
		free(actor);
	}
	free(sandbox);
}

void house_close(struct house *house)
{
	struct channel *channel;
	while (house->session && (channel = LIST_FIRST(&house->session->channels))) /* of a test that failed */
		channel_detach(channel);
	if (house->session) {
		session_end(house->session, "ended", NULL);
		if (house->sandbox->destroys == 0 && house->session->state == SESSION_ENDING)
			house_fire(house, &house->session->deadline);
		if (house->session->state != SESSION_ENDED)
			house_destroyed(house);
	}
	for (size_t i = 0; i < house->sandbox_count; i++)
		free_sandbox(house->sandboxes[i]);
	sessions_finish(&house->sessions);
	close(house->sessions.directory);
	cr_assert_eq(rmdir(house->folder), 0, "a session left something in `%s`", house->folder);
	ev_loop_destroy(house->loop);
}

static void session_failed(struct session_watch *watch, const char *code, const char *message)
{
	struct ear *ear = (struct ear *)watch;
	ear->failed++;
	snprintf(ear->code, sizeof ear->code, "%s", code);
	snprintf(ear->message, sizeof ear->message, "%s", message);
}

static void session_created(struct session_watch *watch, struct session *session)
{
	(void)session;
	((struct ear *)watch)->created++;
}
_Static_assert(offsetof(struct ear, session) == 0, "the session's watch is the ear's beginning");

struct session *house_create(struct house *house, struct ear *ear)
{
	char **env = calloc(2, sizeof *env);
	env[0] = strdup("OF=session");
	ear->session = (struct session_watch){.created = session_created, .failed = session_failed};
	const struct session_options options = {.name = "tried",
	                                        .template = TEMPLATE_DEFAULT,
	                                        .tenant = "default",
	                                        .env = env,
	                                        .limits = sandbox_limits_default()};
	enum error_code code;
	struct error err = {0};
	house->session = session_create(&house->sessions, &options, &ear->session, &code, &err);
	cr_assert_not_null(house->session, "%s", err.message);
	cr_assert_eq(house->sandbox->owner, house->session);
	return house->session;
}

void house_created(struct house *house)
{
	house->sandbox->events->created(house->sandbox->owner, &no_layers);
}

void house_measured(struct house *house, uint64_t memory, uint64_t tasks)
{
	struct sandbox_usage usage;
	memset(&usage, 0xff, sizeof usage);
	usage.memory = memory;
	usage.tasks = tasks;
	house->sandbox->events->measured(house->sandbox->owner, &usage);
}

void house_destroyed(struct house *house)
{
	cr_assert_eq(house->sandbox->destroys, 1, "nobody asked the driver to destroy");
	bool has_channels = !LIST_EMPTY(&house->session->channels);
	house->sandbox->events->destroyed(house->sandbox->owner);
	if (!has_channels)
		house->session = NULL;
}

void house_turn(struct house *house)
{
	for (int i = 0; i < 20; i++)
		ev_run(house->loop, EVRUN_NOWAIT);
}

void house_fire(struct house *house, ev_timer *timer)
{
	cr_assert(ev_is_active(timer), "a timer that does not run cannot come");
	if (timer->repeat == 0.) /* NOLINT: 0 is what was set */
		ev_timer_stop(house->loop, timer);
	ev_invoke(house->loop, timer, EV_TIMER);
}

/* --- its processes ------------------------------------------------------------------------------------------- */

#define EAR_OF(watch) ((struct ear *)(void *)((char *)(watch)-offsetof(struct ear, process)))

static void heard_started(struct process_watch *watch, struct process *process)
{
	(void)process;
	EAR_OF(watch)->started++;
}

static void heard_not_started(struct process_watch *watch, const char *code, const char *message)
{
	struct ear *ear = EAR_OF(watch);
	ear->not_started++;
	snprintf(ear->code, sizeof ear->code, "%s", code);
	snprintf(ear->message, sizeof ear->message, "%s", message);
}

static void heard_output(struct process_watch *watch, enum stream stream, const uint8_t *bytes, size_t length)
{
	(void)stream, (void)bytes;
	EAR_OF(watch)->output += length;
}

static void heard_done(struct process_watch *watch, struct process *process)
{
	(void)process;
	EAR_OF(watch)->done++;
}

/* A watch for the start of a process of which the test wants to hear no more. */
static void forget_watch(struct process_watch *watch, struct process *process)
{
	(void)process;
	LIST_REMOVE(watch, link);
}

struct process *house_ask_start(struct house *house, struct process_options options, struct ear *ear)
{
	static const char *const argv[] = {"sh", NULL};
	static struct process_watch nobody;
	nobody = (struct process_watch){.started = forget_watch};
	if (ear)
		ear->process = (struct process_watch){
			.started = heard_started, .not_started = heard_not_started, .output = heard_output, .done = heard_done};
	if (!options.argv)
		options.argv = argv;
	options.cwd = options.cwd ? options.cwd : "/work";
	options.name = options.name ? options.name : "";
	options.by = "tester";
	enum error_code code;
	struct error err = {0};
	struct process *process = session_start(house->session, &options, ear ? &ear->process : &nobody, &code, &err);
	cr_assert_not_null(process, "%s", err.message);
	return process;
}

struct process *house_start(struct house *house, struct process_options options, struct ear *ear)
{
	struct process *process = house_ask_start(house, options, ear);
	actor_started(house, house_actor(house, process));
	return process;
}

struct actor *house_actor(struct house *house, const struct process *process)
{
	for (size_t i = 0; i < house->sandbox->actor_count; i++)
		if (house->sandbox->actors[i]->number == process->number)
			return house->sandbox->actors[i];
	cr_assert_fail("the driver was not asked for process %u", process->number);
	return NULL;
}

/* Returns the end that the session gets; KEPT is the test's. */
static int make_pipe(int *kept, bool session_reads)
{
	int fds[2];
	cr_assert_eq(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0, "%s", strerror(errno));
	*kept = fds[session_reads ? 1 : 0];
	return fds[session_reads ? 0 : 1];
}

static int make_terminal(int *slave)
{
	int master;
	struct termios raw;
	cr_assert_eq(openpty(&master, slave, NULL, NULL, NULL), 0);
	cr_assert_eq(tcgetattr(*slave, &raw), 0);
	cfmakeraw(&raw);
	cr_assert_eq(tcsetattr(*slave, TCSANOW, &raw), 0);
	fcntl(master, F_SETFL, O_NONBLOCK);
	fcntl(*slave, F_SETFL, O_NONBLOCK);
	return master;
}

void actor_started(struct house *house, struct actor *actor)
{
	struct process_streams streams = PROCESS_STREAMS_NONE;
	if (actor->terminal) {
		streams.tty_fd = make_terminal(&actor->out);
	} else {
		streams.stdout_fd = make_pipe(&actor->out, true);
		streams.stderr_fd = make_pipe(&actor->err, true);
		if (actor->wants_stdin)
			streams.stdin_fd = make_pipe(&actor->in, false);
	}
	house->sandbox->events->started(house->sandbox->owner, actor->number, &streams);
}

void actor_exited(struct house *house, struct actor *actor, int wait_status)
{
	const struct rusage usage = {.ru_utime = {.tv_usec = 1500}, .ru_stime = {.tv_usec = 500}, .ru_maxrss = 2048};
	house->sandbox->events->exited(house->sandbox->owner, actor->number, wait_status, &usage);
}

void actor_usage(struct house *house, struct actor *actor, uint64_t populated)
{
	const struct process_usage usage = {2000, 1000, 4096, 0, populated};
	house->sandbox->events->usage(house->sandbox->owner, actor->number, &usage);
}

void actor_killed(struct house *house, struct actor *actor)
{
	house->sandbox->events->killed(house->sandbox->owner, actor->number);
}

void actor_close(struct actor *actor)
{
	int *const ends[] = {&actor->in, &actor->out, &actor->err};
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		if (*ends[i] >= 0)
			close(*ends[i]);
		*ends[i] = -1;
	}
}

void actor_write(int fd, const void *bytes, size_t length)
{
	cr_assert_eq(write(fd, bytes, length), (ssize_t)length, "%s", strerror(errno));
}

/* A terminal hands bytes on in a thread of the kernel's own, so they are waited for. */
void house_produce(struct house *house, struct process *process, int fd, const void *bytes, size_t length)
{
	uint64_t wanted = process->output_total + length;
	const char *at = bytes;
	for (int waits = 0; process->output_total < wanted; waits++) {
		ssize_t wrote = length > 0 ? write(fd, at, length) : 0;
		cr_assert(wrote >= 0 || errno == EAGAIN, "%s", strerror(errno));
		at += wrote > 0 ? wrote : 0;
		length -= wrote > 0 ? (size_t)wrote : 0;
		house_turn(house);
		cr_assert_lt(waits, 10000, "the output does not arrive");
		if (waits > 10)
			usleep(200);
	}
}

size_t actor_read(int fd, void *bytes, size_t size)
{
	size_t have = 0;
	while (have < size) {
		ssize_t got = read(fd, (char *)bytes + have, size - have);
		if (got <= 0)
			break;
		have += (size_t)got;
	}
	return have;
}

void actor_is_over(struct house *house, struct actor *actor, int wait_status)
{
	actor_close(actor);
	actor_exited(house, actor, wait_status);
	actor_usage(house, actor, 0);
	house_turn(house);
}
