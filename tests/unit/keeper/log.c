/*
 * A line of the log is one line, whatever stands in it.
 */
#include "server/base/log.h"

#include <criterion/criterion.h>
#include <string.h>

static const uint64_t moment = UINT64_C(1700000000123456); /* 2023-11-14T22:13:20.123Z */

static void must_be(bool json, const char *session, const char *message, const struct log_field *fields,
                    const char *line)
{
	char bytes[LOG_LINE_BYTES + 1];
	log_init("sandbard", json, LOG_INFO);
	size_t length = log_format_line(bytes, moment, LOG_WARN, session, message, fields);
	bytes[length] = '\0';
	cr_assert_str_eq(bytes, line);
}

Test(log, is_text_or_json)
{
	const struct log_field fields[] = {log_number("pid", -12), log_text("how", "by hand"), {.key = NULL}};
	must_be(false, NULL, "died", fields,
	        "time=2023-11-14T22:13:20.123Z level=warn program=sandbard message=died pid=-12 how=\"by hand\"\n");
	must_be(true, "aaaaaaaaaaaaaaaabbbb", "died", fields,
	        "{\"time\":\"2023-11-14T22:13:20.123Z\",\"level\":\"warn\",\"program\":\"sandbard\","
	        "\"session\":\"aaaaaaaaaaaaaaaa\",\"message\":\"died\",\"pid\":-12,\"how\":\"by hand\"}\n");
}

/* What a stranger chose cannot make a second line, a second field, or a terminal's escape sequence. */
Test(log, cannot_be_forged)
{
	const struct log_field fields[] = {log_text("a", "x\nlevel=error"),
	                                   log_text("b", "\"}\\"),
	                                   log_text("c", "\x1b[2J\x7f\xff"),
	                                   log_text("d", ""),
	                                   log_text("e", "k=v"),
	                                   {.key = NULL}};
	must_be(false, NULL, "m", fields,
	        "time=2023-11-14T22:13:20.123Z level=warn program=sandbard message=m a=\"x\\nlevel=error\" b=\"\\\"}\\\\\" "
	        "c=\"\\u001b[2J\\u007f\\u00ff\" d=\"\" e=\"k=v\"\n");
	must_be(
		true, NULL, "m", fields,
		"{\"time\":\"2023-11-14T22:13:20.123Z\",\"level\":\"warn\",\"program\":\"sandbard\",\"message\":\"m\","
		"\"a\":\"x\\nlevel=error\",\"b\":\"\\\"}\\\\\",\"c\":\"\\u001b[2J\\u007f\\u00ff\",\"d\":\"\",\"e\":\"k=v\"}\n");
}

/* A line has a bound; what does not fit is left out whole, and the line says so. */
Test(log, is_bounded)
{
	static char text[3 * LOG_LINE_BYTES];
	char bytes[LOG_LINE_BYTES + 1];
	memset(text, '\n', sizeof text - 1);
	const struct log_field fields[] = {
		log_number("first", 1), log_text("huge", text), log_number("last", 1), {.key = NULL}};
	for (int json = 0; json < 2; json++) {
		log_init("sandbard", json, LOG_INFO);
		size_t length = log_format_line(bytes, moment, LOG_INFO, NULL, "m", fields);
		cr_assert_leq(length, LOG_LINE_BYTES);
		bytes[length] = '\0';
		cr_assert_eq(strchr(bytes, '\n'), bytes + length - 1);
		cr_assert(strstr(bytes, "first") && strstr(bytes, "truncated"));
		cr_assert_null(strstr(bytes, "huge"));
		cr_assert(!json || strcmp(bytes + length - 3, "e}\n") == 0);
	}
}
