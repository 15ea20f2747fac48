#include "pages.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pages {
	struct page *rows; /* sorted by path */
	size_t count, bytes;
};

static const struct type_row {
	const char *suffix, *type;
} types[] = {
	{".html", "text/html; charset=utf-8"},
	{".js", "text/javascript; charset=utf-8"},
	{".css", "text/css; charset=utf-8"},
	{".svg", "image/svg+xml"},
	{".png", "image/png"},
	{".ico", "image/vnd.microsoft.icon"},
	{".woff2", "font/woff2"},
	{".json", "application/json"},
	{".webmanifest", "application/manifest+json"},
	{".txt", "text/plain; charset=utf-8"},
};
static const char packed_suffix[] = ".gz";

static bool has_suffix(const char *text, const char *suffix)
{
	size_t length = strlen(text), of_suffix = strlen(suffix);
	return length > of_suffix && strcmp(text + length - of_suffix, suffix) == 0;
}

static const char *type_of(const char *path)
{
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (has_suffix(path, types[i].suffix))
			return types[i].type;
	return "application/octet-stream";
}

/* --- reading -------------------------------------------------------------------------------------------------- */

static int read_whole(int fd, struct page_body *body, const char *path, struct error *err)
{
	struct stat status;
	if (fstat(fd, &status) < 0)
		return error_set(err, errno, "stat the page `%s`", path);
	if (status.st_size > PAGE_BYTES_MOST)
		return error_set(err, EFBIG, "the page `%s` has more than %d bytes", path, PAGE_BYTES_MOST);
	body->bytes = malloc((size_t)status.st_size + 1);
	if (!body->bytes)
		abort();
	while (body->length < (size_t)status.st_size) {
		ssize_t got = read(fd, body->bytes + body->length, (size_t)status.st_size - body->length);
		if (got < 0)
			return error_set(err, errno, "read the page `%s`", path);
		if (got == 0)
			break;
		body->length += (size_t)got;
	}
	return 0;
}

static void make_etag(struct page *page)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	if (EVP_Digest(page->body.bytes, page->body.length, digest, NULL, EVP_sha256(), NULL) != 1)
		abort();
	page->etag[0] = '"';
	for (size_t i = 0; i < (PAGE_ETAG_BYTES - 4) / 2; i++)
		snprintf(page->etag + 1 + 2 * i, 3, "%02x", digest[i]);
	strcat(page->etag, "\"");
}

static int add_file(struct pages *pages, int fd, const char *path, struct error *err)
{
	if (pages->count == PAGES_MOST)
		return error_set(err, 0, "there are more than %d pages", PAGES_MOST);
	struct page *page = &pages->rows[pages->count++];
	*page = (struct page){.type = type_of(path)};
	page->is_hashed = strncmp(path, "/assets/", strlen("/assets/")) == 0;
	memcpy(page->path, path, strlen(path) + 1);
	if (read_whole(fd, &page->body, path, err) < 0)
		return -1;
	pages->bytes += page->body.length;
	if (pages->bytes > PAGES_BYTES_MOST)
		return error_set(err, EFBIG, "the pages have more than %d bytes", PAGES_BYTES_MOST);
	make_etag(page);
	return 0;
}

static int add_folder(struct pages *pages, int directory, const char *path, int depth, struct error *err);

/* What is neither a file nor a folder is left out; so is a name that is too long for a path. */
static int add_entry(struct pages *pages, int directory, const char *path, int depth, struct error *err)
{
	struct stat status;
	int fd = openat(directory, strrchr(path, '/') + 1, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return error_set(err, errno, "open the page `%s`", path);
	int result = 0;
	if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode))
		return add_folder(pages, fd, path, depth + 1, err);
	if (S_ISREG(status.st_mode))
		result = add_file(pages, fd, path, err);
	close(fd);
	return result;
}

/* DIRECTORY is closed. */
static int add_folder(struct pages *pages, int directory, const char *path, int depth, struct error *err)
{
	DIR *folder = depth > PAGES_DEPTH ? NULL : fdopendir(directory);
	if (!folder) {
		error_set(err, depth > PAGES_DEPTH ? ELOOP : errno, "read the folder of pages `%s`", path);
		close(directory);
		return -1;
	}
	struct dirent *entry;
	int result = 0;
	while (result == 0 && (entry = readdir(folder))) {
		char below[PAGE_PATH_BYTES];
		if (entry->d_name[0] == '.')
			continue;
		if (snprintf(below, sizeof below, "%s/%s", path, entry->d_name) < (int)sizeof below)
			result = add_entry(pages, dirfd(folder), below, depth, err);
	}
	closedir(folder);
	return result;
}

static int compare(const void *one, const void *other)
{
	return strcmp(((const struct page *)one)->path, ((const struct page *)other)->path);
}

static struct page *find_exactly(const struct pages *pages, const char *path)
{
	struct page key;
	if (strlen(path) >= sizeof key.path)
		return NULL;
	memcpy(key.path, path, strlen(path) + 1);
	return bsearch(&key, pages->rows, pages->count, sizeof key, compare);
}

/* NAME.gz is not a page but what is sent of NAME to who can unpack it. */
static void give_packed(struct pages *pages)
{
	size_t kept = 0;
	for (size_t i = 0; i < pages->count; i++) {
		struct page *page = &pages->rows[i];
		char plain[PAGE_PATH_BYTES];
		snprintf(plain, sizeof plain, "%.*s", (int)(strlen(page->path) - strlen(packed_suffix)), page->path);
		/* `plain` sorts before it, so it stands among those that were kept. */
		const struct pages before = {.rows = pages->rows, .count = kept};
		struct page *whole = has_suffix(page->path, packed_suffix) ? find_exactly(&before, plain) : NULL;
		if (whole)
			whole->packed = page->body;
		else
			pages->rows[kept++] = *page;
	}
	pages->count = kept;
}

struct pages *pages_load(int directory, struct error *err)
{
	struct pages *pages = calloc(1, sizeof *pages);
	if (!pages || !(pages->rows = calloc(PAGES_MOST, sizeof *pages->rows)))
		abort();
	struct stat status;
	if (fstat(directory, &status) < 0 || !S_ISDIR(status.st_mode))
		return pages;
	int own = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (own < 0)
		error_set(err, errno, "open the folder of pages");
	if (own < 0 || add_folder(pages, own, "", 0, err) < 0) {
		pages_destroy(pages);
		return NULL;
	}
	qsort(pages->rows, pages->count, sizeof *pages->rows, compare);
	give_packed(pages);
	return pages;
}

void pages_destroy(struct pages *pages)
{
	if (!pages)
		return;
	for (size_t i = 0; i < pages->count; i++) {
		free(pages->rows[i].body.bytes);
		free(pages->rows[i].packed.bytes);
	}
	free(pages->rows);
	free(pages);
}

/* --- finding -------------------------------------------------------------------------------------------------- */

const struct page *pages_find(const struct pages *pages, const char *path)
{
	char document[PAGE_PATH_BYTES + sizeof ".html"];
	const struct page *page = find_exactly(pages, strcmp(path, "/") == 0 ? "/index.html" : path);
	if (page || strlen(path) >= PAGE_PATH_BYTES)
		return page;
	snprintf(document, sizeof document, "%s.html", path);
	return find_exactly(pages, document);
}
