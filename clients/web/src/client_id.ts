import { ofTab } from "./store.js";

/**
 * Ids by which the server knows clients. Input is counted by them (PROTOCOL.md §5): of two who type by one id, what the
 * second types is taken for what came before, and is lost.
 */

/** This tab's id of that NAME, kept over reloads, for who does not type: a copy of the tab may have it, too. */
export function sharedId(name: string): Uint8Array {
	const known = ofTab.get(name) ?? "";
	return fromHex(/^[0-9a-f]{32}$/.test(known) ? known : renew(name));
}

/** The same for who types; a tab that was made as a copy of another gets one of its own. To be called once in a page. */
export async function tabId(name: string): Promise<Uint8Array> {
	const known = sharedId(name);
	if (await claim(toHex(known))) {
		return known;
	}
	const made = renew(name);
	await claim(made);
	return fromHex(made);
}

/** Be the only tab with this id, until it is closed. */
export function claim(id: string): Promise<boolean> {
	const locks = (navigator as { locks?: LockManager }).locks; // only where the page came by https or from this machine
	if (!locks) {
		return Promise.resolve(true);
	}
	return new Promise((resolve) => {
		locks
			.request(`sandbar.${id}`, { ifAvailable: true }, (lock) => {
				resolve(lock !== null);
				return lock === null ? undefined : new Promise<never>(() => undefined);
			})
			.catch(() => resolve(true));
	});
}

export function randomId(): Uint8Array {
	return crypto.getRandomValues(new Uint8Array(16));
}

export function toHex(bytes: Uint8Array): string {
	return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function fromHex(hex: string): Uint8Array {
	return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function renew(name: string): string {
	const made = toHex(randomId());
	ofTab.set(name, made);
	return made;
}
