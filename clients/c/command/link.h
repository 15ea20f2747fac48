/*
 * link.h: a link that somebody shared, in the place of a session: "http://HOST:PORT/#TOKEN", or "-" to ask for it.
 *
 * The token opens the session for whoever has it. It is not sent to a page, since a fragment stays with who opens it;
 * here it must not stay in the list of processes either, where every user of the machine can read arguments: it is
 * overwritten there as soon as it was read. A shell's history still has it: "-" asks for the link instead, without
 * showing it when it is typed, or takes the first line of stdin.
 */
#ifndef SANDBAR_COMMAND_LINK_H
#define SANDBAR_COMMAND_LINK_H

#include "options.h"
#include "protocol/reader.h"

/* Whether the first argument is a link, or asks for one. Also true once it was read. */
bool link_is(const struct options *options);
/* Where it leads, and its token; both are the caller's (free()). -1 with ERROR. */
int link_read(const struct options *options, char **url, char **token, struct sandbar_error *error);

/* Print the link that has the `token` of RESULT, to the server at URL, as a browser writes it. */
void link_print(const char *url, const struct reader *result);
/* The same as JSON, beside the token itself and RESULT's ID. */
void link_print_json(const char *url, const struct reader *result, const char *id);

#endif
