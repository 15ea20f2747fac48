/* Who may do what, over everything that there is: the table of methods, every frame, every role. */
#include "server/api/method.h"
#include "server/guard/gate.h"

#include <criterion/criterion.h>
#include <string.h>

enum { ALL_RIGHTS = RIGHT_READ | RIGHT_RUN | RIGHT_MANAGE | RIGHT_ADMIN | RIGHT_REDEEM };

/* PROTOCOL.md §5: the least role of each frame that a client may send. Every other kind is nobody's. */
static enum role least_of(unsigned kind)
{
	switch (kind) {
	case 48: /* STDIN */
	case 49: /* EOF */
	case 50: /* RESIZE */
		return ROLE_EDITOR;
	case 51: /* CREDIT */
		return ROLE_VIEWER;
	default:
		return ROLE_NONE;
	}
}

Test(gate, every_frame_and_role)
{
	for (unsigned kind = 0; kind < 300; kind++) {
		for (enum role role = ROLE_NONE; role <= ROLE_OWNER; role++) {
			enum role least = least_of(kind);
			bool allowed = least != ROLE_NONE && role >= least;
			cr_expect_eq(gate_allows_frame(role, (enum frame_kind)kind), allowed, "kind %u, role %d", kind, role);
		}
		enum frame_direction direction;
		bool is_clients = frame_kind_direction(kind, &direction) && direction == DIRECTION_CLIENT;
		cr_expect_eq(gate_allows_frame(ROLE_OWNER, (enum frame_kind)kind), is_clients, "kind %u", kind);
	}
}

/* PROTOCOL.md §3.4, "Rights of a token". */
static const struct {
	const char *method;
	enum right right;
} needed[] = {
	{"session.create", RIGHT_MANAGE}, {"session.list", RIGHT_READ},      {"session.info", RIGHT_READ},
	{"session.end", RIGHT_MANAGE},    {"session.attach", RIGHT_READ},    {"session.detach", RIGHT_READ},
	{"process.start", RIGHT_RUN},     {"process.run", RIGHT_RUN},        {"process.list", RIGHT_READ},
	{"process.signal", RIGHT_RUN},    {"process.kill", RIGHT_RUN},       {"process.wait", RIGHT_READ},
	{"template.list", RIGHT_READ},    {"session.update", RIGHT_MANAGE},  {"shell.start", RIGHT_RUN},
	{"shell.run", RIGHT_RUN},         {"token.create", RIGHT_ADMIN},     {"token.list", RIGHT_ADMIN},
	{"token.revoke", RIGHT_ADMIN},    {"server.info", RIGHT_ADMIN},      {"session.role", RIGHT_MANAGE},
	{"session.remove", RIGHT_MANAGE}, {"session.note", RIGHT_RUN},       {"session.share", RIGHT_MANAGE},
	{"session.shares", RIGHT_MANAGE}, {"session.unshare", RIGHT_MANAGE}, {"terminal.set", RIGHT_MANAGE},
	{"terminal.take", RIGHT_RUN},     {"terminal.release", RIGHT_RUN},   {"terminal.grant", RIGHT_RUN},
	{"terminal.request", RIGHT_RUN},  {"proof.keep", RIGHT_ADMIN},       {"token.redeem", RIGHT_REDEEM},
};
enum { NEEDED = sizeof needed / sizeof *needed };

Test(gate, every_method_and_set_of_rights)
{
	size_t count = 0;
	for (const struct method *method = methods; method->name; method++, count++) {
		size_t row = 0;
		while (row < NEEDED && strcmp(needed[row].method, method->name) != 0)
			row++;
		cr_assert_lt(row, (size_t)NEEDED, "`%s` stands in no list of rights", method->name);
		for (uint32_t rights = 0; rights <= ALL_RIGHTS; rights++) {
			const struct principal principal = {.rights = rights};
			cr_expect_eq(gate_allows_right(&principal, method->right), (rights & needed[row].right) != 0,
			             "`%s` with rights %u", method->name, rights);
		}
	}
	cr_expect_eq(count, (size_t)NEEDED);
}

Test(gate, a_role_can_be_lower_than_the_rights_and_never_higher)
{
	for (uint32_t rights = 0; rights <= ALL_RIGHTS; rights++) {
		const struct principal principal = {.rights = rights};
		enum role highest = rights & RIGHT_MANAGE ? ROLE_OWNER
		                    : rights & RIGHT_RUN  ? ROLE_EDITOR
		                    : rights & RIGHT_READ ? ROLE_VIEWER
		                                          : ROLE_NONE;
		cr_expect_eq(principal_role(&principal), highest, "rights %u", rights);
		cr_expect_eq(gate_role(&principal, ROLE_NONE), highest);
		for (enum role wanted = ROLE_VIEWER; wanted <= ROLE_OWNER; wanted++)
			cr_expect_eq(gate_role(&principal, wanted), wanted <= highest ? wanted : ROLE_NONE, "rights %u", rights);
	}
	cr_expect_not(gate_allows_lossless(ROLE_NONE) || gate_allows_lossless(ROLE_VIEWER));
	cr_expect(gate_allows_lossless(ROLE_EDITOR) && gate_allows_lossless(ROLE_OWNER));
}

/* PROTOCOL.md §3.5: what each role allows in a session, whatever the token says. */
Test(gate, every_role_and_method_in_a_session)
{
	for (const struct method *method = methods; method->name; method++) {
		size_t row = 0;
		while (row < NEEDED && strcmp(needed[row].method, method->name) != 0)
			row++;
		const enum right right = needed[row].right;
		for (uint32_t own = 0; own <= ALL_RIGHTS; own++) {
			const struct principal principal = {.name = "ada", .rights = own};
			for (enum role role = ROLE_NONE; role <= ROLE_OWNER; role++) {
				const struct principal there = gate_in_session(&principal, role);
				bool allowed = (right == RIGHT_READ && role >= ROLE_VIEWER) ||
				               (right == RIGHT_RUN && role >= ROLE_EDITOR) ||
				               (right == RIGHT_MANAGE && role >= ROLE_OWNER) ||
				               (right == RIGHT_ADMIN && (own & RIGHT_ADMIN));
				cr_expect_eq(gate_allows_right(&there, method->right), allowed, "`%s`, role %d, own rights %u",
				             method->name, role, own);
				cr_expect_eq(principal_role(&there), role);
			}
		}
	}
}

Test(gate, a_guest_calls_what_is_about_his_session)
{
	const struct principal guest = {.session = "aaaaaaaaaaaaaaaa", .rights = ALL_RIGHTS}, other = {.rights = 0};
	cr_expect(gate_allows_guest(&guest, true, false) && gate_allows_guest(&guest, false, true));
	cr_expect_not(gate_allows_guest(&guest, false, false));
	cr_expect(gate_allows_guest(&other, false, false));
	for (const struct method *method = methods; method->name; method++)
		if (method->for_guests)
			cr_expect_str_eq(method->name, "session.list");
	cr_expect(gate_allows_taking_over(ROLE_OWNER));
	cr_expect_not(gate_allows_taking_over(ROLE_NONE) || gate_allows_taking_over(ROLE_VIEWER) ||
	              gate_allows_taking_over(ROLE_EDITOR));
}

Test(gate, rights_have_names)
{
	cr_expect_str_eq(right_name(RIGHT_READ), "read");
	cr_expect_str_eq(right_name(RIGHT_RUN), "run");
	cr_expect_str_eq(right_name(RIGHT_MANAGE), "manage");
	cr_expect_str_eq(right_name(RIGHT_ADMIN), "admin");
	cr_expect_not_null(right_name(RIGHT_NONE));
}
