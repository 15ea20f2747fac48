#include "supervisor.h"
#include "options.h"
#include "retry.h"
#include "server/base/log.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define READY_NS (10 * SECOND) /* a gateway that is not ready by then is broken */
#define LEAVE_NS (5 * SECOND)  /* for a gateway that is replaced to close its connections */
#define STOP_NS (8 * SECOND)   /* for the gateway to end its sessions; with KILL_NS: 10 s in all */
#define KILL_NS (2 * SECOND)   /* for the kernel to end what was killed */
#define LOOK_NS (5 * SECOND)   /* how often it is looked whether the gateway says anything */
#define HANG_UP_NS SECOND      /* for a gateway that closed its conversation to end: mostly it is just dying */

/* Deaths in a row before READY, after which no gateway can serve. Two are a session's that cannot be loaded, which the
 * third gateway gives up. */
enum { START_DEATHS = 5 };

/* Looks in a row at a gateway that said nothing: it hangs. Looks, and not seconds, since a machine can stand still. */
enum { SILENT_LOOKS = 4 };

enum state {
	STARTING, /* the gateway is not ready yet */
	SERVING,
	REPLACING, /* it was asked to leave for the next one, which takes over its sandboxes */
	YIELDING,  /* the same, and the next one is to end them */
	STOPPING,  /* it was asked to end its sessions and to leave */
	RESUMING,  /* it died of that, or had left before: the next one is to go on with it */
	KILLING,   /* everything was killed */
	STOPPED,
	STATES
};

enum event {
	EVENT_READY,        /* the gateway says that it serves */
	EVENT_HANG_UP,      /* it closed its conversation */
	EVENT_GATEWAY_GONE, /* its process has ended */
	EVENT_CLEAR,        /* neither a gateway nor a sandbox is left */
	EVENT_STOP,         /* SIGTERM, SIGINT, a terminal that hung up */
	EVENT_RELOAD,       /* SIGHUP that somebody sent */
	EVENT_REPLACE,      /* SIGUSR2 */
	EVENT_DEADLINE,
	EVENT_SILENT, /* it hangs */
	EVENTS
};

struct supervisor {
	struct keeper *keeper;
	struct gateway_launch *launch;
	const struct supervisor_events *events;
	void *owner;
	struct gateway gateway;
	enum state state;
	uint64_t deadline;        /* monotonic_ns(); UINT64_MAX = none */
	uint64_t stop_by;         /* the same: the end of STOPPING */
	uint64_t tick_due;        /* the same */
	unsigned start_deaths;    /* in a row */
	uint64_t look_due, heard; /* monotonic_ns(); keeper_performed() then */
	unsigned silent_looks;    /* in a row */
	int signals;
	int exit_code;
	bool announced, hung_up;
	bool is_failure; /* the gateway's death is its own: it hung */
	bool has_left;   /* it ended as asked */
	bool has_failed; /* it said that it cannot start */
};

typedef enum state action(struct supervisor *supervisor);

static void set_deadline(struct supervisor *supervisor, uint64_t wait_ns)
{
	supervisor->deadline = monotonic_ns() + wait_ns;
}

/* Kill all, with exit code CODE when nothing is left. */
static enum state kill_all(struct supervisor *supervisor, int code)
{
	supervisor->exit_code = code;
	gateway_signal(&supervisor->gateway, SIGKILL);
	keeper_detach(supervisor->keeper);
	keeper_end_boxes(supervisor->keeper);
	set_deadline(supervisor, KILL_NS);
	return KILLING;
}

static enum state start(struct supervisor *supervisor)
{
	struct error err;
	int socket;
	supervisor->hung_up = supervisor->is_failure = false;
	set_deadline(supervisor, READY_NS);
	if (gateway_start(&supervisor->gateway, supervisor->launch, &socket, &err) == 0) {
		if (keeper_attach(supervisor->keeper, socket, supervisor->launch->config.epoch, &err) == 0)
			return STARTING;
		close(socket);
	}
	log_write(LOG_ERROR, NULL, "no gateway can be started", LOG_FIELDS(log_text("error", err.message)));
	return kill_all(supervisor, EXIT_GATEWAY);
}

static enum state announce(struct supervisor *supervisor)
{
	supervisor->deadline = UINT64_MAX;
	supervisor->events->serving(supervisor->owner, !supervisor->announced);
	supervisor->announced = true;
	supervisor->start_deaths = 0;
	return SERVING;
}

