#include "options.h"
#include "server/base/template.h"

#include <string.h>

enum { PAGE = 4096 };

#define MIB UINT64_C(1048576)
#define DAY_MS UINT64_C(86400000)

static int parse_listen(const struct flag *flag, const char *text, void *field, struct error *err)
{
	struct listen_list *list = field;
	(void)flag;
	if (list->count == GATEWAY_LISTENERS)
		return error_set(err, 0, "at most %d addresses are allowed", GATEWAY_LISTENERS);
	if (listen_address_parse(&list->address[list->count], text, err) < 0)
		return -1;
	list->count++;
	return 0;
}

/* A serialised origin as browsers send it (RFC 6454, 6.2): scheme, host, perhaps a port, and nothing behind. */
static bool is_origin(const char *text)
{
	size_t scheme = strncmp(text, "https://", 8) == 0 ? 8 : strncmp(text, "http://", 7) == 0 ? 7 : 0;
	const char *host = text + scheme;
	size_t length = strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789.-:[]");
	return scheme > 0 && length > 0 && host[length] == '\0';
}

static int parse_origin(const struct flag *flag, const char *text, void *field, struct error *err)
{
	struct origin_list *list = field;
	(void)flag;
	if (list->count == GATEWAY_ORIGINS)
		return error_set(err, 0, "at most %d origins are allowed", GATEWAY_ORIGINS);
	if (!is_origin(text))
		return error_set(err, 0, "`%.100s` is not an origin, such as https://ide.example or http://localhost:3000",
		                 text);
	if (strlen(text) >= GATEWAY_TEXT_BYTES)
		return error_set(err, 0, "an origin has at most %d characters", GATEWAY_TEXT_BYTES - 1);
	list->origin[list->count++] = text;
	return 0;
}

static int parse_host(const struct flag *flag, const char *text, void *field, struct error *err)
{
	struct host_list *list = field;
	(void)flag;
	if (list->count == GATEWAY_HOSTS)
		return error_set(err, 0, "at most %d names are allowed", GATEWAY_HOSTS);
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]");
	if (length == 0 || text[length] != '\0' || length >= GATEWAY_TEXT_BYTES)
		return error_set(err, 0, "`%.100s` is not NAME or NAME:PORT, such as sandbar.example", text);
	list->host[list->count++] = text;
	return 0;
}

static int parse_ring(const struct flag *flag, const char *text, void *field, struct error *err)
{
	if (flag_bytes(flag, text, field, err) < 0)
		return -1;
	if (*(uint64_t *)field % PAGE != 0)
		return error_set(err, 0, "`%.100s` is not a multiple of %d", text, PAGE);
	return 0;
}

static int parse_record(const struct flag *flag, const char *text, void *field, struct error *err)
{
	if (flag_bytes(flag, text, field, err) < 0)
		return -1;
	if (*(uint64_t *)field != 0 && *(uint64_t *)field < MIB)
		return error_set(err, 0, "`%.100s` is neither 0 nor at least 1M", text);
	return 0;
}

static const char *const formats[] = {[LOG_TEXT] = "text", [LOG_JSON] = "json", NULL};
static const char *const levels[] = {"error", "warn", "info", "debug", NULL};

#define FIELD(name) .offset = offsetof(struct options, name)

