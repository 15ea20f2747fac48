import { SandbarError } from "sandbar";
import { forget, takeFragment, type Fragment } from "./account.js";
import { button, fill } from "./dom.js";
import { PageFrame, begin, explain, explainLink } from "./frame.js";

/** The way out of a page that cannot go on. */
export function homeLink(): HTMLElement {
	return button("All sessions", () => location.assign("/"));
}

/** Say that nothing can be shown because of ERROR. */
export function refuse(frame: PageFrame, error: SandbarError, way = homeLink()): void {
	frame.stop(...explain(error), way);
}

export interface PageOptions {
	/** The way out when it cannot be shown. */
	readonly way?: () => HTMLElement;
	/** It is about no session in particular: an account that is refused is the server's. */
	readonly isOfServer?: boolean;
}

/** Open the page that SHOW makes of what its address names. What the server refuses is told in its place. */
export function openPage(
	show: (frame: PageFrame, fragment: Fragment) => Promise<void>,
	{ way = homeLink, isOfServer = false }: PageOptions = {},
): void {
	begin(async () => {
		const frame = new PageFrame();
		const fragment = takeFragment();
		try {
			await show(frame, fragment);
		} catch (error) {
			if (!(error instanceof SandbarError)) {
				fill(frame.main); // a fault of the page's own, which the console tells
				throw error;
			}
			forget(isOfServer ? { ...fragment, session: null } : fragment, error);
			if (fragment.isLink && error.code === "unauthenticated") {
				frame.stop(...explainLink(error), way());
			} else {
				refuse(frame, error, way());
			}
		}
	});
}
