import { Terminal } from "@xterm/xterm";
import { h } from "../dom.js";
import { strictDocument, strictly } from "../terminal/strict_styles.js";
import { countColumns } from "../terminal/width.js";
import { SandbarAddon, type SandbarAddonOptions } from "./addon.js";

/** A place on the page where one of the two ways is shown, or nothing. */
export class Demo {
	readonly element = h("section", { class: "demo", "aria-label": "Demo" });
	private terminal: Terminal | null = null;

	clear(): void {
		this.terminal?.dispose();
		this.terminal = null;
		this.element.replaceChildren();
	}

	/** The very tag, as it would stand in a page. */
	showTag(attributes: readonly (readonly [string, string])[]): void {
		this.clear();
		this.element.append(h("script", Object.fromEntries(attributes)));
	}

	/** An xterm.js of a page's own, into which the add-on is loaded. */
	showAddon(options: SandbarAddonOptions): void {
		this.clear();
		const terminal = new Terminal({ allowProposedApi: true, documentOverride: strictDocument(document) });
		this.terminal = terminal;
		countColumns(terminal);
		strictly(document, () => terminal.open(this.element));
		terminal.textarea?.setAttribute("aria-label", "Terminal input");
		terminal.loadAddon(new SandbarAddon(options));
	}
}

/** The lines that a page with an xterm.js needs. */
export function addonText({ url, session, token, isReadOnly }: SandbarAddonOptions): string {
	const told = { url, session, token, ...(isReadOnly ? { isReadOnly } : {}) };
	const options = JSON.stringify(told, null, "\t").replaceAll("\n", "\n\t");
	return [
		`<script src="${url}/embed.js"></script>`,
		"<script>",
		`\tterminal.loadAddon(new Sandbar.SandbarAddon(${options}));`,
		"</script>",
	].join("\n");
}