static enum state await_end(struct supervisor *supervisor)
{
	set_deadline(supervisor, HANG_UP_NS);
	return supervisor->state;
}

static enum state kill_gateway(struct supervisor *supervisor)
{
	bool replacing = supervisor->state == REPLACING || supervisor->state == YIELDING;
	log_write(LOG_ERROR, NULL,
	          replacing ? "the gateway does not leave, and is killed"
	                    : "the gateway does not talk to the keeper, and is killed",
	          NULL);
	gateway_signal(&supervisor->gateway, SIGKILL);
	supervisor->is_failure = !replacing;
	supervisor->deadline = UINT64_MAX;
	return supervisor->state;
}

/* The sandboxes wait for the next one. */
static enum state succeed(struct supervisor *supervisor)
{
	keeper_detach(supervisor->keeper);
	return start(supervisor);
}

/* One that served is followed by the next at once, however often; one that never served may be unable to. */
static enum state restart(struct supervisor *supervisor)
{
	if (supervisor->has_failed && !supervisor->announced)
		return kill_all(supervisor, EXIT_CANNOT);
	supervisor->start_deaths += supervisor->state == STARTING && supervisor->is_failure;
	if (supervisor->start_deaths >= START_DEATHS) {
		log_write(LOG_ERROR, NULL, "gateways die before they serve: giving up",
		          LOG_FIELDS(log_number("times", START_DEATHS)));
		return kill_all(supervisor, EXIT_GATEWAY);
	}
	return succeed(supervisor);
}

/* The programs are opened anew each time, so that the one that starts is the one that was there at the last signal. */
static enum state reopen(struct supervisor *supervisor)
{
	struct error err;
	if (supervisor->events->reopen(supervisor->owner, &err) < 0)
		log_write(LOG_ERROR, NULL, "a program cannot be replaced: the old one stays",
		          LOG_FIELDS(log_text("error", err.message)));
	return supervisor->state;
}

static enum state replace(struct supervisor *supervisor)
{
	reopen(supervisor);
	log_write(LOG_INFO, NULL, "the gateway is replaced",
	          LOG_FIELDS(log_number("sandboxes", (int64_t)keeper_boxes(supervisor->keeper))));
	gateway_signal(&supervisor->gateway, SIGUSR2);
	set_deadline(supervisor, LEAVE_NS);
	return REPLACING;
}

static enum state reload(struct supervisor *supervisor)
{
	struct error err;
	int changed = supervisor->events->reload(supervisor->owner, &err);
	if (changed > 0)
		changed = gateway_hand_tls(&supervisor->gateway, supervisor->launch, &err);
	if (changed < 0)
		log_write(LOG_ERROR, NULL, "the certificate is not replaced", LOG_FIELDS(log_text("error", err.message)));
	return supervisor->state;
}

/* Time to drain that is left of the one stop, for a gateway that goes on with it. */
static uint32_t drain_left_ms(const struct supervisor *supervisor)
{
	uint64_t now = monotonic_ns(), until = supervisor->stop_by - STOP_NS;
	return until > now ? (uint32_t)((until - now) / (SECOND / 1000)) : 0;
}

static void begin_stop(struct supervisor *supervisor)
{
	log_write(LOG_INFO, NULL, "stopping",
	          LOG_FIELDS(log_number("sandboxes", (int64_t)keeper_boxes(supervisor->keeper))));
	supervisor->events->stopping(supervisor->owner);
	supervisor->stop_by = monotonic_ns() + STOP_NS + supervisor->launch->config.drain_ms * (SECOND / 1000);
}

static enum state stop(struct supervisor *supervisor)
{
	begin_stop(supervisor);
	gateway_signal(&supervisor->gateway, SIGTERM);
	supervisor->deadline = supervisor->stop_by;
	return STOPPING;
}

/* The one that leaves has been told already not to end its sessions. */
static enum state yield(struct supervisor *supervisor)
{
	begin_stop(supervisor);
	return YIELDING;
}

static enum state stop_again(struct supervisor *supervisor)
{
	gateway_signal(&supervisor->gateway, SIGTERM);
	return STOPPING;
}

static enum state kill_for_stop(struct supervisor *supervisor)
{
	return kill_all(supervisor, EXIT_STOPPED);
}

static enum state pass_stop_on(struct supervisor *supervisor)
{
	supervisor->launch->config.drain_ms = drain_left_ms(supervisor);
	if (succeed(supervisor) != STARTING)
		return KILLING;
	supervisor->deadline = supervisor->stop_by;
	return RESUMING;
}

