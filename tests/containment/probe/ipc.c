/* System V and POSIX IPC have names of their own: nothing of the host's or of another session's is under them. */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A second line: the first is the heading. */
static int list_objects(const struct probe *probe)
{
	char line[512];
	FILE *file = fopen(probe->path, "re");
	if (!file)
		return errno;
	int lines = 0;
	while (fgets(line, sizeof line, file))
		lines++;
	fclose(file);
	return lines > 1 ? OUTCOME_OPEN : OUTCOME_NOTHING;
}

static int count_segments(const struct probe *probe)
{
	struct shm_info info;
	(void)probe;
	if (shmctl(0, SHM_INFO, (struct shmid_ds *)&info) < 0)
		return errno;
	return info.used_ids > 0 ? OUTCOME_OPEN : OUTCOME_NOTHING;
}

/* More bytes of queues than a user may have. */
static int fill_queues(const struct probe *probe)
{
	char name[32];
	(void)probe;
	int outcome = OUTCOME_OPEN;
	for (int i = 0; i < 4096 && outcome == OUTCOME_OPEN; i++) {
		snprintf(name, sizeof name, "/probe-%d", i);
		struct mq_attr attributes = {.mq_maxmsg = 10, .mq_msgsize = 8192};
		mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
		outcome = queue == (mqd_t)-1 ? errno : OUTCOME_OPEN;
		if (queue != (mqd_t)-1)
			mq_close(queue);
	}
	for (int i = 0; i < 4096; i++) {
		snprintf(name, sizeof name, "/probe-%d", i);
		if (mq_unlink(name) < 0)
			break;
	}
	return outcome;
}

static int open_queue(const struct probe *probe)
{
	mqd_t queue = mq_open(probe->path, O_RDONLY | O_NONBLOCK);
	if (queue == (mqd_t)-1)
		return errno;
	mq_close(queue);
	return OUTCOME_OPEN;
}

/* clang-format off */
const struct probe PROBES_ipc[] = {
	PATH("list-shm", "others' segments in /proc/sysvipc/shm", "namespace", E(OUTCOME_NOTHING, EACCES, ENOENT), list_objects, "/proc/sysvipc/shm", 0),
	PATH("list-sem", "others' semaphores in /proc/sysvipc/sem", "namespace", E(OUTCOME_NOTHING, EACCES, ENOENT), list_objects, "/proc/sysvipc/sem", 0),
	PATH("list-msg", "others' queues in /proc/sysvipc/msg", "namespace", E(OUTCOME_NOTHING, EACCES, ENOENT), list_objects, "/proc/sysvipc/msg", 0),
	RUN("count-shm", "count segments by SHM_INFO", "namespace", E(OUTCOME_NOTHING, ENOSYS), 0, count_segments),
	RUN("fill-queues", "more message queues than the limit", "rlimits", E(EMFILE, ENOSPC, ENOMEM, ENOSYS), 0, fill_queues),
	PATH("host-queue", "open a queue of another", "namespace", E(ENOENT, ENOSYS), open_queue, "/sandbar-bait", 0),
	CALL("huge-segment", "shmget(SHM_HUGETLB)", "capabilities", E(EPERM, ENOMEM, EINVAL, ENOSYS), 0, SYS_shmget, IPC_PRIVATE, 2 << 20, IPC_CREAT | SHM_HUGETLB | 0600),
};
/* clang-format on */
PROBE_TABLE_END(ipc)