/* clang-format off */
static const struct flag flags[] = {
	{"--config", "FILE", NULL, NULL, flag_text, FIELD(config), .only_argument = true,
	 .help = "a file with these flags, without their dashes, as `name = value`\nlines, and templates; the command line wins"},
	{"--listen", "ADDR:PORT", "127.0.0.1:7433", NULL, parse_listen, FIELD(listen), .repeats = true,
	 .help = "where to listen; may be repeated; port 0 takes any that is free;\nother than loopback only with TLS"},
	{"--tls-cert", "FILE", NULL, NULL, flag_text, FIELD(tls_cert),
	 .help = "serve TLS with this certificate (PEM; those that vouch for it\nbehind it); read again on SIGHUP"},
	{"--tls-key", "FILE", NULL, NULL, flag_text, FIELD(tls_key), .help = "its private key (PEM, without a passphrase)"},
	{"--allow-plaintext", NULL, NULL, NULL, flag_switch, FIELD(allow_plaintext),
	 .help = "listen on any address without TLS: tokens and all that is\nsaid cross the network in the clear"},
	{"--state", "DIR", NULL, "/var/lib/sandbar as root, else ~/.local/state/sandbar", flag_text, FIELD(state),
	 .help = "the state directory: key, token, journals, `address`"},
	{"--user", "NAME", NULL, "sandbar, or a reserved id", flag_text, FIELD(user),
	 .help = "as root: the user that the gateway runs as"},
	{"--log-format", "text|json", "text", NULL, flag_choice, FIELD(log_format), .choices = formats,
	 .help = "the form of the log, which goes to stderr"},
	{"--log-level", "LEVEL", "info", NULL, flag_choice, FIELD(log_level), .choices = levels,
	 .help = "error, warn, info or debug"},
	{"--ring", "BYTES", "4M", NULL, parse_ring, FIELD(ring_bytes), .least = MIB / 2, .most = 1024 * MIB,
	 .help = "output that each session's journal holds (512K to 1G)"},
	{"--record", "BYTES", "64M", NULL, parse_record, FIELD(record_bytes), .least = 0, .most = MIB * MIB,
	 .help = "of each session, the newest so many bytes are recorded on disk;\n0 = only the ring is there to be replayed"},
	{"--keep-sessions", "N", "100", NULL, flag_number, FIELD(keep_sessions), .least = 0, .most = 100000,
	 .help = "ended sessions whose record can still be read; 0 = none"},
	{"--keep-bytes", "BYTES", "1G", NULL, flag_bytes, FIELD(keep_bytes), .least = 0, .most = MIB * MIB,
	 .help = "what their records may take on disk together; 0 = none is kept"},
	{"--keep-age", "TIME", "7d", NULL, flag_duration, FIELD(keep_age_ms), .least = 0, .most = 3650 * DAY_MS,
	 .help = "how long after its end; 0 = none is kept"},
	{"--max-sessions", "N", "256", NULL, flag_number, FIELD(max_sessions), .least = 1, .most = 4000,
	 .help = "sessions at once"},
	{"--tenant-sessions", "N", "0", NULL, flag_number, FIELD(tenant_sessions), .least = 0, .most = 4000,
	 .help = "sessions at once of one tenant; 0 = as many as there can be"},
	{"--tenant-memory", "BYTES", "0", NULL, flag_bytes, FIELD(tenant_memory), .least = 0, .most = MIB * MIB * 1024,
	 .help = "what the limits `memory` of one tenant's sessions may be together;\n0 = no bound"},
	{"--tenant-processes", "N", "0", NULL, flag_number, FIELD(tenant_processes), .least = 0, .most = 1000000,
	 .help = "processes started by clients, at once, of one tenant; 0 = no bound"},
	{"--tenant-starts", "N", "0", NULL, flag_number, FIELD(tenant_starts), .least = 0, .most = 1000000,
	 .help = "sessions and processes that one tenant may make in a minute;\n0 = no bound"},
	{"--warm", "N", "2", NULL, flag_number, FIELD(warm), .least = 0, .most = WARM_MOST,
	 .help = "sandboxes that stand ready, so that a session of the template\n`default` is there at once; 0 = each is made when asked for"},
	{"--max-connections", "N", "4096", NULL, flag_number, FIELD(max_connections), .least = 1, .most = 100000,
	 .help = "connections at once"},
	{"--session-ttl", "TIME", "0", NULL, flag_duration, FIELD(ttl_ms), .least = 0, .most = 30 * DAY_MS,
	 .help = "how long a session lives that did not say so itself;\nsuch as 8h; 0 = until it is ended"},
	{"--allow-origin", "ORIGIN", NULL, NULL, parse_origin, FIELD(origins), .repeats = true,
	 .help = "pages of this origin may connect from a browser;\nmay be repeated"},
	{"--public-host", "NAME[:PORT]", NULL, NULL, parse_host, FIELD(hosts), .repeats = true,
	 .help = "a name under which clients reach the server, beside its\naddresses and localhost; may be repeated"},
	{"--drain", "TIME", "0", NULL, flag_duration, FIELD(drain_ms), .least = 0, .most = DAY_MS,
	 .help = "after SIGTERM, how long sessions may still go on; such as 5m"},
	{"--doctor", NULL, NULL, NULL, flag_switch, FIELD(doctor), .only_argument = true,
	 .help = "print which layers of confinement this host gives, and leave"},
	{"--json", NULL, NULL, NULL, flag_switch, FIELD(json), .only_argument = true, .help = "with --doctor: as JSON"},
	{"--version", NULL, NULL, NULL, flag_switch, FIELD(version), .only_argument = true, .help = "print the version, and leave"},
	{"--help", NULL, NULL, NULL, flag_switch, FIELD(help), .only_argument = true, .help = "print this, and leave"},
	{"--help-markdown", NULL, NULL, NULL, flag_switch, FIELD(help_markdown), .only_argument = true,
	 .help = "print these flags as a Markdown table, and leave"},
};

