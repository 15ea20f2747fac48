#include "requests.h"
#include "reserve.h"
#include "server/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum subject {
	SUBJECT_NONE,    /* the session is 16 NULs */
	SUBJECT_NEW,     /* an id that no sandbox has */
	SUBJECT_SANDBOX, /* one that is in one of the rule's states */
};

enum process_rule {
	PROCESS_NONE,   /* 0 */
	PROCESS_NEW,    /* one that has no leaf, or one of which nothing was killed */
	PROCESS_LEAF,   /* one that has a leaf */
	PROCESS_IDLE,   /* one that has a leaf which is not being killed */
	PROCESS_SWITCH, /* 0 or 1: not a process, but on or off */
};

enum { LIVE = 1u << BOX_LIVE, LOST = 1u << BOX_LOST };

/* When a gateway may say it, as bits; none: at any time, and repeatedly. */
enum { WHEN_FIRST = 1u << 0, /* before all others */ WHEN_ONCE = 1u << 1 };

/* What is allowed, and nothing else is: that is the whole of what a gateway that was taken over can do. */
struct rule {
	const char *name;
	unsigned when;
	enum subject subject;
	unsigned states; /* of the sandbox, as bits */
	enum process_rule process;
	void (*perform)(struct keeper *, struct box *, const struct keeper_request *);
};

/* FD for somebody else, so that what is ours stays ours. */
static int duplicate(int fd, struct error *err)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return copy >= 0 ? copy : error_set(err, errno, "duplicate init's socket");
}

static void spec_of(struct sandbox_spec *spec, const struct keeper_request *request)
{
	*spec = (struct sandbox_spec){.limits = request->limits, .required_layers = request->required_layers};
	memcpy(spec->session, request->session, SESSION_ID_LENGTH);
}

static int missing_layer(const struct layer_report *report, uint32_t required)
{
	for (int layer = 0; layer < LAYER_COUNT; layer++)
		if (required & 1u << layer && !report->layers[layer].on)
			return layer;
	return -1;
}

/* Whether a new sandbox may be tried at all; else the request is answered. */
static bool may_create(struct keeper *keeper, const struct keeper_request *request)
{
	struct error err;
	if (keeper->box_count >= keeper->max_sessions) {
		error_set(&err, 0, "the server runs at most %u sessions at once", keeper->max_sessions);
		keeper_answer_failed(keeper, request->id, request->session, "limit", &err);
		return false;
	}
	const struct layer_report *report = sandbox_host_layers(keeper->host);
	int layer = missing_layer(report, request->required_layers);
	if (layer < 0)
		return true;
	error_set(&err, 0, "this host lacks the layer `%s`: %s", layer_name((enum layer)layer),
	          report->layers[layer].detail);
	keeper_answer_failed(keeper, request->id, request->session, "unsupported", &err);
	return false;
}

/* Hand BOX to the gateway: it gets SOCKET. */
static void answer_box(struct keeper *keeper, struct box *box, uint32_t id, enum keeper_reply_status status, int socket)
{
	struct keeper_created created = {
		.reply = {.id = id, .status = status},
		.epoch = keeper->epoch,
		.layers = *sandbox_host_layers(keeper->host),
	};
	memcpy(created.reply.session, box->session, SESSION_ID_LENGTH);
	conversation_send(&keeper->conversation, &created, sizeof created, &socket, 1);
}

static void perform_create(struct keeper *keeper, struct box *none, const struct keeper_request *request)
{
	(void)none;
	struct error err;
	struct sandbox_spec spec;
	if (!may_create(keeper, request))
		return;
	spec_of(&spec, request);
	struct box *box = reserve_check(RESERVE_SANDBOX, &err) == 0 ? box_create(keeper, &spec, &err) : NULL;
	int copy = -1;
	if (box) {
		box->next = keeper->boxes;
		keeper->boxes = box;
		keeper->box_count++;
		copy = box->watched ? duplicate(box->init_socket, &err) : -1;
	}
	if (copy >= 0) {
		answer_box(keeper, box, request->id, KEEPER_OK, copy);
		log_write(LOG_INFO, box->session, "a sandbox was made",
		          LOG_FIELDS(log_number("sandboxes", (int64_t)keeper->box_count)));
		return;
	}
	log_write(LOG_WARN, request->session, "a sandbox could not be made", LOG_FIELDS(log_text("error", err.message)));
	keeper_answer_failed(keeper, request->id, request->session, keeper_error_code(&err), &err);
	if (box)
		box_handle(box, BOX_END);
}

