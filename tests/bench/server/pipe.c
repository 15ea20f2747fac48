/*
 * A flood through a pipe to one client, which misses nothing. Beside it stands pipe_tcp.
 */
#include "tests/bench/bare/measure.h"
#include "work.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	uint64_t bytes = UINT64_C(1) << 30;
	uint64_t tls = 0, record = SERVER_RECORD;
	const struct option_row options[] = {{"--bytes", &bytes, "how many"},
	                                     {"--tls", &tls, "1: over TLS"},
	                                     {"--record", &record, "bytes that are recorded on disk"},
	                                     {NULL, NULL, NULL}};
	char count[24];
	const char *head[] = {"head", "-c", count, "/dev/zero", NULL};
	options_read(argc, argv, options);
	snprintf(count, sizeof count, "%llu", (unsigned long long)bytes);
	const struct server_options server = {.tls = tls, .sets_record = true, .record = record};
	rate_print("sandbar_pipe", bytes, work_flood(head, false, bytes, &server));
	return 0;
}
