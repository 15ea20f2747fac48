import { tabId } from "../client_id.js";

/** A client id of this page, and the processes to which elements type by it; 0 = whichever is the newest. */
interface Seat {
	readonly id: Promise<Uint8Array>;
	readonly taken: Set<number>;
}

/** By session, in the order in which they were first needed: so each element has its id again after a reload. */
const seats = new Map<string, Seat[]>();

/**
 * An id for input to PROCESS (0 = none is named) of SESSION, until `leave()`. Elements share one, which a link counts
 * once, where they name different processes: input is counted for each.
 */
export function takeSeat(
	session: string,
	process: number,
): { readonly id: Promise<Uint8Array>; readonly leave: () => void } {
	const all = seats.get(session) ?? [];
	seats.set(session, all);
	let seat = all.find(({ taken }) => taken.size === 0 || (process > 0 && !taken.has(0) && !taken.has(process)));
	if (!seat) {
		seat = { id: tabId(embedName(session, all.length)), taken: new Set() };
		all.push(seat);
	}
	const { id, taken } = seat;
	taken.add(process);
	return { id, leave: () => taken.delete(process) };
}

/** How the id of a session's first or NUMBERth further seat is called. */
export function embedName(session: string, number = 0): string {
	return number === 0 ? `embed.${session}` : `embed.${session}.${number}`;
}
