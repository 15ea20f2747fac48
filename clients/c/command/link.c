#include "link.h"

#include "clients/c/failure.h"
#include "json.h"
#include "query.h"

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

/* The first line of stdin; typed at a terminal it is not shown. */
static bool read_line(char line[LINK_BYTES])
{
	struct termios before, silent;
	bool is_typed = tcgetattr(STDIN_FILENO, &before) == 0;
	size_t length = 0;

	if (is_typed) {
		fputs("Link: ", stderr);
		silent = before;
		silent.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(STDIN_FILENO, TCSADRAIN, &silent);
	}
	while (length < LINK_BYTES - 1 && read(STDIN_FILENO, line + length, 1) == 1 && line[length] != '\n')
		length++;
	line[length] = '\0';
	if (is_typed) {
		tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
		fputc('\n', stderr);
	}
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
