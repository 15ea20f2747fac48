import type { Channel, ProcessView, SessionView } from "sandbar";
import { plain } from "../format.js";

/** What happened to one process's screen at a moment. */
export type Step =
	| { readonly t: number; readonly kind: "output"; readonly bytes: Uint8Array; readonly isError: boolean }
	| { readonly t: number; readonly kind: "resize"; readonly cols: number; readonly rows: number }
	| {
			readonly t: number;
			readonly kind: "screen";
			readonly cols: number;
			readonly rows: number;
			readonly bytes: Uint8Array;
	  };

/** Something on the scrub bar. */
export interface Mark {
	readonly t: number;
	readonly kind: "note" | "join" | "exit" | "gap";
	readonly text: string;
	readonly process: number | null;
}

/** One process's part of a recording. */
export interface Track {
	readonly process: ProcessView;
	readonly steps: Step[];
}

const FIRST_SIZE = { cols: 80, rows: 24 } as const;

/** A session from its first event to where it stands: what its processes wrote, and when what happened. */
export class Recording {
	readonly tracks = new Map<number, Track>();
	readonly marks: Mark[] = [];
	/** `t` of the newest event. */
	end = 0;
	bytes = 0;

	constructor(
		private readonly channel: Channel,
		private readonly view: SessionView,
	) {
		this.listen();
	}

	/** Resolves when everything is here: the replay is over, or the session's end was reached. */
	load(onProgress: () => void): Promise<void> {
		const { channel } = this;
		channel.on("output", () => onProgress());
		return new Promise((resolve, reject) => {
			channel.on("live", () => resolve());
			channel.on("closed", ({ error }) => (error ? reject(error) : resolve()));
			channel.open().catch(reject);
		});
	}

	/** Tracks with something to see, terminals first. */
	listed(): readonly Track[] {
		const isTerminal = ({ process }: Track): number => (process.started?.terminal ? 0 : 1);
		return [...this.tracks.values()]
			.filter(({ steps }) => steps.length > 0)
			.sort((one, other) => isTerminal(one) - isTerminal(other) || one.process.process - other.process.process);
	}

	sizeOf({ process }: Track): { readonly cols: number; readonly rows: number } {
		return process.started?.terminal ?? FIRST_SIZE;
	}

	private listen(): void {
		const { channel } = this;
		channel.on("output", ({ process, t, bytes, stream }) => {
			this.add(process, { t, kind: "output", bytes: bytes.slice(), isError: stream === "stderr" });
			this.bytes += bytes.length;
		});
		channel.on("started", ({ t }) => (this.end = t));
		channel.on("resized", ({ process, t, cols, rows }) => this.add(process, { t, kind: "resize", cols, rows }));
		channel.on("screen", ({ process, cols, rows, bytes }) => {
			this.add(process, { t: this.end, kind: "screen", cols, rows, bytes: bytes.slice() });
		});
		channel.on("note", ({ t, text, by, process }) => {
			this.mark({ t, kind: "note", text: `${plain(by, 48)}: ${plain(text, 200)}`, process });
		});
		channel.on("participant", ({ t, change, name }) => {
			if (change === "joined") {
				this.mark({ t, kind: "join", text: `${plain(name, 48)} joined`, process: null });
			}
		});
		channel.on("exited", ({ t, process, ending }) => {
			const text = `process ${process}: ${ending.reason}${ending.exit_code === null ? "" : `, ${ending.exit_code}`}`;
			this.mark({ t, kind: "exit", text, process });
		});
		channel.on("gap", ({ from, to }) => {
			this.mark({ t: this.end, kind: "gap", text: `events ${from}–${to} were not kept`, process: null });
		});
	}

	private add(process: number, step: Step): void {
		const view = this.view.processes.get(process);
		if (view) {
			const track = this.tracks.get(process) ?? { process: view, steps: [] };
			this.tracks.set(process, track);
			track.steps.push(step);
			this.end = Math.max(this.end, step.t);
		}
	}

	private mark(mark: Mark): void {
		this.marks.push(mark);
		this.end = Math.max(this.end, mark.t);
	}
}
