#include "record.h"

#include "server/base/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

static const uint8_t magic[8] = {'r', 'e', 'c', 'o', 'r', 'd', 's', 3};

struct head {
	uint8_t magic[8];
	uint32_t next_process, next_participant;
	struct participant_record participants[RECORD_PARTICIPANTS];
	struct end_record end;
	uint32_t near;
};

enum {
	HEAD_BYTES = (sizeof(struct head) + PAGE - 1) / PAGE * PAGE,
	ROWS_BYTES = RECORD_ROWS * sizeof(struct process_record),
	FILE_BYTES = (HEAD_BYTES + ROWS_BYTES + PAGE - 1) / PAGE * PAGE,
};
_Static_assert(offsetof(struct process_record, start_map) % 4 == 0, "rows have no holes that differ");

struct records {
	struct head *head; /* FILE_BYTES of address space; only the allocated rows may be touched */
	struct process_record *rows;
	size_t allocated; /* rows */
	int fd;
};

static size_t bytes_for(size_t rows)
{
	return HEAD_BYTES + rows * sizeof(struct process_record);
}

static struct records *map(int fd, size_t allocated, const char *name, struct error *err)
{
	struct head *head = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (head == MAP_FAILED) {
		error_set(err, errno, "map `%s`", name);
		close(fd);
		return NULL;
	}
	struct records *records = calloc(1, sizeof *records);
	if (!records)
		abort();
	records->head = head;
	records->rows = (struct process_record *)(void *)((char *)head + HEAD_BYTES);
	records->allocated = allocated;
	records->fd = fd;
	return records;
}

struct records *records_create(int directory, const char *name, struct error *err)
{
	int fd = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_set(err, errno, "create `%s`", name), NULL;
	int failed = posix_fallocate(fd, 0, (off_t)bytes_for(RECORD_CHUNK));
	if (failed != 0) {
		close(fd);
		unlinkat(directory, name, 0);
		return error_set(err, failed, "allocate `%s`", name), NULL;
	}
	struct records *records = map(fd, RECORD_CHUNK, name, err);
	if (records)
		memcpy(records->head->magic, magic, sizeof magic);
	else
		unlinkat(directory, name, 0);
	return records;
}

struct records *records_open(int directory, const char *name, struct error *err)
{
	int fd = plain_file_open(directory, name, O_RDWR, 0);
	if (fd < 0)
		return error_set(err, errno, "open `%s`", name), NULL;
	struct stat status;
	size_t rows = 0;
	if (fstat(fd, &status) == 0 && (size_t)status.st_size >= bytes_for(RECORD_CHUNK))
		rows = ((size_t)status.st_size - HEAD_BYTES) / sizeof(struct process_record);
	if (rows == 0 || rows > RECORD_ROWS) {
		close(fd);
		return error_set(err, 0, "`%s` has a wrong size", name), NULL;
	}
	struct records *records = map(fd, rows, name, err);
	if (!records || memcmp(records->head->magic, magic, sizeof magic) == 0)
		return records;
	records_destroy(records);
	return error_set(err, 0, "`%s` is not of this version", name), NULL;
}

void records_destroy(struct records *records)
{
	if (!records)
		return;
	munmap(records->head, FILE_BYTES);
	close(records->fd);
	free(records);
}

uint32_t *records_next_process(struct records *records)
{
	return &records->head->next_process;
}

uint32_t *records_next_participant(struct records *records)
{
	return &records->head->next_participant;
}

struct end_record *records_end(struct records *records)
{
	return &records->head->end;
}

uint32_t *records_near(struct records *records)
{
	return &records->head->near;
}

static bool grow(struct records *records)
{
	size_t rows = records->allocated + RECORD_CHUNK;
	if (rows > RECORD_ROWS || posix_fallocate(records->fd, 0, (off_t)bytes_for(rows)) != 0)
		return false;
	records->allocated = rows;
	return true;
}

struct process_record *records_take(struct records *records)
{
	size_t i = 0;
	while (i < records->allocated && records->rows[i].number != 0)
		i++;
	if (i == records->allocated && !grow(records))
		return NULL;
	memset(&records->rows[i], 0, sizeof records->rows[i]);
	return &records->rows[i];
}

size_t records_rows(const struct records *records)
{
	return records->allocated;
}

struct process_record *records_row(struct records *records, size_t i)
{
	return &records->rows[i];
}

struct participant_record *records_participant(struct records *records, uint32_t participant)
{
	for (size_t i = 0; i < RECORD_PARTICIPANTS; i++)
		if (records->head->participants[i].participant == participant)
			return &records->head->participants[i];
	return NULL;
}

struct participant_record *records_participant_row(struct records *records, size_t i)
{
	return &records->head->participants[i];
}
