import type { Connection, ConnectionState, SandbarError } from "sandbar";
import { ICONS, button, fill, h, iconButton } from "./dom.js";
import { beginTheme, toggleTheme } from "./theme.js";

/** What is around every page: its bar, the state of its connection, messages. */
export class PageFrame {
	readonly main = h("main", { id: "main" });
	readonly title = h("div", { class: "bar-title" });
	readonly actions = h("div", { class: "bar-actions" });
	private readonly state = h("div", { class: "state", role: "status", "data-state": "connecting" }, "connecting…");
	private readonly banner = h("div", { class: "banner", role: "alert", hidden: true });
	private readonly toasts = h("div", { class: "toasts", role: "status", "aria-live": "polite" });
	private countdown: ReturnType<typeof setInterval> | undefined;

	constructor() {
		beginTheme();
		const theme = iconButton(ICONS.theme, "Light or dark", toggleTheme);
		const home = h(
			"a",
			{ class: "brand", href: "/", "aria-label": "Sandbar: all sessions" },
			brandMark(),
			"sandbar",
		);
		const bar = h("header", { class: "bar" }, home, this.title, this.state, this.actions, theme);
		document
			.querySelector("#page")
			?.append(
				h("a", { class: "skip", href: "#main" }, "Skip to the content"),
				bar,
				this.banner,
				this.main,
				this.toasts,
			);
	}

	/** Tell how CONNECTION stands, from now on. */
	watch(connection: Connection): void {
		connection.on("state", ({ state, why }) => this.show(connection, state, why));
		connection.on("stopping", ({ inMs }) => {
			this.toast(inMs > 0 ? `The server stops in ${Math.ceil(inMs / 1000)} s.` : "The server stops.");
		});
		const retry = (): void => connection.retryNow();
		addEventListener("online", retry);
		document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && retry());
	}

	/** A short message, for a few seconds. */
	toast(text: string): void {
		const toast = h("div", { class: "toast" }, text);
		this.toasts.append(toast);
		setTimeout(() => toast.remove(), 6000);
	}

	/** Until there is something to show: what this page is. */
	wait(title: string): void {
		fill(this.main, h("section", { class: "stop" }, h("h1", {}, title), h("p", {}, "Connecting…")));
	}

	/** What the page shows is called TITLE. */
	name(title: string): void {
		document.title = `${title} · Sandbar`;
		fill(this.title, h("h1", {}, title));
	}

	/** Instead of everything: what is wrong, and what can be done. */
	stop(title: string, text: string, ...ways: readonly Node[]): void {
		this.state.hidden = true;
		this.banner.hidden = true;
		fill(this.actions);
		document.title = `${title} · Sandbar`;
		fill(this.main, h("section", { class: "stop" }, h("h1", {}, title), h("p", {}, text), h("p", {}, ...ways)));
	}

	private show(connection: Connection, state: ConnectionState, why: SandbarError | null): void {
		clearInterval(this.countdown);
		this.state.dataset.state = state;
		this.state.textContent = state === "cut" ? "reconnecting…" : state.replace("_", " ");
		this.banner.hidden = state !== "cut";
		if (state === "cut") {
			const left = h("span");
			const tell = (): void => {
				const seconds = Math.max(0, Math.ceil((connection.retryAt - Date.now()) / 1000));
				left.textContent = connection.retryAt ? ` Next try in ${seconds} s. ` : " Trying… ";
			};
			tell();
			this.countdown = setInterval(tell, 250);
			const told = connection.welcome
				? "The connection was lost; nothing that happens is."
				: "The server cannot be reached.";
			fill(
				this.banner,
				h("span", { title: why?.message ?? "" }, told),
				left,
				button("Try now", () => connection.retryNow()),
			);
		}
	}
}

/** Why nothing can be shown, in words for people. */
export function explain(error: { readonly code: string; readonly message: string }): readonly [string, string] {
	const told: Readonly<Record<string, readonly [string, string]>> = {
		unauthenticated: [
			"This link is not good any more",
			"It has expired, was used up, or was revoked; or its session has ended. Ask for a new one.",
		],
		forbidden: ["You may not see this", "Your access was taken back, or never reached this far."],
		not_found: ["There is no such session", "It may have ended so long ago that it is not kept any more."],
		protocol: [
			"The server was not understood",
			"This page and the server are not of the same version. Reload the page.",
		],
	};
	return told[error.code] ?? ["That did not work", error.message];
}

/** Why a sign-in link does not sign in, and how one comes by another. */
export function explainLink({ message }: { readonly message: string }): readonly [string, string] {
	const told = message.charAt(0).toUpperCase() + message.slice(1);
	return [
		"This link does not sign in any more",
		`${told}. Such a link is good once, and not for long. On the server, “sandbar token link” prints another.`,
	];
}

/** Show a page by MAIN, unless the browser lacks what that needs; then needs.js has said so. */
export function begin(main: () => Promise<void>): void {
	if (!document.documentElement.hasAttribute("data-lacking")) {
		void main();
	}
}

function brandMark(): Node {
	return h("img", { src: "/icon.svg", alt: "", width: 24, height: 24 });
}
