#include "flood.h"

#include "tests/bench/bare/measure.h"
#include "work.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FLOWS = 1 << 20, MOST = 64 };

static pid_t readers[MOST];
static size_t reader_count;

/* Before the server is stopped, which would be an error to them. */
static void stop_readers(void)
{
	for (size_t i = 0; i < reader_count; i++) {
		kill(readers[i], SIGKILL);
		waitpid(readers[i], NULL, 0);
	}
}

static void attach_live(struct wire_client *client, const char *session)
{
	writer_key_str(wire_client_request(client, "session.attach", 1), "session", session);
	wire_client_send(client);
}

static void read_on(const struct server *server, int flows)
{
	static const char *const argv[] = {"yes", "0123456789abcde", NULL};
	struct wire_client client;
	struct wire_frame frame;
	char session[SESSION_TEXT];
	wire_client_open(&client, server->address, server->token);
	work_create(&client, session);
	attach_live(&client, session);
	work_start(&client, session, argv, false);
	for (size_t read = 0;; read += frame.length) {
		if (read > FLOWS && flows >= 0) {
			close(flows);
			flows = -1;
		}
		work_next_event(&client, &frame);
	}
}

static void be_reader(const struct server *server, pid_t parent, int flows)
{
	reader_count = 0;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(1);
	read_on(server, flows);
}

void flood_start(const struct server *server)
{
	int ends[2];
	char byte;
	pid_t parent = getpid();
	if (reader_count == MOST || pipe(ends) != 0)
		die("start a flood");
	if (reader_count == 0)
		atexit(stop_readers);
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		close(ends[0]);
		be_reader(server, parent, ends[1]);
	}
	readers[reader_count++] = pid;
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 0)
		die("wait for a flood");
	close(ends[0]);
}
