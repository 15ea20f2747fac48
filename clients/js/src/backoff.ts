const FIRST_MS = 250;
const MOST_MS = 15_000;

/** How long to wait before the next try to connect: doubled each time, with jitter, so that clients do not come in step. */
export class Backoff {
	private tries = 0;

	next(random: () => number = Math.random): number {
		const whole = Math.min(MOST_MS, FIRST_MS * 2 ** this.tries++);
		return whole / 2 + (random() * whole) / 2;
	}

	reset(): void {
		this.tries = 0;
	}
}
