import { ClipboardAddon } from "@xterm/addon-clipboard";
import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { SerializeAddon } from "@xterm/addon-serialize";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { WebglAddon } from "@xterm/addon-webgl";
import { Terminal, type IMarker } from "@xterm/xterm";
import { ask } from "../dialog.js";
import { h } from "../dom.js";
import { plain } from "../format.js";
import { lasting } from "../store.js";
import { onTheme, terminalTheme } from "../theme.js";
import { CONTRAST } from "./contrast.js";
import { swallowQueries } from "./queries.js";
import { strictDocument, strictly } from "./strict_styles.js";
import { countColumns } from "./width.js";

const FONT = "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const FONT_PX = 14;
const FONT_LEAST_PX = 6;
const SCROLLBACK = 10_000;
const SHOWN_BYTES = 300;
const CLIPBOARD_MOST = 1024 * 1024;

export interface ScreenOptions {
	readonly label: string;
	/** Pipes have bare line feeds. */
	readonly convertEol?: boolean;
	/** What was typed: text, or bytes that are none. */
	readonly onData?: (data: string | Uint8Array) => void;
}

/** A terminal emulator on the page, deaf to queries, that opens and copies nothing without a yes. */
export class Screen {
	readonly element = h("div", { class: "screen" });
	readonly terminal: Terminal;
	readonly search = new SearchAddon();
	readonly serialize = new SerializeAddon();
	private readonly fit = new FitAddon();
	private webgl: WebglAddon | null = null;
	private isOpen = false;
	private readonly offTheme = onTheme(() => (this.terminal.options.theme = terminalTheme()));

	constructor(private readonly options: ScreenOptions) {
		this.terminal = new Terminal({
			allowProposedApi: true,
			documentOverride: strictDocument(document),
			convertEol: options.convertEol ?? false,
			disableStdin: !options.onData,
			cursorInactiveStyle: options.onData ? "outline" : "none",
			fontFamily: FONT,
			fontSize: FONT_PX,
			minimumContrastRatio: CONTRAST,
			scrollback: SCROLLBACK,
			theme: terminalTheme(),
			overviewRuler: { width: 10 },
			screenReaderMode: lasting.get("screen_reader") === "yes",
			linkHandler: { activate: (_event, uri) => openLink(uri), allowNonHttpProtocols: false },
		});
		this.load();
		const { onData } = options;
		if (onData) {
			this.terminal.onData(onData);
			this.terminal.onBinary((text) => onData(Uint8Array.from(text, (character) => character.charCodeAt(0))));
		}
	}

	/** To be called once its element is on the page. */
	open(): void {
		if (this.isOpen) {
			return;
		}
		this.isOpen = true;
		strictly(document, () => this.terminal.open(this.element));
		this.terminal.textarea?.setAttribute("aria-label", this.options.label);
		this.terminal.textarea?.setAttribute("aria-description", "Control Shift L leaves the terminal.");
	}

	/** Draw by the graphics card while it is looked at; where there is none, by the page. */
	show(): void {
		if (this.webgl || lasting.get("webgl") === "no") {
			return;
		}
		try {
			const webgl = new WebglAddon();
			webgl.onContextLoss(() => this.hide());
			this.terminal.loadAddon(webgl);
			this.webgl = webgl;
		} catch {
			lasting.set("webgl", "no");
		}
	}

	hide(): void {
		this.webgl?.dispose();
		this.webgl = null;
	}

	write(bytes: Uint8Array | string, drawn?: () => void): void {
		this.terminal.write(bytes, drawn);
	}

	/** In order with what is written: this size from here on. */
	resize(cols: number, rows: number): void {
		this.terminal.write("", () => {
			if (cols !== this.terminal.cols || rows !== this.terminal.rows) {
				this.terminal.resize(cols, rows);
				this.layOut();
			}
		});
	}

	/** In order with what is written: begin anew with this size. */
	restart(cols: number, rows: number): void {
		this.terminal.write("\x1bc");
		this.resize(cols, rows);
	}

