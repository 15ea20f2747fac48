#include "story.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_SKIP = 77, EXIT_FAIL = 1, LONELY_ID = 65533, TEXT_BYTES = 4096 };

static int teller = -1;

static _Noreturn void end(int status, const char *text)
{
	ssize_t n = write(teller, text, strlen(text));
	_exit(n >= 0 ? status : EXIT_FAIL);
}

_Noreturn void story_fail(const char *file, int line, const char *condition, const char *format, ...)
{
	char text[TEXT_BYTES];
	int length = snprintf(text, sizeof text, "%s:%d: %s: ", file, line, condition);
	va_list args;
	va_start(args, format);
	vsnprintf(text + length, sizeof text - (size_t)length, format, args);
	va_end(args);
	end(EXIT_FAIL, text);
}

_Noreturn void story_skip(const char *format, ...)
{
	char text[TEXT_BYTES];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	end(EXIT_SKIP, text);
}

static void become_nobody(void)
{
	if (geteuid() != 0)
		return;
	if (setgroups(0, NULL) < 0 || setgid(LONELY_ID) < 0 || setuid(LONELY_ID) < 0)
		story_skip("the tests' root cannot become another user: %s", strerror(errno));
}

void story_run(enum story_as as, void (*body)(void))
{
	if (as == STORY_ROOT && geteuid() != 0)
		cr_skip_test("needs root");
	int ends[2];
	cr_assert_eq(pipe(ends), 0);
	pid_t pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		close(ends[0]);
		teller = ends[1];
		if (as == STORY_USER)
			become_nobody();
		body();
		_exit(0);
	}
	close(ends[1]);
	char text[TEXT_BYTES] = "";
	size_t length = 0;
	for (ssize_t n; (n = read(ends[0], text + length, sizeof text - 1 - length)) > 0;)
		length += (size_t)n;
	close(ends[0]);
	int status = 0;
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIP)
		cr_skip_test("%s", text);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x: %s", status, text);
}
