import { FitAddon } from "@xterm/addon-fit";
import { WebLinksAddon } from "@xterm/addon-web-links";
import css from "@xterm/xterm/css/xterm.css?inline";
import { Terminal, type ITheme } from "@xterm/xterm";
import type { Ending, SandbarError } from "sandbar";
import { sharedId } from "../client_id.js";
import { CONTRAST } from "../terminal/contrast.js";
import { strictDocument, strictly } from "../terminal/strict_styles.js";
import { countColumns } from "../terminal/width.js";
import { SandbarAddon } from "./addon.js";
import { embedName, takeSeat } from "./seat.js";

const THEMES: Readonly<Record<string, ITheme>> = {
	dark: { background: "#10181b", foreground: "#dce5e3", cursor: "#f5c451" },
	light: { background: "#fffefa", foreground: "#22302f", cursor: "#a35a00", selectionBackground: "#9fd3cc80" },
};
const HOST_CSS = `
	:host { display: block; position: relative; min-height: 8rem; overflow: hidden; contain: content }
	.stage { position: absolute; inset: 0; padding: 6px }
	.xterm .xterm-viewport { background: transparent }
	.notice { position: absolute; inset: auto 0 0; margin: 0; padding: 4px 10px; font: 13px system-ui, sans-serif;
		background: #fdf0d5; color: #6b3f00 }
	.notice:empty { display: none }`;
const FAILURES_TOLD = 3;
const FONT = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

/** Where this script came from, which is where the server is unless it is said otherwise. */
let home = location.origin;

export function setHome(url: string): void {
	home = url;
}

/**
 * `<sandbar-terminal session="…" token="…">`: a terminal of a session, as large as its container makes it.
 *
 * Attributes: `session`, `token`, `server`, `process`, `theme` (`dark`, `light`), `font-size`, `font-family`, `readonly`.
 * Events: `ready`, `exit`, `gap`, `state`, whose `detail` says more. Methods: `run()`, `write()`, `focus()`.
 */
export class SandbarTerminal extends HTMLElement {
	static readonly observedAttributes = ["theme", "font-size", "font-family"];
	/** Null: on no page. It comes to null where the element was off the page before it was made. */
	private addon: Promise<SandbarAddon | null> | null = null;
	private leaveSeat: () => void = () => undefined;
	private terminal: Terminal | null = null;
	private readonly fit = new FitAddon();
	private readonly observer = new ResizeObserver(() => this.measure());
	/** Connections that failed before the first that did not; null = there was one. */
	private failures: number | null = 0;
	private readonly notice = document.createElement("p");

	connectedCallback(): void {
		const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
		const sheet = new CSSStyleSheet();
		sheet.replaceSync(css + HOST_CSS);
		root.adoptedStyleSheets = [sheet];
		const stage = document.createElement("div");
		stage.className = "stage";
		this.notice.className = "notice";
		this.notice.setAttribute("role", "status");
		root.replaceChildren(stage, this.notice);
		this.begin(root, stage);
		this.observer.observe(this);
	}

	disconnectedCallback(): void {
		this.observer.disconnect();
		this.addon = null;
		this.leaveSeat();
		this.leaveSeat = () => undefined;
		this.terminal?.dispose();
		this.terminal = null;
	}

	attributeChangedCallback(): void {
		if (this.terminal) {
			Object.assign(this.terminal.options, this.look());
			this.measure();
		}
	}

	/** Run a command in a terminal of its own, shown here. Resolves with how it ended. */
	async run(command: string): Promise<Ending> {
		const addon = await this.addon;
		if (!addon) {
			throw new Error("the element is on no page");
		}
		return addon.run(command);
	}

	/** Type into the terminal. */
	write(text: string): void {
		void this.addon?.then((addon) => addon?.write(text));
	}

	override focus(): void {
		this.terminal?.focus();
	}

	/** The text on the screen. */
	get text(): string {
		const buffer = this.terminal?.buffer.active;
		const lines = Array.from({ length: this.terminal?.rows ?? 0 }, (_, row) =>
			buffer?.getLine(buffer.viewportY + row)?.translateToString(true),
		);
		return lines.join("\n").trimEnd();
	}

