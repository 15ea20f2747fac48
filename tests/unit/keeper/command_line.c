/*
 * The command line of sandbard, and the table engine below it.
 */
#include "server/keeper/options.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 6 };

static int parse(struct options *options, const char *const words[WORDS], struct error *err)
{
	char *argv[WORDS + 2] = {(char *)(uintptr_t) "sandbard"};
	int argc = 1;
	for (size_t i = 0; i < WORDS && words[i]; i++)
		argv[argc++] = (char *)(uintptr_t)words[i];
	return options_parse(options, NULL, argc, argv, err);
}

Test(command_line, has_standards)
{
	struct options options;
	struct error err;
	char address[64];
	cr_assert_eq(parse(&options, (const char *const[WORDS]){NULL}, &err), 0, "%s", err.message);
	cr_assert_eq(options.listen.count, 1);
	listen_address_format(&options.listen.address[0], address, sizeof address);
	cr_assert_str_eq(address, "127.0.0.1:7433");
	cr_assert_eq(options.ring_bytes, 4u << 20);
	cr_assert_eq(options.max_sessions, 256);
	cr_assert_eq(options.log_format, LOG_TEXT);
	cr_assert_eq(options.log_level, 2);
	cr_assert_null(options.state);
}

Test(command_line, takes_values)
{
	struct options options;
	struct error err;
	char address[64];
	const char *const words[WORDS] = {"--listen=[::1]:0", "--listen",          "127.1.2.3:65535",
	                                  "--ring=1M",        "--session-ttl=90s", "--allow-origin=http://localhost:3000"};
	cr_assert_eq(parse(&options, words, &err), 0, "%s", err.message);
	cr_assert_eq(options.listen.count, 2);
	listen_address_format(&options.listen.address[0], address, sizeof address);
	cr_assert_str_eq(address, "[::1]:0");
	listen_address_format(&options.listen.address[1], address, sizeof address);
	cr_assert_str_eq(address, "127.1.2.3:65535");
	cr_assert_eq(options.ring_bytes, 1u << 20);
	cr_assert_eq(options.ttl_ms, 90000);
	cr_assert_eq(options.origins.count, 1);
}

/* Each is refused by a text that names the flag, or the word, and says what is allowed. */
Test(command_line, refuses)
{
	static const struct {
		const char *words[WORDS];
		const char *part;
	} rows[] = {
		{{"--bogus"}, "unknown flag `--bogus`"},
		{{"--bogus=1"}, "unknown flag `--bogus`"},
		{{"-h"}, "unknown flag `-h`"},
		{{"--"}, "unknown flag `--`"},
		{{"--lis"}, "unknown flag `--lis`"},
		{{""}, "unexpected argument ``"},
		{{"serve"}, "unexpected argument `serve`"},
		{{"--state"}, "--state needs a value: --state DIR"},
		{{"--state="}, "--state: an empty DIR"},
		{{"--help=1"}, "--help takes no value"},
		{{"--listen", "0.0.0.0:7433"}, "not a loopback address"},
		{{"--listen", "[::]:7433"}, "not a loopback address"},
		{{"--listen", "192.168.0.1:7433"}, "without TLS"},
		{{"--listen", "[::ffff:127.0.0.1]:1"}, "not a loopback address"},
		{{"--listen", "127.0.0.1"}, "not ADDR:PORT"},
		{{"--listen", "127.0.0.1:"}, "not ADDR:PORT"},
		{{"--listen", "127.0.0.1:65536"}, "not ADDR:PORT"},
		{{"--listen", "127.0.0.1:-1"}, "not ADDR:PORT"},
		{{"--listen", "127.0.0.1:+1"}, "not ADDR:PORT"},
		{{"--listen", "127.0.0.1:99999999999999999999"}, "not ADDR:PORT"},
		{{"--listen", "::1:7433"}, "not ADDR:PORT"},
		{{"--listen", ":7433"}, "not ADDR:PORT"},
		{{"--listen", "localhost:7433"}, "not ADDR:PORT"},
		{{"--ring", "0"}, "--ring: `0` is not a number of bytes from 524288"},
		{{"--ring", "4MB"}, "`4MB`"},
		{{"--ring", "600001"}, "multiple of 4096"},
		{{"--ring", "18446744073709551616"}, "is not a number of bytes"},
		{{"--ring", "99999999999999999999G"}, "is not a number of bytes"},
		{{"--max-sessions", " 5"}, "is not a number from 1"},
		{{"--max-sessions", "5 "}, "is not a number from 1"},
		{{"--max-sessions", "0x10"}, "is not a number from 1"},
		{{"--session-ttl", "10"}, "such as 500ms"},
		{{"--session-ttl", "-1s"}, "such as 500ms"},
		{{"--session-ttl", "31d"}, "such as 500ms"},
		{{"--log-format", "xml"}, "is not one of: text, json"},
		{{"--log-level", "trace"}, "is not one of: error, warn, info, debug"},
		{{"--allow-origin", "ide.example"}, "is not an origin"},
		{{"--allow-origin", "https://ide.example/"}, "is not an origin"},
		{{"--allow-origin", "*"}, "is not an origin"},
		{{"--json"}, "--doctor"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct options options;
		struct error err = {0};
		cr_assert_eq(parse(&options, rows[i].words, &err), -1, "%s was taken", rows[i].words[0]);
		cr_assert(strstr(err.message, rows[i].part), "`%s`: %s", rows[i].words[0], err.message);
	}
}

Test(command_line, bounds_repeated_flags)
{
	char *argv[64] = {(char *)(uintptr_t) "sandbard"};
	struct options options;
	struct error err;
	for (int i = 1; i <= GATEWAY_LISTENERS + 1; i++)
		argv[i] = (char *)(uintptr_t) "--listen=127.0.0.1:0";
	cr_assert_eq(options_parse(&options, NULL, GATEWAY_LISTENERS + 2, argv, &err), -1);
	cr_assert(strstr(err.message, "at most 8"), "%s", err.message);
}

/* Every flag stands in the help and in the documentation's table, with what it does. */
Test(command_line, tells_every_flag)
{
	void (*const printers[])(const struct flags_table *, FILE *) = {flags_help, flags_markdown};
	for (size_t i = 0; i < 2; i++) {
		char *text;
		size_t length;
		FILE *out = open_memstream(&text, &length);
		printers[i](&options_table, out);
		fclose(out);
		for (size_t flag = 0; flag < options_table.count; flag++)
			cr_assert(strstr(text, options_table.flags[flag].name), "%s", options_table.flags[flag].name);
		cr_assert(i == 1 || strstr(text, "exit codes"));
		free(text);
	}
}
