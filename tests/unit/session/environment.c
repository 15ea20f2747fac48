#include "server/session/environment.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_of(enum inner_user user, char *const *base, const char *const *over, bool terminal,
                      const char *const *wanted)
{
	const char **environment = environment_create(user, base, over, terminal);
	size_t i = 0;
	for (; wanted[i]; i++)
		cr_assert(environment[i] && strcmp(environment[i], wanted[i]) == 0, "entry %zu: `%s`, wanted `%s`", i,
		          environment[i], wanted[i]);
	cr_expect_null(environment[i], "`%s` is too much", environment[i]);
	environment_destroy(environment);
}

static void expect(char *const *base, const char *const *over, bool terminal, const char *const *wanted)
{
	expect_of(INNER_USER_PLAIN, base, over, terminal, wanted);
}

#define FIXED                                                                                                       \
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/work", "USER=user", "LOGNAME=user", \
		"LANG=C.UTF-8", "TZ=UTC"
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Case 19: nothing of the server's own environment, only the fixed list and what was asked for. */
Test(environment, is_the_fixed_list_and_nothing_else)
{
	setenv("SECRET_TOKEN", "canary-123", 1);
	expect(NULL, NULL, false, LIST(FIXED));
	expect(NULL, NULL, true, LIST(FIXED, "TERM=xterm-256color"));
	char *none[] = {NULL};
	expect(none, LIST(NULL), false, LIST(FIXED));
}

Test(environment, the_process_goes_over_the_session_and_the_session_over_the_list)
{
	char *base[] = {"A=session", "HOME=/home", "B=session", NULL};
	expect(base, NULL, false,
	       LIST("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/home", "USER=user",
	            "LOGNAME=user", "LANG=C.UTF-8", "TZ=UTC", "A=session", "B=session"));
	expect(base, LIST("B=process", "PATH=/bin", "TERM=dumb", "A="), true,
	       LIST("PATH=/bin", "HOME=/home", "USER=user", "LOGNAME=user", "LANG=C.UTF-8", "TZ=UTC", "TERM=dumb",
	            "A=", "B=process"));
}

Test(environment, a_name_is_the_whole_name)
{
	char *base[] = {"A=1", "AA=2", "A_=3", "PAT=x", "PATHS=y", "EMPTY=", NULL};
	expect(base, LIST("AA=over", "A=a=b=c"), false,
	       LIST(FIXED, "A=a=b=c", "AA=over", "A_=3", "PAT=x", "PATHS=y", "EMPTY="));
	expect(NULL, LIST("X=1", "X=2", "X=3"), false, LIST(FIXED, "X=3"));
}

Test(environment, names_who_runs_it)
{
	expect_of(INNER_USER_ROOT, NULL, NULL, false,
	          LIST("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/work", "USER=root",
	               "LOGNAME=root", "LANG=C.UTF-8", "TZ=UTC"));
	expect_of(INNER_USER_ROOT, NULL, LIST("USER=me"), false,
	          LIST("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/work", "USER=me",
	               "LOGNAME=root", "LANG=C.UTF-8", "TZ=UTC"));
}
