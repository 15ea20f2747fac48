#include "box.h"
#include "keeper_state.h"
#include "reserve.h"
#include "server/base/log.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { LATE_SECONDS = 10 /* that something killed still lives is told */ };

#define container_of(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

static void init_ready(void *subject, uint32_t events)
{
	(void)events;
	box_handle(subject, BOX_INIT_GONE);
}

struct box *box_create(struct keeper *keeper, const struct sandbox_spec *spec, struct error *err)
{
	struct box *box = calloc(1, sizeof *box);
	if (!box)
		abort();
	box->keeper = keeper;
	box->epoch = keeper->epoch;
	box->watch = (struct watch){.ready = init_ready, .subject = box};
	memcpy(box->session, spec->session, sizeof box->session);
	box->sandbox = sandbox_box_create(keeper->host, spec, &box->init_socket, err);
	if (!box->sandbox) {
		free(box);
		return NULL;
	}
	/* A sandbox whose end could not be seen is ended at once; what is left of it is cleared like that of any other. */
	int watching = watch_add(keeper->epoll, sandbox_box_pidfd(box->sandbox), EPOLLIN, &box->watch, err);
	box->watched = watching == 0;
	return box;
}

/* Watches end before their descriptor is closed: a child that is just being made may hold a copy of it, for which
 * epoll would go on to tell of what is freed. */
static void leaf_unwatch(struct leaf *leaf)
{
	if (leaf->watched)
		watch_remove(leaf->box->keeper->epoll, sandbox_box_leaf_events_fd(leaf->box->sandbox, leaf->process));
	leaf->watched = false;
}

static void leaf_free(struct leaf *leaf)
{
	struct leaf **link = &leaf->box->leaves;
	while (*link != leaf)
		link = &(*link)->next;
	*link = leaf->next;
	leaf->box->leaf_count--;
	retry_stop(&leaf->retry);
	free(leaf);
}

static void leaf_answer_kill(struct leaf *leaf)
{
	leaf->killing = false;
	if (!leaf->kill_open)
		return;
	leaf->kill_open = false;
	keeper_answer_ok(leaf->box->keeper, leaf->kill_id, leaf->box->session);
}

static void box_unwatch(struct box *box)
{
	if (box->watched)
		watch_remove(box->keeper->epoll, sandbox_box_pidfd(box->sandbox));
	box->watched = false;
}

/* Nothing is left of the sandbox: what was asked of its leaves has come true. */
static void box_gone(struct box *box)
{
	retry_stop(&box->retry);
	box_unwatch(box);
	while (box->leaves) {
		leaf_answer_kill(box->leaves);
		leaf_free(box->leaves);
	}
	sandbox_box_destroy(box->sandbox);
	if (box->destroy_open)
		keeper_answer_ok(box->keeper, box->destroy_id, box->session);
	log_write(LOG_INFO, box->session, "the sandbox is gone", NULL);
	keeper_box_gone(box->keeper, box);
	free(box);
}

static void box_attempt(struct retry *retry)
{
	struct box *box = container_of(retry, struct box, retry);
	if (sandbox_box_is_gone(box->sandbox)) {
		box_gone(box);
		return;
	}
	if (retry_is_late(retry, LATE_SECONDS))
		log_write(LOG_ERROR, box->session, "something of the sandbox outlives being killed", NULL);
	sandbox_box_kill(box->sandbox);
}

static void box_lose(struct box *box)
{
	box_unwatch(box);
	sandbox_box_kill(box->sandbox);
	keeper_box_died(box->keeper, box);
}

static void box_end(struct box *box)
{
	for (struct leaf *leaf = box->leaves; leaf; leaf = leaf->next) {
		leaf_unwatch(leaf);
		retry_stop(&leaf->retry);
	}
	close(box->init_socket);
	sandbox_box_kill(box->sandbox);
	retry_start(&box->keeper->retries, &box->retry, box_attempt);
}

static void box_hurry(struct box *box)
{
	box_unwatch(box);
	retry_hurry(&box->retry);
}

static void box_ignore(struct box *box)
{
	(void)box;
}

static const struct transition {
	void (*act)(struct box *);
	enum box_state next;
} transitions[BOX_STATES][BOX_EVENTS] = {
	[BOX_LIVE] = {[BOX_INIT_GONE] = {box_lose, BOX_LOST}, [BOX_END] = {box_end, BOX_ENDING}},
	[BOX_LOST] = {[BOX_INIT_GONE] = {box_ignore, BOX_LOST}, [BOX_END] = {box_end, BOX_ENDING}},
	[BOX_ENDING] = {[BOX_INIT_GONE] = {box_hurry, BOX_ENDING}, [BOX_END] = {box_ignore, BOX_ENDING}},
};

