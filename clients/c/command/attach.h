/*
 * attach.h: the inside of `attach`: what its parts share. attach.c has the way of the bytes, attach_share.c what the user
 * says to this command and what it tells of the others.
 */
#ifndef SANDBAR_COMMAND_ATTACH_H
#define SANDBAR_COMMAND_ATTACH_H

#include "context.h"
#include "crowd.h"
#include "pump.h"
#include "window.h"

enum { ATTACH_CHOICES = 9 };

struct attachment {
	struct context context;
	const struct options *options;
	char session[SANDBAR_SESSION_BYTES];
	uint32_t process;
	bool is_terminal, is_running; /* the process, when we came */
	uint32_t cols, rows;          /* its size then */
	bool is_shown;                /* in a terminal of ours, which is raw */
	struct sandbar_channel *channel;
	struct outlet outlet;
	struct window window;
	struct pump pump;
	struct crowd crowd;

	int64_t now_ms;
	char notice[WINDOW_LINE_BYTES]; /* instead of the line on who is here, until then */
	int64_t notice_until_ms;
	bool is_prompted;                 /* the key was typed: a command is awaited */
	uint32_t choices[ATTACH_CHOICES]; /* participants that a digit chooses */
	size_t choice_count;

	bool is_over, is_detached, has_ending;
	int signal, write_errno;
	struct sandbar_ending ending;
	struct sandbar_error closed;
};

/* attach.c */
void attach_leave(struct attachment *attachment);
/* Tell the server the size of our terminal, if it is one that counts. */
void attach_tell_size(struct attachment *attachment);

/* attach_share.c */
extern const char ATTACH_KEYS_HELP[];
/* A command of the key, and whether what was typed may go to the program: for struct pump. */
void attach_command(int command, void *user);
bool attach_may_type(const uint8_t *bytes, size_t length, void *user);
/* Something to tell for a moment. */
void attach_notice(struct attachment *attachment, const char *format, ...) __attribute__((format(printf, 2, 3)));
void attach_driver_changed(struct attachment *attachment, const struct sandbar_driver *driver);
void attach_person_changed(struct attachment *attachment, const struct sandbar_participant *participant);
void attach_note(struct attachment *attachment, const struct sandbar_note *note);
/* Bring the line up to date. Returns after how many milliseconds it will change by itself; -1: not. */
int attach_line(struct attachment *attachment);

#endif
