import { Session, type Connection, type SessionInfo } from "sandbar";
import { accountFor, connect, type Fragment } from "./account.js";
import { ask } from "./dialog.js";
import { ICONS, button, fill, h, icon, iconButton, select } from "./dom.js";
import { ago, plain } from "./format.js";
import type { PageFrame } from "./frame.js";
import { openPage, refuse } from "./open_page.js";
import { UsageChart } from "./sessions/usage_chart.js";

const LOOK_MS = 2000;
const USUAL_TEMPLATE = "default";

/** All sessions: which there are, who is in, a new one, an end. */
class SessionsPage {
	private readonly rows = h("ul", { class: "sessions" });
	private readonly search = h("input", {
		type: "search",
		id: "search",
		on: { input: () => this.draw() },
	});
	private template = USUAL_TEMPLATE;
	private live: readonly SessionInfo[] = [];
	private ended: readonly SessionInfo[] = [];
	private charts = new Map<string, UsageChart>();
	private isLooking = false;

	constructor(
		private readonly frame: PageFrame,
		private readonly connection: Connection,
	) {}

	async begin(): Promise<void> {
		const isManager = this.connection.welcome?.rights.includes("manage") === true;
		const create = iconButton(ICONS.plus, "New session", () => void this.create(create), true);
		create.classList.add("primary");
		const templates = isManager ? await this.templates() : null;
		const head = h(
			"div",
			{ class: "head" },
			h("h1", {}, "Sessions"),
			h("label", { for: "search" }, "Search"),
			this.search,
			templates,
			isManager && create,
		);
		fill(this.frame.main, h("div", { class: "page" }, head, this.rows));
		await this.look();
		setInterval(() => document.visibilityState === "visible" && void this.look(), LOOK_MS);
	}

	/** A choice of templates, where there is one. */
	private async templates(): Promise<HTMLElement | null> {
		const { templates } = await this.connection.call("template.list");
		const names = (templates as readonly { readonly name: string }[]).map(({ name }) => name);
		if (names.length < 2) {
			return null;
		}
		const options = names.map((name) => [name, plain(name)] as const);
		return select("Template of a new session", options, this.template, (name) => (this.template = name));
	}

	private async look(): Promise<void> {
		if (this.isLooking || this.connection.state !== "connected") {
			return;
		}
		this.isLooking = true;
		try {
			this.live = await Session.list(this.connection);
			this.measure();
			this.ended = (await Session.list(this.connection, true)).slice(0, 50);
			this.draw();
		} catch (error) {
			this.frame.toast(error instanceof Error ? error.message : String(error));
		} finally {
			this.isLooking = false;
		}
	}

	/** What those that live use now; of the others there is nothing more to show. */
	private measure(): void {
		const charts = new Map(
			this.live.map(({ session }) => [session, this.charts.get(session) ?? new UsageChart()] as const),
		);
		this.live.forEach(({ session, usage }) => charts.get(session)?.add(usage ?? null));
		this.charts = charts;
	}

	private draw(): void {
		const wanted = this.search.value.toLowerCase();
		const isWanted = (info: SessionInfo): boolean =>
			[info.session, info.name, ...notedTemplate(info), ...Object.values(info.context ?? {})].some((text) =>
				text.toLowerCase().includes(wanted),
			);
		const live = this.live.filter(isWanted).sort((one, other) => other.created_us - one.created_us);
		const ended = this.ended.filter(isWanted);
		const isEmpty = live.length + ended.length === 0;
		const focused = document.activeElement?.id;
		fill(
			this.rows,
			...live.map((session) => this.row(session)),
			ended.length > 0 && h("li", { class: "divider" }, "Ended, and kept for replay"),
			...ended.map((session) => this.row(session)),
			isEmpty && h("li", { class: "empty" }, wanted ? "Nothing matches." : EMPTY),
		);
		if (focused?.startsWith("session-") || focused?.startsWith("end-")) {
			document.getElementById(focused)?.focus();
		}
	}

