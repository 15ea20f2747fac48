#include "link.h"

#include "clients/c/failure.h"
#include "json.h"
#include "query.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { LINK_BYTES = 4096 };

static bool has_scheme(const char *text)
{
	static const char *const SCHEMES[] = {"http://", "https://", "ws://", "wss://"};

	for (size_t i = 0; i < sizeof(SCHEMES) / sizeof(SCHEMES[0]); i++)
		if (strncmp(text, SCHEMES[i], strlen(SCHEMES[i])) == 0)
			return true;
	return false;
}

bool link_is(const struct options *options)
{
	const char *first = options->argument_count ? options->arguments[0] : "";

	return strcmp(first, "-") == 0 || has_scheme(first);
}

/* ---- Asking for one ---- */

static volatile sig_atomic_t came; /* the signal that came while the terminal was silent */

static void note_signal(int number)
{
	came = number;
}

/* A terminal that does not show what is typed, while nothing ends or stops this program but in wait_for_line(). */
struct silence {
	struct termios before;
	sigset_t mask;
	struct sigaction actions[5];
};

static const int ENDING[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP};

enum { ENDINGS = sizeof(ENDING) / sizeof(ENDING[0]) };

_Static_assert((int)ENDINGS == (int)(sizeof(((struct silence *)NULL)->actions) / sizeof(struct sigaction)),
               "an action for each");

/* What was typed while the terminal was not ours is not the link. */
static void silence_begin(struct silence *silence, bool is_again)
{
	struct sigaction action = {.sa_handler = note_signal};
	struct termios silent;
	sigset_t blocked;

	tcgetattr(STDIN_FILENO, &silence->before);
	silent = silence->before;
	silent.c_lflag &= ~(tcflag_t)ECHO;
	sigemptyset(&blocked);
	for (size_t i = 0; i < ENDINGS; i++)
		sigaddset(&blocked, ENDING[i]);
	sigprocmask(SIG_BLOCK, &blocked, &silence->mask);
	for (size_t i = 0; i < ENDINGS; i++) {
		sigaction(ENDING[i], NULL, &silence->actions[i]);
		if (silence->actions[i].sa_handler != SIG_IGN) /* nohup's stays ignored */
			sigaction(ENDING[i], &action, NULL);
	}
	came = 0;
	tcsetattr(STDIN_FILENO, is_again ? TCSAFLUSH : TCSADRAIN, &silent);
	fputs("Link: ", stderr);
}

/* As it was; then what came does what it does to any program. Returns whether anything came, after which this one goes on. */
static bool silence_end(struct silence *silence)
{
	sigset_t background;

	sigemptyset(&background);
	sigaddset(&background, SIGTTOU);
	sigprocmask(SIG_BLOCK, &background, NULL);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &silence->before);
	fputc('\n', stderr);
	for (size_t i = 0; i < ENDINGS; i++)
		sigaction(ENDING[i], &silence->actions[i], NULL);
	int number = came;
	if (number)
		raise(number);
	sigprocmask(SIG_SETMASK, &silence->mask, NULL);
	return number != 0;
}

static bool wait_for_line(const struct silence *silence)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	while (!came && ppoll(&input, 1, NULL, &silence->mask) < 0 && errno == EINTR)
		;
	return !came;
}

static size_t read_bytes(char line[LINK_BYTES], const struct silence *silence)
{
	size_t length = 0;

	while (length < LINK_BYTES - 1 && (!silence || wait_for_line(silence)) &&
	       read(STDIN_FILENO, line + length, 1) == 1 && line[length] != '\n')
		length++;
	line[length] = '\0';
	return length;
}

/* The first line of stdin; typed at a terminal it is not shown. */
static bool read_line(char line[LINK_BYTES])
{
	struct silence silence;
	bool is_again = false;
	size_t length;

	if (!isatty(STDIN_FILENO))
		return read_bytes(line, NULL) > 0;
	do {
		silence_begin(&silence, is_again);
		length = read_bytes(line, &silence);
		is_again = silence_end(&silence);
	} while (is_again);
	return length > 0;
}

static char *copy(const char *text, size_t length)
{
	char *made = strndup(text, length);

	if (!made)
		abort();
	return made;
}

/* The page's path is not the socket's: only scheme, host and port are kept. */
static int split(char *text, char **url, char **token, struct sandbar_error *error)
{
	char *fragment = strchr(text, '#');
	size_t scheme = has_scheme(text) ? (size_t)(strstr(text, "://") + 3 - text) : 0;

	if (!scheme || !fragment || !fragment[1])
		return failure_set(error, "usage", "a link looks like http://HOST:PORT/#TOKEN; its token must be there");
	fragment[strcspn(fragment, " \r\n")] = '\0';
	*url = copy(text, scheme + strcspn(text + scheme, "/?#"));
	*token = copy(fragment + 1, strlen(fragment + 1));
	explicit_bzero(fragment + 1, strlen(fragment + 1));
	return 0;
}

int link_read(const struct options *options, char **url, char **token, struct sandbar_error *error)
{
	char line[LINK_BYTES];

	if (strcmp(options->arguments[0], "-") != 0)
		return split((char *)options->arguments[0], url, token, error);
	if (!read_line(line))
		return failure_set(error, "usage", "there is no link on stdin");
	int status = split(line, url, token, error);
	explicit_bzero(line, sizeof(line));
	return status;
}

/* ---- Printing one ---- */

/* The server's address as a browser writes it. */
static void print_address(const char *url)
{
	static const struct {
		const char *ours, *page;
	} SCHEMES_OF_PAGES[] = {{"ws://", "http://"},
	                        {"wss://", "https://"},
	                        {"http://", "http://"},
	                        {"https://", "https://"},
	                        {"", "http://"}};
	size_t i = 0;

	while (strncmp(url, SCHEMES_OF_PAGES[i].ours, strlen(SCHEMES_OF_PAGES[i].ours)) != 0)
		i++;
	const char *host = url + strlen(SCHEMES_OF_PAGES[i].ours);
	printf("%s%.*s/", SCHEMES_OF_PAGES[i].page, (int)strcspn(host, "/?#"), host);
}

void link_print(const char *url, const struct reader *result)
{
	struct view token = query_text(result, "token");

	print_address(url);
	printf("#%.*s\n", (int)token.length, token.data);
	fflush(stdout);
}

void link_print_json(const char *url, const struct reader *result, const char *id)
{
	struct reader name = query_field(result, id), token = query_field(result, "token");
	struct view text = query_text(result, "token");

	printf("{\"%s\": ", id);
	json_value(stdout, &name);
	fputs(", \"token\": ", stdout);
	json_value(stdout, &token);
	fputs(", \"link\": \"", stdout);
	print_address(url);
	printf("#%.*s\"}\n", (int)text.length, text.data);
}