/* Sessions that were promised time to end do not lose it with their gateway. */
static enum state resume_stop(struct supervisor *supervisor)
{
	supervisor->start_deaths += supervisor->state == RESUMING && supervisor->is_failure;
	if (supervisor->has_left || supervisor->start_deaths >= START_DEATHS)
		return kill_for_stop(supervisor);
	return pass_stop_on(supervisor);
}

static enum state finish(struct supervisor *supervisor)
{
	supervisor->deadline = UINT64_MAX;
	return STOPPED;
}

static enum state finish_late(struct supervisor *supervisor)
{
	log_write(LOG_ERROR, NULL, "not everything that was killed is gone: the next start sweeps it",
	          LOG_FIELDS(log_number("sandboxes", (int64_t)keeper_boxes(supervisor->keeper))));
	return finish(supervisor);
}

/* What is not in the table changes nothing. A second signal while stopping does not wait for the gateway. One that
 * starts may die of SIGUSR2, which is as good as leaving. */
static action *const actions[STATES][EVENTS] = {
	[STARTING] = {[EVENT_READY] = announce,
                  [EVENT_HANG_UP] = await_end,
                  [EVENT_GATEWAY_GONE] = restart,
                  [EVENT_STOP] = stop,
                  [EVENT_RELOAD] = reload,
                  [EVENT_REPLACE] = replace,
                  [EVENT_DEADLINE] = kill_gateway},
	[SERVING] = {[EVENT_HANG_UP] = await_end,
                 [EVENT_GATEWAY_GONE] = restart,
                 [EVENT_STOP] = stop,
                 [EVENT_RELOAD] = reload,
                 [EVENT_REPLACE] = replace,
                 [EVENT_DEADLINE] = kill_gateway,
                 [EVENT_SILENT] = kill_gateway},
	[REPLACING] = {[EVENT_GATEWAY_GONE] = succeed,
                   [EVENT_STOP] = yield,
                   [EVENT_RELOAD] = reload,
                   [EVENT_REPLACE] = reopen,
                   [EVENT_DEADLINE] = kill_gateway},
	[YIELDING] = {[EVENT_GATEWAY_GONE] = pass_stop_on, [EVENT_STOP] = kill_for_stop, [EVENT_DEADLINE] = kill_gateway},
	[STOPPING] = {[EVENT_GATEWAY_GONE] = resume_stop, [EVENT_STOP] = kill_for_stop, [EVENT_DEADLINE] = kill_for_stop},
	[RESUMING] = {[EVENT_READY] = stop_again,
                  [EVENT_GATEWAY_GONE] = resume_stop,
                  [EVENT_STOP] = kill_for_stop,
                  [EVENT_DEADLINE] = kill_for_stop},
	[KILLING] = {[EVENT_CLEAR] = finish, [EVENT_DEADLINE] = finish_late},
};

static void handle(struct supervisor *supervisor, enum event event)
{
	action *act = actions[supervisor->state][event];
	if (act)
		supervisor->state = act(supervisor);
}

/* The kernel's own SIGHUP says that the terminal is gone which the server runs in; a person's means the files. */
static enum event event_of(const struct signalfd_siginfo *info)
{
	if (info->ssi_signo == SIGUSR2)
		return EVENT_REPLACE;
	return info->ssi_signo == SIGHUP && info->ssi_code != SI_KERNEL ? EVENT_RELOAD : EVENT_STOP;
}

static void take_signals(struct supervisor *supervisor)
{
	struct signalfd_siginfo info;
	while (read(supervisor->signals, &info, sizeof info) == (ssize_t)sizeof info)
		handle(supervisor, event_of(&info));
}

/* By somebody, or for want of memory: that says nothing about what it was doing. */
static bool was_killed_from_outside(int status)
{
	int signo = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	return signo == SIGKILL || signo == SIGTERM || signo == SIGINT || signo == SIGHUP || signo == SIGUSR2;
}

static void take_gateway_end(struct supervisor *supervisor)
{
	int status = supervisor->gateway.pidfd < 0 ? -1 : gateway_reap(&supervisor->gateway);
	if (status < 0)
		return;
	supervisor->is_failure |= !was_killed_from_outside(status);
	supervisor->has_left = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	supervisor->has_failed = WIFEXITED(status) && WEXITSTATUS(status) == GATEWAY_CANNOT;
	supervisor->launch->config.after_failure = supervisor->is_failure;
	bool asked = supervisor->state >= REPLACING;
	log_write(asked ? LOG_INFO : LOG_ERROR, NULL, asked ? "the gateway has left" : "the gateway died",
	          LOG_FIELDS(log_number(WIFSIGNALED(status) ? "signal" : "exit_code",
	                                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status))));
	handle(supervisor, EVENT_GATEWAY_GONE);
}

