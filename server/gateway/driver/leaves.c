#include "namespaces_state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct spare_leaf *add(struct spare_leaf **list, uint32_t process)
{
	struct spare_leaf *spare = calloc(1, sizeof *spare);
	if (!spare)
		abort();
	*spare = (struct spare_leaf){.next = *list, .process = process};
	*list = spare;
	return spare;
}

static struct spare_leaf *keep(struct sandbox *sandbox, uint32_t process, const struct keeper_answer *answer)
{
	struct spare_leaf *spare = add(&sandbox->spares, process);
	for (size_t i = 0; i < answer->fd_count && i < sizeof spare->fds / sizeof spare->fds[0]; i++) {
		spare->fds[spare->count++] = answer->fds[i];
		answer->fds[i] = -1;
	}
	return spare;
}

static struct spare_leaf *take(struct spare_leaf **list, uint32_t process)
{
	for (struct spare_leaf **link = list; *link; link = &(*link)->next)
		if ((*link)->process == process) {
			struct spare_leaf *spare = *link;
			*link = spare->next;
			return spare;
		}
	return NULL;
}

static void spare_free(struct spare_leaf *spare)
{
	for (size_t i = 0; i < spare->count; i++)
		close(spare->fds[i]);
	free(spare);
}

void leaves_launch(struct sandbox *sandbox, struct process *process)
{
	struct spare_leaf *spare = take(&sandbox->spares, process->number);
	if (spare) {
		sandbox_launch(process, sandbox, spare->fds, spare->count);
		free(spare);
	} else if (process->number < sandbox->next_leaf) {
		sandbox_fail_start(process, sandbox, "internal", "the numbers of processes only rise");
	}
}

/* The leaf of a process that failed before it could use it, or that never came. */
static void drop_unused(struct sandbox *sandbox, struct spare_leaf **list)
{
	for (struct spare_leaf **link = list; *link;) {
		struct spare_leaf *spare = *link;
		if (spare->process > sandbox->last_started || sandbox_process(sandbox, spare->process)) {
			link = &spare->next;
			continue;
		}
		*link = spare->next;
		sandbox_ask(sandbox, KEEPER_DROP_LEAF, spare->process, NULL);
		spare_free(spare);
	}
}

/* A leaf that nobody waits for and that could not be made is asked for again at the next start. */
static void answered(void *owner, uint32_t number, const struct keeper_answer *answer)
{
	struct sandbox *sandbox = owner;
	struct process *process = sandbox_process(sandbox, number);
	bool is_waited_for = process && process->state == PROCESS_WAITING;
	sandbox->is_asking = false;
	if (sandbox->is_ending || sandbox->is_lost)
		return;
	bool is_inherited = leaves_claim(sandbox, number); /* then init may have prepared it already */
	const struct spare_leaf *spare = answer->reply->status == KEEPER_OK ? keep(sandbox, number, answer) : NULL;
	if (spare && !is_waited_for && !is_inherited)
		init_client_prepare(sandbox->init, number, spare->fds, spare->count);
	else if (!spare && !is_waited_for)
		return;
	sandbox->next_leaf = number + 1;
	if (is_waited_for && answer->reply->status == KEEPER_OK)
		leaves_launch(sandbox, process);
	else if (is_waited_for)
		sandbox_fail_start(process, sandbox, answer->reply->code, answer->reply->message);
	leaves_ask(sandbox);
}

/* Numbers that were left out before the newest start are not waited for by anybody. */
void leaves_ask(struct sandbox *sandbox)
{
	if (!sandbox->has_leaves || sandbox->is_asking || sandbox->is_syncing || sandbox->is_ending || sandbox->is_lost)
		return;
	drop_unused(sandbox, &sandbox->spares);
	drop_unused(sandbox, &sandbox->unclaimed);
	while (sandbox->next_leaf < sandbox->last_started && !sandbox_process(sandbox, sandbox->next_leaf))
		sandbox->next_leaf++;
	if (sandbox->next_leaf > sandbox->last_started + LEAVES_AHEAD)
		return;
	uint32_t number = sandbox->next_leaf;
	sandbox->is_asking = sandbox_ask(sandbox, KEEPER_LEAF, number, answered);
	struct process *process = sandbox_process(sandbox, number);
	if (!sandbox->is_asking && process && process->state == PROCESS_WAITING)
		sandbox_fail_start(process, sandbox, "unavailable", "the keeper does not answer");
}

static void free_list(struct spare_leaf **list)
{
	while (*list) {
		struct spare_leaf *spare = *list;
		*list = spare->next;
		spare_free(spare);
	}
}

void leaves_free(struct sandbox *sandbox)
{
	free_list(&sandbox->spares);
	free_list(&sandbox->unclaimed);
}

uint64_t leaves_ready(const struct sandbox *sandbox)
{
	uint64_t count = 0;
	for (const struct spare_leaf *spare = sandbox->spares; spare; spare = spare->next)
		count++;
	return count;
}

void leaves_note(struct sandbox *sandbox, uint32_t process)
{
	add(&sandbox->unclaimed, process);
}

bool leaves_claim(struct sandbox *sandbox, uint32_t process)
{
	struct spare_leaf *leaf = take(&sandbox->unclaimed, process);
	free(leaf);
	return leaf;
}
