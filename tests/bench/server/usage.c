#include "usage.h"

#include "tests/bench/bare/measure.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 4096, PATH = 64, NAME = 32, MOST_PROCESSES = 65536 };

struct process {
	pid_t pid, parent;
	char name[NAME];
	bool is_ours;
};

/* A file of /proc as text; false if it is gone. Dies when it may not be read. */
static bool read_file(const char *path, char text[TEXT])
{
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	size_t length = fread(text, 1, TEXT - 1, file);
	fclose(file);
	text[length] = '\0';
	return length > 0;
}

/* The number behind KEY in the file NAME of a process, or of the machine with PID 0. */
static uint64_t number_of(pid_t pid, const char *name, const char *key)
{
	char path[PATH], text[TEXT];
	if (pid > 0)
		snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	else
		snprintf(path, sizeof path, "/proc/%s", name);
	const char *at = read_file(path, text) ? strstr(text, key) : NULL;
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* The fields of /proc/PID/stat from the third on; its second, the name, goes to NAME. */
static bool read_stat(pid_t pid, char name[NAME], char text[TEXT], char **fields)
{
	char path[PATH];
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (!read_file(path, text))
		return false;
	char *open = strchr(text, '('), *close = strrchr(text, ')');
	if (!open || !close)
		return false;
	snprintf(name, NAME, "%.*s", (int)(close - open - 1), open + 1);
	*fields = close + 2;
	return true;
}

static size_t list(struct process *processes)
{
	DIR *folder = opendir("/proc");
	if (!folder)
		die("opendir `/proc`");
	size_t count = 0;
	for (struct dirent *entry; count < MOST_PROCESSES && (entry = readdir(folder));) {
		char text[TEXT], *fields;
		struct process process = {.pid = atoi(entry->d_name)};
		int parent;
		if (process.pid <= 0 || !read_stat(process.pid, process.name, text, &fields) ||
		    sscanf(fields, "%*c %d", &parent) != 1)
			continue;
		process.parent = parent;
		processes[count++] = process;
	}
	closedir(folder);
	return count;
}

static bool is_ours(const struct process *processes, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (processes[i].pid == pid)
			return processes[i].is_ours;
	return false;
}

/* Mark what descends from the keeper; again until nothing more is found, since a child may stand before its parent. */
static void mark(struct process *processes, size_t count, pid_t keeper)
{
	bool more = true;
	while (more) {
		more = false;
		for (size_t i = 0; i < count; i++) {
			struct process *process = &processes[i];
			if (process->is_ours)
				continue;
			process->is_ours = process->pid == keeper || is_ours(processes, count, process->parent);
			more |= process->is_ours;
		}
	}
}

struct usage usage_of_server(pid_t keeper)
{
	struct usage usage = {0};
	struct process *processes = calloc(MOST_PROCESSES, sizeof *processes);
	if (!processes)
		die("memory for the processes");
	size_t count = list(processes);
	mark(processes, count, keeper);
	for (size_t i = 0; i < count; i++) {
		if (!processes[i].is_ours)
			continue;
		uint64_t kib = number_of(processes[i].pid, "smaps_rollup", "Pss:");
		bool is_server = strncmp(processes[i].name, "sandbard", 8) == 0;
		*(is_server ? &usage.server_kib : &usage.sandboxes_kib) += kib;
		usage.processes += !is_server;
	}
	free(processes);
	if (usage.server_kib == 0)
		die("the memory of the server, which root may see");
	return usage;
}

pid_t usage_gateway(pid_t keeper)
{
	char path[PATH], text[TEXT], name[NAME], stat[TEXT], *fields;
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)keeper, (int)keeper);
	if (!read_file(path, text))
		return 0;
	for (char *rest = text, *word; (word = strtok_r(rest, " \n", &rest));) {
		pid_t pid = atoi(word);
		if (read_stat(pid, name, stat, &fields) && strcmp(name, "sandbard-gatewa") == 0 && fields[0] != 'Z')
			return pid;
	}
	return 0;
}

uint64_t usage_resident_kib(pid_t pid)
{
	return number_of(pid, "status", "VmRSS:");
}

uint64_t usage_cpu_us(pid_t pid)
{
	char text[TEXT], name[NAME], *fields;
	unsigned long user, kernel;
	if (!read_stat(pid, name, text, &fields) ||
	    sscanf(fields, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel) != 2)
		die("the processor time of the gateway");
	return (user + kernel) * 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
}

uint64_t usage_available_kib(void)
{
	return number_of(0, "meminfo", "MemAvailable:");
}