static void perform_destroy(struct keeper *keeper, struct box *box, const struct keeper_request *request)
{
	(void)keeper;
	box->destroy_open = true;
	box->destroy_id = request->id;
	box_handle(box, BOX_END);
}

static void perform_leaf(struct keeper *keeper, struct box *box, const struct keeper_request *request)
{
	struct error err;
	int fds[CONVERSATION_FDS];
	int count = box_leaf_create(box, request->process, fds, &err);
	if (count < 0) {
		keeper_answer_failed(keeper, request->id, request->session, keeper_error_code(&err), &err);
		return;
	}
	struct keeper_reply reply = {.id = request->id, .status = KEEPER_OK, .process = request->process};
	memcpy(reply.session, request->session, SESSION_ID_LENGTH);
	conversation_send(&keeper->conversation, &reply, sizeof reply, fds, (size_t)count);
}

static void perform_kill(struct keeper *keeper, struct box *box, const struct keeper_request *request)
{
	struct error err;
	struct leaf *leaf = box_leaf_find(box, request->process);
	if (sandbox_box_leaf_kill(box->sandbox, request->process, &err) < 0)
		keeper_answer_failed(keeper, request->id, request->session, keeper_error_code(&err), &err);
	else
		leaf_kill(leaf, request->id);
}

static void perform_drop_leaf(struct keeper *keeper, struct box *box, const struct keeper_request *request)
{
	leaf_drop(box_leaf_find(box, request->process));
	keeper_answer_ok(keeper, request->id, request->session);
}

static void perform_usage(struct keeper *keeper, struct box *box, const struct keeper_request *request)
{
	struct error err;
	struct keeper_reply reply = {.id = request->id, .status = KEEPER_OK, .process = request->process};
	memcpy(reply.session, request->session, SESSION_ID_LENGTH);
	if (sandbox_box_leaf_usage(box->sandbox, request->process, &reply.usage, &err) < 0)
		keeper_answer_failed(keeper, request->id, request->session, keeper_error_code(&err), &err);
	else
		conversation_send(&keeper->conversation, &reply, sizeof reply, NULL, 0);
}

static void perform_measure(struct keeper *keeper, struct box *box, const struct keeper_request *request)
{
	struct keeper_measured measured = {.reply = {.id = request->id, .status = KEEPER_OK}};
	memcpy(measured.reply.session, request->session, SESSION_ID_LENGTH);
	sandbox_box_measure(box->sandbox, &measured.usage);
	conversation_send(&keeper->conversation, &measured, sizeof measured, NULL, 0);
}

static void perform_freeze(struct keeper *keeper, struct box *box, const struct keeper_request *request)
{
	struct error err;
	if (sandbox_box_freeze(box->sandbox, request->process == 1, &err) < 0)
		keeper_answer_failed(keeper, request->id, request->session, keeper_error_code(&err), &err);
	else
		keeper_answer_ok(keeper, request->id, request->session);
}

static void answer_leaves(struct keeper *keeper, const struct box *box, uint32_t id)
{
	struct keeper_reply reply = {.id = id, .status = KEEPER_HAS_LEAF};
	memcpy(reply.session, box->session, SESSION_ID_LENGTH);
	for (const struct leaf *leaf = box->leaves; leaf; leaf = leaf->next) {
		reply.process = leaf->process;
		if (!leaf->dropped)
			conversation_send(&keeper->conversation, &reply, sizeof reply, NULL, 0);
	}
}