static void take_conversation(struct supervisor *supervisor)
{
	keeper_run(supervisor->keeper);
	bool is_starting = supervisor->state == STARTING || supervisor->state == RESUMING;
	if (is_starting && keeper_is_ready(supervisor->keeper))
		handle(supervisor, EVENT_READY);
	if (supervisor->gateway.pidfd >= 0 && !supervisor->hung_up && !keeper_is_attached(supervisor->keeper)) {
		supervisor->hung_up = true;
		handle(supervisor, EVENT_HANG_UP);
	}
}

/* Sleep until something happens or is due. */
static void wait_for_events(const struct supervisor *supervisor)
{
	uint64_t now = monotonic_ns();
	uint64_t due = keeper_deadline(supervisor->keeper);
	due = due < supervisor->deadline ? due : supervisor->deadline;
	due = due < supervisor->tick_due ? due : supervisor->tick_due;
	if (supervisor->state == SERVING)
		due = due < supervisor->look_due ? due : supervisor->look_due;
	uint64_t wait = due > now ? due - now : 0;
	struct timespec timeout = {.tv_sec = (time_t)(wait / SECOND), .tv_nsec = (long)(wait % SECOND)};
	struct pollfd fds[] = {
		{.fd = supervisor->signals, .events = POLLIN},
		{.fd = keeper_fd(supervisor->keeper), .events = POLLIN},
		{.fd = supervisor->gateway.pidfd, .events = POLLIN},
	};
	ppoll(fds, sizeof fds / sizeof fds[0], due == UINT64_MAX ? NULL : &timeout, NULL);
}

static void tick(struct supervisor *supervisor)
{
	uint64_t now = monotonic_ns();
	if (now < supervisor->tick_due)
		return;
	uint64_t wait = supervisor->events->tick(supervisor->owner);
	supervisor->tick_due = wait == UINT64_MAX ? UINT64_MAX : now + wait;
}

static void look(struct supervisor *supervisor)
{
	uint64_t now = monotonic_ns(), heard = keeper_performed(supervisor->keeper);
	if (supervisor->state == SERVING && now < supervisor->look_due)
		return;
	bool is_silent = supervisor->state == SERVING && heard == supervisor->heard;
	supervisor->silent_looks = is_silent ? supervisor->silent_looks + 1 : 0;
	supervisor->look_due = now + LOOK_NS;
	supervisor->heard = heard;
	if (supervisor->silent_looks < SILENT_LOOKS)
		return;
	supervisor->silent_looks = 0;
	handle(supervisor, EVENT_SILENT);
}

static void turn(struct supervisor *supervisor)
{
	tick(supervisor);
	look(supervisor);
	wait_for_events(supervisor);
	take_gateway_end(supervisor);
	take_conversation(supervisor);
	take_signals(supervisor);
	if (supervisor->gateway.pidfd < 0 && keeper_boxes(supervisor->keeper) == 0)
		handle(supervisor, EVENT_CLEAR);
	if (supervisor->deadline <= monotonic_ns()) {
		supervisor->deadline = UINT64_MAX;
		handle(supervisor, EVENT_DEADLINE);
	}
}

static void taken_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGUSR2);
}

int supervisor_block_signals(struct error *err)
{
	sigset_t set;
	taken_signals(&set);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return error_set(err, errno, "block signals");
	return 0;
}

int supervisor_run(struct keeper *keeper, struct gateway_launch *launch, const struct supervisor_events *events,
                   void *owner)
{
	sigset_t set;
	taken_signals(&set);
	struct supervisor supervisor = {
		.keeper = keeper, .launch = launch, .events = events, .owner = owner, .gateway = {.pidfd = -1, .news = -1}};
	supervisor.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (supervisor.signals < 0) {
		log_write(LOG_ERROR, NULL, "signalfd", LOG_FIELDS(log_text("error", strerror(errno))));
		return EXIT_CANNOT;
	}
	supervisor.state = start(&supervisor);
	while (supervisor.state != STOPPED)
		turn(&supervisor);
	close(supervisor.signals);
	return supervisor.exit_code;
}
