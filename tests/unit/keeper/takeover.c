/*
 * Fifty gateways, one after the other, each killed by SIGKILL at a random moment while processes start, write and end.
 * Each takes over what the one before left. What they saw is written into memory that they share.
 */
#include "keeper_process.h"
#include "server/gateway/driver/namespaces.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	KILLS = 50,
	MOST = 4096,        /* processes in all */
	ECHOES = 3,         /* processes 1 to 3 live through everything; the third has a terminal */
	AT_ONCE = 8,        /* of the others */
	LONGEST_US = 60000, /* a gateway's life */
};

/* As a journal would have it: what was told of a process. */
struct record {
	bool asked, started, exited, forgotten;
};

struct ledger {
	struct record processes[MOST];
	uint32_t highest;     /* that start() was called with */
	int pids[ECHOES + 1]; /* as the processes know them; 0 = not heard yet */
	unsigned synced;      /* gateways that had taken over before they were killed */
	unsigned answers;     /* echoes that came back */
	char fault[256];
};

/* This gateway's view. */
struct life {
	struct ev_loop *loop;
	struct driver *driver;
	struct sandbox *sandbox;
	struct process_streams streams[MOST];
	bool told[MOST];
	unsigned running, found, number;
	char lines[ECHOES + 1][256];
	ev_io echoes[ECHOES + 1];
	ev_timer work;
	bool is_last, is_done, is_synced;
};

static struct ledger *ledger;
static struct life life;

static void blame(const char *what, uint32_t process)
{
	if (ledger->fault[0] == '\0')
		snprintf(ledger->fault, sizeof ledger->fault, "gateway %u: %s (process %u)", life.number, what, process);
	ev_break(life.loop, EVBREAK_ALL);
}

static int input_of(uint32_t process)
{
	return process == ECHOES ? life.streams[process].tty_fd : life.streams[process].stdin_fd;
}

static void close_streams(uint32_t process)
{
	struct process_streams *streams = &life.streams[process];
	const int fds[] = {streams->stdin_fd, streams->stdout_fd, streams->stderr_fd, streams->tty_fd};
	for (size_t i = 0; i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	*streams = PROCESS_STREAMS_NONE;
}

static void start(uint32_t process, bool terminal, bool wants_stdin, const char *command)
{
	const char *argv[] = {"sh", "-c", command, NULL}, *envp[] = {"PATH=/usr/bin:/bin", NULL};
	struct process_spec spec = {.process = process,
	                            .argv = argv,
	                            .envp = envp,
	                            .cwd = "/",
	                            .terminal = terminal,
	                            .wants_stdin = wants_stdin,
	                            .cols = 80,
	                            .rows = 24};
	ledger->highest = process;
	ledger->processes[process].asked = true;
	life.running++;
	life.driver->start(life.sandbox, &spec);
}

/* One line of an echo: its process id, and the number of the gateway that had asked. What answers an earlier one may
 * be a part only: a gateway that was killed has read the rest. */
static void take_line(uint32_t process, const char *line)
{
	int pid;
	unsigned asker;
	if (sscanf(line, "%d k%u", &pid, &asker) != 2 || asker != life.number)
		return;
	if (ledger->pids[process] == 0)
		ledger->pids[process] = pid;
	if (ledger->pids[process] != pid)
		blame("it is another process now", process);
	ledger->answers++;
	life.is_done = ledger->answers >= ECHOES && life.is_last;
}

static void on_echo(struct ev_loop *loop, ev_io *watcher, int events)
{
	(void)loop, (void)events;
	uint32_t process = (uint32_t)(watcher - life.echoes);
	char *text = life.lines[process], *end;
	size_t length = strlen(text);
	ssize_t got = read(watcher->fd, text + length, sizeof life.lines[0] - 1 - length);
	if (got == 0 || (got < 0 && errno != EAGAIN)) {
		blame("its stream ended", process);
		return;
	}
	text[length + (size_t)(got < 0 ? 0 : got)] = '\0';
	while ((end = strchr(text, '\n'))) {
		*end = '\0';
		take_line(process, text);
		memmove(text, end + 1, strlen(end + 1) + 1);
	}
	if (strlen(text) == sizeof life.lines[0] - 1)
		text[0] = '\0';
}

static void ask_echo(uint32_t process)
{
	char line[16];
	int length = snprintf(line, sizeof line, "k%u\n", life.number);
	if (write(input_of(process), line, (size_t)length) != length)
		blame("its stdin is full or gone", process);
}

static void on_started(void *owner, uint32_t process, const struct process_streams *streams)
{
	(void)owner;
	life.streams[process] = *streams;
	life.told[process] = true;
	if (!ledger->processes[process].asked)
		blame("was never asked for", process);
	ledger->processes[process].started = true;
	if (process > ECHOES)
		return;
	int fd = process == ECHOES ? streams->tty_fd : streams->stdout_fd;
	ev_io_init(&life.echoes[process], on_echo, fd, EV_READ);
	ev_io_start(life.loop, &life.echoes[process]);
	ask_echo(process);
}

static void on_start_failed(void *owner, uint32_t process, int exit_code, const char *code, const char *message)
{
	(void)owner, (void)exit_code, (void)code;
	fprintf(stderr, "process %u: %s\n", process, message);
	blame("a start failed", process);
}

static void on_exited(void *owner, uint32_t process, int wait_status, const struct rusage *usage)
{
	(void)owner, (void)usage;
	char text[64] = "", expected[64];
	if (process <= ECHOES || !life.told[process]) {
		blame("ended", process);
		return;
	}
	if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != (int)(process % 100))
		blame("ended with another status", process);
	/* What an earlier gateway had read is not there any more. */
	ssize_t got = read(life.streams[process].stdout_fd, text, sizeof text - 1);
	snprintf(expected, sizeof expected, "this is %u\n", process);
	if ((got > 0 && strcmp(text, expected) != 0) || (got <= 0 && !ledger->processes[process].exited))
		if (life.number == 0 || got > 0)
			blame("its output is wrong", process);
	ledger->processes[process].exited = true;
	close_streams(process);
	ledger->processes[process].forgotten = true;
	life.driver->forget(life.sandbox, process);
	life.running -= life.running > 0;
}

