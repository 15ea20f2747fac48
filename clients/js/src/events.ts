import { Kind, Stream } from "./table.js";
import type { Frame } from "./message.js";
import type {
	Ending,
	Participant,
	ProcessInfo,
	RoleName,
	Sharing,
	Size,
	Started,
	StreamName,
	TerminalInfo,
} from "./types.js";

/** What every event of the journal has: its number, and the microseconds since the session was made. */
export interface Stamp {
	readonly seq: number;
	readonly t: number;
}

/** The stamp, and the process that it is about. */
export interface ProcessStamp extends Stamp {
	readonly process: number;
}

/** Events of the journal, by name. */
export interface JournalEvents {
	output: ProcessStamp & { readonly stream: StreamName; readonly offset: number; readonly bytes: Uint8Array };
	started: ProcessStamp & { readonly started: Started };
	exited: ProcessStamp & { readonly ending: Ending };
	resized: ProcessStamp & Size;
	input: ProcessStamp & { readonly participant: number; readonly nbytes: number };
	participant: Stamp & {
		readonly participant: number;
		readonly change: "joined" | "left" | "role" | "removed";
		readonly name: string;
		readonly role: RoleName;
		readonly client: string;
		readonly colour: number;
		readonly by: string | null;
	};
	driver: ProcessStamp & Sharing & { readonly change: string; readonly by: number };
	note: Stamp & {
		readonly text: string;
		readonly by: string;
		readonly participant: number | null;
		readonly process: number | null;
	};
	streamClosed: ProcessStamp & { readonly stream: StreamName; readonly offset: number };
	ended: Stamp & { readonly reason: string };
}

/** Frames that were made for one channel, by name. */
export interface ChannelFrames {
	gap: { readonly from: number; readonly to: number };
	state: {
		readonly seq: number;
		readonly processes: readonly ProcessInfo[];
		readonly participants: readonly Participant[];
		readonly terminals: readonly TerminalInfo[];
	};
	screen: Size & { readonly process: number; readonly bytes: Uint8Array; readonly offset: number };
	live: { readonly seq: number };
	typing: { readonly participant: number; readonly process: number };
	acknowledged: { readonly process: number; readonly offset: number };
	refused: {
		readonly process: number;
		readonly code: string;
		readonly message: string;
		readonly data: Readonly<Record<string, unknown>>;
	};
}

export type FrameEvents = JournalEvents & ChannelFrames;

const STREAM_NAMES: Readonly<Record<number, StreamName>> = {
	[Stream.STDOUT]: "stdout",
	[Stream.STDERR]: "stderr",
	[Stream.TTY]: "tty",
};

/**
 * Each kind's name, and the names of its fields behind `[kind, seq, t]` or, for a frame of one channel, behind `[kind]`.
 * `*` is a map whose keys are fields themselves.
 */
const ROWS: Readonly<Record<number, readonly [keyof FrameEvents, ...(readonly string[])]>> = {
	[Kind.OUTPUT]: ["output", "process", "stream", "offset", "bytes"],
	[Kind.STARTED]: ["started", "process", "started"],
	[Kind.EXITED]: ["exited", "process", "ending"],
	[Kind.RESIZED]: ["resized", "process", "cols", "rows"],
	[Kind.INPUT]: ["input", "participant", "process", "nbytes"],
	[Kind.PARTICIPANT]: ["participant", "participant", "*"],
	[Kind.DRIVER]: ["driver", "process", "*"],
	[Kind.NOTE]: ["note", "*"],
	[Kind.STREAM_CLOSED]: ["streamClosed", "process", "stream", "offset"],
	[Kind.ENDED]: ["ended", "reason"],
	[Kind.GAP]: ["gap", "from", "to"],
	[Kind.STATE]: ["state", "seq", "*"],
	[Kind.SCREEN]: ["screen", "process", "cols", "rows", "bytes", "offset"],
	[Kind.LIVE]: ["live", "seq"],
	[Kind.TYPING]: ["typing", "participant", "process"],
	[Kind.STDIN_ACK]: ["acknowledged", "process", "offset"],
	[Kind.ERROR]: ["refused", "process", "code", "message", "data"],
};

/** A frame with names; what is told of it is typed by its name. */
export type NamedFrame = {
	[Name in keyof FrameEvents]: { readonly name: Name; readonly event: FrameEvents[Name] };
}[keyof FrameEvents];

/** Whether frames of KIND stand in the journal, and begin [kind, seq, t]. */
export function isEventKind(kind: number): boolean {
	return kind < 32;
}

/** FRAME of a channel with names, or null for one that this client need not know. */
export function nameFrame(frame: Frame): NamedFrame | null {
	const row = ROWS[frame[0]];
	if (!row) {
		return null;
	}
	const [name, ...fields] = row;
	const isEvent = isEventKind(frame[0]);
	const event: Record<string, unknown> = isEvent ? { seq: frame[1], t: frame[2] } : {};
	fields.forEach((field, i) => {
		const value = frame[i + (isEvent ? 3 : 1)];
		if (field === "*") {
			Object.assign(event, value);
		} else {
			event[field] = field === "stream" ? STREAM_NAMES[value as number] : value;
		}
	});
	return { name, event } as unknown as NamedFrame;
}
