#include "namespaces_state.h"
#include "server/base/log.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const ev_tstamp alive_s = 3.;

void namespaces_defer(struct sandbox *sandbox, deferred_fn *tell, uint32_t process)
{
	struct namespaces *namespaces = sandbox->namespaces;
	struct deferred *deferred = calloc(1, sizeof *deferred);
	if (!deferred)
		abort();
	*deferred = (struct deferred){.sandbox = sandbox, .tell = tell, .process = process};
	*(namespaces->last ? &namespaces->last->next : &namespaces->first) = deferred;
	namespaces->last = deferred;
	ev_feed_event(namespaces->loop, &namespaces->flush, EV_CUSTOM);
}

/* A telling may free its sandbox, and then takes what that sandbox still had to tell out of the queue; or defer more. */
static void flush(struct ev_loop *loop, ev_prepare *watcher, int events)
{
	struct namespaces *namespaces = watcher->data;
	(void)loop, (void)events;
	while (namespaces->first) {
		struct deferred deferred = *namespaces->first;
		free(namespaces->first);
		namespaces->first = deferred.next;
		if (!namespaces->first)
			namespaces->last = NULL;
		deferred.tell(deferred.sandbox, deferred.process);
	}
}

/* Of SANDBOX, or of all when it is NULL. */
static void drop_deferred(struct namespaces *namespaces, const struct sandbox *sandbox)
{
	struct deferred **link = &namespaces->first;
	namespaces->last = NULL;
	while (*link) {
		struct deferred *deferred = *link;
		if (!sandbox || deferred->sandbox == sandbox) {
			*link = deferred->next;
			free(deferred);
		} else {
			namespaces->last = deferred;
			link = &deferred->next;
		}
	}
}

bool sandbox_ask(struct sandbox *sandbox, enum keeper_request_type type, uint32_t process, keeper_answer_fn *answered)
{
	struct keeper_request request = {.type = type, .process = process};
	memcpy(request.session, sandbox->session, SESSION_ID_LENGTH);
	return !sandbox->namespaces->is_keeper_gone &&
	       keeper_client_send(sandbox->namespaces->keeper, &request, answered, sandbox);
}

/* What it had is gone, and nothing more is told about its processes. */
static void sandbox_clear(struct sandbox *sandbox)
{
	init_client_destroy(sandbox->init);
	sandbox->init = NULL;
	leaves_free(sandbox);
	sandbox_free_processes(sandbox);
	drop_deferred(sandbox->namespaces, sandbox);
}

static void sandbox_free(struct sandbox *sandbox)
{
	struct sandbox **link = &sandbox->namespaces->sandboxes;
	while (*link != sandbox)
		link = &(*link)->next;
	*link = sandbox->next;
	sandbox_clear(sandbox);
	free(sandbox);
}

void sandbox_lose(struct sandbox *sandbox, const char *why)
{
	if (sandbox->is_ending || sandbox->is_lost)
		return;
	sandbox->is_lost = true;
	sandbox->is_syncing = false;
	init_client_destroy(sandbox->init);
	sandbox->init = NULL;
	leaves_free(sandbox);
	sandbox_lose_processes(sandbox);
	sandbox->events->lost(sandbox->owner, why);
}

static void tell_destroyed(struct sandbox *sandbox, uint32_t process)
{
	(void)process;
	const struct sandbox_events *events = sandbox->events;
	void *owner = sandbox->owner;
	sandbox_free(sandbox);
	events->destroyed(owner);
}

static void create_failed(struct sandbox *sandbox, const char *code, const char *message)
{
	const struct sandbox_events *events = sandbox->events;
	void *owner = sandbox->owner;
	bool is_ending = sandbox->is_ending;
	sandbox_free(sandbox);
	if (is_ending)
		events->destroyed(owner);
	else
		events->create_failed(owner, code, message);
}

static void tell_unavailable(struct sandbox *sandbox, uint32_t process)
{
	(void)process;
	create_failed(sandbox, "unavailable", "the keeper does not answer");
}

static void destroy_answered(void *owner, uint32_t process, const struct keeper_answer *answer)
{
	struct sandbox *sandbox = owner;
	if (answer->reply->status != KEEPER_OK)
		log_write(LOG_ERROR, sandbox->session, "the keeper does not destroy a sandbox",
		          LOG_FIELDS(log_text("error", answer->reply->message)));
	tell_destroyed(sandbox, process);
}

