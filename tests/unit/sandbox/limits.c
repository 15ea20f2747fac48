#include "sandbox/layer.h"
#include "sandbox/limits.h"
#include "limits_list.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(limits, a_session_that_asks_for_nothing_gets_what_the_protocol_says)
{
	struct sandbox_limits limits = sandbox_limits_default();
	cr_assert_eq(limits.memory, (uint64_t)1 << 30);
	cr_assert_eq(limits.workspace, (uint64_t)1 << 30);
	cr_assert_eq(limits.processes, 512u);
	cr_assert_eq(limits.inodes, 100000u);
	cr_assert_eq(limits.open_files, 1024u);
	cr_assert_eq(limits.ptys, 64u);
	cr_assert_eq(limits.cpu_percent, 0u);
	cr_assert_eq(limits.file_size, 0u);
	cr_assert_null(sandbox_limits_check(&limits));
}

Test(limits, a_number_out_of_its_range_is_named)
{
	struct sandbox_limits standard = sandbox_limits_default();
	struct sandbox_limits wrong[] = {standard, standard, standard, standard, standard, standard, standard};
	const char *const names[] = {"memory", "memory", "processes", "inodes", "open_files", "profile", "user"};
	wrong[0].memory = (16 << 20) - 1;
	wrong[1].memory = UINT64_MAX;
	wrong[2].processes = 3;
	wrong[3].inodes = 0;
	wrong[4].open_files = 0;
	wrong[5].profile = PROFILES;
	wrong[6].user = INNER_USERS;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *text = sandbox_limits_check(&wrong[i]);
		cr_assert(text && strncmp(text, names[i], strlen(names[i])) == 0, "%zu: %s", i, text ? text : "accepted");
	}
}

/* The page is what the table says. */
Test(limits, the_page_is_made_of_the_table)
{
	char *text = NULL, line[512];
	size_t size = 0;
	FILE *made = open_memstream(&text, &size), *page = fopen(LIMITS_PAGE, "re");
	cr_assert(made && page, "%s", LIMITS_PAGE);
	limits_list_write(made);
	fclose(made);
	const char *at = text;
	for (; fgets(line, sizeof line, page); at += strlen(line))
		cr_assert(strncmp(at, line, strlen(line)) == 0, "limits-list >docs/limits.md: %.80s", line);
	cr_assert_eq(*at, '\0', "limits-list >docs/limits.md: %.80s", at);
	fclose(page);
	free(text);
}

Test(layers, each_has_a_name_by_which_it_is_found)
{
	for (int i = 0; i < LAYER_COUNT; i++) {
		cr_assert_eq(layer_find(layer_name((enum layer)i)), i);
		cr_assert_gt(strlen(layer_summary((enum layer)i)), 0u);
	}
	cr_assert_eq(layer_find("seccomp "), -1);
	cr_assert_eq(layer_find(""), -1);
	cr_assert_null(layer_name(LAYER_COUNT));
}
