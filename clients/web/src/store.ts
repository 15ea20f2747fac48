/** What a page keeps. Where the browser gives no storage, it keeps it until it is left. */
class Store {
	private readonly memory = new Map<string, string>();

	constructor(private readonly storage: () => Storage) {}

	get(key: string): string | null {
		try {
			return this.storage().getItem(PREFIX + key) ?? this.memory.get(key) ?? null;
		} catch {
			return this.memory.get(key) ?? null;
		}
	}

	set(key: string, value: string): void {
		this.memory.set(key, value);
		try {
			this.storage().setItem(PREFIX + key, value);
		} catch {
			return; // it stands in memory
		}
	}

	remove(key: string): void {
		this.memory.delete(key);
		try {
			this.storage().removeItem(PREFIX + key);
		} catch {
			return;
		}
	}
}

const PREFIX = "sandbar.";

/** Of this browser. */
export const lasting = new Store(() => localStorage);
/** Of this tab, over reloads. */
export const ofTab = new Store(() => sessionStorage);