	private begin(root: ShadowRoot, stage: HTMLElement): void {
		const terminal = new Terminal({
			...this.look(),
			allowProposedApi: true,
			documentOverride: strictDocument(root),
			disableStdin: this.hasAttribute("readonly"),
			linkHandler: { activate: (_event, uri) => openLink(uri), allowNonHttpProtocols: false },
			minimumContrastRatio: CONTRAST,
		});
		this.terminal = terminal;
		terminal.loadAddon(this.fit);
		terminal.loadAddon(new WebLinksAddon((_event, uri) => openLink(uri)));
		countColumns(terminal);
		strictly(root, () => terminal.open(stage));
		terminal.textarea?.setAttribute("aria-label", "Terminal input");
		this.addon = this.load(terminal);
	}

	private async load(terminal: Terminal): Promise<SandbarAddon | null> {
		const addon = this.makeAddon(await this.takeId());
		if (this.terminal !== terminal) {
			return null;
		}
		terminal.loadAddon(addon);
		return addon;
	}

	/** The same client after a reload: a link is good for a number of clients. */
	private takeId(): Uint8Array | Promise<Uint8Array> {
		const { session, process } = this.shown;
		if (this.hasAttribute("readonly")) {
			return sharedId(embedName(session));
		}
		const { id, leave } = takeSeat(session, process);
		this.leaveSeat = leave;
		return id;
	}

	private get shown(): { readonly session: string; readonly process: number } {
		const process = Number(this.getAttribute("process") ?? 0);
		return { session: this.getAttribute("session") ?? "", process: process > 0 ? process : 0 };
	}

	private makeAddon(clientId: Uint8Array): SandbarAddon {
		const { session, process } = this.shown;
		const token = this.getAttribute("token") ?? "";
		return new SandbarAddon({
			url: this.getAttribute("server") ?? home,
			session,
			token,
			clientId,
			isReadOnly: this.hasAttribute("readonly"),
			...(process > 0 ? { process } : {}),
			onReady: (shown) => {
				this.tell("ready", { process: shown });
				this.measure();
			},
			onExit: (ending) => this.tell("exit", ending),
			onGap: (from, to) => this.tell("gap", { from, to }),
			onState: (state, why) => {
				this.notice.textContent = this.told(state, why);
				this.tell("state", { state, why });
			},
		});
	}

	/** What the page says of the connection's STATE. A browser does not tell a page why a server let it not in. */
	private told(state: string, why: SandbarError | null): string {
		if (state === "connected") {
			this.failures = null;
		} else if (state === "cut" && this.failures !== null) {
			this.failures++;
		}
		if ((this.failures ?? 0) >= FAILURES_TOLD && state === "cut") {
			return `No connection: the server does not answer, or does not allow this page's origin, ${location.origin}.`;
		}
		const told: Readonly<Record<string, string>> = { cut: "Reconnecting…", given_up: why?.message ?? "" };
		return told[state] ?? "";
	}

	private look(): { readonly theme: ITheme; readonly fontSize: number; readonly fontFamily: string } {
		const name =
			this.getAttribute("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
		const theme = THEMES[name] ?? THEMES.dark ?? {};
		this.style.background = theme.background ?? "";
		return {
			theme,
			fontSize: Math.min(40, Math.max(6, Number(this.getAttribute("font-size")) || 14)),
			fontFamily: this.getAttribute("font-family") ?? FONT,
		};
	}

	private measure(): void {
		const size = this.fit.proposeDimensions();
		if (size && Number.isFinite(size.cols) && Number.isFinite(size.rows)) {
			const [cols, rows] = [Math.min(1000, Math.max(2, size.cols)), Math.min(1000, Math.max(2, size.rows))];
			void this.addon?.then((addon) => addon?.offerSize(cols, rows));
		}
	}

	private tell(name: string, detail: unknown): void {
		this.dispatchEvent(new CustomEvent(name, { detail }));
	}
}

/** Only http(s), and shown before. */
function openLink(text: string): void {
	if (!URL.canParse(text)) {
		return;
	}
	const url = new URL(text);
	if ((url.protocol === "http:" || url.protocol === "https:") && confirm(`Open this link?\n\n${url.href}`)) {
		window.open(url.href, "_blank", "noopener,noreferrer");
	}
}
