/* What requests keep of a session's output: within the session's bound, and never what stands behind a missing piece. */
#include "server/api/collected.h"

#include <criterion/criterion.h>

static const uint8_t bytes[8] = "abcdefg";

Test(collected, nothing_comes_behind_what_is_missing)
{
	static struct session session;
	struct writer stream;
	uint64_t most = 100;
	writer_init(&stream, sizeof bytes);
	cr_assert(collected_take(&session, COLLECTED_MOST - 5));
	cr_expect_not(collected_take(&session, 6));
	cr_expect(collected_append(&session, &stream, &most, bytes, 3));
	cr_expect_not(collected_append(&session, &stream, &most, bytes + 3, 4));
	collected_give(&session, COLLECTED_MOST - 5);
	cr_expect_not(collected_append(&session, &stream, &most, bytes, 1), "there is room again, and a piece is missing");
	cr_expect(stream.length == 5 && memcmp(stream.data, bytes, 5) == 0);
	cr_expect_eq(session.collected, 5);
	collected_finish(&session, &stream);
	cr_expect_eq(session.collected, 0);
}

Test(collected, a_stream_has_its_own_bound)
{
	static struct session session;
	struct writer stream;
	uint64_t most = 4;
	writer_init(&stream, sizeof bytes);
	cr_expect(collected_append(&session, &stream, &most, bytes, 4));
	cr_expect_not(collected_append(&session, &stream, &most, bytes, 1));
	cr_expect(collected_append(&session, &stream, &most, bytes, 0));
	cr_expect_eq(session.collected, 4);
	collected_finish(&session, &stream);
}
