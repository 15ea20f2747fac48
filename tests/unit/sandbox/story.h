/*
 * story.h: a test's body in a process of its own, since preparing a host changes the process for good.
 */
#ifndef SANDBAR_TEST_STORY_H
#define SANDBAR_TEST_STORY_H

enum story_as {
	STORY_ROOT, /* skipped where the tests do not run as root */
	STORY_USER, /* a normal user: an id that nobody has, if the tests run as root */
};

/* Run BODY in a child. The test fails with what EXPECT said, or is skipped with story_skip()'s reason. */
void story_run(enum story_as as, void (*body)(void));

/* In a body: end it. */
_Noreturn void story_fail(const char *file, int line, const char *condition, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
_Noreturn void story_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define EXPECT(condition, ...)                                       \
	do {                                                             \
		if (!(condition))                                            \
			story_fail(__FILE__, __LINE__, #condition, __VA_ARGS__); \
	} while (0)

#endif