	private row(info: SessionInfo): HTMLElement {
		const { session, name, created_us: created, processes, participants, ended_us: ended, reason } = info;
		const title = plain(name) || session;
		const state = ended === undefined ? "running" : "ended";
		const about =
			ended === undefined
				? [count(participants ?? 0, "person", "people"), count(processes, "process", "processes")]
				: [`ended ${ago(ended / 1000)}`, reason === "ended" ? "" : plain(reason ?? "")];
		const link = h(
			"a",
			{
				id: `session-${session}`,
				href: `/${ended === undefined ? "session" : "replay"}#session=${session}`,
				class: "session-name",
			},
			title,
		);
		return h(
			"li",
			{ class: "session", "data-state": state },
			h("span", { class: "dot", title: state, role: "img", "aria-label": state }),
			h("div", { class: "session-text" }, link, name && h("code", {}, session), ...tagsOf(info)),
			this.charts.get(session)?.element ?? h("div", { class: "usage" }),
			h("div", { class: "session-about" }, ...about.map((text) => h("span", {}, text))),
			h("time", { datetime: new Date(created / 1000).toISOString() }, ago(created / 1000)),
			state === "running" && this.mayManage()
				? h(
						"button",
						{
							type: "button",
							id: `end-${session}`,
							class: "icon-button",
							"aria-label": `End ${title}`,
							title: "End",
							on: { click: () => void this.end(session, title) },
						},
						icon(ICONS.close),
					)
				: h("span", { class: "icon-button", "aria-hidden": "true" }),
		);
	}

	private mayManage(): boolean {
		return this.connection.welcome?.rights.includes("manage") === true;
	}

	/** A session with a shell in a terminal, opened. */
	private async create(control: HTMLButtonElement): Promise<void> {
		control.disabled = true;
		try {
			const session = await Session.create(this.connection, { template: this.template });
			await session.start({ argv: ["/bin/bash"], terminal: { cols: 80, rows: 24 }, name: "shell" });
			location.href = `/session#session=${session.id}`;
		} catch (error) {
			this.frame.toast(error instanceof Error ? error.message : String(error));
			control.disabled = false;
		}
	}

	private async end(id: string, title: string): Promise<void> {
		if (
			await ask(
				"End this session?",
				"End it",
				h("p", {}, `Everything that runs in “${title}” is killed, its files are gone.`),
			)
		) {
			try {
				await new Session(this.connection, id).end();
			} catch (error) {
				this.frame.toast(error instanceof Error ? error.message : String(error));
			}
			await this.look();
		}
	}
}

const EMPTY = "No session yet. A new one is a sandbox with a shell, which you can share by a link.";

function count(number: number, one: string, many: string): string {
	return `${number} ${number === 1 ? one : many}`;
}

/** The template that it was made from, where that is worth a word. */
function notedTemplate({ template }: SessionInfo): readonly string[] {
	return template && template !== USUAL_TEMPLATE ? [template] : [];
}

function tagsOf(info: SessionInfo): readonly HTMLElement[] {
	const template = notedTemplate(info).map((name) => ["template", name] as const);
	return [...template, ...Object.entries(info.context ?? {}).slice(0, 4)].map(([name, text]) =>
		h("span", { class: "tag" }, `${plain(name, 24)}: ${plain(text, 40)}`),
	);
}

async function show(frame: PageFrame, { session, token, isLink }: Fragment): Promise<void> {
	if (session !== null && token !== null) {
		location.replace(`/session#${token}`); // a link into one session
		return;
	}
	const account = await accountFor({ session: null, token, isLink });
	if (!account) {
		frame.stop(
			"Who are you?",
			"This server wants to know. Open a link that “sandbar token link” prints on it, or one that somebody shared with you.",
			reloadButton(),
		);
		return;
	}
	frame.wait("Sessions");
	const connection = await connect(account, (made) => frame.watch(made));
	connection.on("state", ({ state, why }) => state === "given_up" && why && refuse(frame, why, reloadButton()));
	await new SessionsPage(frame, connection).begin();
}

function reloadButton(): HTMLElement {
	return button("Reload", () => location.reload());
}

openPage(show, { way: reloadButton, isOfServer: true });