void box_handle(struct box *box, enum box_event event)
{
	const struct transition *transition = &transitions[box->state][event];
	box->state = transition->next;
	transition->act(box);
}

void box_orphan(struct box *box)
{
	box->destroy_open = false;
	for (struct leaf *leaf = box->leaves; leaf; leaf = leaf->next)
		leaf->kill_open = false;
}

static struct leaf *find_any_leaf(const struct box *box, uint32_t process)
{
	struct leaf *leaf = box->leaves;
	while (leaf && leaf->process != process)
		leaf = leaf->next;
	return leaf;
}

int box_leaf_create(struct box *box, uint32_t process, int fds[8], struct error *err)
{
	const struct leaf *old = find_any_leaf(box, process);
	if (old && old->dropped)
		return error_set(err, EBUSY, "something of an earlier process %u still lives", process);
	if (reserve_check(RESERVE_LEAF, err) < 0)
		return -1;
	if (old)
		return sandbox_box_leaf_open(box->sandbox, process, fds, err);
	if (box->leaf_count >= BOX_LEAVES)
		return error_set(err, EAGAIN, "more than %d processes of a sandbox that are not forgotten", BOX_LEAVES);
	int count = sandbox_box_leaf(box->sandbox, process, fds, err);
	if (count < 0)
		return -1;
	struct leaf *leaf = calloc(1, sizeof *leaf);
	if (!leaf)
		abort();
	*leaf = (struct leaf){.next = box->leaves, .box = box, .process = process};
	box->leaves = leaf;
	box->leaf_count++;
	return count;
}

struct leaf *box_leaf_find(const struct box *box, uint32_t process)
{
	struct leaf *leaf = box->leaves;
	while (leaf && (leaf->process != process || leaf->dropped))
		leaf = leaf->next;
	return leaf;
}

static void leaf_remove(struct leaf *leaf)
{
	struct box *box = leaf->box;
	struct error err;
	leaf_unwatch(leaf);
	if (sandbox_box_leaf_remove(box->sandbox, leaf->process, &err) == 0) {
		leaf_free(leaf);
		return;
	}
	if (retry_is_late(&leaf->retry, LATE_SECONDS))
		log_write(LOG_WARN, box->session, "an empty cgroup cannot be removed",
		          LOG_FIELDS(log_number("process", leaf->process), log_text("error", err.message)));
}

static void leaf_ready(void *subject, uint32_t events)
{
	(void)events;
	struct leaf *leaf = subject;
	retry_hurry(&leaf->retry);
}

/* The events of a cgroup are a hint that saves waiting; edge-triggered, for they stay set until they are read. */
static void leaf_watch(struct leaf *leaf)
{
	int fd = sandbox_box_leaf_events_fd(leaf->box->sandbox, leaf->process);
	if (leaf->watched || fd < 0)
		return;
	leaf->watch = (struct watch){.ready = leaf_ready, .subject = leaf};
	leaf->watched = watch_add(leaf->box->keeper->epoll, fd, EPOLLPRI | EPOLLET, &leaf->watch, NULL) == 0;
}

/* An error of is_empty means that the cgroup cannot be asked any more: then nothing is to be waited for. */
static void leaf_attempt(struct retry *retry)
{
	struct leaf *leaf = container_of(retry, struct leaf, retry);
	struct box *box = leaf->box;
	if (leaf->killing)
		sandbox_box_leaf_kill(box->sandbox, leaf->process, NULL);
	if (sandbox_box_leaf_is_empty(box->sandbox, leaf->process, NULL) == 0) {
		leaf_watch(leaf);
		if (leaf->killing && retry_is_late(retry, LATE_SECONDS))
			log_write(LOG_ERROR, box->session, "something outlives being killed",
			          LOG_FIELDS(log_number("process", leaf->process)));
		return;
	}
	leaf_answer_kill(leaf);
	if (leaf->dropped) {
		leaf_remove(leaf);
		return;
	}
	leaf_unwatch(leaf);
	retry_stop(retry);
}

void leaf_kill(struct leaf *leaf, uint32_t id)
{
	assert(!leaf->kill_open);
	leaf->killing = leaf->kill_open = leaf->was_killed = true;
	leaf->kill_id = id;
	retry_start(&leaf->box->keeper->retries, &leaf->retry, leaf_attempt);
	retry_hurry(&leaf->retry);
}

void leaf_drop(struct leaf *leaf)
{
	leaf->dropped = true;
	retry_start(&leaf->box->keeper->retries, &leaf->retry, leaf_attempt);
}
