/*
 * json.h: MessagePack as JSON, one line.
 *
 * Bytes (bin) that are UTF-8 become text; others become {"base64": "…"}. An event of a session becomes one object:
 *   {"event": "output", "seq": 2, "t": 3120, "process": 1, "stream": "stdout", "offset": 0, "text": "hi\n"}
 * where output that is not UTF-8 has `base64` instead of `text`, and a map in the event (of started, exited,
 * participant, state) has its keys in the same object.
 */
#ifndef SANDBAR_COMMAND_JSON_H
#define SANDBAR_COMMAND_JSON_H

#include "protocol/reader.h"

#include <stdio.h>

/* Print the next value; nothing if there is none. */
void json_value(FILE *out, struct reader *reader);
/* Print a frame of a session (KIND as in protocol/table.def) as an object and a line's end. False, and nothing is
 * printed, for a kind that has no name here. */
bool json_event(FILE *out, unsigned kind, const void *frame, size_t length);
/* "key": "text", with a comma before it unless FIRST. */
void json_member(FILE *out, bool first, const char *key, const char *text);

#endif
