import type { Screen } from "../terminal/screen.js";
import type { Step, Track } from "./recording.js";

/** A picture of the screen is kept each time so much was written: what a jump has to write again is at most that. */
const PICTURE_BYTES = 512 * 1024;
const SILENCE_US = 2_000_000;
const KEPT_SILENCE_US = 400_000;
const STDERR = ["\x1b[31m", "\x1b[39m"] as const;

interface Picture {
	/** Steps that it holds. */
	readonly steps: number;
	readonly text: string;
	readonly cols: number;
	readonly rows: number;
}

/** Plays a track on a screen: any moment, at any speed. */
export class Player {
	/** Microseconds since the session was made. */
	position = 0;
	speed = 1;
	skipsSilence = true;
	isPlaying = false;
	private done = 0;
	private readonly pictures: Picture[] = [];
	private sincePicture = 0;
	private ticked = 0;
	private jumping: Promise<void> = Promise.resolve();

	/** ON_MOVE is told when the position is another. */
	constructor(
		private readonly screen: Screen,
		private readonly track: Track,
		private readonly first: { readonly cols: number; readonly rows: number },
		private readonly end: number,
		private readonly onMove: () => void,
	) {
		this.restart();
	}

	play(): void {
		if (this.position >= this.end) {
			void this.jump(0);
		}
		this.isPlaying = true;
		this.ticked = performance.now();
		requestAnimationFrame((now) => this.tick(now));
	}

	pause(): void {
		this.isPlaying = false;
	}

	/** Show the moment POSITION. One jump after the other; only the newest is carried out. */
	jump(position: number): Promise<void> {
		this.position = Math.min(this.end, Math.max(0, position));
		this.onMove();
		this.jumping = this.jumping.then(() => this.showPosition());
		return this.jumping;
	}

	/** The moments before and after the position that have a step, for who goes by single steps. */
	next(isBackward: boolean): number {
		const { steps } = this.track;
		if (isBackward) {
			return steps.filter(({ t }) => t < this.position).at(-1)?.t ?? 0;
		}
		return steps.find(({ t }) => t > this.position)?.t ?? this.end;
	}

	private tick(now: number): void {
		if (!this.isPlaying) {
			return;
		}
		const passed = (now - this.ticked) * 1000 * this.speed;
		this.ticked = now;
		this.position = Math.min(this.end, this.position + passed);
		this.skip();
		this.forward();
		this.onMove();
		if (this.position >= this.end) {
			this.isPlaying = false;
			this.onMove();
		} else {
			requestAnimationFrame((later) => this.tick(later));
		}
	}

	/** Where nothing is written for long, little of that is waited for. */
	private skip(): void {
		const coming = this.track.steps[this.done]?.t ?? this.end;
		if (this.skipsSilence && coming - this.position > SILENCE_US) {
			this.position = coming - KEPT_SILENCE_US;
		}
	}

	private async showPosition(): Promise<void> {
		const wanted = this.stepsUntil(this.position);
		if (wanted < this.done || this.pictures.some(({ steps }) => steps > this.done && steps <= wanted)) {
			this.restore(wanted);
		}
		while (this.done < wanted) {
			this.forward(Math.min(wanted, this.done + 64));
			await this.drawn();
		}
	}

	private forward(until = this.stepsUntil(this.position)): void {
		for (; this.done < until; this.done++) {
			const step = this.track.steps[this.done];
			if (step) {
				this.apply(step);
			}
		}
		if (this.sincePicture >= PICTURE_BYTES) {
			this.sincePicture = 0;
			this.takePicture(this.done);
		}
	}

	private apply(step: Step): void {
		if (step.kind === "resize") {
			this.screen.resize(step.cols, step.rows);
			return;
		}
		if (step.kind === "screen") {
			this.screen.restart(step.cols, step.rows);
		}
		const isError = step.kind === "output" && step.isError;
		if (isError) {
			this.screen.write(STDERR[0]);
		}
		this.screen.write(step.bytes);
		if (isError) {
			this.screen.write(STDERR[1]);
		}
		this.sincePicture += step.bytes.length;
	}

	private takePicture(steps: number): void {
		if (steps <= (this.pictures.at(-1)?.steps ?? 0)) {
			return;
		}
		this.screen.write("", () => {
			if (this.done >= steps) {
				const { terminal, serialize } = this.screen;
				const text = serialize.serialize({ scrollback: 200 });
				this.pictures.push({ steps, text, cols: terminal.cols, rows: terminal.rows });
			}
		});
	}

	private restore(wanted: number): void {
		const picture = this.pictures.filter(({ steps }) => steps <= wanted).at(-1);
		this.restart(picture);
		if (picture) {
			this.screen.write(picture.text);
			this.done = picture.steps;
		}
	}

	private restart(size: { readonly cols: number; readonly rows: number } = this.first): void {
		this.screen.restart(size.cols, size.rows);
		this.done = 0;
		this.sincePicture = 0;
	}

	/** How many steps stand up to T. */
	private stepsUntil(t: number): number {
		const { steps } = this.track;
		let low = 0;
		let high = steps.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if ((steps[middle]?.t ?? 0) <= t) {
				low = middle + 1;
			} else {
				high = middle;
			}
		}
		return low;
	}

	private drawn(): Promise<void> {
		return new Promise((resolve) => this.screen.write("", resolve));
	}
}
