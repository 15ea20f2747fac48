import { Session, type Connection, type RoleName, type SandbarError, type SessionInfo } from "sandbar";
import { accountFor, connect, type Fragment } from "./account.js";
import { ICONS, button, fill, h, iconButton, select } from "./dom.js";
import { Demo, addonText } from "./embed/demo.js";
import { tagAttributes, tagText } from "./embed/tag.js";
import { plain } from "./format.js";
import type { PageFrame } from "./frame.js";
import { homeLink, openPage } from "./open_page.js";
import { FIRST_TIME, ROLES, TIMES, USES } from "./share_choices.js";
import { copy } from "./terminal/screen.js";

const THEMES: readonly (readonly [string, string])[] = [
	["", "as each visitor has it"],
	["light", "light"],
	["dark", "dark"],
];

/** Makes the tag that shows a session in a page of somebody's own, and shows what comes of it. */
class EmbedPage {
	private session: string;
	private role: RoleName = "viewer";
	private expiresMs = FIRST_TIME;
	private uses = 5;
	private theme = "";
	private readonly height = h("input", { id: "height", value: "24rem", size: 8 });
	private readonly readOnly = h("input", { id: "readonly", type: "checkbox" });
	private readonly made = h("section", { class: "made", "aria-label": "The tag", "aria-live": "polite" });
	private readonly demo = new Demo();

	constructor(
		private readonly frame: PageFrame,
		private readonly connection: Connection,
		private readonly sessions: readonly SessionInfo[],
		wanted: string | null,
	) {
		const first = sessions.find(({ session }) => session === wanted) ?? sessions[0];
		this.session = first?.session ?? "";
	}

	begin(): void {
		const names = this.sessions.map(({ session, name }) => [session, plain(name, 60) || session] as const);
		const form = h(
			"form",
			{ class: "embed-form", on: { submit: (event) => void this.make(event) } },
			row(
				"Session",
				select("Session", names, this.session, (session) => (this.session = session)),
			),
			row(
				"For",
				select("For how many", USES, "5", (value) => (this.uses = Number(value))),
			),
			row(
				"",
				select("What they may do", ROLES, "viewer", (value) => (this.role = value as RoleName)),
			),
			row(
				"Good",
				select("How long", TIMES, String(FIRST_TIME), (value) => (this.expiresMs = Number(value))),
			),
			row(
				"Theme",
				select("Theme", THEMES, "", (theme) => (this.theme = theme)),
			),
			row(h("label", { for: "height" }, "Height"), this.height),
			row("", h("label", {}, this.readOnly, " read-only, whatever they may do")),
			row("", h("button", { class: "button primary" }, "Make the tag")),
		);
		const told =
			"One tag shows a session in a page of yours. Who can read that page can read the tag, and may do what it says.";
		fill(
			this.frame.main,
			h("div", { class: "page" }, h("h1", {}, "Embed"), h("p", {}, told), form, this.made, this.demo.element),
		);
	}

	private async make(event: SubmitEvent): Promise<void> {
		event.preventDefault();
		const { session, role, expiresMs, uses, connection } = this;
		try {
			const { token } = await new Session(connection, session).share({ role, expiresMs, uses, name: "embed" });
			this.show(session, token);
		} catch (error) {
			this.frame.toast(plain((error as SandbarError).message, 300));
		}
	}

	private show(session: string, token: string): void {
		const { theme } = this;
		const isReadOnly = this.readOnly.checked;
		const tag = tagAttributes(session, token, { theme, isReadOnly, height: this.height.value.trim() });
		const addon = { url: location.origin, session, token, isReadOnly };
		fill(
			this.made,
			h("h2", {}, "The tag"),
			this.text("embed-tag", tagText(tag)),
			h("h2", {}, "Or, in a page that has an xterm.js"),
			this.text("embed-addon", addonText(addon)),
			h("p", { class: "quiet" }, "The server must allow that page's origin: --allow-origin https://your.site"),
			h(
				"p",
				{ class: "ways" },
				button("Try the tag", () => this.demo.showTag(tag)),
				button("Try the add-on", () => this.demo.showAddon(addon)),
				h("span", { class: "quiet" }, "Here, as one of those who may come by it."),
			),
		);
		this.demo.clear();
	}

	private text(id: string, text: string): HTMLElement {
		const shown = h("pre", { class: "untrusted", id, tabindex: 0 }, text);
		const copied = iconButton(ICONS.copy, "Copy", () => {
			void copy(text).then((isDone) =>
				this.frame.toast(isDone ? "It is in your clipboard." : "Copy it by hand."),
			);
		});
		return h("div", { class: "text" }, shown, copied);
	}
}

function row(label: string | HTMLElement, control: HTMLElement): HTMLElement {
	return h("div", { class: "row" }, h("span", {}, label), control);
}

async function show(frame: PageFrame, fragment: Fragment): Promise<void> {
	const account = await accountFor(fragment);
	if (!account) {
		frame.stop("Who are you?", "Only who has a session can show it to others.", homeLink());
		return;
	}
	frame.wait("Embed");
	const connection = await connect(account, (made) => frame.watch(made));
	const sessions = await Session.list(connection);
	if (sessions.length === 0) {
		frame.stop("There is no session", "Make one first: then there is something to show.", homeLink());
		return;
	}
	new EmbedPage(frame, connection, sessions, fragment.session).begin();
}

openPage(show);
