#include "namespaces_state.h"
#include "server/base/log.h"

#include <stdlib.h>
#include <string.h>

/* Of a sandbox that nobody wants: it has nobody to tell. */
static void tell_nobody(void *owner)
{
	(void)owner;
}

static const struct sandbox_events nobody = {.destroyed = tell_nobody};

/* With a descriptor too little, its init cannot be reached: then it ends as if it had not been there. */
static void found(struct namespaces *namespaces, const struct keeper_answer *answer)
{
	char session[SESSION_ID_LENGTH + 1] = "";
	memcpy(session, answer->reply->session, SESSION_ID_LENGTH);
	struct sandbox *sandbox = sandbox_new(namespaces, session, &nobody, NULL);
	sandbox->is_syncing = true;
	if (answer->created && answer->fd_count == 1) {
		sandbox_connect(sandbox, answer);
		const struct sandbox_events *events = &nobody;
		sandbox->owner = namespaces->adoption.found(namespaces->adopter, sandbox->session, sandbox,
		                                            &answer->created->layers, &events);
		sandbox->events = sandbox->owner ? events : &nobody;
	}
	if (!sandbox->owner && !sandbox->is_ending)
		namespaces->driver.destroy(sandbox);
}

static void note_leaf(const struct namespaces *namespaces, const struct keeper_reply *reply)
{
	struct sandbox *sandbox = namespaces->sandboxes;
	while (sandbox && !(sandbox->is_syncing && memcmp(sandbox->session, reply->session, SESSION_ID_LENGTH) == 0))
		sandbox = sandbox->next;
	if (sandbox && !sandbox->is_ending && !sandbox->is_lost)
		leaves_note(sandbox, reply->process);
}

/* Only now, when every leaf is known, are the processes asked for. */
static void synchronise(struct namespaces *namespaces)
{
	for (struct sandbox *sandbox = namespaces->sandboxes; sandbox; sandbox = sandbox->next)
		if (sandbox->is_syncing && sandbox->init && !init_client_sync(sandbox->init))
			log_write(LOG_ERROR, sandbox->session, "an adopted sandbox does not take requests", NULL);
	namespaces->adoption.done(namespaces->adopter);
}

static void answered(void *owner, uint32_t process, const struct keeper_answer *answer)
{
	(void)process;
	if (answer->reply->status == KEEPER_FOUND)
		found(owner, answer);
	else if (answer->reply->status == KEEPER_HAS_LEAF)
		note_leaf(owner, answer->reply);
	else
		synchronise(owner);
}

/* Where the keeper cannot be asked it is gone, which is told by itself. */
void namespaces_adopt(void *context, const struct sandbox_adoption *adoption, void *adopter)
{
	struct namespaces *namespaces = context;
	namespaces->adoption = *adoption;
	namespaces->adopter = adopter;
	keeper_client_send(namespaces->keeper, &(struct keeper_request){.type = KEEPER_ADOPT}, answered, namespaces);
}

/* A process that init knows. One that has this number here, and waits for its leaf, comes too late. */
struct process *adoption_meet(struct sandbox *sandbox, uint32_t number)
{
	leaves_claim(sandbox, number);
	sandbox->last_started = number > sandbox->last_started ? number : sandbox->last_started;
	sandbox->next_leaf = number >= sandbox->next_leaf ? number + 1 : sandbox->next_leaf;
	struct process *process = sandbox_process(sandbox, number);
	if (process && process->state == PROCESS_WAITING) {
		sandbox_refuse_start(process, sandbox, "internal", "a process that was started earlier has this number");
		process = NULL;
	}
	if (sandbox->is_ending)
		return NULL;
	if (!process)
		process = sandbox_add_process(sandbox, number, PROCESS_UNTOLD);
	process->state = PROCESS_STARTING;
	return process;
}

/* What is still untold was never started, or is forgotten. What was to be started meanwhile is started. */
void adoption_synced(void *owner)
{
	struct sandbox *sandbox = owner;
	if (!sandbox->is_syncing)
		return;
	sandbox->is_syncing = false;
	sandbox_release_processes(sandbox);
	sandbox->events->synced(sandbox->owner);
}
