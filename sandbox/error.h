/*
 * error.h: what went wrong on a cold path, as an object.
 *
 * A function that can fail takes `struct error *` last and returns -1 (or NULL); the error then says what
 * was attempted on what, and the errno. A caller that wants no reason passes NULL.
 */
#ifndef SANDBAR_ERROR_H
#define SANDBAR_ERROR_H

enum { ERROR_MESSAGE_BYTES = 256 };

struct error {
	int errnum;                        /* errno, or 0 where there is none */
	char message[ERROR_MESSAGE_BYTES]; /* "open `/dev/ptmx`: Permission denied"; always ended by NUL */
};

/* Fill ERR (may be NULL) with errno ERRNUM (0 = none; its text is appended after ": "). Always returns -1. */
int error_set(struct error *err, int errnum, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Put "CONTEXT: " before the message that ERR holds. Always returns -1. */
int error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