/* One whose init died meanwhile is not worth handing on; for one that cannot be there is no second chance. */
static bool adopt_box(struct keeper *keeper, struct box *box, uint32_t id)
{
	struct error err = {0};
	if (box->state == BOX_ENDING)
		return false;
	int copy = box->state == BOX_LIVE ? duplicate(box->init_socket, &err) : -1;
	if (copy < 0) {
		log_write(LOG_WARN, box->session, "a sandbox is not handed to the new gateway",
		          LOG_FIELDS(log_text("why", box->state == BOX_LIVE ? err.message : "its init is gone")));
		box_handle(box, BOX_END);
		return false;
	}
	box->epoch = keeper->epoch;
	answer_box(keeper, box, id, KEEPER_FOUND, copy);
	answer_leaves(keeper, box, id);
	return true;
}

static void perform_adopt(struct keeper *keeper, struct box *none, const struct keeper_request *request)
{
	(void)none;
	struct keeper_reply reply = {.id = request->id, .status = KEEPER_OK};
	for (struct box *box = keeper->boxes; box; box = box->next)
		reply.process += adopt_box(keeper, box, request->id);
	conversation_send(&keeper->conversation, &reply, sizeof reply, NULL, 0);
	if (reply.process > 0)
		log_write(LOG_INFO, NULL, "the gateway took over", LOG_FIELDS(log_number("sandboxes", reply.process)));
}

static void perform_worker(struct keeper *keeper, struct box *none, const struct keeper_request *request)
{
	(void)none;
	struct error err;
	struct keeper_reply reply = {.id = request->id, .status = KEEPER_OK};
	int socket;
	if (worker_start(&keeper->workers, &keeper->worker_launch, keeper->epoll, &socket, &err) == 0)
		conversation_send(&keeper->conversation, &reply, sizeof reply, &socket, 1);
	else
		keeper_answer_failed(keeper, request->id, request->session, keeper_error_code(&err), &err);
}

/* That it came is all there is to it (keeper_performed()). */
static void perform_alive(struct keeper *keeper, struct box *none, const struct keeper_request *request)
{
	(void)none;
	keeper_answer_ok(keeper, request->id, request->session);
}

static void perform_ready(struct keeper *keeper, struct box *none, const struct keeper_request *request)
{
	(void)none;
	for (struct box *box = keeper->boxes; box; box = box->next)
		if (box->epoch != keeper->epoch)
			box_handle(box, BOX_END);
	keeper->ready = true;
	keeper_answer_ok(keeper, request->id, request->session);
}

/* clang-format off */
static const struct rule rules[KEEPER_REQUEST_TYPES] = {
	[KEEPER_CREATE]    = {"create",    0,          SUBJECT_NEW,     0,           PROCESS_NONE,   perform_create},
	[KEEPER_DESTROY]   = {"destroy",   0,          SUBJECT_SANDBOX, LIVE | LOST, PROCESS_NONE,   perform_destroy},
	[KEEPER_LEAF]      = {"leaf",      0,          SUBJECT_SANDBOX, LIVE,        PROCESS_NEW,    perform_leaf},
	[KEEPER_KILL]      = {"kill",      0,          SUBJECT_SANDBOX, LIVE | LOST, PROCESS_IDLE,   perform_kill},
	[KEEPER_DROP_LEAF] = {"drop_leaf", 0,          SUBJECT_SANDBOX, LIVE | LOST, PROCESS_LEAF,   perform_drop_leaf},
	[KEEPER_USAGE]     = {"usage",     0,          SUBJECT_SANDBOX, LIVE | LOST, PROCESS_LEAF,   perform_usage},
	[KEEPER_FREEZE]    = {"freeze",    0,          SUBJECT_SANDBOX, LIVE,        PROCESS_SWITCH, perform_freeze},
	[KEEPER_MEASURE]   = {"measure",   0,          SUBJECT_SANDBOX, LIVE,        PROCESS_NONE,   perform_measure},
	[KEEPER_READY]     = {"ready",     WHEN_ONCE,  SUBJECT_NONE,    0,           PROCESS_NONE,   perform_ready},
	[KEEPER_ALIVE]     = {"alive",     0,          SUBJECT_NONE,    0,           PROCESS_NONE,   perform_alive},
	[KEEPER_WORKER]    = {"worker",    0,          SUBJECT_NONE,    0,           PROCESS_NONE,   perform_worker},
	[KEEPER_ADOPT]     = {"adopt",     WHEN_FIRST, SUBJECT_NONE,    0,           PROCESS_NONE,   perform_adopt},
};
/* clang-format on */