static void on_synced(void *owner)
{
	(void)owner;
	life.is_synced = true;
	for (uint32_t n = 1; n <= ledger->highest; n++)
		if (ledger->processes[n].started && !ledger->processes[n].forgotten && !life.told[n])
			blame("was not told again", n);
	ledger->synced++;
	ev_timer_start(life.loop, &life.work);
}

static void on_created(void *owner, const struct layer_report *layers)
{
	(void)owner, (void)layers;
	start(1, false, true, "while read x; do echo $$ $x; done");
	start(2, false, true, "exec 2>&1; while read x; do echo $$ $x >&2; done");
	start(3, true, false, "stty -echo -onlcr; while read x; do echo $$ $x; done");
	ev_timer_start(life.loop, &life.work);
}

static void on_lost(void *owner, const char *message)
{
	(void)owner, (void)message;
	blame("the sandbox is lost", 0);
}

static void on_create_failed(void *owner, const char *code, const char *message)
{
	(void)owner, (void)code, (void)message;
	blame("no sandbox", 0);
}

static void on_denied(void *owner, uint32_t process, const char *call, uint32_t thread, uint64_t count)
{
	(void)owner, (void)process, (void)call, (void)thread, (void)count;
}

static const struct sandbox_events events = {
	.created = on_created,
	.create_failed = on_create_failed,
	.started = on_started,
	.start_failed = on_start_failed,
	.exited = on_exited,
	.lost = on_lost,
	.denied = on_denied,
	.synced = on_synced,
};

static void *on_found(void *context, const char *session, struct sandbox *sandbox, const struct layer_report *layers,
                      const struct sandbox_events **its_events)
{
	(void)session, (void)layers;
	life.sandbox = sandbox;
	life.found++;
	*its_events = &events;
	return context;
}

static void on_done(void *context)
{
	(void)context;
	if (life.found != 1)
		blame("the sandbox was not handed on", life.found);
}

static void on_keeper_gone(void *owner)
{
	(void)owner;
	blame("the keeper is gone", 0);
}

