#include "config_file.h"

#include "config_parse.h"
#include "identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_MOST = 1024 * 1024, CPU_SECONDS = 5 };

static int new_memory(const char *name, struct error *err)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd >= 0 ? fd : error_set(err, errno, "memfd_create");
}

static int seal(int fd, struct error *err)
{
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0)
		return fd;
	error_set(err, errno, "seal the templates");
	close(fd);
	return -1;
}

int config_file_no_templates(struct error *err)
{
	int fd = new_memory("templates", err);
	return fd < 0 ? -1 : seal(fd, err);
}

/* --- the child ------------------------------------------------------------------------------------------------ */

static int read_text(int fd, char *text, struct error *err)
{
	size_t length = 0;
	ssize_t got;
	while (length < FILE_MOST && (got = read(fd, text + length, FILE_MOST - length)) != 0) {
		if (got < 0)
			return error_set(err, errno, "read it");
		length += (size_t)got;
	}
	text[length] = '\0';
	if (length == FILE_MOST)
		return error_set(err, 0, "it has more than %d bytes", FILE_MOST);
	return strlen(text) == length ? 0 : error_set(err, 0, "it holds a NUL byte");
}

static int give_up_privileges(struct error *err)
{
	struct identity identity;
	struct rlimit cpu = {CPU_SECONDS, CPU_SECONDS};
	setrlimit(RLIMIT_CPU, &cpu);
	return identity_find(&identity, NULL, err) < 0 ? -1 : identity_assume(&identity, err);
}

static bool write_all(int fd, const void *bytes, size_t length)
{
	return pwrite(fd, bytes, length, 0) == (ssize_t)length;
}

/* The child: from the open file to the two memories. Returns its exit code. */
static int parse(const char *path, int fd, int result, int templates)
{
	static char text[FILE_MOST + 1];
	static struct config_file file;
	static struct template rows[TEMPLATES_MOST];
	struct config_text config = {.path = path, .text = text, .file = &file, .templates = rows};
	struct error err;
	if (give_up_privileges(&err) < 0 || read_text(fd, text, &err) < 0) {
		fprintf(stderr, "sandbard: %s: %s\n", path, err.message);
		return EXIT_FAILURE;
	}
	if (config_parse(&config, stderr) < 0)
		return EXIT_FAILURE;
	bool good = write_all(result, &file, sizeof file) &&
	            write_all(templates, rows, config.template_count * sizeof rows[0]);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* --- the keeper ----------------------------------------------------------------------------------------------- */

static int run_child(const char *path, int fd, int result, int templates, struct error *err)
{
	fflush(NULL);
	pid_t child = fork();
	if (child < 0)
		return error_set(err, errno, "fork for the configuration");
	if (child == 0) {
		int code = parse(path, fd, result, templates);
		fflush(stderr);
		_exit(code);
	}
	int status;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return error_set(err, errno, "wait for the reader of the configuration");
	if (status == 0)
		return 0;
	return error_set(err, 0, "the configuration `%.180s` cannot be used", path);
}

/* It was made by a child that a crafted file may have taken over. */
static int take(struct config_file *file, int result, struct error *err)
{
	bool good = pread(result, file, sizeof *file, 0) == (ssize_t)sizeof *file && file->count <= CONFIG_ENTRIES;
	for (uint32_t i = 0; good && i < file->count; i++)
		good = memchr(file->entries[i].text, '\0', CONFIG_VALUE_BYTES) != NULL;
	return good ? 0 : error_set(err, 0, "what the reader of the configuration handed over is no configuration");
}

static int read_into(const char *path, int fd, struct config_file *file, int *templates, struct error *err)
{
	int result = new_memory("config", err);
	*templates = result < 0 ? -1 : new_memory("templates", err);
	bool good = *templates >= 0 && run_child(path, fd, result, *templates, err) == 0 && take(file, result, err) == 0;
	if (result >= 0)
		close(result);
	if (good) {
		*templates = seal(*templates, err);
		return *templates < 0 ? -1 : 0;
	}
	if (*templates >= 0)
		close(*templates);
	return -1;
}

int config_file_read(const char *path, struct config_file *file, int *templates, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, errno, "open the configuration `%.180s`", path);
	int outcome = read_into(path, fd, file, templates, err);
	close(fd);
	return outcome;
}