static void ask_destroy(struct sandbox *sandbox)
{
	if (!sandbox_ask(sandbox, KEEPER_DESTROY, 0, destroy_answered))
		namespaces_defer(sandbox, tell_destroyed, 0);
}

void sandbox_connect(struct sandbox *sandbox, const struct keeper_answer *answer)
{
	const struct keeper_created *created = answer->created;
	sandbox->has_leaves = created->layers.layers[LAYER_CGROUP].on;
	sandbox->init = init_client_create(sandbox->namespaces->loop, answer->fds[0], created->epoch, sandbox->session,
	                                   &sandbox_init_events, sandbox);
	answer->fds[0] = -1;
}

static void create_answered(void *owner, uint32_t process, const struct keeper_answer *answer)
{
	struct sandbox *sandbox = owner;
	const struct keeper_created *created = answer->created;
	(void)process;
	sandbox->is_creating = false;
	if (!created || answer->fd_count != 1) {
		const char *code = answer->reply->status == KEEPER_FAILED ? answer->reply->code : "internal";
		create_failed(sandbox, code, answer->reply->message);
		return;
	}
	if (sandbox->is_ending) {
		ask_destroy(sandbox);
		return;
	}
	sandbox_connect(sandbox, answer);
	init_client_sync(sandbox->init);
	leaves_ask(sandbox);
	sandbox->namespaces->layers = created->layers;
	sandbox->events->created(sandbox->owner, &created->layers);
}

struct sandbox *sandbox_new(struct namespaces *namespaces, const char *session, const struct sandbox_events *events,
                            void *owner)
{
	struct sandbox *sandbox = calloc(1, sizeof *sandbox);
	if (!sandbox)
		abort();
	*sandbox = (struct sandbox){
		.next = namespaces->sandboxes, .namespaces = namespaces, .events = events, .owner = owner, .next_leaf = 1};
	memcpy(sandbox->session, session, SESSION_ID_LENGTH);
	namespaces->sandboxes = sandbox;
	return sandbox;
}

static void tell_created(struct sandbox *sandbox, uint32_t process)
{
	(void)process;
	if (!sandbox->is_lost)
		sandbox->events->created(sandbox->owner, &sandbox->namespaces->layers);
}

static bool offer(void *context, struct sandbox_spec *spec)
{
	struct namespaces *namespaces = context;
	return warm_offer(&namespaces->warm, spec);
}

static struct sandbox *create(void *context, const struct sandbox_spec *spec, const struct sandbox_events *events,
                              void *owner)
{
	struct namespaces *namespaces = context;
	struct sandbox *sandbox = warm_take(&namespaces->warm, spec->session);
	if (sandbox) {
		sandbox->events = events;
		sandbox->owner = owner;
		namespaces_defer(sandbox, tell_created, 0);
		return sandbox;
	}
	sandbox = sandbox_new(namespaces, spec->session, events, owner);
	struct keeper_request request = {
		.type = KEEPER_CREATE, .limits = spec->limits, .required_layers = spec->required_layers};
	memcpy(request.session, spec->session, SESSION_ID_LENGTH);
	/* The children that init keeps ready are counted, and are not the user's. */
	request.limits.processes += LEAVES_AHEAD;
	if (sandbox_limits_check(&request.limits))
		request.limits.processes -= LEAVES_AHEAD;
	sandbox->is_creating = !namespaces->is_keeper_gone &&
	                       keeper_client_send(namespaces->keeper, &request, create_answered, sandbox);
	if (!sandbox->is_creating)
		namespaces_defer(sandbox, tell_unavailable, 0);
	return sandbox;
}

static const struct sandbox_usage unknown_usage = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                                   UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};

static void tell_unknown(struct sandbox *sandbox, uint32_t process)
{
	(void)process;
	if (!sandbox->is_ending && !sandbox->is_lost)
		sandbox->events->measured(sandbox->owner, &unknown_usage);
}

