import type { Channel } from "./channel.js";
import { Emitter } from "./emitter.js";
import type { ChannelFrames, JournalEvents } from "./events.js";
import type { Ending, Participant, ProcessInfo, Sharing, Started, TerminalInfo } from "./types.js";

/** A process as a view knows it. */
export interface ProcessView {
	readonly process: number;
	started: Started | null;
	/** `t` of its start. */
	startedUs: number;
	ending: Ending | null;
}

export type Note = JournalEvents["note"];

export interface ViewEvents {
	/** Something of these is another now. */
	processes: undefined;
	participants: undefined;
	terminals: undefined;
	notes: undefined;
}

const NEW_TERMINAL: Sharing = { input: "open", size: "driver", driver: null, away: false, requests: [] };

/** How a session stands, as far as a channel told it: its processes, who is here, how its terminals are shared, its notes. */
export class SessionView extends Emitter<ViewEvents> {
	readonly processes = new Map<number, ProcessView>();
	readonly participants = new Map<number, Participant>();
	readonly terminals = new Map<number, TerminalInfo>();
	readonly notes: Note[] = [];

	constructor(channel: Channel) {
		super();
		channel.on("attached", ({ participants, terminals }) => {
			this.setParticipants(participants);
			this.setTerminals(terminals);
		});
		channel.on("started", (event) => this.start(event));
		channel.on("exited", (event) => this.exit(event));
		channel.on("resized", (event) => this.changeTerminal(event.process, { cols: event.cols, rows: event.rows }));
		channel.on("driver", ({ process, input, size, driver, away, requests }) =>
			this.changeTerminal(process, { input, size, driver, away, requests }),
		);
		channel.on("participant", (event) => this.meet(event));
		channel.on("note", (note) => {
			this.notes.push(note);
			this.emit("notes", undefined);
		});
		channel.on("state", (state) => this.restate(state));
	}

	/** Take over what `process.list` said. */
	addProcesses(list: readonly ProcessInfo[]): void {
		for (const { process, exited, started_us: startedUs, ...started } of list) {
			this.know(process, { started, startedUs, ending: exited });
			if (started.terminal && !exited && !this.terminals.has(process)) {
				this.changeTerminal(process, { ...NEW_TERMINAL, ...started.terminal });
			}
		}
		this.emit("processes", undefined);
	}

	private start({ process, t, started }: JournalEvents["started"]): void {
		this.know(process, { started, startedUs: t });
		if (started.terminal) {
			this.changeTerminal(process, { ...NEW_TERMINAL, ...started.terminal, ...this.terminals.get(process) });
		}
		this.emit("processes", undefined);
	}

	private exit({ process, ending }: JournalEvents["exited"]): void {
		this.know(process, { ending });
		this.terminals.delete(process);
		this.emit("processes", undefined);
		this.emit("terminals", undefined);
	}

	/** The same object all along, so that who holds it sees what becomes of the process. */
	private know(process: number, told: Partial<ProcessView>): void {
		const known = this.processes.get(process) ?? { process, started: null, startedUs: 0, ending: null };
		this.processes.set(process, Object.assign(known, told));
	}

	private meet({ participant, change, name, role, client, colour }: JournalEvents["participant"]): void {
		if (change === "left" || change === "removed") {
			this.participants.delete(participant);
		} else {
			this.participants.set(participant, { participant, name, role, client, colour });
		}
		this.emit("participants", undefined);
	}

	private changeTerminal(process: number, change: Partial<TerminalInfo>): void {
		const known = this.terminals.get(process);
		if (this.processes.get(process)?.ending) {
			return;
		}
		this.terminals.set(process, { ...NEW_TERMINAL, cols: 80, rows: 24, ...known, ...change, process });
		this.emit("terminals", undefined);
	}

	/** Of what a server leaves out, what was known stays. */
	private restate({ processes, participants, terminals }: Partial<ChannelFrames["state"]>): void {
		this.addProcesses(processes ?? []);
		this.setParticipants(participants ?? [...this.participants.values()]);
		this.setTerminals(terminals ?? []);
	}

	private setParticipants(list: readonly Participant[]): void {
		this.participants.clear();
		list.forEach((participant) => this.participants.set(participant.participant, participant));
		this.emit("participants", undefined);
	}

	private setTerminals(list: readonly TerminalInfo[]): void {
		list.forEach((terminal) => this.changeTerminal(terminal.process, terminal));
	}
}
