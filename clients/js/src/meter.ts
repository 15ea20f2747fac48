import { Pace } from "./pace.js";

/** Grants that are small beside the bound would only be traffic. */
const STEP = 4;

/** What a channel may be sent: what was drawn, and what is drawn in 20 ms (PROTOCOL.md §4.4). */
export class Meter {
	private readonly pace = new Pace();
	private total = 0;
	private came = 0;
	private granted = 0;

	constructor(private readonly grant: (credit: number) => void) {}

	/** Attached anew: numbers begin at 0. The credit with which to attach. */
	begin(): number {
		this.total = 0;
		this.came = 0;
		this.granted = this.pace.bound;
		return this.granted;
	}

	arrived(bytes: number): void {
		this.came += bytes;
	}

	drawn(bytes: number): void {
		this.total += bytes;
		this.pace.note(this.total, performance.now(), this.came > this.total);
		const next = this.total + this.pace.bound;
		if (next - this.granted >= this.pace.bound / STEP || this.granted <= this.came) {
			if (next > this.granted) {
				this.granted = next;
				this.grant(next);
			}
		}
	}
}
