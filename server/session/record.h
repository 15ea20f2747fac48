/*
 * record.h: what a later gateway must know of a session's processes and participants, in a mapped file beside the
 * journal. Values are stored where they change; a store is all that a change costs.
 *
 * The file grows by RECORD_CHUNK rows of processes, allocated before they are used, so that a full disk is an error of
 * process.start and not a fault later. A record is in use while its `number` is not 0, which is stored last.
 */
#ifndef SANDBAR_RECORD_H
#define SANDBAR_RECORD_H

#include "ending.h"

enum {
	RECORD_CHUNK = 64,
	RECORD_ROWS = 1600,
	RECORD_START_BYTES = 2432,
	RECORD_PARTICIPANTS = 128,
	RECORD_CONTROL_BYTES = 16,
	RECORD_REASON_BYTES = 16,
};

struct process_record {
	uint32_t number; /* 0: the row is free */
	uint32_t state;  /* enum process_state */
	uint64_t started_seq, exited_seq, started_us;
	uint64_t offsets[PROCESS_STREAMS];
	uint64_t output_limit, grace_ms, idle_ms, cpu_ms, wall_ms, disconnect_ms;
	uint64_t signals;        /* struct intervention's */
	uint64_t grace_until_us; /* in the session's time: TERM was sent, and KILL is due; 0 = it is not */
	uint64_t wall_us, user_us, system_us, memory_peak; /* of its ending */
	int32_t exit_code;
	uint16_t cols, rows;
	uint8_t client[CLIENT_ID_BYTES];
	uint8_t terminal, wants_stdin, kill_on_exit, kill_on_disconnect, is_run, end_taken, forgotten, is_ending;
	uint8_t is_shell;
	uint8_t input_mode, size_policy; /* of its terminal, as sharing.h */
	uint16_t fixed_cols, fixed_rows;
	uint32_t driver; /* a participant; 0: nobody */
	uint8_t driver_client[CLIENT_ID_BYTES];
	uint8_t stream_ended[PROCESS_STREAMS];
	uint8_t intervened;                                                           /* enum reason */
	uint8_t reason;                                                               /* of its ending */
	uint8_t signal;                                                               /* of its ending; 0 = none */
	char intervened_control[RECORD_CONTROL_BYTES], control[RECORD_CONTROL_BYTES]; /* "" = none */
	char message[ENDING_TEXT_BYTES];
	uint32_t start_map_length;
	uint8_t start_map[RECORD_START_BYTES];
};

struct participant_record {
	uint32_t participant; /* 0: the row is free */
	uint32_t role;
	uint32_t colour;
	uint32_t is_lossless;
	char name[LIMIT_NAME_BYTES + 1], client_name[LIMIT_NAME_BYTES + 1];
};

/* How the session itself ended, or is to. It stands here as well as in session.json, since storing it takes no room on a
 * disk that may be full. */
struct end_record {
	uint64_t ended_us;                /* since 1970; 0: it has not ended */
	uint64_t last;                    /* seq of its last event */
	char reason[RECORD_REASON_BYTES]; /* "": nobody has ended it */
};

struct records;

struct records *records_create(int directory, const char *name, struct error *err); /* NULL on error */
struct records *records_open(int directory, const char *name, struct error *err);
void records_destroy(struct records *records); /* unmaps; the file stays. NULL is allowed */

/* The numbers that were given last. */
uint32_t *records_next_process(struct records *records);
uint32_t *records_next_participant(struct records *records);
struct end_record *records_end(struct records *records);
/* The limits that were told of as nearly reached: the meter's bits. */
uint32_t *records_near(struct records *records);

/* A free row, zeroed: `number` is still 0. NULL when the disk or the file is full. */
struct process_record *records_take(struct records *records);
/* All rows, used or free: 0 ... records_rows() - 1. */
size_t records_rows(const struct records *records);
struct process_record *records_row(struct records *records, size_t i);

/* The row of PARTICIPANT (0: a free one), or NULL. */
struct participant_record *records_participant(struct records *records, uint32_t participant);
struct participant_record *records_participant_row(struct records *records,
                                                   size_t i); /* 0 ... RECORD_PARTICIPANTS - 1 */

#endif
