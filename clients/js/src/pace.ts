const PACE_MS = 20;
const PACE_LEAST = 4 * 1024;
const PACE_FIRST = 16 * 1024;
export const PACE_MOST = 64 * 1024;

/**
 * How far output may run ahead of who draws it (PROTOCOL.md §4.4): what is drawn in 20 ms, at least 4 KiB, at most 64.
 * A rate is believed only while it is the drawing that is waited for; else the bound grows again.
 */
export class Pace {
	/** Bytes that may be ahead of what was drawn. */
	bound = PACE_FIRST;
	private since = 0;
	private from = 0;
	private eased = 0;

	/** TOTAL bytes were drawn until NOW (ms, not 0). IS_BEHIND: more was waiting to be drawn all the time. */
	note(total: number, now: number, isBehind: boolean): void {
		if (!isBehind) {
			this.ease(now);
			return;
		}
		if (this.since === 0) {
			this.since = now;
			this.from = total;
		}
		const passed = now - this.since;
		if (passed < PACE_MS) {
			return;
		}
		this.bound = within(((total - this.from) * PACE_MS) / passed);
		this.since = now;
		this.from = total;
	}

	private ease(now: number): void {
		this.since = 0;
		if (now - this.eased >= PACE_MS) {
			this.eased = now;
			this.bound = within(2 * this.bound);
		}
	}
}

function within(bytes: number): number {
	return Math.floor(Math.min(PACE_MOST, Math.max(PACE_LEAST, bytes)));
}
