/** Listeners by event. A listener that throws does not keep the others from hearing: its error is reported as uncaught. */
export class Emitter<Events extends object> {
	private readonly listeners = new Map<keyof Events, Set<(event: never) => void>>();

	/** Call LISTENER at each EVENT; the result takes it off again. */
	on<Name extends keyof Events>(event: Name, listener: (event: Events[Name]) => void): () => void {
		const set = this.listeners.get(event) ?? new Set();
		this.listeners.set(event, set);
		set.add(listener);
		return () => {
			set.delete(listener);
		};
	}

	protected emit<Name extends keyof Events>(event: Name, value: Events[Name]): void {
		for (const listener of [...(this.listeners.get(event) ?? [])]) {
			try {
				listener(value as never);
			} catch (thrown) {
				queueMicrotask(() => {
					throw thrown;
				});
			}
		}
	}
}
