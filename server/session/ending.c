#include "ending.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static const struct {
	int number;
	const char *name;
} signals[] = {
#define SIGNAL(name) \
	{                \
		name, #name  \
	}
	SIGNAL(SIGHUP),  SIGNAL(SIGINT),    SIGNAL(SIGQUIT), SIGNAL(SIGILL),    SIGNAL(SIGTRAP), SIGNAL(SIGABRT),
	SIGNAL(SIGBUS),  SIGNAL(SIGFPE),    SIGNAL(SIGKILL), SIGNAL(SIGUSR1),   SIGNAL(SIGSEGV), SIGNAL(SIGUSR2),
	SIGNAL(SIGPIPE), SIGNAL(SIGALRM),   SIGNAL(SIGTERM), SIGNAL(SIGSTKFLT), SIGNAL(SIGCHLD), SIGNAL(SIGCONT),
	SIGNAL(SIGSTOP), SIGNAL(SIGTSTP),   SIGNAL(SIGTTIN), SIGNAL(SIGTTOU),   SIGNAL(SIGURG),  SIGNAL(SIGXCPU),
	SIGNAL(SIGXFSZ), SIGNAL(SIGVTALRM), SIGNAL(SIGPROF), SIGNAL(SIGWINCH),  SIGNAL(SIGIO),   SIGNAL(SIGPWR),
	SIGNAL(SIGSYS),
#undef SIGNAL
};

int signal_number(const char *name, size_t length)
{
	static const char prefix[] = {'S', 'I', 'G'};
	size_t skip = length > sizeof prefix && memcmp(name, prefix, sizeof prefix) == 0 ? 0 : sizeof prefix;
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (strlen(signals[i].name + skip) == length && memcmp(signals[i].name + skip, name, length) == 0)
			return signals[i].number;
	return 0;
}

const char *signal_name(int signo)
{
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (signals[i].number == signo)
			return signals[i].name;
	return "SIGRT"; /* the real-time signals have no names of their own */
}

static bool kernel_killed_for_memory(const struct ending *ending)
{
	bool counted = ending->usage.oom_kills != UINT64_MAX && ending->usage.oom_kills > 0;
	return counted && ending->exit_code == 128 + SIGKILL;
}

/* Signal 64 exists, and a mask of 64 bits does not hold it; nobody can ask for it by name either. */
static bool was_asked_for(const struct intervention *intervention, int signo)
{
	return signo < 64 && (intervention->signals >> signo & 1);
}

void ending_decide(struct ending *ending, int wait_status, const struct intervention *intervention)
{
	bool by_signal = WIFSIGNALED(wait_status);
	int signo = by_signal ? WTERMSIG(wait_status) : 0;
	ending->exit_code = by_signal ? 128 + signo : WEXITSTATUS(wait_status);
	ending->signal = by_signal ? signal_name(signo) : NULL;
	ending->reason = by_signal ? REASON_SIGNAL : REASON_EXITED;
	if (intervention->reason != REASON_NONE && (by_signal || intervention->reason != REASON_KILLED)) {
		ending->reason = intervention->reason;
		ending->control = intervention->control;
	} else if (kernel_killed_for_memory(ending)) {
		ending->reason = REASON_OOM;
		ending->control = "memory.max";
	} else if (by_signal && was_asked_for(intervention, signo)) {
		ending->reason = REASON_KILLED;
	} else if (signo == SIGSYS) {
		ending->reason = REASON_POLICY;
		ending->control = "seccomp";
	}
}

void offsets_write(struct writer *writer, const struct stream_offset *streams, size_t count)
{
	writer_map(writer, (uint32_t)count);
	for (size_t i = 0; i < count; i++)
		writer_key_uint(writer, stream_name(streams[i].stream), streams[i].offset);
}

static void streams_open_write(struct writer *writer, const struct stream_offset *streams, size_t count)
{
	uint32_t open = 0;
	for (size_t i = 0; i < count; i++)
		open += streams[i].open;
	writer_str(writer, "streams_open");
	writer_array(writer, open);
	for (size_t i = 0; i < count; i++)
		if (streams[i].open)
			writer_str(writer, stream_name(streams[i].stream));
}

static void known_uint(struct writer *writer, const char *key, uint64_t value)
{
	if (value == UINT64_MAX)
		writer_key_nil(writer, key);
	else
		writer_key_uint(writer, key, value);
}

void ending_write(struct writer *writer, const struct ending *ending, const struct stream_offset *streams, size_t count)
{
	writer_map(writer, 8);
	if (ending->exit_code < 0)
		writer_key_nil(writer, "exit_code");
	else
		writer_key_uint(writer, "exit_code", (uint64_t)ending->exit_code);
	writer_key_str(writer, "signal", ending->signal);
	writer_key_str(writer, "reason", reason_name(ending->reason));
	writer_key_str(writer, "control", ending->control);
	writer_key_str(writer, "message", ending->message[0] ? ending->message : NULL);
	writer_str(writer, "offsets");
	offsets_write(writer, streams, count);
	streams_open_write(writer, streams, count);
	writer_str(writer, "usage");
	writer_map(writer, 4);
	writer_key_uint(writer, "wall_us", ending->wall_us);
	known_uint(writer, "user_us", ending->usage.user_us);
	known_uint(writer, "system_us", ending->usage.system_us);
	known_uint(writer, "memory_peak", ending->usage.memory_peak);
}
