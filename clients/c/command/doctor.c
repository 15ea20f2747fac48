/* `doctor`: which layers of isolation this host gives. */
#include "commands.h"
#include "context.h"
#include "json.h"
#include "layers.h"
#include "query.h"
#include "signals.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Prints them; true if all essential ones are on. */
static bool print_layers(const struct reader *info, bool as_json)
{
	struct reader layers = query_field(info, "layers"), whole = layers;
	bool is_sound = layers_are_sound(&layers);

	if (!as_json) {
		layers_print(stdout, &layers);
		putchar('\n');
		layers_print_verdict(stdout, &layers);
		return is_sound;
	}
	printf("{\"sound\": %s, \"layers\": ", is_sound ? "true" : "false");
	json_value(stdout, &whole);
	puts("}");
	return is_sound;
}

/* `sandbard` stands beside this program; else it is looked for in PATH. Returns only on failure. */
static int ask_program(const struct options *options)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - sizeof("sandbard"));
	const char *arguments[] = {"sandbard", "--doctor", options->json ? "--json" : NULL, NULL};

	signals_unblock();
	if (length > 0) {
		path[length] = '\0';
		strcpy(strrchr(path, '/') + 1, "sandbard");
		execv(path, (char *const *)arguments);
	}
	execvp("sandbard", (char *const *)arguments);
	context_say("no server answers, and `sandbard --doctor` cannot be run: %s", strerror(errno));
	return EXIT_NO_SERVER;
}

static int ask_server(const struct options *options, struct context *context)
{
	struct query query;
	struct sandbar_error error;

	if (query_begin(&query, context->sandbar, "server.info", NULL, 0, &error) < 0)
		return context_fail(context, NULL, &error);
	bool is_sound = print_layers(&query.result, options->json);
	query_finish(&query);
	return is_sound ? EXIT_OK : EXIT_FAILED;
}

/* A server that is not there is no fault here, unless the user named it: the question is about the host. */
int command_doctor(struct options *options)
{
	struct context context;
	bool is_named = options->url || getenv("SANDBAR_URL");
	int status = is_named ? context_connect(&context, options) : context_try(&context, options);

	if (status < 0)
		status = ask_server(options, &context);
	else if (!is_named)
		status = ask_program(options);
	context_finish(&context);
	return status;
}
