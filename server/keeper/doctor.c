#include "doctor.h"
#include "options.h"
#include "program.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Without one of these a sandbox would not hold; without one of the others a limit is weaker, or a kill slower. */
static const enum layer essential[] = {
	LAYER_USER, LAYER_PID, LAYER_MOUNT, LAYER_NETWORK,      LAYER_IPC,     LAYER_UTS,
	LAYER_ROOT, LAYER_DEV, LAYER_PROC,  LAYER_CAPABILITIES, LAYER_SECCOMP, LAYER_RLIMITS,
};

static bool is_essential(enum layer layer)
{
	for (size_t i = 0; i < sizeof essential / sizeof essential[0]; i++)
		if (essential[i] == layer)
			return true;
	return false;
}

/* The gateway's own confinement (server/gateway/confine.h): no sandbox's layer, so no policy can ask for it. */
static void describe_gateway(const struct layer_report *report, char *text, size_t size)
{
	snprintf(text, size, "%s; no capabilities; a list of system calls; %s",
	         geteuid() == 0 ? "a user of its own" : "the keeper's user: this boundary is weaker than root's",
	         report->layers[LAYER_LANDLOCK].on ? "Landlock to its files" : "no Landlock here");
}

static bool is_missing(const struct layer_report *report, enum layer layer)
{
	return !report->layers[layer].on && is_essential(layer);
}

static bool is_sound(const struct layer_report *report)
{
	for (int layer = 0; layer < LAYER_COUNT; layer++)
		if (is_missing(report, (enum layer)layer))
			return false;
	return true;
}

static void print_verdict(const struct layer_report *report, FILE *out)
{
	if (is_sound(report)) {
		fputs("all essential layers are on\n", out);
		return;
	}
	fputs("essential layers that are missing:", out);
	for (int layer = 0; layer < LAYER_COUNT; layer++)
		if (is_missing(report, (enum layer)layer))
			fprintf(out, " %s", layer_name((enum layer)layer));
	fputc('\n', out);
}

static void print_text(const struct layer_report *report, FILE *out)
{
	for (int layer = 0; layer < LAYER_COUNT; layer++) {
		const struct layer_status *status = &report->layers[layer];
		const char *state = status->on ? "on" : is_missing(report, (enum layer)layer) ? "MISSING" : "off";
		fprintf(out, "%-14s %-8s %s", layer_name((enum layer)layer), state, layer_summary((enum layer)layer));
		fprintf(out, status->detail[0] != '\0' ? " (%s)\n" : "%s\n", status->detail);
	}
	char gateway[160];
	describe_gateway(report, gateway, sizeof gateway);
	fprintf(out, "\nThe gateway confines itself: %s.\n", gateway);
	print_verdict(report, out);
}

static void print_string(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < ' ')
			fprintf(out, "\\u%04x", (unsigned)*text);
		else
			fprintf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	}
	fputc('"', out);
}

static void print_json(const struct layer_report *report, bool ok, FILE *out)
{
	fputs("{\"layers\":[", out);
	for (int layer = 0; layer < LAYER_COUNT; layer++) {
		fprintf(out, "%s\n{\"name\":\"%s\",\"on\":%s,\"essential\":%s,\"summary\":", layer ? "," : "",
		        layer_name((enum layer)layer), report->layers[layer].on ? "true" : "false",
		        is_essential((enum layer)layer) ? "true" : "false");
		print_string(layer_summary((enum layer)layer), out);
		fputs(",\"detail\":", out);
		print_string(report->layers[layer].detail, out);
		fputc('}', out);
	}
	char gateway[160];
	describe_gateway(report, gateway, sizeof gateway);
	fputs("\n],\"gateway\":", out);
	print_string(gateway, out);
	fprintf(out, ",\"ok\":%s}\n", ok ? "true" : "false");
}

bool doctor_print(const struct layer_report *report, bool json, FILE *out)
{
	bool ok = is_sound(report);
	if (json)
		print_json(report, ok, out);
	else
		print_text(report, out);
	return ok;
}

static int examine(const char *staging, bool json, struct error *err)
{
	struct sandbox_host_options options = {.init_fd = program_open("sandbar-init", err), .staging = staging};
	char name[32];
	snprintf(name, sizeof name, "sandbar-doctor-%d", (int)getpid());
	options.cgroup_name = name;
	if (options.init_fd < 0)
		return -1;
	struct sandbox_host *host = sandbox_host_create(&options, err);
	bool ok = host && doctor_print(sandbox_host_layers(host), json, stdout);
	int result = host ? (ok ? EXIT_STOPPED : EXIT_CANNOT) : -1;
	sandbox_host_destroy(host);
	close(options.init_fd);
	return result;
}

int doctor_run(bool json)
{
	struct error err;
	char staging[] = "/tmp/sandbar-doctor.XXXXXX";
	int result = -1;
	if (!mkdtemp(staging))
		error_set(&err, errno, "make a directory in `/tmp`");
	else
		result = examine(staging, json, &err);
	rmdir(staging);
	if (result >= 0)
		return result;
	fprintf(stderr, "sandbard: no sandbox can be made here: %s\n", err.message);
	return EXIT_CANNOT;
}
