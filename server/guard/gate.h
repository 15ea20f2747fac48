/*
 * gate.h: the one place that decides whether somebody may do something. Every method has a right in its row, every
 * client frame a role in the gate's table; a role in a session stands for the rights that principal_rights_of() says.
 */
#ifndef SANDBAR_GATE_H
#define SANDBAR_GATE_H

#include "principal.h"

bool gate_allows_right(const struct principal *principal, enum right right); /* RIGHT_NONE: everybody */
/* It looks after the whole server, not only after its tenant. */
bool gate_is_operator(const struct principal *principal);
bool gate_allows_frame(enum role role, enum frame_kind kind);
/* What PRINCIPAL may do in a session in which it has ROLE (ROLE_NONE: it was removed): its rights there are the role's. */
struct principal gate_in_session(const struct principal *principal, enum role role);
/* A guest (principal->session) may call what is about his session, and what is FOR_GUESTS. */
bool gate_allows_guest(const struct principal *principal, bool names_session, bool for_guests);
/* The role that PRINCIPAL gets who asked for WANTED (ROLE_NONE: the highest); ROLE_NONE if it may not have it. */
enum role gate_role(const struct principal *principal, enum role wanted);
bool gate_allows_lossless(enum role role);    /* it can hold processes back */
bool gate_allows_taking_over(enum role role); /* a terminal that somebody else drives */

/* The name of a right, for error texts. */
const char *right_name(enum right right);
enum right right_find(const char *name); /* RIGHT_NONE if there is none */

#endif