/* Some processes are always being started, but in the last life: that one only waits for what is still there. */
static void on_work(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)timer, (void)revents;
	while (!life.is_last && life.running < AT_ONCE && ledger->highest < MOST - 1) {
		char command[64];
		uint32_t n = ledger->highest + 1;
		snprintf(command, sizeof command, "echo this is %u; exit %u", n, n % 100);
		start(n, false, false, command);
	}
	bool is_any_left = false;
	for (uint32_t n = ECHOES + 1; n <= ledger->highest; n++)
		is_any_left = is_any_left || (life.told[n] && !ledger->processes[n].forgotten);
	if (life.is_last && life.is_done && !is_any_left)
		ev_break(loop, EVBREAK_ALL);
}

static void on_late(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)loop, (void)timer, (void)revents;
	blame(life.is_synced ? "something never came" : "never synchronised", 0);
}

/* Live until killed; or, the last one, until all is seen. */
static void live(int socket, unsigned number, bool is_last)
{
	static const struct sandbox_adoption adoption = {.found = on_found, .done = on_done};
	ev_timer late;
	memset(&life, 0, sizeof life);
	life.number = number;
	life.is_last = is_last;
	life.loop = ev_loop_new(EVFLAG_AUTO);
	life.driver = namespaces_driver_create(life.loop, socket, on_keeper_gone, NULL);
	ev_timer_init(&life.work, on_work, 0.001, 0.001);
	ev_timer_init(&late, on_late, 30, 0);
	ev_timer_start(life.loop, &late);
	if (number > 0)
		life.driver->adopt(life.driver->context, &adoption, &life);
	namespaces_driver_ready(life.driver);
	if (number == 0) {
		struct sandbox_spec spec = {.session = "aaaaaaaaaaaaaaaa", .limits = sandbox_limits_default()};
		life.sandbox = life.driver->create(life.driver->context, &spec, &events, NULL);
	}
	ev_run(life.loop, 0);
	for (uint32_t n = 1; n <= ledger->highest; n++)
		if (life.told[n] && !ledger->processes[n].forgotten)
			close_streams(n);
	namespaces_driver_destroy(life.driver);
	ev_loop_destroy(life.loop);
}

static void live_and_be_killed(struct keeper_process *keeper, unsigned number)
{
	uint32_t random;
	cr_assert_eq(getrandom(&random, sizeof random, 0), (ssize_t)sizeof random);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(keeper->control);
		live(keeper->socket, number, false);
		_exit(1);
	}
	close(keeper->socket);
	usleep(random % LONGEST_US);
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert_eq(ledger->fault[0], '\0', "%s", ledger->fault);
}

/* Lives without a violent end, in this process. Returns the keeper's descriptors afterwards. */
static size_t live_in_peace(struct keeper_process *keeper, unsigned number)
{
	ledger->answers = 0;
	live(keeper->socket, number, true);
	cr_assert_eq(ledger->fault[0], '\0', "%s", ledger->fault);
	usleep(300000); /* empty cgroups are removed */
	return keeper_process_count(keeper).descriptors;
}

Test(takeover, survives_fifty_kills, .timeout = 240)
{
	struct keeper_process keeper;
	ledger = mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(ledger, MAP_FAILED);
	if (!keeper_process_start(&keeper, 2))
		cr_skip_test("no sandbox can be made here: %s", keeper.failure);
	size_t before = live_in_peace(&keeper, 0);
	for (unsigned number = 1; number <= KILLS; number++) {
		keeper_process_attach(&keeper);
		live_and_be_killed(&keeper, number);
	}
	fprintf(stderr, "%u of %d took over before they died; %u processes\n", ledger->synced, KILLS, ledger->highest);
	cr_expect_gt(ledger->synced, 0);
	keeper_process_attach(&keeper);
	size_t after = live_in_peace(&keeper, KILLS + 1);
	cr_expect_leq(after, before, "%zu descriptors before, %zu after", before, after);
	cr_expect_eq(keeper_process_count(&keeper).boxes, 1);
	keeper.socket = dup(STDIN_FILENO); /* for keeper_process_stop() to close */
	cr_assert(keeper_process_stop(&keeper), "something was left");
}