static void measure_answered(void *owner, uint32_t process, const struct keeper_answer *answer)
{
	struct sandbox *sandbox = owner;
	(void)process;
	if (sandbox->is_ending || sandbox->is_lost)
		return;
	struct sandbox_usage usage = answer->measured ? answer->measured->usage : unknown_usage;
	uint64_t ready = leaves_ready(sandbox); /* a child of init's in each, which is not the user's */
	if (usage.tasks != UINT64_MAX)
		usage.tasks = usage.tasks > ready ? usage.tasks - ready : 0;
	sandbox->events->measured(sandbox->owner, &usage);
}

static void measure(struct sandbox *sandbox)
{
	if (!sandbox_ask(sandbox, KEEPER_MEASURE, 0, measure_answered))
		namespaces_defer(sandbox, tell_unknown, 0);
}

static void destroy(struct sandbox *sandbox)
{
	bool is_asked_for = sandbox->init || sandbox->is_lost || sandbox->is_syncing;
	sandbox->is_ending = true;
	if (is_asked_for) {
		sandbox_clear(sandbox);
		ask_destroy(sandbox);
	}
}

/* CREATE and DESTROY that are open will not be answered; live sandboxes see their inits go. */
static void keeper_gone(void *owner)
{
	struct namespaces *namespaces = owner;
	namespaces->is_keeper_gone = true;
	for (struct sandbox *sandbox = namespaces->sandboxes; sandbox; sandbox = sandbox->next)
		if (sandbox->is_creating)
			namespaces_defer(sandbox, tell_unavailable, 0);
		else if (sandbox->is_ending)
			namespaces_defer(sandbox, tell_destroyed, 0);
	namespaces->keeper_gone(namespaces->owner);
}

static const struct driver table = {
	.name = "namespaces",
	.offer = offer,
	.create = create,
	.adopt = namespaces_adopt,
	.destroy = destroy,
	.start = sandbox_start,
	.signal = sandbox_signal,
	.kill = sandbox_kill,
	.usage = sandbox_ask_usage,
	.measure = measure,
	.close_stdin = sandbox_close_stdin,
	.forget = sandbox_forget,
};

static void on_alive(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct namespaces *namespaces = timer->data;
	keeper_client_send(namespaces->keeper, &(struct keeper_request){.type = KEEPER_ALIVE}, NULL, NULL);
}

struct driver *namespaces_driver_create(struct ev_loop *loop, int keeper_fd, void (*gone)(void *owner), void *owner)
{
	struct namespaces *namespaces = calloc(1, sizeof *namespaces);
	if (!namespaces)
		abort();
	*namespaces = (struct namespaces){.driver = table, .loop = loop, .keeper_gone = gone, .owner = owner};
	namespaces->driver.context = namespaces;
	ev_prepare_init(&namespaces->flush, flush);
	namespaces->flush.data = namespaces;
	namespaces->keeper = keeper_client_create(loop, keeper_fd, keeper_gone, namespaces);
	warm_init(&namespaces->warm, &namespaces->driver, loop);
	ev_timer_init(&namespaces->alive, on_alive, alive_s, alive_s);
	namespaces->alive.data = namespaces;
	return &namespaces->driver;
}

void namespaces_driver_destroy(struct driver *driver)
{
	struct namespaces *namespaces = driver ? driver->context : NULL;
	if (!namespaces)
		return;
	warm_finish(&namespaces->warm);
	ev_timer_stop(namespaces->loop, &namespaces->alive);
	while (namespaces->sandboxes)
		sandbox_free(namespaces->sandboxes);
	drop_deferred(namespaces, NULL);
	ev_clear_pending(namespaces->loop, &namespaces->flush);
	keeper_client_destroy(namespaces->keeper);
	free(namespaces);
}

void namespaces_driver_ready(struct driver *driver)
{
	struct namespaces *namespaces = driver->context;
	keeper_client_send(namespaces->keeper, &(struct keeper_request){.type = KEEPER_READY}, NULL, NULL);
	ev_timer_again(namespaces->loop, &namespaces->alive);
}

void namespaces_driver_keep_warm(struct driver *driver, const struct sandbox_spec *spec, unsigned count)
{
	struct namespaces *namespaces = driver->context;
	warm_keep(&namespaces->warm, spec, count);
}

void namespaces_driver_stop_warm(struct driver *driver)
{
	struct namespaces *namespaces = driver->context;
	warm_stop(&namespaces->warm);
}

size_t namespaces_driver_warm(const struct driver *driver)
{
	const struct namespaces *namespaces = driver->context;
	return warm_count(&namespaces->warm);
}