const char *request_name(uint32_t type)
{
	return type < KEEPER_REQUEST_TYPES && rules[type].name ? rules[type].name : "unknown";
}

static bool is_session_id(const char *session)
{
	for (size_t i = 0; i < SESSION_ID_LENGTH; i++)
		if (!(session[i] >= 'a' && session[i] <= 'z') && !(session[i] >= '2' && session[i] <= '7'))
			return false;
	return true;
}

static const char *refuse_subject(const struct keeper *keeper, const struct rule *rule,
                                  const struct keeper_request *request, const struct box *box)
{
	static const char nobody[SESSION_ID_LENGTH];
	if (rule->subject == SUBJECT_NONE)
		return memcmp(request->session, nobody, sizeof nobody) == 0 ? NULL : "this request is about no session";
	if (!is_session_id(request->session))
		return "a session id is 16 characters of [a-z2-7]";
	if (rule->subject == SUBJECT_NEW)
		return box ? "a sandbox of this session exists" : NULL;
	if (!box || box->epoch != keeper->epoch)
		return "this gateway has no sandbox of this session";
	return rule->states & 1u << box->state ? NULL : "the sandbox is lost or ending";
}

static const char *refuse_process(const struct rule *rule, uint32_t process, const struct box *box)
{
	const struct leaf *leaf = box ? box_leaf_find(box, process) : NULL;
	switch (rule->process) {
	case PROCESS_NONE:
		return process == 0 ? NULL : "this request is about no process";
	case PROCESS_NEW:
		if (process == 0)
			return "process numbers begin with 1";
		return leaf && leaf->was_killed ? "a leaf that was killed is not used again" : NULL;
	case PROCESS_SWITCH:
		return process <= 1 ? NULL : "it is 0 or 1";
	default:
		if (!leaf)
			return "this process has no leaf";
		return rule->process == PROCESS_IDLE && leaf->kill_open ? "the leaf is being killed" : NULL;
	}
}

static const char *refuse_time(const struct keeper *keeper, uint32_t type)
{
	if (rules[type].when & WHEN_ONCE && keeper->said & 1u << type)
		return "it was said already";
	if (rules[type].when & WHEN_FIRST && keeper->said != 0)
		return "it comes first";
	return NULL;
}

const char *request_refusal(const struct keeper *keeper, const struct keeper_request *request, struct box **box)
{
	*box = NULL;
	if (request->type >= KEEPER_REQUEST_TYPES || !rules[request->type].perform)
		return "no such request";
	const struct rule *rule = &rules[request->type];
	if (rule->subject != SUBJECT_NONE)
		*box = keeper_find(keeper, request->session);
	const char *refusal = refuse_subject(keeper, rule, request, *box);
	if (!refusal)
		refusal = refuse_process(rule, request->process, *box);
	if (!refusal)
		refusal = refuse_time(keeper, request->type);
	if (refusal || request->type != KEEPER_CREATE)
		return refusal;
	if (request->required_layers >> LAYER_COUNT)
		return "no such layer";
	return sandbox_limits_check(&request->limits);
}

void request_perform(struct keeper *keeper, const struct keeper_request *request, struct box *box)
{
	_Static_assert(KEEPER_REQUEST_TYPES <= 32, "a bit for each");
	keeper->said |= 1u << request->type;
	rules[request->type].perform(keeper, box, request);
}
