/*
 * story.h: a terminal and what is seen of it, as text.
 */
#ifndef SANDBAR_TESTS_UNIT_TERMINAL_STORY_H
#define SANDBAR_TESTS_UNIT_TERMINAL_STORY_H

#include "server/terminal/state.h"

enum { STORY_ROW_BYTES = 512 };

/* A terminal of this size that was fed OUTPUT, which is not live. */
struct terminal *story_terminal(uint32_t columns, uint32_t rows, const char *output);
void story_feed(struct terminal *terminal, const char *output);
/* A row of the screen shown, without the blanks at its end, to TEXT (STORY_ROW_BYTES). */
const char *story_row(const struct terminal *terminal, int y, char *text);

#endif