	/** How many columns and rows fit at the size of the font that people chose. */
	proposed(): { readonly cols: number; readonly rows: number } | null {
		const drawn = this.terminal.options.fontSize ?? FONT_PX;
		const size = this.fit.proposeDimensions();
		if (!size || !Number.isFinite(size.cols) || !Number.isFinite(size.rows)) {
			return null;
		}
		const scale = drawn / preferredFont();
		return { cols: within(Math.floor(size.cols * scale)), rows: within(Math.floor(size.rows * scale)) };
	}

	/** Have the terminal fit where it stands: a smaller font where its size is more than that. */
	layOut(): void {
		const room = this.proposed();
		if (room) {
			const scale = Math.min(1, room.cols / this.terminal.cols, room.rows / this.terminal.rows);
			const font = Math.max(FONT_LEAST_PX, Math.floor(preferredFont() * scale));
			if (font !== this.terminal.options.fontSize) {
				this.terminal.options.fontSize = font;
			}
		}
	}

	/** Mark this moment in the scrollback. */
	mark(colour: string): IMarker {
		const marker = this.terminal.registerMarker(0);
		this.terminal.registerDecoration({ marker, overviewRulerOptions: { color: colour } });
		return marker;
	}

	get isAtEnd(): boolean {
		const { viewportY, baseY } = this.terminal.buffer.active;
		return viewportY >= baseY;
	}

	dispose(): void {
		this.hide();
		this.offTheme();
		this.terminal.dispose();
		this.element.remove();
	}

	private load(): void {
		const { terminal } = this;
		terminal.loadAddon(this.fit);
		terminal.loadAddon(this.search);
		terminal.loadAddon(this.serialize);
		terminal.loadAddon(new WebLinksAddon((_event, uri) => openLink(uri)));
		terminal.loadAddon(
			new ClipboardAddon(undefined, { readText: () => "", writeText: (_selection, text) => offerCopy(text) }),
		);
		countColumns(terminal);
		swallowQueries(terminal);
		terminal.attachCustomKeyEventHandler((event) => this.key(event));
	}

	/** Copy and paste as people expect, which the browser then does. False: it is no input. */
	private key(event: KeyboardEvent): boolean {
		const isChosen = event.type === "keydown" && event.ctrlKey && event.shiftKey;
		if (isChosen && event.code === "KeyC" && this.terminal.hasSelection()) {
			void copy(this.terminal.getSelection());
			event.preventDefault();
			return false;
		}
		if (isChosen && (event.code === "KeyF" || event.code === "KeyL")) {
			return false; // the page's own
		}
		return !(event.ctrlKey && event.shiftKey && event.code === "KeyV");
	}
}

/** The font that people chose, in pixels. */
export function preferredFont(): number {
	return Number(lasting.get("font")) || FONT_PX;
}

/** Put TEXT into the clipboard. False: the browser does not let pages do so. */
export async function copy(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		return false;
	}
}

function within(side: number): number {
	return Math.min(1000, Math.max(2, side));
}

/** A link is shown before it is followed, and only http(s) is. */
function openLink(text: string): void {
	let url: URL;
	try {
		url = new URL(text);
	} catch {
		return;
	}
	if (url.protocol !== "http:" && url.protocol !== "https:") {
		return;
	}
	const shown = h("p", { class: "untrusted" }, plain(url.href, 1000));
	void ask("Open this link?", `Open ${plain(url.host, 60)}`, h("p", {}, "The program wrote it:"), shown).then(
		(isWanted) => {
			if (isWanted) {
				window.open(url.href, "_blank", "noopener,noreferrer");
			}
		},
	);
}

let isOffering = false;

/** A program may put something into the clipboard only when it is allowed to, each time. One question at a time. */
async function offerCopy(text: string): Promise<void> {
	if (isOffering || text.length > CLIPBOARD_MOST) {
		return;
	}
	isOffering = true;
	const shown = h("pre", { class: "untrusted" }, plain(text, SHOWN_BYTES));
	const isWanted = await ask(
		"Let the program fill your clipboard?",
		"Copy",
		h("p", {}, `${text.length} characters:`),
		shown,
	);
	isOffering = false;
	if (isWanted) {
		await copy(text);
	}
}
