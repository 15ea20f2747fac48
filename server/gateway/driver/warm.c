#include "warm.h"

#include "namespaces_state.h"
#include "server/base/log.h"
#include "server/base/session_id.h"

#include <stdlib.h>

static const ev_tstamp after_take_s = 0.05;
static const ev_tstamp least_pause_s = 1., most_pause_s = 60.;

static const struct sandbox_events events;

static struct warm_kind *lacking(struct warm_pool *pool)
{
	for (size_t i = 0; i < pool->kind_count; i++)
		if (pool->kinds[i].made < pool->kinds[i].wanted)
			return &pool->kinds[i];
	return NULL;
}

static void make_next_in(struct warm_pool *pool, ev_tstamp seconds)
{
	if (ev_is_active(&pool->next) || !lacking(pool))
		return;
	ev_timer_set(&pool->next, seconds, 0.);
	ev_timer_start(pool->loop, &pool->next);
}

static void make_one(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)loop, (void)revents;
	struct warm_pool *pool = timer->data;
	struct warm_kind *kind = lacking(pool);
	struct warm *warm = calloc(1, sizeof *warm);
	if (!warm)
		abort();
	*warm = (struct warm){.pool = pool, .kind = kind};
	LIST_INSERT_HEAD(&pool->all, warm, link);
	kind->made++;
	struct sandbox_spec spec = kind->spec;
	session_id_make(spec.session, SESSION_ID_LENGTH);
	warm->sandbox = pool->driver->create(pool->driver->context, &spec, &events, warm);
}

static void drop(struct warm *warm)
{
	LIST_REMOVE(warm, link);
	warm->kind->made--;
	free(warm);
}

/* --- what becomes of one --------------------------------------------------------------------------------------- */

static void on_created(void *owner, const struct layer_report *layers)
{
	(void)layers;
	struct warm *warm = owner;
	warm->is_ready = true;
	warm->pool->pause = least_pause_s;
	make_next_in(warm->pool, 0.);
}

static void try_again_later(struct warm_pool *pool)
{
	make_next_in(pool, pool->pause);
	pool->pause = 2 * pool->pause < most_pause_s ? 2 * pool->pause : most_pause_s;
}

static void on_create_failed(void *owner, const char *code, const char *message)
{
	struct warm *warm = owner;
	struct warm_pool *pool = warm->pool;
	log_write(
		LOG_WARN, NULL, "a sandbox could not be made ready",
		LOG_FIELDS(log_text("code", code), log_text("error", message), log_number("again_s", (int64_t)pool->pause)));
	drop(warm);
	try_again_later(pool);
}

static void on_lost(void *owner, const char *message)
{
	struct warm *warm = owner;
	warm->is_ready = false;
	log_write(LOG_WARN, warm->sandbox->session, "a sandbox that stood ready is lost",
	          LOG_FIELDS(log_text("error", message)));
	warm->pool->driver->destroy(warm->sandbox);
}

static void on_destroyed(void *owner)
{
	struct warm *warm = owner;
	struct warm_pool *pool = warm->pool;
	drop(warm);
	try_again_later(pool);
}

/* Nothing is started in one before it is taken. */
static const struct sandbox_events events = {
	.created = on_created, .create_failed = on_create_failed, .lost = on_lost, .destroyed = on_destroyed};

/* --- keeping and taking ---------------------------------------------------------------------------------------- */

static bool is_alike(const struct sandbox_spec *one, const struct sandbox_spec *other)
{
	return sandbox_limits_are_equal(&one->limits, &other->limits) && one->required_layers == other->required_layers;
}

void warm_init(struct warm_pool *pool, struct driver *driver, struct ev_loop *loop)
{
	*pool = (struct warm_pool){.driver = driver, .loop = loop, .pause = least_pause_s};
	LIST_INIT(&pool->all);
	ev_timer_init(&pool->next, make_one, 0., 0.);
	pool->next.data = pool;
}

void warm_finish(struct warm_pool *pool)
{
	ev_timer_stop(pool->loop, &pool->next);
	while (!LIST_EMPTY(&pool->all))
		drop(LIST_FIRST(&pool->all));
}

void warm_keep(struct warm_pool *pool, const struct sandbox_spec *spec, unsigned wanted)
{
	unsigned others = 0;
	for (size_t i = 0; i < pool->kind_count; i++)
		others += pool->kinds[i].wanted;
	if (wanted > WARM_MOST - others)
		wanted = WARM_MOST - others;
	if (wanted == 0 || pool->kind_count == sizeof pool->kinds / sizeof pool->kinds[0])
		return;
	pool->kinds[pool->kind_count++] = (struct warm_kind){.spec = *spec, .wanted = wanted};
	make_next_in(pool, 0.);
}

void warm_stop(struct warm_pool *pool)
{
	struct warm *warm;
	ev_timer_stop(pool->loop, &pool->next);
	for (size_t i = 0; i < pool->kind_count; i++)
		pool->kinds[i].wanted = 0;
	LIST_FOREACH(warm, &pool->all, link) {
		if (!warm->is_ready)
			continue; /* what is being made is not waited for: it goes with the keeper */
		warm->is_ready = false;
		pool->driver->destroy(warm->sandbox);
	}
}

bool warm_offer(struct warm_pool *pool, struct sandbox_spec *spec)
{
	struct warm *warm;
	LIST_FOREACH(warm, &pool->all, link) {
		if (!warm->is_ready || !is_alike(&warm->kind->spec, spec))
			continue;
		memcpy(spec->session, warm->sandbox->session, sizeof spec->session);
		return true;
	}
	return false;
}

struct sandbox *warm_take(struct warm_pool *pool, const char *session)
{
	struct warm *warm;
	LIST_FOREACH(warm, &pool->all, link)
		if (warm->is_ready && memcmp(warm->sandbox->session, session, SESSION_ID_LENGTH) == 0)
			break;
	if (!warm)
		return NULL;
	struct sandbox *sandbox = warm->sandbox;
	drop(warm);
	make_next_in(pool, after_take_s);
	return sandbox;
}

size_t warm_count(const struct warm_pool *pool)
{
	size_t count = 0;
	const struct warm *warm;
	LIST_FOREACH(warm, &pool->all, link)
		count += warm->is_ready;
	return count;
}
