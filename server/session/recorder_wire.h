/*
 * recorder_wire.h: what the gateway and its worker, which writes the records, say to each other over a SOCK_SEQPACKET
 * pair. Fixed structs. For each OPEN and ADVANCE comes exactly one report; a CLOSE is not answered. The worker leaves when
 * the gateway's end is closed.
 */
#ifndef SANDBAR_RECORDER_WIRE_H
#define SANDBAR_RECORDER_WIRE_H

#include <stdint.h>

enum recorder_request_type {
	RECORDER_OPEN = 1, /* with the descriptors of the session's directory and of its journal (read-only) */
	RECORDER_ADVANCE,  /* record what the journal holds from POSITION on, where event SEQ stands */
	RECORDER_CLOSE,
};

struct recorder_request {
	uint32_t type;
	uint32_t number; /* the gateway's, of the recording */
	uint64_t bytes;  /* OPEN: most that the record may have */
	uint64_t seq, position;
};

struct recorder_report {
	uint32_t number;
	int32_t errnum;      /* why nothing more could be written, or 0 */
	uint64_t first;      /* oldest event of the record; last + 1 when it is empty */
	uint64_t last;       /* it is recorded up to this one, gaps among them; 0 = nothing */
	uint64_t position;   /* behind it, in the journal */
	uint64_t bytes;      /* of all segments */
	uint32_t is_open;    /* 0: the OPEN failed */
	uint32_t is_overrun; /* what stood at POSITION was overwritten before it could be copied, or nothing stood there */
};

_Static_assert(sizeof(struct recorder_request) == 32 && sizeof(struct recorder_report) == 48, "their form is fixed");

#endif
