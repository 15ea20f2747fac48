#include "connection.h"

#include "failure.h"

#include <stdlib.h>
#include <string.h>

enum { WAIT_MS = 1000 };

struct wait {
	bool is_done, has_failed;
	struct sandbar_error error;
	void *result;
	size_t length;
};

static void on_answer(struct sandbar *sandbar, const struct sandbar_error *error, const void *result, size_t length,
                      void *user)
{
	struct wait *wait = user;

	(void)sandbar;
	wait->is_done = true;
	if (error) {
		wait->has_failed = true;
		wait->error = *error;
		return;
	}
	wait->result = malloc(length + 1);
	if (!wait->result)
		abort();
	memcpy(wait->result, result, length);
	wait->length = length;
}

static int check_blocking(const struct sandbar *sandbar, struct sandbar_error *error)
{
	if (sandbar->callback_depth == 0)
		return 0;
	return failure_set(error, "usage", "a blocking function was called from a callback");
}

static bool take_interrupt(struct sandbar *sandbar, struct sandbar_error *error)
{
	if (!sandbar->is_interrupted)
		return false;
	sandbar->is_interrupted = false;
	failure_set(error, "interrupted", "interrupted");
	return true;
}

int sandbar_connect(struct sandbar *sandbar, struct sandbar_error *error)
{
	if (check_blocking(sandbar, error) < 0)
		return -1;
	sandbar_open(sandbar);
	while (!connection_is_ready(sandbar)) {
		if (sandbar_run_once(sandbar, WAIT_MS, error) < 0 || take_interrupt(sandbar, error))
			return -1;
	}
	return 0;
}

/* Wait for the request ID. When the wait ends before its answer, the answer must not reach WAIT any more. */
static int wait_for(struct sandbar *sandbar, uint32_t id, struct wait *wait, struct sandbar_error *error)
{
	while (!wait->is_done) {
		if (sandbar_run_once(sandbar, WAIT_MS, error) < 0 && !wait->is_done)
			return -1;
		if (!wait->is_done && take_interrupt(sandbar, error)) {
			struct request *row = requests_find(&sandbar->requests, id);
			if (row)
				row->answer = NULL;
			return -1;
		}
	}
	if (wait->has_failed)
		return failure_set(error, wait->error.code, "%s", wait->error.message);
	return 0;
}

int sandbar_call(struct sandbar *sandbar, const char *method, const void *params, size_t length, void **result,
                 size_t *result_length, struct sandbar_error *error)
{
	struct wait wait = {0};

	if (check_blocking(sandbar, error) < 0)
		return -1;
	uint32_t id = sandbar_request(sandbar, method, params, length, on_answer, &wait, error);
	if (id == 0)
		return -1;
	if (wait_for(sandbar, id, &wait, error) < 0)
		return -1;
	if (!result) {
		free(wait.result);
		return 0;
	}
	*result = wait.result;
	*result_length = wait.length;
	return 0;
}
