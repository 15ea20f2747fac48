/*
 * Leaves: a cgroup for each process, where the host gives them (root).
 */
#include "cell.h"
#include "story.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void open_with_leaves(struct cell *cell, enum layer needed)
{
	struct sandbox_limits limits = cell_limits();
	cell_host(cell);
	const struct layer_status *status = &sandbox_host_layers(cell->host)->layers[needed];
	if (!status->on) {
		cell_close(cell);
		story_skip("no %s: %s", layer_name(needed), status->detail);
	}
	cell_open(cell, &limits);
}

static void kill_one(void)
{
	struct cell cell = {0};
	struct error err = {0};
	int stream, neighbour;
	open_with_leaves(&cell, LAYER_CGROUP);
	uint32_t other = cell_start(&cell, "sleep 100", &neighbour);
	uint32_t process = cell_start(
		&cell,
		"trap '' TERM HUP INT; (setsid sh -c 'sh -c \"trap : TERM; sleep 100 & sleep 100\" &' &)\n"
		"sleep 0.2; echo up; sleep 100",
		&stream);
	char text[8] = "";
	EXPECT(cell_read(stream, text, sizeof text - 1) == 3, "%s", text);
	EXPECT(sandbox_box_leaf_is_empty(cell.box, process, &err) == 0, "%s", err.message);
	EXPECT(sandbox_box_leaf_remove(cell.box, process, &err) < 0, "a leaf in use was removed");
	EXPECT(sandbox_box_leaf_kill(cell.box, process, &err) == 0, "%s", err.message);
	struct pollfd events = {.fd = sandbox_box_leaf_events_fd(cell.box, process), .events = POLLPRI};
	if (events.fd >= 0 && sandbox_box_leaf_is_empty(cell.box, process, &err) == 0)
		EXPECT(poll(&events, 1, 5000) == 1, "no event");
	cell_wait_empty(&cell, process);
	/* The pipe has ended: nobody holds its other end any more. */
	EXPECT(cell_read(stream, text, sizeof text) == 0, "a survivor holds the stream");
	EXPECT(sandbox_box_leaf_remove(cell.box, process, &err) == 0, "%s", err.message);
	EXPECT(sandbox_box_leaf_is_empty(cell.box, other, &err) == 0, "the neighbour died too");
	EXPECT(sandbox_box_leaf_kill(cell.box, process, &err) < 0 && err.errnum == ENOENT, "%s", err.message);
	cell_close(&cell);
}

Test(leaf, kill_reaches_double_forks_and_only_the_own_tree)
{
	story_run(STORY_ROOT, kill_one);
}

static void run_out_of_memory(void)
{
	struct cell cell = {0};
	struct error err = {0};
	struct process_usage usage;
	open_with_leaves(&cell, LAYER_CGROUP_MEMORY);
	struct ending hog = cell_run(&cell, "exec python3 -c 'x = bytearray(200 << 20); print(len(x))'");
	EXPECT(WIFSIGNALED(hog.status) && WTERMSIG(hog.status) == SIGKILL, "%#x %s", hog.status, hog.output);
	EXPECT(sandbox_box_leaf_usage(cell.box, cell.last, &usage, &err) == 0, "%s", err.message);
	EXPECT(usage.oom_kills >= 1 && usage.oom_kills != UINT64_MAX, "%llu", (unsigned long long)usage.oom_kills);
	/* The peak counts what was asked for in batches too, and so may exceed the limit a little. */
	EXPECT(usage.memory_peak > 32 << 20 && usage.memory_peak <= 72 << 20, "%llu",
	       (unsigned long long)usage.memory_peak);
	/* The session lives, and the next process has nothing of that on its account. */
	struct ending next = cell_run(&cell, "echo alive");
	EXPECT(strcmp(next.output, "alive\n") == 0, "%s", next.output);
	EXPECT(sandbox_box_leaf_usage(cell.box, cell.last, &usage, &err) == 0, "%s", err.message);
	EXPECT(usage.oom_kills == 0 && usage.memory_peak < 32 << 20, "%llu", (unsigned long long)usage.memory_peak);
	cell_close(&cell);
}

Test(leaf, memory_shortage_is_counted_where_it_happened)
{
	story_run(STORY_ROOT, run_out_of_memory);
}

static void use_processor(void)
{
	struct cell cell = {0};
	struct error err = {0};
	struct process_usage usage;
	open_with_leaves(&cell, LAYER_CGROUP);
	cell_run(&cell, "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done");
	EXPECT(sandbox_box_leaf_usage(cell.box, cell.last, &usage, &err) == 0, "%s", err.message);
	EXPECT(usage.user_us > 1000 && usage.user_us < 60000000, "%llu", (unsigned long long)usage.user_us);
	EXPECT(usage.populated == 0, "%llu", (unsigned long long)usage.populated);
	cell_close(&cell);
}

Test(leaf, processor_time_of_ended_processes_is_kept)
{
	story_run(STORY_ROOT, use_processor);
}

static void pause_work(void)
{
	struct cell cell = {0};
	struct error err = {0};
	int stream;
	char byte;
	open_with_leaves(&cell, LAYER_FREEZE);
	cell_start(&cell, "while :; do echo; sleep 0.01; done", &stream);
	EXPECT(cell_read(stream, &byte, 1) == 1, "no tick");
	EXPECT(sandbox_box_freeze(cell.box, true, &err) == 0, "%s", err.message);
	struct pollfd pollfd = {.fd = stream, .events = POLLIN};
	poll(NULL, 0, 50);
	while (poll(&pollfd, 1, 100) == 1)
		EXPECT(read(stream, &byte, 1) == 1, "the stream ended");
	EXPECT(sandbox_box_freeze(cell.box, false, &err) == 0, "%s", err.message);
	EXPECT(poll(&pollfd, 1, 5000) == 1, "it does not go on");
	sandbox_box_freeze(cell.box, true, &err);
	cell_close(&cell);
}

Test(leaf, what_is_frozen_stands_still_and_can_be_ended)
{
	story_run(STORY_ROOT, pause_work);
}

static void without(void)
{
	struct cell cell = {0};
	struct sandbox_limits limits = cell_limits();
	cell_open(&cell, &limits);
	if (sandbox_host_layers(cell.host)->layers[LAYER_CGROUP].on)
		story_skip("this user has cgroups");
	struct error err = {0};
	struct process_usage usage;
	int fds[8];
	EXPECT(sandbox_box_leaf(cell.box, 1, fds, &err) == 0, "%s", err.message);
	EXPECT(sandbox_box_leaf_kill(cell.box, 1, &err) < 0 && err.errnum == ENOSYS, "%s", err.message);
	EXPECT(sandbox_box_leaf_usage(cell.box, 1, &usage, &err) < 0 && err.errnum == ENOSYS, "%s", err.message);
	EXPECT(usage.oom_kills == UINT64_MAX, "a number that nobody knows");
	EXPECT(sandbox_box_freeze(cell.box, true, &err) < 0 && err.errnum == ENOSYS, "%s", err.message);
	cell_close(&cell);
}

Test(leaf, without_cgroups_every_answer_is_enosys)
{
	story_run(STORY_USER, without);
}
