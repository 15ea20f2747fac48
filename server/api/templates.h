/*
 * templates.h: the templates that sessions can be made from: the configured ones, and `default`, which is always there;
 * and what a client's wishes come to with one.
 */
#ifndef SANDBAR_TEMPLATES_H
#define SANDBAR_TEMPLATES_H

#include "session_methods.h"
#include "server/base/template.h"

struct templates;

/* Read what the keeper handed over from the beginning of FD. NULL on error. */
struct templates *templates_load(int fd, struct error *err);
void templates_destroy(struct templates *templates); /* NULL is allowed */

/* NULL if there is none. TEMPLATES may be NULL: then there is only `default`. */
const struct template *templates_find(const struct templates *templates, const char *name);

/* Fill OPTIONS from the template that ARGS name and what they ask for beside it. False: the call was failed. After true
 * options->env is the caller's, until a session has it. */
bool templates_apply(struct call *call, const struct session_create_args *args, struct session_options *options);

/* Each that has sandboxes to be kept ready, with how many; of `default` DEFAULT_WARM, where its section says nothing. */
void templates_each_warm(const struct templates *templates, unsigned default_warm,
                         void (*each)(void *owner, const struct sandbox_spec *spec, unsigned count), void *owner);

extern const struct param limit_fields[]; /* of session_create_args */

void handle_template_list(struct call *call, const void *args);

#endif