const struct flags_table options_table = {
	.program = "sandbard",
	.summary = "The Sandbar server: runs commands in sandboxes, and streams them.\n"
	           "It prints one line for each address once it serves, and runs in the foreground until SIGTERM or SIGINT;\n"
	           "both end all sessions. A second SIGINT does not wait for them.",
	.epilogue = "exit codes:\n"
	            "  0   stopped as asked; with --doctor: every essential layer is there\n"
	            "  1   could not start; with --doctor: an essential layer is missing\n"
	            "  2   a wrong flag\n"
	            "  3   another server uses this state directory\n"
	            "  70  five gateways in a row died before they served\n",
	.flags = flags,
	.count = sizeof flags / sizeof flags[0],
};
/* clang-format on */

int options_check_address(const struct options *options, const struct listen_address *address, struct error *err)
{
	char text[64];
	if (options->tls_cert || options->allow_plaintext || listen_address_is_loopback(address))
		return 0;
	listen_address_format(address, text, sizeof text);
	return error_set(err, 0,
	                 "--listen: `%s` is not a loopback address (127.0.0.0/8 or [::1]): without TLS tokens would "
	                 "cross the network in the clear; say --tls-cert and --tls-key, or --allow-plaintext",
	                 text);
}

static int check_tls(const struct options *options, struct error *err)
{
	if (!options->tls_cert != !options->tls_key)
		return error_set(err, 0, "--tls-cert and --tls-key go together");
	for (size_t i = 0; i < options->listen.count; i++)
		if (options_check_address(options, &options->listen.address[i], err) < 0)
			return -1;
	return 0;
}

/* What the file says, where the command line says nothing. */
static int apply(struct options *options, const struct config_file *file, uint64_t *seen, struct error *err)
{
	uint64_t given = *seen;
	for (uint32_t i = 0; i < file->count; i++) {
		const struct config_entry *entry = &file->entries[i];
		const struct flag *flag = entry->flag < options_table.count ? &flags[entry->flag] : NULL;
		if (!flag || flag->only_argument)
			return error_set(err, 0, "what the reader of the configuration handed over is no configuration");
		if (given & UINT64_C(1) << entry->flag)
			continue;
		if (flag->parse(flag, entry->text, (char *)options + flag->offset, err) < 0)
			return error_prefix(err, "%.100s:%u: %s", options->config, entry->line, flag->name + 2);
		*seen |= UINT64_C(1) << entry->flag;
	}
	return 0;
}

int options_parse(struct options *options, struct config_file *file, int argc, char **argv, struct error *err)
{
	uint64_t seen;
	memset(options, 0, sizeof *options);
	options->templates = -1;
	if (flags_read(&options_table, argc, argv, &seen, options, err) < 0)
		return -1;
	if (file && options->config &&
	    (config_file_read(options->config, file, &options->templates, err) < 0 || apply(options, file, &seen, err) < 0))
		return -1;
	if (flags_fill(&options_table, seen, options, err) < 0)
		return -1;
	if (options->json && !options->doctor)
		return error_set(err, 0, "--json goes with --doctor only; the form of the log is --log-format json");
	return check_tls(options, err);
}
